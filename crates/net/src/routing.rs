//! Routing: which next hops lead to a host, as compact tables.

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::ids::{LinkId, NodeId};
use crate::network::Network;

pub mod shortest;

crate::room! {
    /// How switches find the way: `[routing]`.
    pub enum Routing {
        Shortest(shortest::Shortest),
    }
}

impl Routing {
    /// The forwarding tables of all nodes.
    ///
    /// # Errors
    /// A fault at `routing` if the kind cannot route this network.
    pub fn routes(&self, network: &Network) -> Result<Routes, Fault> {
        match self {
            Self::Shortest(r) => r.routes(network),
        }
    }
}

/// Forwarding tables of all nodes, two-level: a row per node of blocks of `1 << shift` destination hosts; a block whose
/// hosts share their next hops is one entry, others are stored once however many nodes use them.
///
/// An entry is a single link, a set of links (high bits 01) or, in a row, a block (high bits 10).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Routes {
    shift: u32,
    row_length: usize,
    rows: Vec<u32>,
    blocks: Vec<u32>,
    sets: Vec<(u32, u32)>,
    links: Vec<LinkId>,
}

const TAG: u32 = 0b11 << 30;
const SET: u32 = 0b01 << 30;
const BLOCK: u32 = 0b10 << 30;

impl Routes {
    /// Compresses full tables: `next_hops(node, host)` is asked once for every pair and gives the equal-cost links in
    /// the order of their ids; empty where there is no way.
    pub fn new(network: &Network, next_hops: impl Fn(NodeId, NodeId) -> Vec<LinkId>) -> Self {
        // A placeholder form: one block per host, no compression.
        let hosts = network.hosts;
        let mut routes = Self { shift: 0, row_length: hosts, rows: Vec::new(), blocks: Vec::new(), sets: Vec::new(), links: Vec::new() };
        for node in 0..network.nodes.len() {
            for host in 0..hosts {
                let hops = next_hops(NodeId::from(node), NodeId::from(host));
                let entry = if let [one] = hops[..] { one.0 } else {
                    routes.sets.push((routes.links.len() as u32, hops.len() as u32));
                    routes.links.extend(hops);
                    SET | (routes.sets.len() as u32 - 1)
                };
                routes.rows.push(entry);
            }
        }
        routes
    }

    /// The links at `node` that lead to host `dst`, all equally good, in the order of their ids; empty if there is no
    /// way (or `node` is `dst`).
    #[inline]
    pub fn next_hops(&self, node: NodeId, dst: NodeId) -> &[LinkId] {
        let mut entry = &self.rows[node.index() * self.row_length + (dst.index() >> self.shift)];
        if *entry & TAG == BLOCK {
            let block = (*entry & !TAG) as usize;
            entry = &self.blocks[(block << self.shift) + (dst.index() & ((1 << self.shift) - 1))];
        }
        if *entry & TAG == SET {
            let (start, length) = self.sets[(*entry & !TAG) as usize];
            return &self.links[start as usize..(start + length) as usize];
        }
        // Safe code cannot view a u32 in `rows` as a LinkId, so single links are stored in `links` as well: see `single`.
        self.single(*entry)
    }

    #[inline]
    fn single(&self, link: u32) -> &[LinkId] {
        let _ = link;
        unimplemented!("the helper for routing writes this")
    }
}
