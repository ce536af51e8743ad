//! Requests and answers over connections that stay open: what memcached and its clients do.
//!
//! Sources: Atikoglu et al., "Workload analysis of a large-scale key-value store" (SIGMETRICS 2012) for gets and sets;
//! Alizadeh et al. (SIGCOMM 2010), section 2.1, for partition and aggregate: a query asks several servers at once and is
//! answered when the slowest has answered. In a closed loop a client waits for the answer, thinks, and asks again; in an
//! open loop queries come at random times, however slow the answers are.
//!
//! The flows of this workload are connections without a size: for each client and server one that carries the values of gets
//! to the client and one that carries those of sets to the server. The simulator opens each with the first message.

use crate::error::Fault;
use crate::flow_size::FlowSize;
use crate::placement::Placement;
use crate::topology::Size;
use crate::units::Time;
use crate::workload::bulk::placed;
use crate::workload::{Context, Flow, Generate, need_hosts};

/// Port of memcached.
const PORT: u16 = 11_211;

crate::kind! {
    /// Clients get values from servers and set them there. `latency_mean_ns` (p50, p99) of a connection is that of the
    /// queries that it took part in, from asking to the last byte of the slowest answer (of a set: to its
    /// acknowledgment). The transport is `tcp` or `mptcp`; there a message is whole when the data sequence is, whatever
    /// subflows carried it.
    pub struct Rpc: "workload" / "rpc", source "Atikoglu et al. (SIGMETRICS 2012), Alizadeh et al. (SIGCOMM 2010)" {
        /// Which hosts the application runs on.
        pub place: Placement = Placement::All(crate::kinds::Describe::defaults());
        /// How many of these, the first, are servers; the others are clients.
        pub servers: u64 = 1, at least 1;
        /// How large values are: `"1 kB"`, `{ kind = "uniform", ... }`.
        pub value: FlowSize;
        /// Share of gets; the others are sets.
        pub gets: f64 = 0.9, range 0.0..=1.0;
        /// Servers that a query asks, different ones, drawn at random; each gives or takes a value.
        pub fan_out: u64 = 1, at least 1;
        /// Closed loop: how long a client thinks between an answer and its next query.
        pub think: Time = Time::ZERO;
        /// Open loop: queries per second of each client, at random times. Takes the place of `think`.
        pub rate: Option<f64> = None, range 0.000001..=1000000000.0;
        /// Queries of each client; left out, as many as there is time for.
        pub requests: Option<u64> = None, at least 1;
        /// Payload bytes of a get request.
        pub request: u64 = 100, range 1..=1000;
    }
}

impl Rpc {
    /// Connections of a client with each server.
    pub fn connections(&self) -> u32 {
        u32::from(self.gets > 0.0) + u32::from(self.gets < 1.0)
    }

    fn check(&self) -> Result<(), Fault> {
        if self.fan_out > self.servers {
            let message = format!(
                "{} is more than the {} servers; set servers = {}",
                self.fan_out, self.servers, self.fan_out
            );
            return Err(Fault::new("workload.fan_out", message));
        }
        if self.rate.is_some() && self.think != Time::ZERO {
            let message =
                "has no meaning with a rate: an open loop does not wait; leave one of them out";
            return Err(Fault::new("workload.think", message));
        }
        Ok(())
    }
}

impl Generate for Rpc {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        self.check()?;
        need_hosts(size.hosts, self.servers + 1, "a client beside the servers")?;
        self.value.distribution().map_err(|faults| {
            let under = |f: Fault| f.in_section("workload.value");
            faults.into_iter().map(under).collect::<Vec<_>>()
        })?;
        let hosts = match &self.place {
            Placement::List(list) => list.hosts.len() as u64,
            Placement::Share(share) => size.hosts / share.applications,
            _ => size.hosts,
        };
        let pairs = hosts
            .saturating_sub(self.servers)
            .saturating_mul(self.servers);
        Ok(pairs.saturating_mul(u64::from(self.connections())))
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let hosts = placed(&self.place, context, self.servers as usize + 1)?;
        let (servers, clients) = hosts.split_at(self.servers as usize);
        let mut flows = Vec::new();
        for &client in clients {
            for &server in servers {
                if self.gets > 0.0 {
                    flows.push(Flow {
                        src_port: PORT,
                        ..context.fetch(server, client, None, self.request)
                    });
                }
                if self.gets < 1.0 {
                    flows.push(Flow {
                        dst_port: PORT,
                        ..context.upload(client, server, None)
                    });
                }
            }
        }
        Ok(flows)
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::tests::{ends, fault, flows};
    use serde_json::json;

    #[test]
    fn every_client_has_a_connection_each_way_with_every_server() {
        let value = json!({ "kind": "fixed", "bytes": 100 });
        let workload = json!({ "kind": "rpc", "servers": 2, "value": value });
        let both = flows(4, workload);
        assert_eq!(
            ends(&both),
            [
                (0, 2),
                (2, 0),
                (1, 2),
                (2, 1),
                (0, 3),
                (3, 0),
                (1, 3),
                (3, 1)
            ]
        );
        let workload = json!({ "kind": "rpc", "servers": 2, "value": value, "gets": 1.0 });
        assert_eq!(ends(&flows(4, workload)), [(0, 2), (1, 2), (0, 3), (1, 3)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let value = json!({ "kind": "fixed", "bytes": 100 });
        let workload = json!({ "kind": "rpc", "fan_out": 2, "value": value });
        assert_eq!(
            fault(4, workload),
            "workload.fan_out: 2 is more than the 1 servers; set servers = 2"
        );
        let workload = json!({ "kind": "rpc", "think": 5, "rate": 2.0, "value": value });
        assert!(fault(4, workload).starts_with("workload.think: has no meaning with a rate"));
        let workload = json!({ "kind": "rpc", "servers": 4, "value": value });
        assert!(fault(4, workload).starts_with("workload: a client beside the servers"));
    }
}
