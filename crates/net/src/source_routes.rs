//! Source routes: whole paths between the ends of the fabric, from which each packet takes one.
//!
//! An *end* is the switch that a host hangs on (so that all its hosts share its paths), or a host with several
//! interfaces itself. The links of all paths lie one path after another, and a packet carries its place among them:
//! every switch reads the link there and moves the place on, so that it costs one look-up a hop, however long the
//! paths. Behind a path's last link stands [`END`]: from there on the ordinary tables lead to the host.

use serde::{Deserialize, Serialize};

use crate::ids::{LinkId, NodeId};
use crate::network::Network;

/// No link: the path is over, the host is near.
pub const END: u32 = u32::MAX;

/// Paths from every end to every other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRoutes {
    /// By host: the number of its end.
    end_of: Vec<u32>,
    /// The nodes that are ends.
    ends: Vec<NodeId>,
    /// By pair of ends (from, to): where its paths begin in `starts`; one entry more than pairs.
    first: Vec<u32>,
    /// Where each path begins in `links`.
    starts: Vec<u32>,
    /// The links of all paths, each path closed by [`END`].
    links: Vec<u32>,
    /// The first place: routes that follow others go on counting, so that packets under way keep their paths.
    base: u32,
}

/// Collects the paths, end by end in order.
#[derive(Debug)]
pub(crate) struct Builder {
    routes: SourceRoutes,
}

impl Builder {
    pub(crate) fn new(network: &Network) -> Self {
        let mut numbers = std::collections::BTreeMap::new();
        let mut ends = Vec::new();
        let end_of = network
            .host_ids()
            .map(|host| {
                let end = match network.out(host) {
                    [one] if !network.is_host(network.links[one.index()].dst) => {
                        network.links[one.index()].dst
                    }
                    _ => host,
                };
                *numbers.entry(end).or_insert_with(|| {
                    ends.push(end);
                    ends.len() as u32 - 1
                })
            })
            .collect();
        Self {
            routes: SourceRoutes {
                end_of,
                ends,
                first: vec![0],
                starts: Vec::new(),
                links: Vec::new(),
                base: 0,
            },
        }
    }

    /// The ends: paths are wanted from each to each, itself included, the destination counting fastest.
    pub(crate) fn ends(&self) -> Vec<NodeId> {
        self.routes.ends.clone()
    }

    /// The paths of the next pair; none if there is no way. From an end to itself: one without links.
    pub(crate) fn push(&mut self, paths: impl IntoIterator<Item = impl AsRef<[u32]>>) {
        let routes = &mut self.routes;
        for path in paths {
            routes.starts.push(routes.links.len() as u32);
            routes.links.extend_from_slice(path.as_ref());
            routes.links.push(END);
        }
        routes.first.push(routes.starts.len() as u32);
        assert!(
            routes.links.len() < END as usize,
            "paths have more than 2^32 links"
        );
    }

    pub(crate) fn build(mut self) -> SourceRoutes {
        assert_eq!(
            self.routes.first.len(),
            self.routes.ends.len().pow(2) + 1,
            "paths of all pairs"
        );
        self.routes.starts.shrink_to_fit();
        self.routes.links.shrink_to_fit();
        self.routes
    }
}

impl SourceRoutes {
    /// The places at which the paths from one host to another begin; empty if there is no way.
    #[inline]
    pub fn starts(&self, src: NodeId, dst: NodeId) -> &[u32] {
        let pair =
            self.end_of[src.index()] as usize * self.ends.len() + self.end_of[dst.index()] as usize;
        &self.starts[self.first[pair] as usize..self.first[pair + 1] as usize]
    }

    /// The link at a place, or [`END`]. The next one of the path is a place further.
    #[inline(always)]
    pub fn link(&self, place: u32) -> u32 {
        self.links[(place - self.base) as usize]
    }

    /// The links of the path that begins at `start`, between the two ends.
    pub fn path(&self, start: u32) -> impl Iterator<Item = LinkId> + '_ {
        self.links[(start - self.base) as usize..]
            .iter()
            .take_while(|&&l| l != END)
            .map(|&l| LinkId(l))
    }

    /// Whether the place is one of these paths, and not of routes that were before.
    #[inline(always)]
    pub fn holds(&self, place: u32) -> bool {
        place >= self.base
    }

    /// The place after the last one.
    pub fn places(&self) -> u32 {
        self.base + self.links.len() as u32
    }

    /// Counts places from `base` on.
    pub(crate) fn begin_places_at(&mut self, base: u32) {
        assert!(
            base.checked_add(self.links.len() as u32).is_some(),
            "paths have more than 2^32 links"
        );
        for start in &mut self.starts {
            *start = *start - self.base + base;
        }
        self.base = base;
    }

    /// The end of a host: its switch, or itself.
    #[inline]
    pub fn end(&self, host: NodeId) -> NodeId {
        self.ends[self.end_of[host.index()] as usize]
    }

    /// Whether the host is an end of its own: its paths begin with one of its links.
    #[inline]
    pub fn is_end(&self, host: NodeId) -> bool {
        self.end(host) == host
    }

    /// The ends and how many hosts share each.
    pub fn ends(&self) -> Vec<(NodeId, u64)> {
        let mut hosts = vec![0; self.ends.len()];
        for &end in &self.end_of {
            hosts[end as usize] += 1;
        }
        self.ends.iter().copied().zip(hosts).collect()
    }

    /// The places at which the paths between two ends, by number, begin.
    pub fn between(&self, from: usize, to: usize) -> &[u32] {
        let pair = from * self.ends.len() + to;
        &self.starts[self.first[pair] as usize..self.first[pair + 1] as usize]
    }

    /// Bytes that the paths occupy.
    pub fn memory_bytes(&self) -> u64 {
        4 * (self.end_of.len()
            + self.ends.len()
            + self.first.len()
            + self.starts.len()
            + self.links.len()) as u64
    }
}
