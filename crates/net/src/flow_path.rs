//! The path of a flow, where balancing is per flow: what the packets will do, without sending any.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::load_balance::FiveTuple;
use crate::scenario::Scenario;
use crate::workload::Flow;

impl Scenario {
    /// The five-tuple of the packets that carry the payload of `flow`; those that come back have its reverse.
    pub fn five_tuple(&self, flow: FlowId) -> FiveTuple {
        self.subflow_tuple(flow, 0)
    }

    /// The links that the payload of `flow` takes (of its first subflow, if it has several), in order: the choices of the
    /// same states that the packets meet. `None` where packets are balanced one by one; empty where there is no way.
    pub fn flow_path(&self, flow: FlowId) -> Option<Vec<LinkId>> {
        self.subflow_path(flow, 0)
    }

    /// The links that acknowledgments of `flow` take, as [`Scenario::flow_path`].
    pub fn reverse_path(&self, flow: FlowId) -> Option<Vec<LinkId>> {
        let tuple = self.subflow_tuple(flow, 0).reverse();
        self.chosen_path(flow, 0, &tuple, true)
    }

    /// The links that the payload of subflow `number` of `flow` takes, as [`Scenario::flow_path`].
    pub fn subflow_path(&self, flow: FlowId, number: u32) -> Option<Vec<LinkId>> {
        self.chosen_path(flow, number, &self.subflow_tuple(flow, number), false)
    }

    fn chosen_path(
        &self,
        flow: FlowId,
        number: u32,
        tuple: &FiveTuple,
        is_backward: bool,
    ) -> Option<Vec<LinkId>> {
        if !self.load_balance.is_per_flow() {
            return None;
        }
        let Flow {
            mut src, mut dst, ..
        } = self.flows[flow.index()];
        if is_backward {
            std::mem::swap(&mut src, &mut dst);
        }
        let entropy = self.load_balance.entropy(tuple);
        let card = self.pinned_card(flow, number, is_backward);
        Some(self.walk(src, dst, |node, hops| {
            match (hops, card) {
                (&[only], _) => only,
                (_, Some(card)) if node == src => card,
                _ => self
                    .load_balance
                    .switch(self.seed, &self.network, node)
                    .choose(entropy, dst, hops),
            }
        }))
    }

    /// One of the shortest paths, the first by the ids of its links; empty where there is no way.
    pub fn first_path(&self, src: NodeId, dst: NodeId) -> Vec<LinkId> {
        self.walk(src, dst, |_, hops| hops[0])
    }

    fn walk(
        &self,
        src: NodeId,
        dst: NodeId,
        mut choose: impl FnMut(NodeId, &[LinkId]) -> LinkId,
    ) -> Vec<LinkId> {
        let mut path = Vec::new();
        let mut node = src;
        while node != dst {
            let hops = self.routes.next_hops(node, dst);
            // Chosen hops can lead into a dead end only if the tables are wrong: distances fall at every hop.
            if hops.is_empty() {
                return Vec::new();
            }
            let link = choose(node, hops);
            path.push(link);
            node = self.network.links[link.index()].dst;
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::build;
    use serde_json::{Value, json};

    fn scenario(load_balance: Value, overrides: Value) -> Scenario {
        let topology = json!({ "kind": "fat_tree", "overrides": overrides });
        build(json!({
            "topology": topology,
            "load_balance": load_balance,
            "workload": [{ "kind": "pairs", "pairs": ["h000>h001", "h000>h311", "h100>h001"], "size": 1 }],
        }))
        .unwrap()
    }

    fn names(scenario: &Scenario, path: Option<Vec<LinkId>>) -> Vec<String> {
        path.unwrap()
            .into_iter()
            .map(|l| scenario.network.link_name(l))
            .collect()
    }

    #[test]
    fn a_path_within_the_rack_has_no_choice() {
        let s = scenario(json!({ "kind": "ecmp" }), json!([]));
        assert_eq!(
            names(&s, s.flow_path(FlowId(0))),
            ["h000>se00", "se00>h001"]
        );
        assert_eq!(
            names(&s, s.reverse_path(FlowId(0))),
            ["h001>se00", "se00>h000"]
        );
    }

    #[test]
    fn the_path_is_what_packets_meet() {
        for kind in ["static", "ecmp"] {
            let s = scenario(json!({ "kind": kind }), json!([]));
            let entropy = s.load_balance.entropy(&s.five_tuple(FlowId(1)));
            let (mut node, dst) = (s.flows[1].src, s.flows[1].dst);
            let path = s.flow_path(FlowId(1)).unwrap();
            for &link in &path {
                let mut switch = s.load_balance.switch(s.seed, &s.network, node);
                assert_eq!(
                    switch.choose(entropy, dst, s.routes.next_hops(node, dst)),
                    link
                );
                node = s.network.links[link.index()].dst;
            }
            assert_eq!((node, path.len()), (dst, 6));
        }
    }

    #[test]
    fn sprayed_packets_have_no_one_path() {
        let s = scenario(json!({ "kind": "spray" }), json!([]));
        assert_eq!(
            (s.flow_path(FlowId(1)), s.reverse_path(FlowId(1))),
            (None, None)
        );
        // The ideal time takes any shortest path: 6 links of 10 Gbps and 1 us; SYN and SYN-ACK 98 B, 1 B of data 91 B
        // behind the ACK of 90 B, for which it only waits at the first link.
        let each = |bytes: u64| 6 * (bytes * 800 + 1_000_000);
        assert_eq!(
            s.ideal_fct(FlowId(1)).unwrap().0,
            2 * each(98) + 90 * 800 + each(91)
        );
    }

    #[test]
    fn where_there_is_no_way_the_path_is_empty() {
        let s = scenario(
            json!({ "kind": "ecmp" }),
            json!([{ "links": "se00>h001", "failed": true }]),
        );
        assert_eq!(s.flow_path(FlowId(2)), Some(Vec::new()));
        assert_eq!(s.reverse_path(FlowId(2)).unwrap().len(), 6);
        assert_eq!(s.ideal_fct(FlowId(2)), None);
    }
}
