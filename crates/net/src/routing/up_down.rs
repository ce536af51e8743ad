//! Up*/down*: paths that go away from the leaves first, and never up again once they went down: no deadlock.
//!
//! Source: Schroeder et al., Autonet, IEEE JSAC 9, 1991. Every switch has a rank: a link is up if it leads to the
//! lower rank (of equals, to the switch that comes first). In a layered fabric, where every cable joins two levels,
//! the top level ranks first, so that a fat tree keeps all its paths; elsewhere, or where a root is named, the rank is
//! the distance from the root. All shortest paths under that rule are used; they can be longer than the shortest of
//! all.

use crate::digraph::{Arc, Digraph};
use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;
use crate::routes::Routes;
use crate::routing::{Many, Share, Ties, source_routed};

crate::kind! {
    /// Shortest paths that never go up after they went down; packets carry their path.
    pub struct UpDown: "routing" / "up_down", source "Schroeder et al., IEEE JSAC 1991" {
/// Name of the switch at the root; left out, a layered fabric is ranked by its levels, and any other from the switch
        /// with most links.
        pub root: Option<String> = None;
        /// Paths of each pair; of more, so many are drawn, with a warning.
        pub most: u64 = 64, range 1..=4096;
        /// How a connection gets one of them.
        pub share: Share = Share::Hash;
    }
}

impl UpDown {
    /// All shortest paths in the graph of (node, whether the path has gone down).
    ///
    /// # Errors
    /// `routing.root`: no such switch.
    pub(super) fn routes(&self, network: &Network, seed: u64) -> Result<Routes, Fault> {
        let depth = self.depths(network)?;
        let rank = |n: NodeId| (depth[n.index()], n);
        let mut steps = Vec::with_capacity(2 * network.nodes.len());
        for node in (0..network.nodes.len()).map(NodeId::from) {
            for has_descended in [false, true] {
                let step = |&link: &crate::ids::LinkId| {
                    let to = network.links[link.index()].dst;
                    // A host is below its switch, whatever the depths.
                    let is_up =
                        network.is_host(node) || (!network.is_host(to) && rank(to) < rank(node));
                    let may = network.links[link.index()].is_up && !(is_up && has_descended);
                    may.then_some(Arc {
                        to: 2 * to.0 + u32::from(!is_up),
                        link: link.0,
                    })
                };
                steps.push(network.out(node).iter().filter_map(step).collect());
            }
        }
        let forwards = (0..steps.len())
            .map(|s| !network.is_host(NodeId::from(s / 2)))
            .collect();
        let graph = Digraph::new(steps, forwards);
        let ties = Ties::new(network, seed);
        let mut many = Many::default();
        let mut distances = Vec::new();
        let mut routes = source_routed(network, |from, to, ends| {
            if distances.is_empty() {
                distances = ends
                    .iter()
                    .map(|e| graph.distances(&[2 * e.0, 2 * e.0 + 1]))
                    .collect();
            }
            let mut random = ties.stream(ends[from], ends[to]);
            let (paths, all) =
                graph.shortest(2 * ends[from].0, &distances[to], self.most, &mut random);
            many.note(all, self.most);
            paths
        });
        routes.warnings.extend(many.warning(self.most));
        Ok(routes)
    }

    /// How far below the top every node is.
    fn depths(&self, network: &Network) -> Result<Vec<u32>, Fault> {
        let level = |n: NodeId| network.nodes[n.index()].level;
        let is_layered = network.links.iter().all(|l| level(l.src) != level(l.dst));
        let mut switches = (network.hosts..network.nodes.len()).map(NodeId::from);
        let root = match &self.root {
            None if is_layered => {
                let top = switches.map(level).max().unwrap_or(0);
                return Ok(network
                    .nodes
                    .iter()
                    .map(|n| top.saturating_sub(n.level))
                    .collect());
            }
            None => switches.max_by_key(|&n| (network.out(n).len(), std::cmp::Reverse(n))),
            Some(name) => switches.find(|n| network.nodes[n.index()].name == *name),
        };
        let Some(root) = root else {
            let name = self.root.as_deref().unwrap_or_default();
            let example = network
                .nodes
                .get(network.hosts)
                .map_or("none", |n| n.name.as_str());
            let message = format!("{name:?} is no switch; one of them is called {example}");
            return Err(Fault::new("routing.root", message));
        };
        Ok(Digraph::of(network).distances(&[root.0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Describe;
    use crate::topology::tests::topology;
    use serde_json::json;

    #[test]
    fn in_a_fat_tree_they_are_the_shortest() {
        let network = topology(json!({ "kind": "fat_tree" })).build(0).unwrap();
        let routes = UpDown::defaults().routes(&network, 1).unwrap();
        for (dst, paths, hops) in [(1, 1, 2), (3, 2, 4), (15, 4, 6)] {
            let found = routes.paths(&network, NodeId(0), NodeId(dst));
            assert_eq!((found.len(), found[0].len()), (paths, hops));
        }
    }

    #[test]
    fn a_ring_is_cut_opposite_its_root() {
        // Five switches, root s0: ranks s0 < s1 < s4 < s2 < s3 by depth 0, 1, 1, 2, 2. From s2 the link to s3 leads
        // down, and from s3 nothing leads down any more: to s4 the way is s2 s1 s0 s4, not s2 s3 s4.
        let network = topology(json!({ "kind": "ring", "switches": 5 }))
            .build(0)
            .unwrap();
        let routes = UpDown {
            root: Some("s0".into()),
            ..UpDown::defaults()
        }
        .routes(&network, 1)
        .unwrap();
        let names = |src, dst| -> Vec<Vec<String>> {
            let paths = routes.paths(&network, NodeId(src), NodeId(dst));
            paths
                .iter()
                .map(|p| p.iter().map(|&l| network.link_name(l)).collect())
                .collect()
        };
        assert_eq!(
            names(2, 4),
            [["h2_0>s2", "s2>s1", "s1>s0", "s0>s4", "s4>h4_0"]]
        );
        assert_eq!(names(2, 3), [["h2_0>s2", "s2>s3", "s3>h3_0"]]);
    }

    #[test]
    fn an_unknown_root_is_refused() {
        let network = topology(json!({ "kind": "ring" })).build(0).unwrap();
        let fault = UpDown {
            root: Some("x".into()),
            ..UpDown::defaults()
        }
        .routes(&network, 1)
        .unwrap_err();
        assert_eq!(
            fault.to_string(),
            "routing.root: \"x\" is no switch; one of them is called s0"
        );
    }
}
