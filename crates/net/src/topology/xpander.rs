//! Xpander: a random lift of a complete graph, an expander that can be cabled in bundles.
//!
//! Source: Valadarsky, Shahaf, Dinitz, Schapira, CoNEXT 2016: d + 1 groups of switches; between any two groups a random
//! perfect matching, so that every switch has one neighbour in each other group and none in its own. Names: hosts
//! `h<switch>_<j>`, switches `s<i>`, group after group; the pod of a node is its group.

use crate::error::Fault;
use crate::network::{LinkConfig, Network, Override};
use crate::random::stream;
use crate::random_graph::Graph;
use crate::topology::{Shape, Size, hosts_on_switches};

crate::kind! {
    /// Groups of switches, every two groups joined by a random matching; each run draws its own.
    pub struct Xpander: "topology" / "xpander", source "Valadarsky, Shahaf, Dinitz, Schapira, CoNEXT 2016" {
        /// Other switches that each is joined with: there is one group more.
        pub degree: u64 = 4, range 1..=1024;
        /// Switches of a group.
        pub lift: u64 = 4, range 1..=4096;
        /// Hosts at each switch.
        pub hosts_per_switch: u64 = 1, range 1..=1024;
        /// Draws the matchings in place of the experiment's seed: the same ones in every repeat.
        pub graph_seed: Option<u64> = None;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

/// Draws until the matchings make one fabric; with few groups some do not.
const DRAWS: u32 = 200;

impl Shape for Xpander {
    fn size(&self) -> Result<Size, Fault> {
        if self.degree == 1 && self.lift > 1 {
            let message = "1 joins the switches in pairs, which are not connected with each other; take at least 2";
            return Err(Fault::new("topology.degree", message));
        }
        let switches = (self.degree + 1) * self.lift;
        let hosts = switches * self.hosts_per_switch;
        Ok(Size {
            hosts,
            switches,
            cables: hosts + switches * self.degree / 2,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, seed: u64) -> Result<Network, Fault> {
        let size = self.size()?;
        let mut random = stream(self.graph_seed.unwrap_or(seed), "topology/xpander");
        let lift = self.lift as u32;
        let mut draw = || {
            let mut edges = Vec::new();
            for b in 1..=self.degree as u32 {
                for a in 0..b {
                    let mut partner: Vec<u32> = (0..lift).collect();
                    random.shuffle(&mut partner);
                    edges.extend(
                        partner
                            .iter()
                            .enumerate()
                            .map(|(i, &p)| (a * lift + i as u32, b * lift + p)),
                    );
                }
            }
            Graph::new(size.switches as usize, edges)
        };
        let Some(graph) = (0..DRAWS).map(|_| draw()).find(|g| g.parts() == 1) else {
            let message =
                format!("{DRAWS} lifts were drawn and none was connected; take a larger degree");
            return Err(Fault::new("topology.degree", message));
        };
        let names: Vec<_> = (0..size.switches)
            .map(|s| (format!("s{s}"), Some((s / self.lift) as u32)))
            .collect();
        let hosts = vec![self.hosts_per_switch; size.switches as usize];
        hosts_on_switches(&self.link, &names, &hosts, &graph.edges, &self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::topology::tests::topology;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn every_switch_has_one_neighbour_in_each_other_group() {
        let network = topology(json!({ "kind": "xpander", "degree": 5, "lift": 7 }))
            .build(2)
            .unwrap();
        assert_eq!(
            (network.hosts, network.links.len() / 2),
            (42, 42 + 42 * 5 / 2)
        );
        for s in 42..84 {
            let pods: BTreeSet<_> = network
                .out(NodeId(s))
                .iter()
                .map(|l| network.links[l.index()].dst)
                .filter(|n| !network.is_host(*n))
                .map(|n| network.nodes[n.index()].pod)
                .collect();
            assert_eq!(pods.len(), 5);
            assert!(!pods.contains(&network.nodes[s as usize].pod));
        }
    }
}
