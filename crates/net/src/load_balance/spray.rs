//! Spraying: every packet takes a hop of its own.
//!
//! Source: Dixit et al., INFOCOM 2013. Round robin keeps one pointer per switch and destination, as routers do that share
//! load by packet. With one pointer per switch, senders of equal period lock to one hop each: four hosts in turn on four
//! uplinks make it a static choice.

use serde::{Deserialize, Serialize};

use crate::ids::NodeId;
use crate::load_balance::{SwitchState, scale};
use crate::random::{Stream, mix};

crate::choice! {
    /// In what order hops are used.
    pub enum Order {
        /// A uniformly random hop for every packet.
        Random = "random",
        /// One after another for each destination, from a random one onwards.
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
    pub(super) fn switch_bytes(&self, hosts: u64) -> u64 {
        match self.order {
            Order::Random => 0,
            Order::RoundRobin => 2 * hosts.next_power_of_two(),
        }
    }

    pub(super) fn switch(&self, key: u64) -> SwitchState {
        match self.order {
            Order::Random => SwitchState::Random(Random {
                random: Stream::from_key(key),
            }),
            Order::RoundRobin => SwitchState::RoundRobin(RoundRobin {
                key,
                next: Vec::new(),
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

/// Where one switch stands with each destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRobin {
    key: u64,
    /// The next hop by destination; [`UNUSED`] before the first packet.
    next: Vec<u16>,
}

const UNUSED: u16 = u16::MAX;

impl RoundRobin {
    #[inline]
    pub(super) fn choose(&mut self, dst: NodeId, n: u32) -> u32 {
        if dst.index() >= self.next.len() {
            self.grow(dst);
        }
        let next = &mut self.next[dst.index()];
        let index = match u32::from(*next) {
            next if next < n => next,
            _ if *next == UNUSED => scale((mix(self.key ^ u64::from(dst.0)) >> 32) as u32, n),
            _ => 0,
        };
        *next = index as u16 + 1;
        index
    }

    #[cold]
    fn grow(&mut self, dst: NodeId) {
        let length = (dst.index() + 1).next_power_of_two();
        self.next.resize(length, UNUSED);
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

    #[test]
    fn senders_in_step_use_every_hop() {
        // Four hosts send in turn, each to its own destination, over four uplinks.
        let (network, hops) = (network(), hops(4));
        let mut state =
            kind(r#"{"kind":"spray","order":"round_robin"}"#).switch(1, &network, NodeId(16));
        let mut used = [[0; 4]; 4];
        for turn in 0..400 {
            let host = turn % 4;
            let hop = state.choose(0, NodeId(host), &hops).0 - 100;
            used[host as usize][hop as usize] += 1;
        }
        assert_eq!(used, [[25; 4]; 4]);
    }
}
