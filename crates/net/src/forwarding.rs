//! Forwarding tables in full, as a switch outside of the simulators is given them: which ports lead to each host, and what
//! the choice among several depends on.
//!
//! The tables are those of the start, before anything fails.

use serde::Serialize;

use crate::ids::{LinkId, NodeId};
use crate::load_balance::SwitchState;
use crate::scenario::Scenario;

/// What one switch knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forwarding {
    /// Sets of links, each once; a choice counts them in this order.
    pub groups: Vec<Vec<LinkId>>,
    /// By host, the number of its group; none where there is no way. Where the destination alone decides (`static`), the
    /// group is the one link that it decided for.
    pub group_of: Vec<Option<u32>>,
    /// Round robin only: by host, the place in its group where it begins.
    pub begins_at: Option<Vec<u32>>,
    /// What a choice depends on beside the packet.
    pub state: SwitchState,
}

impl Scenario {
    /// The tables of `switch` at the start.
    pub fn forwarding(&self, switch: NodeId) -> Forwarding {
        let state = self.load_balance.switch(self.seed, &self.network, switch);
        let is_static = matches!(state, SwitchState::Static(_));
        let takes_turns = matches!(state, SwitchState::RoundRobin(_));
        let mut numbers = std::collections::BTreeMap::new();
        let mut found = Forwarding {
            groups: Vec::new(),
            group_of: Vec::with_capacity(self.network.hosts),
            begins_at: takes_turns.then(Vec::new),
            state,
        };
        for host in self.network.host_ids() {
            let mut hops = self.routes.next_hops(switch, host);
            let first = match hops {
                [] => 0,
                // These two do not ask for the entropy.
                _ if is_static || takes_turns => {
                    let link = found.state.clone().choose(0, host, hops);
                    hops.iter()
                        .position(|&l| l == link)
                        .expect("one of the hops")
                }
                _ => 0,
            };
            if is_static && !hops.is_empty() {
                hops = &hops[first..=first];
            }
            found.group_of.push((!hops.is_empty()).then(|| {
                *numbers.entry(hops.to_vec()).or_insert_with(|| {
                    found.groups.push(hops.to_vec());
                    found.groups.len() as u32 - 1
                })
            }));
            if let Some(begins_at) = &mut found.begins_at {
                begins_at.push(first as u32);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ids::FlowId;
    use crate::scenario::tests::build;

    fn scenario(load_balance: serde_json::Value) -> Scenario {
        build(json!({
            "topology": { "kind": "fat_tree" },
            "load_balance": load_balance,
            "workload": [{ "kind": "permutation", "size": 1 }],
        }))
        .unwrap()
    }

    #[test]
    fn an_edge_switch_of_a_fat_tree_has_its_hosts_and_the_way_up() {
        // se00 is node 16; its hosts are the first two, its ports the links to them and to sa00, sa01.
        let tables = scenario(json!({ "kind": "ecmp" })).forwarding(NodeId(16));
        assert_eq!(
            tables.groups.iter().map(Vec::len).collect::<Vec<_>>(),
            [1, 1, 2]
        );
        assert_eq!(tables.group_of[..4], [Some(0), Some(1), Some(2), Some(2)]);
        assert_eq!(tables.begins_at, None);
    }

    #[test]
    fn static_tables_are_the_paths_of_flows() {
        let s = scenario(json!({ "kind": "static" }));
        for flow in 0..16 {
            for link in &s.flow_path(FlowId(flow)).unwrap()[1..] {
                let tables = s.forwarding(s.network.links[link.index()].src);
                let group = tables.group_of[s.flows[flow as usize].dst.index()].unwrap();
                assert_eq!(tables.groups[group as usize], [*link]);
            }
        }
    }

    #[test]
    fn round_robin_begins_where_the_first_packet_goes() {
        let s = scenario(json!({ "kind": "spray", "order": "round_robin" }));
        let tables = s.forwarding(NodeId(16));
        let begins_at = tables.begins_at.unwrap();
        for host in 2..16 {
            let group = &tables.groups[tables.group_of[host].unwrap() as usize];
            let mut state = tables.state.clone();
            let dst = NodeId(host as u32);
            assert_eq!(state.choose(9, dst, group), group[begins_at[host] as usize]);
        }
    }

    #[test]
    fn a_host_that_is_cut_off_has_no_group() {
        let s = build(json!({
            "topology": { "kind": "fat_tree", "overrides": [{ "links": "se00>h001", "failed": true }] },
            "workload": [{ "kind": "pairs", "pairs": ["h000>h100"], "size": 1 }],
        }));
        assert_eq!(s.unwrap().forwarding(NodeId(16)).group_of[1], None);
    }
}
