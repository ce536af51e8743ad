//! k shortest paths: the shortest ones without a loop, equally long or not.
//!
//! Source: Yen 1971 (`yen.rs`); as routing of a Jellyfish Singla et al., NSDI 2012, section 5. Paths are computed for
//! each pair of switches with hosts and carried as source routes.
//!
//! Which of equally long paths belong to the k matters: at the flow level 8 subflows on a Jellyfish of 245 switches
//! get 0.85 of their rate where every pair draws its own, and less where all pairs prefer the same switches. Both are
//! offered.

use crate::digraph::Digraph;
use crate::network::Network;
use crate::routes::Routes;
use crate::routing::{Share, Ties, source_routed};
use crate::yen::Search;

crate::choice! {
    /// Which of equally long paths come first.
    pub enum Order {
        /// Every pair of switches draws, from a stream of the experiment's seed.
        Drawn = "drawn",
        /// Those over the switches that come first in the topology: as programs do that compare the paths themselves.
        Numbered = "numbered",
    }
}

crate::kind! {
    /// The k shortest loopless paths between any two switches with hosts; packets carry their path.
    pub struct KShortest: "routing" / "k_shortest", source "Yen, Management Science 1971; Singla et al., NSDI 2012" {
        /// Paths of each pair; where fewer exist all of them are used, with a warning.
        pub k: u64 = 8, range 1..=1024;
        /// Which of equally long paths come first.
        pub ties: Order = Order::Drawn;
        /// How a connection gets one of them.
        pub share: Share = Share::Hash;
    }
}

impl KShortest {
    /// Yen's algorithm between all pairs.
    pub(super) fn routes(&self, network: &Network, seed: u64) -> Routes {
        let graph = Digraph::of(network);
        let ties = Ties::new(network, seed);
        let mut search = Search::new(&graph);
        let (mut pairs, mut short, mut fewest) = (0_u64, 0_u64, self.k);
        let mut distances = Vec::new();
        let mut routes = source_routed(network, |from, to, ends| {
            if distances.is_empty() {
                distances = ends.iter().map(|e| graph.distances(&[e.0])).collect();
            }
            let (src, dst) = (ends[from], ends[to]);
            let mut random = ties.stream(src, dst);
            let random = (self.ties == Order::Drawn).then_some(&mut random);
            let paths = search.paths(src.0, dst.0, self.k as usize, &distances[to], random);
            let found = paths.len() as u64;
            pairs += 1;
            short += u64::from(found < self.k);
            fewest = fewest.min(found);
            paths
        });
        if short > 0 {
            routes.warnings.push(format!(
                "routing.k = {}: {short} of {pairs} pairs of switches have fewer loopless paths (the least {fewest}); all that exist are used",
                self.k
            ));
        }
        routes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::kinds::Describe;
    use crate::topology::tests::topology;
    use serde_json::json;

    #[test]
    fn a_fat_tree_has_its_shortest_paths_first() {
        // k = 4, between pods: 4 paths over the cores and nothing else as short.
        let network = topology(json!({ "kind": "fat_tree" })).build(0).unwrap();
        let routes = KShortest {
            k: 5,
            ..KShortest::defaults()
        }
        .routes(&network, 1);
        let lengths: Vec<_> = routes
            .paths(&network, NodeId(0), NodeId(15))
            .iter()
            .map(Vec::len)
            .collect();
        assert_eq!(lengths, [6, 6, 6, 6, 8]);
        // Under one switch there is one way, and it is no pair of switches.
        assert_eq!(routes.paths(&network, NodeId(0), NodeId(1)).len(), 1);
        assert!(routes.warnings.is_empty());
    }

    #[test]
    fn fewer_paths_than_asked_for_are_said() {
        let network = topology(json!({ "kind": "ring", "switches": 5 }))
            .build(0)
            .unwrap();
        let routes = KShortest {
            k: 3,
            ..KShortest::defaults()
        }
        .routes(&network, 1);
        assert_eq!(
            routes.warnings,
            [
                "routing.k = 3: 20 of 20 pairs of switches have fewer loopless paths (the least 2); all that exist are used"
            ]
        );
        let lengths = |dst| {
            routes
                .paths(&network, NodeId(0), NodeId(dst))
                .iter()
                .map(Vec::len)
                .collect::<Vec<_>>()
        };
        assert_eq!((lengths(1), lengths(2)), (vec![3, 6], vec![4, 5]));
    }

    #[test]
    fn eight_paths_of_all_pairs_of_a_large_jellyfish_fit() {
        // 245 switches of 14 ports, 686 hosts: all 245 have some. 245 x 244 x 8 paths, of 3 or 4 links each and their end,
        // 4 bytes a link: some 10 MB; with where they begin 12 MB. benches/routes.py measures the time.
        let table = json!({ "kind": "jellyfish", "hosts": 686, "switches": 245, "ports": 14 });
        let network = topology(table).build(1).unwrap();
        let routes = KShortest::defaults().routes(&network, 1);
        assert!(routes.warnings.is_empty(), "{:?}", routes.warnings);
        let source = routes.source.as_ref().unwrap();
        let ends = source.ends().len();
        assert_eq!(ends, 245);
        let pairs = (0..ends).flat_map(|a| (0..ends).map(move |b| (a, b)));
        let paths: usize = pairs.map(|(a, b)| source.between(a, b).len()).sum();
        assert_eq!(paths, 245 * 244 * 8 + 245);
        assert!(
            routes.memory_bytes() < 15_000_000,
            "{}",
            routes.memory_bytes()
        );
    }

    #[test]
    fn a_host_with_two_interfaces_has_paths_over_both() {
        let network = topology(json!({ "kind": "two_paths", "shared_router": false }))
            .build(0)
            .unwrap();
        let routes = KShortest {
            k: 2,
            ..KShortest::defaults()
        }
        .routes(&network, 1);
        let names: Vec<Vec<_>> = routes
            .paths(&network, NodeId(0), NodeId(1))
            .iter()
            .map(|p| p.iter().map(|&l| network.link_name(l)).collect())
            .collect();
        assert!(
            names.contains(&vec!["client>p0".to_owned(), "p0>server".to_owned()]),
            "{names:?}"
        );
        assert!(
            names.contains(&vec!["client>p1".to_owned(), "p1>server".to_owned()]),
            "{names:?}"
        );
    }
}
