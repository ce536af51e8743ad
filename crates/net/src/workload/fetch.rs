//! Fetch: a few clients, each of which asks its own group of servers all at once.
//!
//! Source: the noisy network of the path diversity study (`experiments/studies`): two clients among 16 hosts, the other
//! 14 in two groups of seven servers.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::kind! {
    /// Clients drawn at random fetch from all servers of their group at once. Hosts beyond the last group stay idle.
    pub struct Fetch: "workload" / "fetch", source "the path diversity study" {
        /// Payload bytes that each server sends.
        pub size: Bytes, at least 1;
        /// Hosts that fetch.
        pub clients: u64 = 2, at least 1;
        /// Servers of each client.
        pub servers: u64 = 7, at least 1;
        /// Payload bytes of the request.
        pub request: u64 = 100, range 1..=1000;
    }
}

impl Generate for Fetch {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        let flows = self.clients.saturating_mul(self.servers);
        let what = format!(
            "{} clients with {} servers each",
            self.clients, self.servers
        );
        need_hosts(size.hosts, flows.saturating_add(self.clients), &what)?;
        Ok(flows)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let mut hosts: Vec<NodeId> = context.network.host_ids().collect();
        context.stream("hosts").shuffle(&mut hosts);
        let (clients, servers) = hosts.split_at(self.clients as usize);
        let groups = servers.chunks_exact(self.servers as usize);
        Ok(clients
            .iter()
            .zip(groups)
            .flat_map(|(&client, group)| group.iter().map(move |&server| (server, client)))
            .map(|(server, client)| context.fetch(server, client, Some(self.size.0), self.request))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::Opener;
    use crate::workload::tests::{ends, fault, flows};
    use serde_json::json;

    #[test]
    fn sixteen_hosts_are_two_clients_and_fourteen_servers() {
        let flows = flows(16, json!({ "kind": "fetch", "size": 10_240 }));
        let (mut hosts, mut clients): (Vec<_>, Vec<_>) = ends(&flows).into_iter().unzip();
        assert_eq!(clients.iter().filter(|&&c| c == clients[0]).count(), 7);
        clients.dedup();
        assert_eq!(clients.len(), 2);
        hosts.extend(clients);
        hosts.sort_unstable();
        assert_eq!(hosts, (0..16).collect::<Vec<_>>(), "everybody has one part");
        let first = &flows[0];
        assert_eq!(
            (first.opener, first.request, first.src_port),
            (Opener::Destination, 100, 80)
        );
    }

    #[test]
    fn too_few_hosts_are_refused() {
        assert_eq!(
            fault(15, json!({ "kind": "fetch", "size": 1 })),
            "workload: 2 clients with 7 servers each: at least 16 hosts are needed; the topology has 15"
        );
    }
}
