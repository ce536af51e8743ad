//! Routing: which next hops lead to a host, as compact tables.
//!
//! [`Routing`] is the list of kinds; what each gives is [`Routes`] (`routing/tables.rs` holds their form,
//! `routing/builder.rs` how they are filled). Routes name all equally good links; which of them a packet takes is
//! decided by `load_balance`.

use crate::error::Fault;
use crate::network::Network;

pub mod builder;
pub mod shortest;
pub mod tables;

pub use tables::Routes;

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
