//! Placement: the hosts that an application runs on: `place = { kind = ..., ... }` of a workload.
//!
//! It gives hosts in an order that means something: the workload says which of them are servers.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;

pub mod all;
pub mod list;
pub mod pods;
pub mod share;

crate::room! {
    /// Which hosts an application runs on.
    pub enum Placement {
        All(all::All),
        List(list::List),
        Pods(pods::Pods),
        Share(share::Share),
    }
}

crate::room_parameter!(Placement => "placement");

impl Placement {
    /// The hosts, in order, each once.
    ///
    /// # Errors
    /// Hosts, pods or shares that do not exist, at `placement.key`.
    pub fn hosts(&self, network: &Network) -> Result<Vec<NodeId>, Vec<Fault>> {
        match self {
            Self::All(_) => Ok(network.host_ids().collect()),
            Self::List(list) => list.hosts(network),
            Self::Pods(pods) => pods.hosts(network).map_err(|f| vec![f]),
            Self::Share(share) => share.hosts(network).map_err(|f| vec![f]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Describe;
    use crate::topology::Topology;
    use serde_json::{Value, json};

    fn hosts(table: Value) -> Result<Vec<String>, String> {
        let network = Topology::FatTree(Describe::defaults()).build(0).unwrap();
        let placement = Placement::from_table(table.as_object().unwrap()).unwrap();
        let name = |h: &NodeId| network.nodes[h.index()].name.clone();
        match placement.hosts(&network) {
            Ok(hosts) => Ok(hosts.iter().map(name).collect()),
            Err(faults) => Err(faults[0].to_string()),
        }
    }

    #[test]
    fn applications_stay_apart_or_mix() {
        // 16 hosts, four in each pod.
        let share = |how: &str, application: u64| {
            hosts(json!({ "kind": "share", "applications": 4, "application": application, "how": how })).unwrap()
        };
        assert_eq!(share("apart", 1), ["h100", "h101", "h110", "h111"]);
        assert_eq!(share("mixed", 1), ["h001", "h101", "h201", "h301"]);
        let all: Vec<_> = (0..4).flat_map(|a| share("mixed", a)).collect();
        assert_eq!(all.len(), 16);
    }

    #[test]
    fn hosts_are_named_or_taken_by_pod() {
        assert_eq!(
            hosts(json!({ "kind": "list", "hosts": ["h310", "h000"] })).unwrap(),
            ["h310", "h000"]
        );
        assert_eq!(
            hosts(json!({ "kind": "pods", "pods": [2] })).unwrap(),
            ["h200", "h201", "h210", "h211"]
        );
        assert_eq!(hosts(json!({ "kind": "all" })).unwrap().len(), 16);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for (table, said) in [
            (
                json!({ "kind": "list", "hosts": ["h000", "x"] }),
                "placement.hosts[1]: there is no host \"x\"",
            ),
            (
                json!({ "kind": "list", "hosts": ["h000", "h000"] }),
                "placement.hosts[1]: h000 is listed twice",
            ),
            (
                json!({ "kind": "pods", "pods": [4] }),
                "placement.pods: there is no pod 4; pods are 0 to 3",
            ),
            (
                json!({ "kind": "share", "applications": 2, "application": 2 }),
                "placement.application: 2 is too large: 2 applications are 0 to 1",
            ),
        ] {
            let fault = hosts(table).unwrap_err();
            assert!(fault.starts_with(said), "{fault}");
        }
    }
}
