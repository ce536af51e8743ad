//! The way of a subflow through the network: which links it loads, and how much.
//!
//! Where balancing is per flow that is the path that its packets would take. Where every packet or burst chooses, the
//! payload is spread evenly over the hops at every switch, which is what all these kinds aim at; over whole paths, evenly
//! over the paths.

use weft_net::ids::{FlowId, LinkId, NodeId};
use weft_net::scenario::Scenario;

use crate::active::Use;

/// Finds ways; holds memory that one search leaves to the next.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    /// By node: the share of the payload that passes it, and whether it was met.
    shares: Vec<f64>,
    is_met: Vec<bool>,
    met: Vec<NodeId>,
}

impl Ways {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let nodes = scenario.network.nodes.len();
        Self {
            shares: vec![0.0; nodes],
            is_met: vec![false; nodes],
            met: Vec::new(),
        }
    }

    /// What subflow `number` of `flow` uses, in the order in which it is met; empty where there is no way. A link carries
    /// `packet(overhead)` bytes for each byte of payload.
    pub(crate) fn uses(
        &mut self,
        scenario: &Scenario,
        flow: FlowId,
        number: u32,
        packet: impl Fn(u32) -> f64,
    ) -> Vec<Use> {
        let weigh = |link: LinkId, share: f64| Use {
            link: link.0,
            weight: share * packet(scenario.network.links[link.index()].overhead),
        };
        if let Some(path) = scenario.subflow_path(flow, number) {
            return path.into_iter().map(|l| weigh(l, 1.0)).collect();
        }
        let plan = &scenario.flows[flow.index()];
        let pinned = scenario.pinned_card(flow, number, false);
        if scenario.routes.source.is_some() {
            return over_paths(scenario, plan.src, plan.dst)
                .into_iter()
                .map(|(link, share)| weigh(link, share))
                .collect();
        }
        self.spread(scenario, plan.src, plan.dst, pinned)
            .into_iter()
            .map(|(link, share)| weigh(link, share))
            .collect()
    }

    /// Evenly over the hops at every node. Hops lead closer to the destination, so that nodes are met in an order in which
    /// all that flows into one is known when it is its turn.
    fn spread(
        &mut self,
        scenario: &Scenario,
        src: NodeId,
        dst: NodeId,
        pinned: Option<LinkId>,
    ) -> Vec<(LinkId, f64)> {
        let mut links = Vec::new();
        self.met.push(src);
        self.shares[src.index()] = 1.0;
        let mut next = 0;
        let mut is_whole = true;
        while let Some(&node) = self.met.get(next) {
            next += 1;
            let share = std::mem::take(&mut self.shares[node.index()]);
            self.is_met[node.index()] = false;
            if node == dst {
                continue;
            }
            let card = pinned.filter(|_| node == src);
            let hops = match &card {
                Some(card) => std::slice::from_ref(card),
                None => scenario.routes.next_hops(node, dst),
            };
            is_whole &= !hops.is_empty();
            for &hop in hops {
                let part = share / hops.len() as f64;
                links.push((hop, part));
                let to = scenario.network.links[hop.index()].dst;
                if !std::mem::replace(&mut self.is_met[to.index()], true) {
                    self.met.push(to);
                }
                self.shares[to.index()] += part;
            }
        }
        self.met.clear();
        if is_whole { links } else { Vec::new() }
    }
}

/// Evenly over whole paths.
fn over_paths(scenario: &Scenario, src: NodeId, dst: NodeId) -> Vec<(LinkId, f64)> {
    let paths = scenario.routes.paths(&scenario.network, src, dst);
    let share = 1.0 / paths.len() as f64;
    let mut links: Vec<LinkId> = paths.into_iter().flatten().collect();
    links.sort_unstable();
    links
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0], share * same.len() as f64))
        .collect()
}
