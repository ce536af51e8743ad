//! Valiant: first to a random switch, from there to the destination.
//!
//! Source: Valiant, SIAM J. Computing 11, 1982: any traffic loads the fabric as random traffic would, for twice the
//! length. Each half is one of its shortest paths, each as likely as the other. The switch between is one with hosts
//! other than the two ends; every pair of ends has several such paths, drawn once, from which packets or connections
//! take theirs. A path may meet a switch twice.

use crate::digraph::Digraph;
use crate::network::Network;
use crate::routes::Routes;
use crate::routing::{Share, Ties, source_routed};

crate::kind! {
    /// Paths over a random intermediate switch; packets carry their path.
    pub struct Valiant: "routing" / "valiant", source "Valiant, SIAM J. Computing 1982" {
        /// Paths of each pair of switches, over as many random ones between; with fewer switches, one over each.
        pub paths: u64 = 16, range 1..=4096;
        /// How a connection gets one of them.
        pub share: Share = Share::Hash;
    }
}

impl Valiant {
    /// One shortest path to each of some random switches, and one on from there.
    pub(super) fn routes(&self, network: &Network, seed: u64) -> Routes {
        let graph = Digraph::of(network);
        let ties = Ties::new(network, seed);
        let mut distances = Vec::new();
        source_routed(network, |from, to, ends| {
            if distances.is_empty() {
                distances = ends.iter().map(|e| graph.distances(&[e.0])).collect();
            }
            let mut random = ties.stream(ends[from], ends[to]);
            let mut between: Vec<usize> = (0..ends.len())
                .filter(|&e| e != from && e != to && !network.is_host(ends[e]))
                .collect();
            random.shuffle(&mut between);
            let mut half = |a: usize, b: usize| {
                graph
                    .shortest(ends[a].0, &distances[b], 1, &mut random)
                    .0
                    .pop()
            };
            let paths: Vec<Vec<u32>> = between
                .into_iter()
                .filter_map(|middle| {
                    let (mut path, rest) = (half(from, middle)?, half(middle, to)?);
                    path.extend(rest);
                    Some(path)
                })
                .take(self.paths as usize)
                .collect();
            // Two ends without a third: the direct way.
            if paths.is_empty() {
                half(from, to).into_iter().collect()
            } else {
                paths
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::kinds::Describe;
    use crate::topology::tests::topology;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn every_path_leads_over_another_switch() {
        // Six switches in a full mesh (a dragonfly of one group): the four others lie between, 2 links in place of 1.
        let table = json!({ "kind": "dragonfly", "a": 6, "p": 1, "h": 1, "groups": 1 });
        let network = topology(table).build(0).unwrap();
        let routes = Valiant::defaults().routes(&network, 1);
        let paths = routes.paths(&network, NodeId(0), NodeId(5));
        let between: BTreeSet<_> = paths
            .iter()
            .map(|p| network.links[p[1].index()].dst)
            .collect();
        assert_eq!((paths.len(), between.len()), (4, 4));
        assert!(paths.iter().all(|p| p.len() == 4));
    }
}
