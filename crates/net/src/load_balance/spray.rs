//! Spraying: every packet takes a hop of its own.
//!
//! Source: Dixit et al., INFOCOM 2013. Round robin keeps one pointer per switch over whatever hops a packet has; in a
//! tree those are the uplinks.

use serde::{Deserialize, Serialize};

use crate::load_balance::{SwitchState, scale};
use crate::random::Stream;

crate::choice! {
    /// In what order hops are used.
    pub enum Order {
        /// A uniformly random hop for every packet.
        Random = "random",
        /// One after another, from a random one onwards.
        RoundRobin = "round_robin",
    }
}

crate::kind! {
    /// Packet spraying: each packet takes any of the equal hops.
    pub struct Spray: "load_balance" / "spray", source "Dixit et al., INFOCOM 2013" {
        /// In what order hops are used.
        pub order: Order = Order::Random;
    }
}

impl Spray {
    pub(super) fn switch(&self, key: u64) -> SwitchState {
        let mut random = Stream::from_key(key);
        match self.order {
            Order::Random => SwitchState::Random(Random { random }),
            Order::RoundRobin => SwitchState::RoundRobin(RoundRobin {
                next: None,
                start: (random.next_u64() >> 32) as u32,
            }),
        }
    }
}

/// The random numbers of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Random {
    random: Stream,
}

impl Random {
    #[inline]
    pub(super) fn choose(&mut self, n: u32) -> u32 {
        scale((self.random.next_u64() >> 32) as u32, n)
    }
}

/// Where one switch stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRobin {
    next: Option<u32>,
    /// Random bits that choose the first hop, once it is known how many there are.
    start: u32,
}

impl RoundRobin {
    #[inline]
    pub(super) fn choose(&mut self, n: u32) -> u32 {
        let next = self.next.unwrap_or_else(|| scale(self.start, n));
        let index = if next < n { next } else { 0 };
        self.next = Some(index + 1);
        index
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::load_balance::tests::{hops, kind, network};

    #[test]
    fn round_robin_visits_every_hop_in_turn() {
        let (network, hops) = (network(), hops(4));
        let mut state =
            kind(r#"{"kind":"spray","order":"round_robin"}"#).switch(1, &network, NodeId(16));
        let visited: Vec<_> = (0..8)
            .map(|_| state.choose(0, NodeId(1), &hops).0 - 100)
            .collect();
        assert!(
            visited.windows(2).all(|w| w[1] == (w[0] + 1) % 4),
            "{visited:?}"
        );
    }
}
