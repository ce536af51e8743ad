//! Static: every switch sends each destination over one of the equal hops, drawn once.
//!
//! Source: the "static" switches of the path diversity study (`experiments/studies`). The draw is a hash of the switch's
//! key and the destination, so nothing is stored per destination.

use serde::{Deserialize, Serialize};

use crate::ids::NodeId;
use crate::load_balance::scale;
use crate::random::mix;

crate::kind! {
    /// One uniformly random hop per switch and destination, for the whole run.
    pub struct StaticChoice: "load_balance" / "static", source "random shortest-path forwarding, one entry per destination" {
    }
}

/// The key of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    key: u64,
}

impl State {
    pub(super) fn new(key: u64) -> Self {
        Self { key }
    }

    #[inline]
    pub(super) fn choose(&self, dst: NodeId, n: u32) -> u32 {
        scale((mix(self.key ^ u64::from(dst.0)) >> 32) as u32, n)
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::load_balance::tests::{hops, kind, network};

    #[test]
    fn the_destination_alone_decides() {
        let (network, hops) = (network(), hops(4));
        let mut state = kind(r#"{"kind":"static"}"#).switch(3, &network, NodeId(17));
        let first = state.choose(1, NodeId(5), &hops);
        assert!((0..100).all(|entropy| state.choose(entropy, NodeId(5), &hops) == first));
    }
}
