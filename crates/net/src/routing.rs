//! Routing: which next hops lead to a host, as compact tables.
//!
//! [`Routing`] is the list of kinds; what each gives is [`Routes`] (`routes.rs` has their form,
//! `route_builder.rs` fills them). Routes name all equally good links; which of them a packet takes is
//! decided by `load_balance`.

use crate::error::Fault;
use crate::network::Network;
use crate::routes::Routes;

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
