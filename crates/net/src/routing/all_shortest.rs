//! All shortest paths, each as likely as the other.
//!
//! `shortest` chooses hop by hop, so that a path's share depends on how many ways each switch on it has; where the
//! fabric is irregular the shares differ. Here the whole path is chosen at once and carried as a source route.

use crate::digraph::Digraph;
use crate::network::Network;
use crate::routes::Routes;
use crate::routing::{Many, Share, Ties, source_routed};

crate::kind! {
    /// All shortest paths between any two switches with hosts, chosen whole; packets carry their path.
    pub struct AllShortest: "routing" / "all_shortest", source "" {
        /// Paths of each pair; of more, so many are drawn, with a warning.
        pub most: u64 = 64, range 1..=4096;
        /// How a connection gets one of them.
        pub share: Share = Share::Hash;
    }
}

impl AllShortest {
    /// All paths on which every hop comes closer.
    pub(super) fn routes(&self, network: &Network, seed: u64) -> Routes {
        let graph = Digraph::of(network);
        let ties = Ties::new(network, seed);
        let mut many = Many::default();
        let mut distances = Vec::new();
        let mut routes = source_routed(network, |from, to, ends| {
            if distances.is_empty() {
                distances = ends.iter().map(|e| graph.distances(&[e.0])).collect();
            }
            let mut random = ties.stream(ends[from], ends[to]);
            let (paths, all) = graph.shortest(ends[from].0, &distances[to], self.most, &mut random);
            many.note(all, self.most);
            paths
        });
        routes.warnings.extend(many.warning(self.most));
        routes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::kinds::Describe;
    use crate::paths::path_count;
    use crate::topology::tests::topology;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn they_are_as_many_as_the_tables_offer() {
        let network = topology(json!({ "kind": "torus", "dimensions": [4, 4] }))
            .build(0)
            .unwrap();
        let routes = AllShortest::defaults().routes(&network, 1);
        for dst in network.host_ids().skip(1) {
            let paths = routes.paths(&network, NodeId(0), dst);
            assert_eq!(
                paths.len() as u64,
                path_count(&network, &routes, NodeId(0), dst)
            );
            assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len());
        }
        // Opposite corners of a 4 x 4 torus: two steps each way round: 4 x C(4, 2) = 24.
        assert_eq!(routes.paths(&network, NodeId(0), NodeId(10)).len(), 24);
    }

    #[test]
    fn of_too_many_some_are_drawn_and_that_is_said() {
        let network = topology(json!({ "kind": "mesh", "dimensions": [5, 5] }))
            .build(0)
            .unwrap();
        let routes = AllShortest {
            most: 20,
            ..AllShortest::defaults()
        }
        .routes(&network, 1);
        // From corner to corner: C(8, 4) = 70.
        let paths = routes.paths(&network, NodeId(0), NodeId(24));
        assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), 20);
        assert!(paths.iter().all(|p| p.len() == 10));
        // From (0, 0) 20 ways lead to (3, 3), which is not too many; C(7, 3) = 35 to (3, 4) and (4, 3). A pair is as far
        // apart as some corner of a 5 x 5 mesh: 4 x 1 at (4, 4), 2 x 2 x 4 at (4, 3) or (3, 4).
        assert_eq!(
            routes.warnings,
            [
                "routing.most = 20: 20 of 600 pairs of switches have more shortest paths (up to 70); so many of them were drawn"
            ]
        );
    }
}
