//! What routes offer a pair of hosts: its paths one by one, and how packets that are balanced perfectly divide over links.
//!
//! A perfect spread is what per-packet balancing comes to in the long run: every node divides equally over its next hops;
//! where packets carry whole paths, over these. It is what a flow that was hashed is compared with.

use std::collections::BTreeMap;

use crate::ids::{LinkId, NodeId};
use crate::scenario::Scenario;

impl Scenario {
    /// The links that packets from `src` to `dst` can take, each with the share of them that crosses it, by link. Empty
    /// where there is no way. The shares of the links into `dst` add up to 1.
    pub fn spread(&self, src: NodeId, dst: NodeId) -> Vec<(LinkId, f64)> {
        let mut shares = BTreeMap::<LinkId, f64>::new();
        if self.routes.source.is_some() {
            let paths = self.routes.paths(&self.network, src, dst);
            for &link in paths.iter().flatten() {
                *shares.entry(link).or_insert(0.0) += 1.0 / paths.len() as f64;
            }
            return shares.into_iter().collect();
        }
        // Routes never loop, so that nodes form layers: what arrives at one layer goes on to the next.
        let mut layer = BTreeMap::from([(src, 1.0)]);
        while !layer.is_empty() {
            let mut next = BTreeMap::new();
            for (node, share) in layer {
                let hops = if node == dst {
                    &[][..]
                } else {
                    self.routes.next_hops(node, dst)
                };
                for &link in hops {
                    let part: f64 = share / hops.len() as f64;
                    *shares.entry(link).or_insert(0.0) += part;
                    *next
                        .entry(self.network.links[link.index()].dst)
                        .or_insert(0.0) += part;
                }
            }
            layer = next;
        }
        shares.into_iter().collect()
    }

    /// The paths that routes offer from `src` to `dst`, at most `most` of them, in the order of their next hops.
    pub fn offered_paths(&self, src: NodeId, dst: NodeId, most: usize) -> Vec<Vec<LinkId>> {
        if self.routes.source.is_some() {
            let mut paths = self.routes.paths(&self.network, src, dst);
            paths.truncate(most);
            return paths;
        }
        let mut found = Vec::new();
        let mut path = Vec::new();
        // By link of `path`: the hops that are still to be tried instead of it.
        let mut left = vec![self.routes.next_hops(src, dst)];
        while let Some(hops) = left.last_mut() {
            let Some((&link, rest)) = hops.split_first() else {
                left.pop();
                path.pop();
                continue;
            };
            *hops = rest;
            path.push(link);
            let node = self.network.links[link.index()].dst;
            if node == dst {
                found.push(path.clone());
                path.pop();
                if found.len() == most {
                    break;
                }
            } else {
                left.push(self.routes.next_hops(node, dst));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::ids::NodeId;
    use crate::scenario::Scenario;
    use crate::scenario::tests::build;

    fn fat_tree(routing: &str) -> Scenario {
        build(json!({
            "topology": { "kind": "fat_tree" },
            "routing": { "kind": routing },
            "workload": [{ "kind": "pairs", "pairs": ["h000>h110"], "size": 1 }],
        }))
        .unwrap()
    }

    #[test]
    fn a_fat_tree_of_four_spreads_over_two_and_four_links() {
        // Between pods: 1 link to the edge, 2 up, 4 to the cores, 4 down, 2 down, 1 to the host; 4 paths.
        for routing in ["shortest", "all_shortest"] {
            let scenario = fat_tree(routing);
            let (src, dst) = (scenario.flows[0].src, scenario.flows[0].dst);
            let mut shares: Vec<f64> = scenario.spread(src, dst).iter().map(|s| s.1).collect();
            shares.sort_by(f64::total_cmp);
            let mut expected = vec![0.25; 8];
            expected.extend([0.5, 0.5, 0.5, 0.5, 1.0, 1.0]);
            assert_eq!(shares, expected, "{routing}");
            let paths = scenario.offered_paths(src, dst, 100);
            assert_eq!(paths.len(), 4);
            let own = scenario
                .flow_path(crate::ids::FlowId(0))
                .expect("a path of its own");
            assert!(paths.contains(&own) && paths.iter().all(|p| p.len() == 6));
            assert_eq!(scenario.offered_paths(src, dst, 3), paths[..3]);
        }
    }

    #[test]
    fn a_host_has_no_way_to_itself() {
        let scenario = fat_tree("shortest");
        assert_eq!(scenario.spread(NodeId(0), NodeId(0)), []);
    }
}
