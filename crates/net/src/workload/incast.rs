//! Incast: many hosts send to one at the same time.
//!
//! Source: Chen et al., WREN 2009; the partition/aggregate pattern of Alizadeh et al., SIGCOMM 2010.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, HostNames, need_hosts};

crate::kind! {
    /// `degree` hosts send to one receiver at once.
    pub struct Incast: "workload" / "incast", source "Chen et al., WREN 2009" {
        /// How many send; drawn at random.
        pub degree: u64, at least 1;
        /// Payload bytes of each flow; left out, flows are endless and `backend.until` must be a time.
        pub size: Option<Bytes> = None, at least 1;
        /// The host that receives; left out, drawn at random.
        pub receiver: Option<String> = None;
        /// The receiver opens the connections and asks for the data.
        pub fetch: bool = false;
        /// Payload bytes of the request of a fetch.
        pub request: u64 = 100, range 1..=1000;
    }
}

impl Generate for Incast {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        let most = size.hosts.saturating_sub(1);
        need_hosts(size.hosts, 2, "incast")?;
        if self.degree > most {
            let message = format!(
                "{} senders; the topology has {most} beside the receiver",
                self.degree
            );
            return Err(Fault::new("workload.degree", message).into());
        }
        Ok(self.degree)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let mut hosts: Vec<NodeId> = context.network.host_ids().collect();
        context.stream("hosts").shuffle(&mut hosts);
        let receiver = match &self.receiver {
            None => hosts[0],
            Some(name) => HostNames::of(context.network)
                .find(name)
                .map_err(|message| vec![Fault::new("workload.receiver", message)])?,
        };
        let senders = hosts
            .into_iter()
            .filter(|&h| h != receiver)
            .take(self.degree as usize);
        let size = self.size.map(|s| s.0);
        Ok(senders
            .map(|sender| match self.fetch {
                true => context.fetch(sender, receiver, size, self.request),
                false => context.upload(sender, receiver, size),
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::Opener;
    use crate::workload::tests::{ends, fault, flows};
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn different_hosts_send_to_one() {
        let flows = flows(
            8,
            json!({ "kind": "incast", "degree": 5, "size": 9, "receiver": "h3", "fetch": true }),
        );
        let senders: BTreeSet<_> = ends(&flows).iter().map(|e| e.0).collect();
        assert_eq!((senders.len(), senders.contains(&3)), (5, false));
        assert!(
            flows
                .iter()
                .all(|f| f.dst.0 == 3 && f.opener == Opener::Destination && f.request == 100)
        );
    }

    #[test]
    fn the_receiver_may_be_drawn() {
        let ends = ends(&flows(8, json!({ "kind": "incast", "degree": 7 })));
        assert!(ends.iter().all(|e| e.1 == ends[0].1));
    }

    #[test]
    fn faults_name_degree_and_receiver() {
        assert_eq!(
            fault(8, json!({ "kind": "incast", "degree": 8 })),
            "workload.degree: 8 senders; the topology has 7 beside the receiver"
        );
        assert_eq!(
            fault(8, json!({ "kind": "incast", "degree": 2, "receiver": "x" })),
            "workload.receiver: there is no host \"x\"; hosts are called h0, h1, h2, ..."
        );
    }
}
