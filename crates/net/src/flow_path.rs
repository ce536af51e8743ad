//! The path of a flow, where balancing is per flow: what the packets will do, without sending any.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::load_balance::{FiveTuple, SwitchState};
use crate::random::mix;
use crate::routes::Routes;
use crate::routing::Share;
use crate::scenario::Scenario;
use crate::workload::Flow;

impl Scenario {
    /// The five-tuple of the packets that carry the payload of `flow`; those that come back have its reverse.
    pub fn five_tuple(&self, flow: FlowId) -> FiveTuple {
        self.subflow_tuple(flow, 0)
    }

    /// The links that the payload of `flow` takes at the start (of its first subflow, if it has several), in order: the
    /// choices of the same states that packets meet. `None` where packets are balanced one by one; empty where there is no
    /// way.
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

    /// The hash of a five-tuple that packets carry; where connections share paths in turn, what counts up.
    pub fn entropy(&self, tuple: &FiveTuple) -> u32 {
        match self.share {
            Some(Share::RoundRobin) => u32::from(tuple.src_port) + u32::from(tuple.dst_port),
            _ => self.load_balance.entropy(tuple),
        }
    }

    /// The place at which the whole path of a packet begins, among `starts`. `state` is that of the end of `src`.
    #[inline]
    pub fn choose_start(
        &self,
        state: &mut SwitchState,
        starts: &[u32],
        (src, dst): (NodeId, NodeId),
        entropy: u32,
        now: u64,
    ) -> u32 {
        let n = starts.len() as u32;
        let index = match self.share {
            Some(Share::RoundRobin) => {
                // Where a pair of hosts begins is its own, so that single flows spread over the paths.
                let pair = mix(mix(self.seed) ^ (u64::from(src.0) << 32 | u64::from(dst.0)));
                ((u64::from(entropy) + (pair >> 32)) % u64::from(n)) as u32
            }
            _ => state.choose_path(entropy, dst, n, now),
        };
        starts[index as usize]
    }

    /// The routes after so many changes; 0 are those of the start.
    #[inline(always)]
    pub fn routes_at(&self, changes: usize) -> &Routes {
        match changes {
            0 => &self.routes,
            n => &self.failures.changes[n - 1].1,
        }
    }

    /// The link at a place of the whole paths, after so many changes: packets from before them keep their paths.
    #[inline]
    pub fn link_at(&self, changes: usize, place: u32) -> u32 {
        for n in (0..=changes).rev() {
            let source = self
                .routes_at(n)
                .source
                .as_ref()
                .expect("routes of whole paths");
            if source.holds(place) {
                return source.link(place);
            }
        }
        unreachable!("the first routes hold the first place")
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
        let entropy = self.entropy(tuple);
        if let Some(source) = &self.routes.source {
            let starts = source.starts(src, dst);
            if !self.routes.has_way(&self.network, src, dst) {
                return Some(Vec::new());
            }
            let mut state = self
                .load_balance
                .switch(self.seed, &self.network, source.end(src));
            let start = self.choose_start(&mut state, starts, (src, dst), entropy, 0);
            return Some(self.routes.whole_path(&self.network, src, dst, start));
        }
        let card = self.pinned_card(flow, number, is_backward);
        Some(self.walk(src, dst, |node, hops| {
            match (hops, card) {
                (_, Some(card)) if node == src => card,
                (&[only], _) => only,
                _ => self
                    .load_balance
                    .switch(self.seed, &self.network, node)
                    .choose(entropy, dst, hops),
            }
        }))
    }

    /// One of the shortest paths that routes offer, the first by the ids of its links; empty where there is no way.
    pub fn first_path(&self, src: NodeId, dst: NodeId) -> Vec<LinkId> {
        if self.routes.source.is_some() {
            let paths = self.routes.paths(&self.network, src, dst);
            return paths
                .into_iter()
                .min_by_key(|p| (p.len(), p.clone()))
                .unwrap_or_default();
        }
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
