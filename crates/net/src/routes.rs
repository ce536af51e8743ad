//! Forwarding tables in their compact form: what a switch looks up for every packet.
//!
//! A row says, for blocks of `1 << shift` destination hosts, which of a node's own ports lead there. A block whose
//! hosts share their ports is one entry; any other is stored once, however many rows use it. Entries count ports,
//! not links, so that nodes with the same view (all cores of a fat tree, all hosts) share one row: a fat tree with
//! 65,536 hosts needs some 25 MB.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{LinkId, NodeId};
use crate::network::Network;
use crate::source_routes::SourceRoutes;

/// Forwarding tables of all nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routes {
    shift: u32,
    /// Entries of a row.
    row_length: u32,
    /// Where each node's ports begin in `links`, and where its row begins in `rows`.
    nodes: Vec<(u32, u32)>,
    rows: Vec<Entry>,
    blocks: Vec<Entry>,
    /// Where each scattered set lies in `links`, and how long it is.
    sets: Vec<(u32, u32)>,
    /// The ports of all nodes in order, then the sets of ports that are no range.
    links: Vec<LinkId>,
    /// Whole paths between the ends of the fabric; where there are some, the tables only lead from the last switch to the
    /// host.
    pub source: Option<SourceRoutes>,
    /// Hosts of one switch may have different routes.
    pub tells_hosts_apart: bool,
    /// What to know before the numbers are trusted.
    pub warnings: Vec<String>,
}

/// Ports that lead to a host, in 32 bits. The two high bits tell: 00, a range of the node's ports (first << 15 |
/// length); 01, a set by number; 10, in a row only, a block by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Entry(u32);

const TAG: u32 = 0b11 << 30;
const SET: u32 = 0b01 << 30;
const BLOCK: u32 = 0b10 << 30;
const LENGTH_BITS: u32 = 15;
const LENGTH: u32 = (1 << LENGTH_BITS) - 1;

impl Entry {
    /// No way.
    pub(crate) const NONE: Self = Self(0);

    /// `length` ports from `first`, if they fit.
    pub(crate) fn range(first: u32, length: u32) -> Option<Self> {
        (first <= LENGTH && length <= LENGTH).then_some(Self(first << LENGTH_BITS | length))
    }
    /// The set of that number.
    pub(crate) fn set(number: usize) -> Self {
        Self(SET | number_of(number))
    }
    fn block(number: usize) -> Self {
        Self(BLOCK | number_of(number))
    }
}

fn number_of(number: usize) -> u32 {
    let number = number as u32;
    assert!(number & TAG == 0, "more than 2^30 blocks or sets of ports");
    number
}

/// A row as runs: (first host, entry), until the next run begins.
pub(crate) type Runs = Vec<(u32, Entry)>;

impl Routes {
    /// Compresses rows. `rows` are distinct; `row_of` names each node's. `links` begins with `Network::out` of all
    /// nodes in order.
    pub(crate) fn compress(
        network: &Network,
        rows: &[Runs],
        row_of: &[u32],
        sets: Vec<(u32, u32)>,
        links: Vec<LinkId>,
    ) -> Self {
        let hosts = network.hosts as u32;
        let shift = best_shift(rows, hosts);
        let row_length = hosts.div_ceil(1 << shift).max(1);
        let mut blocks = Vec::new();
        let mut known = BTreeMap::new();
        let mut entries = Vec::with_capacity(rows.len() * row_length as usize);
        for row in rows {
            for block in blocks_of(row, shift, hosts) {
                match block {
                    Block::Uniform(entry, count) => {
                        entries.extend(std::iter::repeat_n(entry, count as usize))
                    }
                    Block::Mixed(runs) => {
                        let number = *known.entry(runs).or_insert_with_key(|runs| {
                            let begin = blocks.len();
                            let ends = runs.iter().skip(1).map(|r| r.0).chain([1 << shift]);
                            for (&(_, entry), end) in runs.iter().zip(ends) {
                                blocks.resize(begin + end as usize, entry);
                            }
                            begin >> shift
                        });
                        entries.push(Entry::block(number));
                    }
                }
            }
            if hosts == 0 {
                entries.push(Entry::NONE);
            }
        }
        let mut base = 0;
        let nodes = row_of
            .iter()
            .enumerate()
            .map(|(node, &row)| {
                let here = base;
                base += network.out(NodeId::from(node)).len() as u32;
                (here, row * row_length)
            })
            .collect();
        Self {
            shift,
            row_length,
            nodes,
            rows: entries,
            blocks,
            sets,
            links,
            source: None,
            tells_hosts_apart: false,
            warnings: Vec::new(),
        }
    }

    /// The links at `node` that lead to host `dst`, all equally good, in the order of their ids; empty if there is no
    /// way (or `node` is `dst`).
    #[inline]
    pub fn next_hops(&self, node: NodeId, dst: NodeId) -> &[LinkId] {
        if node == dst {
            return &[];
        }
        let (ports, row) = self.nodes[node.index()];
        let mut entry = self.rows[row as usize + (dst.index() >> self.shift)].0;
        if entry & TAG == BLOCK {
            let block = (entry & !TAG) as usize;
            entry = self.blocks[(block << self.shift) + (dst.index() & ((1 << self.shift) - 1))].0;
        }
        let (start, length) = if entry & TAG == 0 {
            (ports + (entry >> LENGTH_BITS), entry & LENGTH)
        } else {
            self.sets[(entry & !TAG) as usize]
        };
        &self.links[start as usize..(start + length) as usize]
    }

    /// The path of whole paths that begins at the place `start` of [`SourceRoutes::starts`], from host to host.
    pub fn whole_path(
        &self,
        network: &Network,
        src: NodeId,
        dst: NodeId,
        start: u32,
    ) -> Vec<LinkId> {
        let source = self.source.as_ref().expect("routes of whole paths");
        let mut path = Vec::new();
        if !source.is_end(src) {
            path.extend_from_slice(network.out(src));
        }
        path.extend(source.path(start));
        if !source.is_end(dst) {
            let last = path.last().map_or(src, |l| network.links[l.index()].dst);
            path.extend(self.next_hops(last, dst).first());
        }
        path
    }

    /// All whole paths from one host to another; empty where there is no way, or where routes are next hops.
    pub fn paths(&self, network: &Network, src: NodeId, dst: NodeId) -> Vec<Vec<LinkId>> {
        let starts = self.source.as_ref().map_or(&[][..], |s| s.starts(src, dst));
        // The host behind the last switch, or the first link of this one, may be cut off.
        let leads = |path: &Vec<LinkId>| {
            path.iter().all(|l| network.links[l.index()].is_up)
                && path
                    .last()
                    .is_some_and(|l| network.links[l.index()].dst == dst)
        };
        starts
            .iter()
            .map(|&s| self.whole_path(network, src, dst, s))
            .filter(leads)
            .collect()
    }

    /// The place after the last one of all whole paths; 0 where routes are next hops.
    pub(crate) fn places(&self) -> u32 {
        self.source.as_ref().map_or(0, SourceRoutes::places)
    }

    pub(crate) fn begin_places_at(&mut self, base: u32) {
        if let Some(source) = &mut self.source {
            source.begin_places_at(base);
        }
    }

    /// Whether there is a way from one host to another.
    pub fn has_way(&self, network: &Network, src: NodeId, dst: NodeId) -> bool {
        match &self.source {
            Some(_) => !self.paths(network, src, dst).is_empty(),
            None => !self.next_hops(src, dst).is_empty(),
        }
    }

    /// Bytes that the tables occupy.
    pub fn memory_bytes(&self) -> u64 {
        let entries = self.rows.len() + self.blocks.len() + self.links.len();
        (entries * 4 + (self.nodes.len() + self.sets.len()) * 8) as u64
            + self.source.as_ref().map_or(0, SourceRoutes::memory_bytes)
    }
}

enum Block {
    /// So many blocks in which one entry holds throughout.
    Uniform(Entry, u32),
    /// Runs by position inside the block.
    Mixed(Runs),
}

/// Cuts a row into blocks, in order. The last one may reach past the last host.
fn blocks_of(row: &Runs, shift: u32, hosts: u32) -> Vec<Block> {
    let size = 1_u32 << shift;
    let mut blocks = Vec::new();
    let mut run = 0;
    let mut at = 0;
    while at < hosts {
        while row.get(run + 1).is_some_and(|r| r.0 <= at) {
            run += 1;
        }
        let end = row
            .get(run + 1)
            .map_or(hosts.next_multiple_of(size), |r| r.0);
        let whole = (end - at) / size;
        if whole > 0 {
            blocks.push(Block::Uniform(row[run].1, whole));
            at += whole * size;
        } else {
            let inside = row[run..].iter().take_while(|r| r.0 < at + size);
            blocks.push(Block::Mixed(
                inside.map(|r| (r.0.saturating_sub(at), r.1)).collect(),
            ));
            at += size;
        }
    }
    blocks
}

/// The block size that needs the fewest bytes.
fn best_shift(rows: &[Runs], hosts: u32) -> u32 {
    let cost = |shift: u32| -> u64 {
        let mut known = std::collections::BTreeSet::new();
        for row in rows {
            for block in blocks_of(row, shift, hosts) {
                if let Block::Mixed(runs) = block {
                    known.insert(runs);
                }
            }
        }
        rows.len() as u64 * u64::from(hosts.div_ceil(1 << shift)) + ((known.len() as u64) << shift)
    };
    let most = hosts.max(1).next_power_of_two().ilog2();
    (0..=most).min_by_key(|&shift| cost(shift)).unwrap_or(0)
}
