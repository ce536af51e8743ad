//! A survey of a fabric: how far its hosts are from each other, by how many paths, and how many of these each link
//! carries.
//!
//! Hosts on one switch have the same paths to everybody else, so paths are counted between *ends* (a switch with
//! hosts, or a host with several interfaces) and weighted with the hosts. Next hops are counted without listing paths:
//! those that lead from a node to an end add up over its hops, and those through a link are the ways to it times the
//! ways from it. A table from a file may tell the hosts of a switch apart: then every host is an end.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::digraph::{Digraph, FAR};
use crate::ids::{LinkId, NodeId};
use crate::network::Network;
use crate::routes::Routes;

/// What is found, as lists of (value, how many).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Ordered pairs of different hosts by the links of the shortest path in the graph; `None` is out of reach.
    pub pairs_by_hops: Vec<(Option<u32>, u64)>,
    /// Ordered pairs of different switches by the links between them.
    pub switches_by_distance: Vec<(Option<u32>, u64)>,
    /// Ordered pairs of different hosts by the number of paths that routes offer.
    pub pairs_by_paths: Vec<(u64, u64)>,
    /// Paths that routes offer to pairs of hosts on different ends, by their links; each pair of hosts has its own.
    pub paths_by_hops: Vec<(u32, u64)>,
    /// By link: on how many of the paths between different ends it lies.
    pub paths_on_link: Vec<u64>,
}

/// An end with its hosts that are not cut off.
struct End {
    node: NodeId,
    hosts: u64,
    /// One of them.
    host: NodeId,
}

/// Surveys the network and the routes over it.
pub fn survey(network: &Network, routes: &Routes) -> Survey {
    let ends = ends(network, routes);
    let mut tally = Tally::default();
    graph(network, &mut tally);
    let mut on_link = vec![0_u64; network.links.len()];
    let alive: u64 = ends.iter().map(|e| e.hosts).sum();
    let mut paths = BTreeMap::new();
    let pairs = |n: u64| n * n.saturating_sub(1);
    let cut_off = pairs(network.hosts as u64) - pairs(alive);
    if cut_off > 0 {
        paths.insert(0, cut_off);
    }
    for (to, dst) in ends.iter().enumerate() {
        if dst.hosts > 1 {
            *paths.entry(1).or_insert(0) += pairs(dst.hosts);
        }
        let from = |at: usize| (at != to).then(|| ends[at].hosts * dst.hosts);
        let found: Vec<BTreeMap<u32, u64>> = match &routes.source {
            Some(_) => whole(network, routes, &ends, to, &mut on_link),
            None => hop_by_hop(network, routes, &ends, to, &mut on_link),
        };
        for (at, lengths) in found.iter().enumerate() {
            let Some(weight) = from(at) else { continue };
            let count = lengths.values().fold(0_u64, |a, &b| a.saturating_add(b));
            *paths.entry(count).or_insert(0) += weight;
            for (&length, &count) in lengths {
                let sum = tally.paths_by_hops.entry(length).or_insert(0_u64);
                *sum = sum.saturating_add(count.saturating_mul(weight));
            }
        }
    }
    Survey {
        pairs_by_hops: tally.pairs_by_hops.into_iter().collect(),
        switches_by_distance: tally.switches_by_distance.into_iter().collect(),
        pairs_by_paths: paths.into_iter().collect(),
        paths_by_hops: tally.paths_by_hops.into_iter().collect(),
        paths_on_link: on_link,
    }
}

#[derive(Default)]
struct Tally {
    pairs_by_hops: BTreeMap<Option<u32>, u64>,
    switches_by_distance: BTreeMap<Option<u32>, u64>,
    paths_by_hops: BTreeMap<u32, u64>,
}

/// Distances in the graph, whatever the routes.
fn graph(network: &Network, tally: &mut Tally) {
    let graph = Digraph::of(network);
    let nodes = network.nodes.len();
    let known = |d: u32| (d != FAR).then_some(d);
    for switch in network.hosts..nodes {
        let distance = graph.distances(&[switch as u32]);
        for other in (network.hosts..nodes).filter(|&o| o != switch) {
            *tally
                .switches_by_distance
                .entry(known(distance[other]))
                .or_insert(0) += 1;
        }
    }
    // Hosts with one link to one switch, both directions up, are equally far from everybody else.
    let mut alike = BTreeMap::<NodeId, (NodeId, u64)>::new();
    for host in network.host_ids() {
        let key = match network.out(host) {
            [one] if is_up(network, *one) => network.links[one.index()].dst,
            _ => host,
        };
        alike.entry(key).or_insert((host, 0)).1 += 1;
    }
    for &(dst, targets) in alike.values() {
        let distance = graph.distances(&[dst.0]);
        for &(src, sources) in alike.values() {
            if src != dst {
                *tally
                    .pairs_by_hops
                    .entry(known(distance[src.index()]))
                    .or_insert(0) += sources * targets;
            }
        }
        if targets > 1 {
            *tally.pairs_by_hops.entry(Some(2)).or_insert(0) += targets * (targets - 1);
        }
    }
}

fn is_up(network: &Network, link: LinkId) -> bool {
    network.links[link.index()].is_up && network.links[link.reverse().index()].is_up
}

fn ends(network: &Network, routes: &Routes) -> Vec<End> {
    let mut found: Vec<End> = Vec::new();
    let mut number = BTreeMap::new();
    for host in network.host_ids() {
        let node = match network.out(host) {
            [one] if network.is_host(network.links[one.index()].dst) => host,
            [one] if !is_up(network, *one) => continue,
            [one] if !routes.tells_hosts_apart => network.links[one.index()].dst,
            _ => host,
        };
        let at = *number.entry(node).or_insert(found.len());
        if at == found.len() {
            found.push(End {
                node,
                hosts: 0,
                host,
            });
        }
        found[at].hosts += 1;
    }
    found
}

/// Links that a path has beside those between its ends.
fn outside(network: &Network, end: &End) -> u32 {
    u32::from(!network.is_host(end.node))
}

/// The whole paths of every end to one: lengths from host to host and how many.
fn whole(
    network: &Network,
    routes: &Routes,
    ends: &[End],
    to: usize,
    on_link: &mut [u64],
) -> Vec<BTreeMap<u32, u64>> {
    let source = routes.source.as_ref().expect("routes of whole paths");
    ends.iter()
        .enumerate()
        .map(|(at, end)| {
            let mut lengths = BTreeMap::new();
            if at == to {
                return lengths;
            }
            for &start in source.starts(end.host, ends[to].host) {
                let mut length = outside(network, end) + outside(network, &ends[to]);
                for link in source.path(start) {
                    length += 1;
                    on_link[link.index()] += 1;
                }
                *lengths.entry(length).or_insert(0) += 1;
            }
            lengths
        })
        .collect()
}

/// The paths that next hops make from every end to one.
fn hop_by_hop(
    network: &Network,
    routes: &Routes,
    ends: &[End],
    to: usize,
    on_link: &mut [u64],
) -> Vec<BTreeMap<u32, u64>> {
    let dst = &ends[to];
    let next = |node: NodeId| {
        let hops = if node == dst.node {
            &[][..]
        } else {
            routes.next_hops(node, dst.host)
        };
        hops.iter().map(|&l| (l, network.links[l.index()].dst))
    };
    // Nodes in an order in which each comes after all that its hops lead to.
    let mut order: Vec<NodeId> = Vec::new();
    let mut is_known = vec![false; network.nodes.len()];
    for end in ends {
        let mut stack = vec![(end.node, false)];
        while let Some((node, is_done)) = stack.pop() {
            if is_done {
                order.push(node);
            } else if !std::mem::replace(&mut is_known[node.index()], true) {
                stack.push((node, true));
                stack.extend(
                    next(node)
                        .map(|(_, n)| (n, false))
                        .filter(|(n, _)| !is_known[n.index()]),
                );
            }
        }
    }
    let mut ways = vec![BTreeMap::<u32, u64>::new(); network.nodes.len()];
    ways[dst.node.index()].insert(0, 1);
    for &node in order.iter().filter(|&&n| n != dst.node) {
        let mut sum = BTreeMap::new();
        for (_, after) in next(node) {
            for (&length, &count) in &ways[after.index()] {
                let all = sum.entry(length + 1).or_insert(0_u64);
                *all = all.saturating_add(count);
            }
        }
        ways[node.index()] = sum;
    }
    let total = |n: NodeId| {
        ways[n.index()]
            .values()
            .fold(0_u64, |a, &b| a.saturating_add(b))
    };
    let mut here = vec![0_u64; network.nodes.len()];
    for end in ends.iter().filter(|e| e.node != dst.node) {
        here[end.node.index()] = 1;
    }
    for &node in order.iter().rev() {
        let so_far = here[node.index()];
        for (link, after) in next(node) {
            let through = so_far.saturating_mul(total(after));
            on_link[link.index()] = on_link[link.index()].saturating_add(through);
            here[after.index()] = here[after.index()].saturating_add(so_far);
        }
    }
    let beside = outside(network, dst);
    ends.iter()
        .map(|end| {
            let more = beside + outside(network, end);
            ways[end.node.index()]
                .iter()
                .map(|(&l, &n)| (l + more, n))
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Routing;
    use crate::topology::tests::topology;
    use serde_json::{Value, json};

    fn surveyed(fabric: Value, routing: Value) -> (Network, Survey) {
        let network = topology(fabric).build(1).unwrap();
        let routes = Routing::from_table(routing.as_object().unwrap())
            .unwrap()
            .routes(&network, 1)
            .unwrap();
        let found = survey(&network, &routes);
        (network, found)
    }

    #[test]
    fn a_fat_tree_has_the_textbook_counts_under_any_routing() {
        // Of 15 others 1, 2 and 12 are at 2, 4 and 6 links, over 1, 2 and 4 paths. 8 edge switches: 8 x 1 pairs with 2
        // paths of 4 links between hosts, 8 x 6 with 4 of 6; each for 2 x 2 hosts.
        for routing in ["shortest", "all_shortest"] {
            let (network, found) =
                surveyed(json!({ "kind": "fat_tree" }), json!({ "kind": routing }));
            assert_eq!(
                found.pairs_by_hops,
                [(Some(2), 16), (Some(4), 32), (Some(6), 192)]
            );
            assert_eq!(found.pairs_by_paths, [(1, 16), (2, 32), (4, 192)]);
            assert_eq!(found.paths_by_hops, [(4, 8 * 2 * 4), (6, 48 * 4 * 4)]);
            // An uplink of an edge switch: 1 path to its neighbour, and 2 of 4 to each of 6 others.
            let uplink = |l: &usize| network.link_name(LinkId::from(*l)) == "se00>sa00";
            let at = (0..network.links.len()).find(uplink).unwrap();
            assert_eq!(found.paths_on_link[at], 1 + 6 * 2);
        }
    }

    #[test]
    fn the_k_shortest_are_counted_as_they_are() {
        let (network, found) = surveyed(
            json!({ "kind": "ring", "switches": 5 }),
            json!({ "kind": "k_shortest", "k": 2 }),
        );
        // Both ways round for each of 20 pairs: 1 + 4 or 2 + 3 links, and two to the hosts. A link lies on half of 20
        // x 2 x 5 / 2 / 5.
        assert_eq!(found.paths_by_hops, [(3, 10), (4, 10), (5, 10), (6, 10)]);
        assert_eq!(found.pairs_by_paths, [(2, 20)]);
        assert_eq!(found.switches_by_distance, [(Some(1), 10), (Some(2), 10)]);
        for (l, &n) in found.paths_on_link.iter().enumerate() {
            let is_switches =
                !network.is_host(network.links[l].src) && !network.is_host(network.links[l].dst);
            assert_eq!(n, if is_switches { 10 } else { 0 });
        }
    }

    #[test]
    fn hosts_behind_a_dead_link_have_no_path() {
        let table = json!({ "kind": "star", "hosts": 4, "overrides": [{ "links": "h0>s", "failed": true }] });
        let (_, found) = surveyed(table, json!({ "kind": "shortest" }));
        assert_eq!(found.pairs_by_paths, [(0, 6), (1, 6)]);
        // Towards it the way is open.
        assert_eq!(found.pairs_by_hops, [(None, 3), (Some(2), 9)]);
    }
}
