//! Paths of a fabric, counted: how many shortest ones two hosts have, how long they are.
//!
//! Pure functions of network and routes, for `weft topology` and the oracles.

use std::collections::BTreeMap;

use crate::ids::NodeId;
use crate::network::Network;
use crate::routes::Routes;

/// Links on the way from `src` to `dst`; `None` if there is no way. All equal-cost paths are equally long.
///
/// ```
/// # use weft_net::{ids::NodeId, kinds::Describe, paths, routing::shortest::Shortest, topology::fat_tree::FatTree, topology::Shape};
/// let network = FatTree::defaults().build(0)?;
/// let routes = Shortest::defaults().routes(&network)?;
/// assert_eq!(paths::hops(&network, &routes, NodeId(0), NodeId(15)), Some(6));
/// # Ok::<(), weft_net::error::Fault>(())
/// ```
pub fn hops(network: &Network, routes: &Routes, src: NodeId, dst: NodeId) -> Option<u32> {
    let mut node = src;
    let mut count = 0;
    while node != dst {
        let &link = routes.next_hops(node, dst).first()?;
        node = network.links[link.index()].dst;
        count += 1;
    }
    Some(count)
}

/// Number of paths from `src` to `dst` that the routes offer; 0 if there is no way, and at most 2^64 - 1. Of whole paths, so
/// many different ones.
///
/// Next hops never loop, so that the paths form layers: the counts of one layer add up in the next.
pub fn path_count(network: &Network, routes: &Routes, src: NodeId, dst: NodeId) -> u64 {
    if routes.source.is_some() {
        let mut paths = routes.paths(network, src, dst);
        paths.sort_unstable();
        paths.dedup();
        return paths.len() as u64;
    }
    let (mut layer, mut next) = (vec![(src, 1_u64)], Vec::new());
    let mut arrived = 0_u64;
    while !layer.is_empty() {
        for &(node, count) in &layer {
            if node == dst {
                arrived = arrived.saturating_add(count);
                continue;
            }
            let hops = routes.next_hops(node, dst).iter();
            next.extend(hops.map(|link| (network.links[link.index()].dst, count)));
        }
        next.sort_unstable();
        layer.clear();
        for (node, count) in next.drain(..) {
            match layer.last_mut() {
                Some((last, sum)) if *last == node => *sum = sum.saturating_add(count),
                _ => layer.push((node, count)),
            }
        }
    }
    arrived
}

/// Number of ordered pairs of different hosts by the length of their paths; `None` is out of reach.
///
/// Hosts with one link to the same switch are equally far from everybody else, so one of them speaks for all.
pub fn pairs_by_hops(network: &Network, routes: &Routes) -> BTreeMap<Option<u32>, u64> {
    let mut alike = BTreeMap::<_, (NodeId, u64)>::new();
    for host in network.host_ids() {
        let key = match network.out(host) {
            // A host behind a failed link, in either direction, speaks for itself.
            [one]
                if network.links[one.index()].is_up
                    && network.links[one.reverse().index()].is_up =>
            {
                (network.links[one.index()].dst, false)
            }
            _ => (host, true),
        };
        alike.entry(key).or_insert((host, 0)).1 += 1;
    }
    let mut pairs = BTreeMap::new();
    for (key, &(src, sources)) in &alike {
        for (other, &(dst, targets)) in &alike {
            if key != other {
                *pairs.entry(hops(network, routes, src, dst)).or_insert(0) += sources * targets;
            }
        }
        if sources > 1 {
            *pairs.entry(Some(2)).or_insert(0) += sources * (sources - 1);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Describe;
    use crate::routing::shortest::Shortest;
    use crate::topology::Topology;

    fn fat_tree(k: u64) -> (Network, Routes) {
        let table = serde_json::json!({ "kind": "fat_tree", "k": k });
        let network = Topology::from_table(table.as_object().unwrap())
            .unwrap()
            .build(0)
            .unwrap();
        let routes = Shortest::defaults().routes(&network).unwrap();
        (network, routes)
    }

    /// Percent of host pairs at 2, 4 and 6 hops, in thousandths.
    fn shares(network: &Network, routes: &Routes) -> Vec<u64> {
        let pairs = pairs_by_hops(network, routes);
        let all: u64 = pairs.values().sum();
        assert_eq!(all, (network.hosts * (network.hosts - 1)) as u64);
        [2, 4, 6]
            .map(|h| (pairs[&Some(h)] as f64 / all as f64 * 1e5).round() as u64)
            .to_vec()
    }

    #[test]
    fn a_fat_tree_has_the_textbook_counts() {
        // Oracle 5: k^3/4 hosts, 5k^2/4 switches, 3k^3/4 cables, (k/2)^2 paths between pods.
        // k=4: of 15 others 1 shares the edge (6.667 %), 2 the pod (13.333 %), 12 are elsewhere (80 %).
        let (network, routes) = fat_tree(4);
        assert_eq!(
            (
                network.hosts,
                network.nodes.len() - 16,
                network.links.len() / 2
            ),
            (16, 20, 48)
        );
        assert_eq!(path_count(&network, &routes, NodeId(0), NodeId(15)), 4);
        assert_eq!(path_count(&network, &routes, NodeId(0), NodeId(3)), 2);
        assert_eq!(path_count(&network, &routes, NodeId(0), NodeId(1)), 1);
        assert_eq!(shares(&network, &routes), [6_667, 13_333, 80_000]);
    }

    #[test]
    fn whole_paths_are_counted_as_the_routing_offers_them() {
        // k = 4: between pods four paths are shortest, and k_shortest offers as many as it is asked for.
        let (network, _) = fat_tree(4);
        let offered = |table: serde_json::Value| {
            let routing = crate::routing::Routing::from_table(table.as_object().unwrap()).unwrap();
            let routes = routing.routes(&network, 1).unwrap();
            [1, 3, 15].map(|dst| path_count(&network, &routes, NodeId(0), NodeId(dst)))
        };
        let json = |kind: &str, k: u64| serde_json::json!({ "kind": kind, "k": k });
        assert_eq!(
            offered(serde_json::json!({ "kind": "shortest" })),
            [1, 2, 4]
        );
        assert_eq!(offered(json("k_shortest", 3)), [1, 3, 3]);
        assert_eq!(offered(json("k_shortest", 7)), [1, 7, 7]);
        assert_eq!(
            offered(serde_json::json!({ "kind": "all_shortest" })),
            [1, 2, 4]
        );
    }

    #[test]
    fn so_has_one_of_fourteen_ports() {
        // Of 685 others 6 share the edge (0.876 %), 42 the pod (6.131 %), 637 are elsewhere (92.993 %).
        let (network, routes) = fat_tree(14);
        assert_eq!(
            (
                network.hosts,
                network.nodes.len() - 686,
                network.links.len() / 2
            ),
            (686, 245, 2058)
        );
        assert_eq!(path_count(&network, &routes, NodeId(0), NodeId(685)), 49);
        assert_eq!(shares(&network, &routes), [876, 6_131, 92_993]);
    }

    #[test]
    fn a_large_fat_tree_fits() {
        // k=32: 8192 hosts, 1280 switches, 49,152 directed links. Rows: one of all hosts, 512 edges, 32 pods, one of all
        // cores; with blocks of a pod (256 hosts) 546 x 32 entries of 4 bytes, 0.07 MB, and per edge a block of 1 kB.
        // Beside these 49,152 ports of 4 bytes and 9472 nodes of 8: less than a megabyte.
        let (network, routes) = fat_tree(32);
        assert_eq!(
            (
                network.hosts,
                network.nodes.len() - 8192,
                network.links.len()
            ),
            (8192, 1280, 49_152)
        );
        assert!(
            routes.memory_bytes() < 2_000_000,
            "{}",
            routes.memory_bytes()
        );
        assert_eq!(path_count(&network, &routes, NodeId(0), NodeId(8191)), 256);
    }
}
