//! Flowlets: a flow may change its path where it pauses, so that packets are seldom reordered.
//!
//! Source: LetFlow, Vanini et al., NSDI 2017: a switch remembers the hop of each flow; after a pause longer than the
//! gap the next packet takes a random one. Flows are told apart by a hash of their five-tuple into a table, as in the
//! switch; two that share an entry share its hop. The paper ages entries with one bit and a timer, so that a gap lasts
//! between one and two periods; here it is exact.

use serde::{Deserialize, Serialize};

use crate::load_balance::{SwitchState, scale};
use crate::random::{Stream, mix};
use crate::units::Time;

crate::kind! {
    /// A random hop for every burst of a flow.
    pub struct Flowlet: "load_balance" / "flowlet", source "LetFlow: Vanini et al., NSDI 2017" {
        /// Pause of a flow after which it gets a new hop.
        pub gap: Time = Time::from_us(50);
        /// Entries of each switch's table.
        pub entries: u64 = 4096, range 1..=1048576;
    }
}

impl Flowlet {
    pub(super) fn switch_bytes(&self) -> u64 {
        self.entries * size_of::<Entry>() as u64
    }

    pub(super) fn switch(&self, key: u64) -> SwitchState {
        SwitchState::Flowlet(Box::new(State {
            random: Stream::from_key(key),
            key,
            gap: self.gap.0,
            entries: self.entries as u32,
            table: Vec::new(),
        }))
    }
}

/// One flow, or those that share its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// When its last packet came, ps; [`NEVER`] before the first.
    last: u64,
    hop: u32,
}

const NEVER: u64 = u64::MAX;

/// The table of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    random: Stream,
    key: u64,
    gap: u64,
    entries: u32,
    /// Empty before the first choice: many switches have none.
    table: Vec<Entry>,
}

impl State {
    #[inline]
    pub(super) fn choose(&mut self, entropy: u32, n: u32, now: u64) -> u32 {
        if self.table.is_empty() {
            self.table = vec![
                Entry {
                    last: NEVER,
                    hop: 0
                };
                self.entries as usize
            ];
        }
        let hash = (mix(self.key ^ u64::from(entropy)) >> 32) as u32;
        let entry = &mut self.table[scale(hash, self.entries) as usize];
        let is_new = entry.last == NEVER || now.saturating_sub(entry.last) > self.gap;
        // An entry whose hops were more may be shared by a flow with fewer.
        if is_new || entry.hop >= n {
            entry.hop = scale((self.random.next_u64() >> 32) as u32, n);
        }
        entry.last = now;
        entry.hop
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::load_balance::Moment;
    use crate::load_balance::tests::{hops, kind, network};

    #[test]
    fn a_flow_keeps_its_hop_until_it_pauses() {
        let (network, hops) = (network(), hops(64));
        let mut state = kind(r#"{"kind":"flowlet","gap":1000}"#).switch(1, &network, NodeId(16));
        let mut now = 0;
        let mut at = |pause: u64| {
            now += pause;
            state.choose_at(
                7,
                NodeId(1),
                &hops,
                Moment {
                    now,
                    backlog: |_| 0,
                },
            )
        };
        let first = at(0);
        assert!(
            (0..50).all(|_| at(1000) == first),
            "a pause of the gap is none"
        );
        // A longer one gives another of 64 hops, but for 1 in 64.
        let later: std::collections::BTreeSet<_> = (0..20).map(|_| at(1001)).collect();
        assert!(later.len() > 10, "{later:?}");
    }
}
