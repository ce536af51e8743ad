//! Routing: which next hops, or which paths, lead to a host, as compact tables.
//!
//! [`Routing`] is the list of kinds; what each gives is [`Routes`] (`routes.rs` has their form, `route_builder.rs` fills
//! them). Two forms: next hops, where every switch names all equally good links and `load_balance` decides at each; and whole
//! paths (`source_routes.rs`), of which `load_balance` decides one at the sending host.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;
use crate::random::{Stream, mix, stream_key};
use crate::routes::Routes;
use crate::source_routes;
use crate::topology::Size;

pub mod all_shortest;
pub mod dimension_order;
pub mod k_shortest;
pub mod linear_table;
pub mod shortest;
pub mod static_table;
pub mod up_down;
pub mod valiant;

crate::room! {
    /// How switches find the way: `[routing]`.
    pub enum Routing {
        Shortest(shortest::Shortest),
        KShortest(k_shortest::KShortest),
        AllShortest(all_shortest::AllShortest),
        UpDown(up_down::UpDown),
        Valiant(valiant::Valiant),
        StaticTable(static_table::StaticTable),
        LinearTable(linear_table::LinearTable),
        DimensionOrder(dimension_order::DimensionOrder),
    }
}

crate::choice! {
    /// How a connection gets its path among several.
    pub enum Share {
        /// As `load_balance` says, at the sending host: by destination, by hash, packet by packet.
        Hash = "hash",
        /// The connections of two hosts take the paths in turn, by their port numbers, which count up.
        RoundRobin = "round_robin",
    }
}

impl Routing {
    /// The forwarding tables of all nodes. `seed` is the experiment's, for ties.
    ///
    /// # Errors
    /// A fault at `routing` if the kind cannot route this network.
    pub fn routes(&self, network: &Network, seed: u64) -> Result<Routes, Fault> {
        match self {
            Self::Shortest(r) => r.routes(network),
            Self::KShortest(r) => Ok(r.routes(network, seed)),
            Self::AllShortest(r) => Ok(r.routes(network, seed)),
            Self::UpDown(r) => r.routes(network, seed),
            Self::Valiant(r) => Ok(r.routes(network, seed)),
            Self::StaticTable(r) => r.routes(network),
            Self::LinearTable(r) => r.routes(network),
            Self::DimensionOrder(r) => r.routes(network),
        }
    }

    /// How connections share paths, where they are whole.
    pub fn share(&self) -> Option<Share> {
        match self {
            Self::KShortest(r) => Some(r.share),
            Self::AllShortest(r) => Some(r.share),
            Self::UpDown(r) => Some(r.share),
            Self::Valiant(r) => Some(r.share),
            Self::Shortest(_)
            | Self::StaticTable(_)
            | Self::LinearTable(_)
            | Self::DimensionOrder(_) => None,
        }
    }

    /// Bytes of the source routes, an estimate from above for fabrics of small diameter: 8 links a path.
    pub fn path_bytes(&self, size: &Size) -> u64 {
        let each = match self {
            Self::KShortest(r) => r.k,
            Self::AllShortest(r) => r.most,
            Self::UpDown(r) => r.most,
            Self::Valiant(r) => r.paths,
            Self::Shortest(_)
            | Self::StaticTable(_)
            | Self::LinearTable(_)
            | Self::DimensionOrder(_) => return 0,
        };
        let ends = size.switches.min(size.hosts);
        ends.saturating_mul(ends)
            .saturating_mul(each)
            .saturating_mul(4 * 10)
    }
}

/// Routes of whole paths. `paths` is asked for each two different ends, by their numbers in the list of ends, and gives the
/// links between them; none if there is no way.
fn source_routed(
    network: &Network,
    mut paths: impl FnMut(usize, usize, &[NodeId]) -> Vec<Vec<u32>>,
) -> Routes {
    let mut builder = source_routes::Builder::new(network);
    let ends = builder.ends();
    for from in 0..ends.len() {
        for to in 0..ends.len() {
            if from == to {
                builder.push([[]]);
            } else {
                builder.push(paths(from, to, &ends));
            }
        }
    }
    let mut routes = shortest::tables(network);
    routes.source = Some(builder.build());
    routes
}

/// Where equal paths are drawn from: a stream for each pair of ends, by name.
#[derive(Debug)]
struct Ties {
    keys: Vec<u64>,
}

impl Ties {
    fn new(network: &Network, seed: u64) -> Self {
        let key = |n: &crate::network::Node| stream_key(seed, &format!("routing/{}", n.name));
        Self {
            keys: network.nodes.iter().map(key).collect(),
        }
    }

    fn stream(&self, src: NodeId, dst: NodeId) -> Stream {
        Stream::from_key(mix(self.keys[src.index()]) ^ self.keys[dst.index()])
    }
}

/// Pairs that have more paths than are kept.
#[derive(Debug, Default)]
struct Many {
    pairs: u64,
    over: u64,
    most: u64,
}

impl Many {
    fn note(&mut self, found: u64, kept: u64) {
        self.pairs += 1;
        self.over += u64::from(found > kept);
        self.most = self.most.max(found);
    }

    fn warning(&self, kept: u64) -> Option<String> {
        (self.over > 0).then(|| {
            format!(
                "routing.most = {kept}: {} of {} pairs of switches have more shortest paths (up to {}); so many of them were drawn",
                self.over, self.pairs, self.most
            )
        })
    }
}
