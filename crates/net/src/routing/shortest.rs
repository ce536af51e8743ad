//! Shortest paths: all equal-cost next hops by hop count.
//!
//! Source: RFC 2992 names the multipath; the search is breadth-first from the switches of the destination. Links that
//! are down are avoided in their own direction only; hosts never forward.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;
use crate::route_builder::{self, UNREACHABLE};
use crate::routes::Routes;

crate::kind! {
    /// All shortest paths by number of hops; links that are down are avoided.
    pub struct Shortest: "routing" / "shortest", source "RFC 2992 (equal-cost multipath)" {
    }
}

impl Shortest {
    /// Breadth-first search from the switches of every group of hosts.
    ///
    /// # Errors
    /// None: an unreachable host has no next hops.
    pub fn routes(&self, network: &Network) -> Result<Routes, Fault> {
        Ok(tables(network))
    }
}

/// The tables of all shortest paths.
pub(super) fn tables(network: &Network) -> Routes {
    let into = switches_into(network);
    let mut queue: Vec<u32> = Vec::with_capacity(network.nodes.len());
    route_builder::routes(network, |roots, distance| {
        queue.clear();
        for root in roots {
            distance[root.index()] = 0;
            queue.push(root.0);
        }
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            let further = distance[node as usize] + 1;
            for &before in &into.switches
                [into.start[node as usize] as usize..into.start[node as usize + 1] as usize]
            {
                if distance[before as usize] == UNREACHABLE {
                    distance[before as usize] = further;
                    queue.push(before);
                }
            }
        }
    })
}

/// For every node the switches that have a link to it that is up, node by node.
struct Into {
    start: Vec<u32>,
    switches: Vec<u32>,
}

fn switches_into(network: &Network) -> Into {
    let mut into = Into {
        start: vec![0],
        switches: Vec::new(),
    };
    for node in 0..network.nodes.len() {
        for link in network.out(NodeId::from(node)) {
            let back = &network.links[link.reverse().index()];
            if back.is_up && !network.is_host(back.src) {
                into.switches.push(back.src.0);
            }
        }
        into.start.push(into.switches.len() as u32);
    }
    into
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::LinkId;
    use crate::kinds::Describe;
    use crate::network::{Builder, NodeKind};
    use crate::random::stream;

    /// Random switches and hosts (some with several links, some tied to each other), some links down in one direction.
    fn random_network(seed: u64) -> Network {
        let mut random = stream(seed, "network");
        let (hosts, switches) = (1 + random.below(9) as usize, 1 + random.below(7) as usize);
        let mut b = Builder::new(&Describe::defaults());
        for n in 0..hosts + switches {
            let kind = if n < hosts {
                NodeKind::Host
            } else {
                NodeKind::Switch
            };
            b.node(format!("n{n}"), kind, 0, None, [10, 0, 0, n as u8]);
        }
        for host in 0..hosts {
            for _ in 0..1 + random.below(4) / 3 {
                let any = random.below(12) == 0;
                let to = if any {
                    random.below((hosts + switches) as u64) as usize
                } else {
                    hosts + random.below(switches as u64) as usize
                };
                if to != host {
                    b.cable(NodeId::from(host), NodeId::from(to));
                }
            }
        }
        for _ in 0..random.below(3 * switches as u64) {
            let (a, z) = (
                random.below(switches as u64) as usize,
                random.below(switches as u64) as usize,
            );
            if a != z {
                b.cable(NodeId::from(hosts + a), NodeId::from(hosts + z));
            }
        }
        let mut network = b.build(&[]).unwrap();
        for link in &mut network.links {
            link.is_up = random.below(8) != 0;
        }
        network
    }

    /// Hops from every node to `dst` by relaxing all links until nothing changes.
    fn distances(network: &Network, dst: NodeId) -> Vec<u32> {
        let mut distance = vec![UNREACHABLE; network.nodes.len()];
        distance[dst.index()] = 0;
        for _ in &network.nodes {
            for link in network.links.iter().filter(|l| l.is_up) {
                let may_forward = link.dst == dst || !network.is_host(link.dst);
                if may_forward && distance[link.dst.index()] != UNREACHABLE {
                    let through = distance[link.dst.index()] + 1;
                    distance[link.src.index()] = distance[link.src.index()].min(through);
                }
            }
        }
        distance
    }

    #[test]
    fn next_hops_are_exactly_those_that_come_closer() {
        for seed in 0..2000 {
            let network = random_network(seed);
            let routes = Shortest::defaults().routes(&network).unwrap();
            for dst in network.host_ids() {
                let distance = distances(&network, dst);
                for node in (0..network.nodes.len()).map(NodeId::from) {
                    let closer = |l: &LinkId| {
                        let link = &network.links[l.index()];
                        let there = distance[link.dst.index()];
                        link.is_up
                            && there != UNREACHABLE
                            && there + 1 == distance[node.index()]
                            && (link.dst == dst || !network.is_host(link.dst))
                    };
                    let expected: Vec<_> =
                        network.out(node).iter().copied().filter(closer).collect();
                    assert_eq!(
                        routes.next_hops(node, dst),
                        expected,
                        "seed {seed}: {node:?} to {dst:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_fabric_with_a_failed_link_avoids_it() {
        let table = serde_json::json!({ "kind": "fat_tree", "overrides": [{ "links": "se00>sa00", "failed": true }] });
        let network = crate::topology::Topology::from_table(table.as_object().unwrap())
            .unwrap()
            .build(0)
            .unwrap();
        let routes = Shortest::defaults().routes(&network).unwrap();
        let name = |l: &LinkId| network.link_name(*l);
        // Upwards only the other aggregation switch is left; downwards the link still works.
        assert_eq!(
            routes
                .next_hops(NodeId(16), NodeId(15))
                .iter()
                .map(name)
                .collect::<Vec<_>>(),
            ["se00>sa01"]
        );
        let sa00 = network.nodes.iter().position(|n| n.name == "sa00").unwrap();
        assert_eq!(
            routes
                .next_hops(NodeId::from(sa00), NodeId(0))
                .iter()
                .map(name)
                .collect::<Vec<_>>(),
            ["sa00>se00"]
        );
    }
}
