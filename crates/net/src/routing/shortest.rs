//! Shortest paths: all equal-cost next hops by hop count.
//!
//! Source: RFC 2992 names the multipath; the search is breadth-first from the switches of the destination. Links that
//! are down are avoided in their own direction only; hosts never forward.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;
use crate::routing::Routes;
use crate::routing::builder::{self, UNREACHABLE};

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
        let into = switches_into(network);
        let mut queue: Vec<u32> = Vec::with_capacity(network.nodes.len());
        Ok(builder::routes(network, |roots, distance| {
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
        }))
    }
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
