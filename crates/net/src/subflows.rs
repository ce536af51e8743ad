//! Subflows: what a flow of a multipath transport consists of.
//!
//! Every subflow has a number in its flow, from 0, and an id in the scenario. The id of a flow's first subflow is that of
//! the flow; those of the others come after all flows. So where no flow has more than one, ids of subflows are ids of
//! flows, and nothing is stored. Subflows of one flow differ in the port of the host that opens them, as those of Linux.

use serde::{Deserialize, Serialize};

use crate::ids::{FlowId, LinkId, NodeId};
use crate::load_balance::FiveTuple;
use crate::network::Network;
use crate::routes::Routes;
use crate::scenario::Scenario;
use crate::transport::Transport;
use crate::transport::mptcp::PathManager;
use crate::workload::{Flow, Opener};

/// The subflows beyond the first of each flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subflows {
    /// By flow: where its own begin in `flow` and `port`, and one entry more; empty if there are none at all.
    begin: Vec<u32>,
    /// By subflow beyond the first ones: the flow.
    flow: Vec<u32>,
    /// By subflow beyond the first ones: the port of the host that opens it.
    port: Vec<u16>,
}

impl Subflows {
    /// Subflows of `count(flow)` each, 1 at least, with the ports that `port` gives, flow by flow.
    pub(crate) fn new<E>(
        counts: &[u32],
        mut port: impl FnMut(usize) -> Result<u16, E>,
    ) -> Result<Self, E> {
        let mut made = Self::default();
        if counts.iter().all(|&n| n <= 1) {
            return Ok(made);
        }
        made.begin.push(0);
        for (flow, &count) in counts.iter().enumerate() {
            for _ in 1..count {
                made.port.push(port(flow)?);
                made.flow.push(flow as u32);
            }
            made.begin.push(made.flow.len() as u32);
        }
        Ok(made)
    }
}

/// How many subflows a flow from `src` to `dst` has.
pub(crate) fn planned(
    transport: &Transport,
    network: &Network,
    routes: &Routes,
    src: NodeId,
    dst: NodeId,
) -> u64 {
    transport.subflows().unwrap_or_else(|| {
        let cards = |a, b| cards(network, routes, a, b).len().max(1) as u64;
        cards(src, dst) * cards(dst, src)
    })
}

/// The links of host `src` from which there is a way to `dst`, on a shortest path or not.
fn cards(network: &Network, routes: &Routes, src: NodeId, dst: NodeId) -> Vec<LinkId> {
    let leads_there = |link: &LinkId| {
        let link = &network.links[link.index()];
        let goes_on = routes.source.is_some() || !routes.next_hops(link.dst, dst).is_empty();
        link.is_up && (link.dst == dst || goes_on)
    };
    let all = network.out(src).iter().copied();
    all.filter(leads_there).collect()
}

impl Scenario {
    /// How many subflows `flow` has, the first included.
    pub fn subflow_count(&self, flow: FlowId) -> u32 {
        match self.subflows.begin.get(flow.index()..flow.index() + 2) {
            Some(&[begin, end]) => 1 + end - begin,
            _ => 1,
        }
    }

    /// Subflows of all flows: their ids are below this.
    pub fn subflows_total(&self) -> usize {
        self.flows.len() + self.subflows.flow.len()
    }

    /// The id of subflow `number` of `flow`.
    #[inline]
    pub fn subflow_id(&self, flow: FlowId, number: u32) -> u32 {
        match number {
            0 => flow.0,
            _ => self.flows.len() as u32 + self.subflows.begin[flow.index()] + number - 1,
        }
    }

    /// The flow of the subflow with that id, and its number there.
    #[inline]
    pub fn subflow(&self, id: u32) -> (FlowId, u32) {
        match (id as usize).checked_sub(self.flows.len()) {
            None => (FlowId(id), 0),
            Some(beyond) => {
                let flow = FlowId(self.subflows.flow[beyond]);
                (flow, 1 + beyond as u32 - self.subflows.begin[flow.index()])
            }
        }
    }

    /// Ports at the source and at the destination of a subflow. One that is not planned has the port that follows: what a
    /// flow would do that had more.
    pub fn subflow_ports(&self, flow: FlowId, number: u32) -> (u16, u16) {
        let plan = &self.flows[flow.index()];
        let own = |default: u16| match number {
            0 => default,
            _ if number >= self.subflow_count(flow) => default.wrapping_add(number as u16),
            _ => {
                self.subflows.port[self.subflows.begin[flow.index()] as usize + number as usize - 1]
            }
        };
        match plan.opener {
            Opener::Source => (own(plan.src_port), plan.dst_port),
            Opener::Destination => (plan.src_port, own(plan.dst_port)),
        }
    }

    /// The five-tuple of the packets that carry a subflow's payload; those that come back have its reverse.
    pub fn subflow_tuple(&self, flow: FlowId, number: u32) -> FiveTuple {
        let plan = &self.flows[flow.index()];
        let (src_port, dst_port) = self.subflow_ports(flow, number);
        FiveTuple {
            src: self.network.nodes[plan.src.index()].address,
            dst: self.network.nodes[plan.dst.index()].address,
            src_port,
            dst_port,
            protocol: self.workloads[plan.workload as usize].transport.protocol(),
        }
    }

    /// The link on which a host must send the packets of a subflow, those that come back if `is_backward`: under
    /// `fullmesh` each pair of network cards has its own subflow. `None` where the host is free to choose.
    pub fn pinned_card(&self, flow: FlowId, number: u32, is_backward: bool) -> Option<LinkId> {
        let Flow {
            src, dst, workload, ..
        } = self.flows[flow.index()];
        match &self.workloads[workload as usize].transport {
            Transport::Mptcp(m) if m.path_manager == PathManager::Fullmesh => {
                let there = cards(&self.network, &self.routes, src, dst);
                let back = cards(&self.network, &self.routes, dst, src);
                let cards = back.len().max(1);
                let (hops, at) = if is_backward {
                    (back, number as usize % cards)
                } else {
                    (there, number as usize / cards)
                };
                hops.get(at).copied()
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use crate::ids::FlowId;
    use crate::scenario::tests::build;

    #[test]
    fn subflows_have_ids_after_all_flows_and_ports_of_their_own() {
        let s = build(json!({
            "topology": { "kind": "fat_tree" },
            "workload": [
                { "name": "a", "kind": "pairs", "pairs": ["h000>h001", "h000>h001"], "size": 1 },
                { "name": "b", "kind": "pairs", "pairs": ["h000>h001", "h000>h311"], "size": 1, "transport": { "kind": "mptcp", "subflows": 4 } },
                { "name": "c", "kind": "incast", "degree": 2, "receiver": "h001", "fetch": true, "size": 1, "transport": { "kind": "mptcp", "subflows": 3 } },
            ],
        }))
        .unwrap();
        let counts: Vec<_> = (0..6).map(|f| s.subflow_count(FlowId(f))).collect();
        assert_eq!(counts, [1, 1, 4, 4, 3, 3]);
        assert_eq!(s.subflows_total(), 2 + 2 * 4 + 2 * 3);
        let mut tuples = BTreeSet::new();
        for flow in 0..6 {
            for number in 0..counts[flow as usize] {
                let id = s.subflow_id(FlowId(flow), number);
                assert_eq!(s.subflow(id), (FlowId(flow), number));
                let tuple = s.subflow_tuple(FlowId(flow), number);
                tuples.insert(tuple);
                // The server's port is the same for all.
                assert_eq!(
                    if flow < 4 {
                        tuple.dst_port
                    } else {
                        tuple.src_port
                    },
                    if flow < 4 { 5201 } else { 80 }
                );
            }
        }
        assert_eq!(tuples.len(), 16);
        assert_eq!(s.subflow(6), (FlowId(2), 1));
    }

    #[test]
    fn more_subflows_than_ports_are_refused() {
        let spec = |subflows: u64| {
            json!({
                "topology": { "kind": "star", "hosts": 2 },
                "transport": { "kind": "mptcp", "subflows": subflows },
                "workload": [{ "kind": "pairs", "pairs": ["h0>h1", "h0>h1"], "size": 1 }],
            })
        };
        // 28,232 client ports: two flows of 14,116.
        assert_eq!(build(spec(14_116)).unwrap().subflows_total(), 28_232);
        let faults = build(spec(14_117)).unwrap_err();
        assert_eq!(
            faults[0].to_string(),
            "workload[0].transport.subflows: more subflows than ports: h0 has 28232 ports for its connections to port 5201 of h1, \
             and its flows need 28234; take fewer subflows or fewer flows"
        );
    }

    #[test]
    fn fullmesh_pairs_the_cards_of_both_hosts() {
        // Two hosts, two paths of one switch each.
        let cable = |a: &str, b: &str| json!({ "a": a, "b": b });
        let s = build(json!({
            "topology": { "kind": "custom", "hosts": ["a", "b"],
                "links": [cable("a", "p"), cable("a", "q"), cable("b", "p"), cable("b", "q")] },
            "transport": { "kind": "mptcp", "path_manager": "fullmesh" },
            "workload": [{ "kind": "pairs", "pairs": ["a>b"], "size": 1 }],
        }))
        .unwrap();
        assert_eq!(s.subflow_count(FlowId(0)), 4);
        let cards: BTreeSet<_> = (0..4)
            .map(|n| {
                (
                    s.pinned_card(FlowId(0), n, false),
                    s.pinned_card(FlowId(0), n, true),
                )
            })
            .collect();
        assert_eq!(cards.len(), 4);
        assert!(
            cards
                .iter()
                .all(|(there, back)| there.is_some() && back.is_some())
        );
    }
}
