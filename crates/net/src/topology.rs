//! Topologies: the list, and what each must offer.

use crate::error::Fault;
use crate::network::Network;
use crate::units::Rate;

pub mod fat_tree;

crate::room! {
    /// The shape of the network: `[topology]`.
    pub enum Topology {
        FatTree(fat_tree::FatTree),
    }
}

/// How many of each a topology has, known before anything is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Hosts.
    pub hosts: u64,
    /// Switches.
    pub switches: u64,
    /// Cables (each is two directed links).
    pub cables: u64,
    /// Rate at which a host can send, overrides aside: what `load` is a share of.
    pub host_rate: Rate,
}

/// What every topology can do.
pub trait Shape {
    /// Hosts, switches and cables, by formula: nothing is built, so that a size beyond the memory is refused first.
    ///
    /// # Errors
    /// Parameters that make no network (an odd `k`), at their key.
    fn size(&self) -> Result<Size, Fault>;

    /// The network. `seed` is the experiment's; only random topologies use it.
    ///
    /// # Errors
    /// As [`Shape::size`], and for overrides that match nothing.
    fn build(&self, seed: u64) -> Result<Network, Fault>;
}

impl Topology {
    fn shape(&self) -> &dyn Shape {
        match self {
            Self::FatTree(t) => t,
        }
    }
    /// See [`Shape::size`].
    ///
    /// # Errors
    /// As there.
    pub fn size(&self) -> Result<Size, Fault> {
        self.shape().size()
    }
    /// See [`Shape::build`].
    ///
    /// # Errors
    /// As there.
    pub fn build(&self, seed: u64) -> Result<Network, Fault> {
        self.shape().build(seed)
    }
}
