//! REPS: the sender gives every packet an entropy and uses those again whose packets came through unmarked.
//!
//! Source: Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and Failure Mitigation",
//! arXiv 2407.21625, algorithms 1 and 2. Switches hash five-tuple and entropy as ECMP does and know nothing else. An
//! entropy that an acknowledgment without a mark reports goes into a small ring and is used once more, the oldest first;
//! where the ring has none, a random one is tried. So packets stay on paths without queues, and a bad path is left
//! because nothing comes back from it. After a suspected failure the ring is *frozen*: for a while its entropies are used
//! in turn, used ones too, in place of random ones, which might lead to the failed path.
//!
//! | here | in the paper |
//! | --- | --- |
//! | the sender remembers the entropy of each segment; an ACK returns those of all segments that it reports | the ACK carries it (its variant "carry" for coalesced ACKs) |
//! | a segment sent twice returns none: nobody knows which of the two arrived | each transmission is acknowledged |
//! | after freezing, of a congestion window of packets every `entries`-th is random | of a bandwidth-delay product |
//!
//! ACKs take a path that follows from the data packet's, so that an entropy is good if both ways are. UDP has no
//! acknowledgments: each datagram takes a random entropy, which is spraying.

use serde::{Deserialize, Serialize};

use crate::load_balance::{SwitchState, ecmp};
use crate::random::Stream;
use crate::units::Time;

crate::choice! {
    /// What makes a sender suspect a failure.
    pub enum Suspicion {
        /// A retransmission timeout.
        Timeout = "timeout",
        /// Every loss: where queues mark before they drop, a loss is a failure.
        Loss = "loss",
        /// Nothing: entropies are never frozen.
        Never = "never",
    }
}

crate::kind! {
    /// Packet spraying that learns: entropies whose packets were acknowledged without a mark are used again.
    /// It needs marks: a queue such as `ecn_step`, and senders that see each mark (`dctcp`).
    pub struct Reps: "load_balance" / "reps", source "REPS: Bonato et al., arXiv 2407.21625" {
        /// Entropies that a sender keeps.
        pub entries: u64 = 8, range 1..=1024;
        /// Different entropies that there are: as many as UDP source ports in the paper.
        pub entropies: u64 = 65536, range 1..=65536;
        /// What freezes the entropies.
        pub freeze_on: Suspicion = Suspicion::Timeout;
        /// How long they stay frozen: what the authors' simulator has.
        pub freeze: Time = Time::from_ms(10);
    }
}

impl Reps {
    pub(super) fn switch(&self, key: u64) -> SwitchState {
        SwitchState::Ecmp(ecmp::State::Seeded(key))
    }

    /// What a sender starts with; `key` seeds its random stream.
    pub fn sender(&self, key: u64) -> Entropies {
        Entropies {
            random: Stream::from_key(key),
            entropies: self.entropies,
            freeze: self.freeze.0,
            freeze_on: self.freeze_on,
            ring: Vec::with_capacity(self.entries as usize),
            entries: self.entries as usize,
            head: 0,
            fresh: 0,
            frozen_until: 0,
            explore: 0,
        }
    }
}

/// The entropies of one sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entropies {
    random: Stream,
    entropies: u64,
    freeze: u64,
    freeze_on: Suspicion,
    /// What has come back, in a ring that fills from the front.
    ring: Vec<u16>,
    entries: usize,
    /// Where the next one goes.
    head: usize,
    /// How many before `head` have not been used again.
    fresh: usize,
    /// Until when the ring is frozen, ps; 0 if it is not.
    frozen_until: u64,
    /// Packets after a freeze among which random ones are strewn.
    explore: u64,
}

impl Entropies {
    /// The entropy of the next packet.
    #[inline]
    pub fn take(&mut self) -> u16 {
        if self.explore > 0 {
            self.explore -= 1;
            if self.explore.is_multiple_of(self.entries as u64) {
                return self.draw();
            }
        }
        let filled = self.ring.len();
        if self.fresh > 0 {
            let oldest = (self.head + filled - self.fresh) % filled;
            self.fresh -= 1;
            return self.ring[oldest];
        }
        if self.frozen_until == 0 || filled == 0 {
            return self.draw();
        }
        // Frozen: in turn, the oldest first.
        let at = self.head % filled;
        self.head = (at + 1) % filled;
        self.ring[at]
    }

    fn draw(&mut self) -> u16 {
        self.random.below(self.entropies) as u16
    }

    /// An acknowledgment without a mark reports a packet of this entropy. `window` is how many packets are sent in a round
    /// trip.
    #[inline]
    pub fn recycle(&mut self, entropy: u16, now: u64, window: u64) {
        if self.ring.len() < self.entries {
            // While the ring fills, its end is where the next one goes; freezing may have moved `head`.
            self.ring.push(entropy);
            self.head = self.ring.len() % self.entries;
        } else {
            self.ring[self.head] = entropy;
            self.head = (self.head + 1) % self.entries;
        }
        self.fresh = (self.fresh + 1).min(self.ring.len());
        if self.frozen_until != 0 && now >= self.frozen_until {
            self.frozen_until = 0;
            self.explore = window.max(self.entries as u64);
        }
    }

    /// A segment is deemed lost, or the retransmission timer has expired.
    pub fn suspect(&mut self, is_timeout: bool, now: u64) {
        let is_suspected = match self.freeze_on {
            Suspicion::Timeout => is_timeout,
            Suspicion::Loss => true,
            Suspicion::Never => false,
        };
        if is_suspected && self.frozen_until == 0 && self.explore == 0 {
            self.frozen_until = now.saturating_add(self.freeze).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Describe;

    fn sender(freeze_on: Suspicion) -> Entropies {
        Reps {
            freeze_on,
            ..Reps::defaults()
        }
        .sender(7)
    }

    #[test]
    fn what_came_back_is_used_once_more_in_order_and_then_something_new() {
        let mut sender = sender(Suspicion::Timeout);
        for entropy in [3, 1, 4] {
            sender.recycle(entropy, 0, 10);
        }
        assert_eq!([sender.take(), sender.take(), sender.take()], [3, 1, 4]);
        // Of 65,536 entropies the chance that twenty draws hold one of those three is 0.1 %.
        assert!((0..20).all(|_| ![3, 1, 4].contains(&sender.take())));
    }

    #[test]
    fn the_ring_keeps_the_last_eight() {
        let mut sender = sender(Suspicion::Timeout);
        for entropy in 0..20 {
            sender.recycle(entropy, 0, 10);
        }
        let used: Vec<_> = (0..8).map(|_| sender.take()).collect();
        assert_eq!(used, (12..20).collect::<Vec<_>>());
        assert!(sender.take() > 19);
    }

    #[test]
    fn a_frozen_ring_goes_round() {
        let mut sender = sender(Suspicion::Timeout);
        for entropy in [3, 1, 4] {
            sender.recycle(entropy, 0, 10);
        }
        sender.suspect(false, 1_000);
        sender.suspect(true, 1_000);
        let used: Vec<_> = (0..9).map(|_| sender.take()).collect();
        assert_eq!(used, [3, 1, 4, 3, 1, 4, 3, 1, 4]);
        // What comes back is used first.
        sender.recycle(5, 2_000, 10);
        assert_eq!(sender.take(), 5);
        // 10 ms later the next one that comes back ends it. Of the ten packets of a window two are random: the numbers
        // 8 and 0 of the countdown, that is the second and the last.
        sender.recycle(6, 1_000 + 10_000_000_000, 10);
        let known = |e: u16| e < 10;
        let used: Vec<_> = (0..10).map(|_| sender.take()).map(known).collect();
        assert!(used[0] && !used[1] && !used[9], "{used:?}");
        // While it explores it is not frozen again.
        assert_eq!((sender.explore, sender.frozen_until), (0, 0));
    }

    #[test]
    fn losses_freeze_if_asked_for() {
        for (freeze_on, on_loss, on_timeout) in [
            (Suspicion::Timeout, false, true),
            (Suspicion::Loss, true, true),
            (Suspicion::Never, false, false),
        ] {
            for (is_timeout, freezes) in [(false, on_loss), (true, on_timeout)] {
                let mut sender = sender(freeze_on);
                sender.suspect(is_timeout, 5);
                assert_eq!(sender.frozen_until != 0, freezes);
            }
        }
    }

    #[test]
    fn a_ring_that_fills_while_it_is_frozen_keeps_its_order() {
        let mut sender = sender(Suspicion::Timeout);
        sender.recycle(1, 0, 10);
        sender.recycle(2, 0, 10);
        sender.suspect(true, 0);
        assert_eq!([sender.take(), sender.take(), sender.take()], [1, 2, 1]);
        sender.recycle(3, 1, 10);
        sender.recycle(4, 1, 10);
        assert_eq!([sender.take(), sender.take()], [3, 4]);
        let used: Vec<_> = (0..4).map(|_| sender.take()).collect();
        assert_eq!(used, [1, 2, 3, 4]);
    }
}
