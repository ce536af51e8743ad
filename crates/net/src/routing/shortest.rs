//! Shortest paths: all equal-cost next hops by hop count.

use crate::error::Fault;
use crate::network::Network;
use crate::routing::Routes;

crate::kind! {
    /// All shortest paths by number of hops; links that are down are avoided.
    pub struct Shortest: "routing" / "shortest", source "RFC 2992 (equal-cost multipath)" {
    }
}

impl Shortest {
    /// Breadth-first search from every host's switch.
    ///
    /// # Errors
    /// None: an unreachable host has no next hops.
    pub fn routes(&self, network: &Network) -> Result<Routes, Fault> {
        let _ = network;
        Err(Fault::new("routing", "not written yet"))
    }
}
