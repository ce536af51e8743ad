//! What a sender writes into each packet for the switches to hash, where that is more than the five-tuple.
//!
//! REPS (`weft_net::load_balance::reps`) gives every packet an entropy and uses those of unmarked acknowledged segments
//! again; ECMP `as_published` hashes the sequence number. Everywhere else packets carry the hash of their five-tuple and
//! nothing here is made.

use serde::{Deserialize, Serialize};
use weft_net::load_balance::reps::Entropies;
use weft_net::load_balance::{FiveTuple, ecmp};
use weft_net::random::stream_key;
use weft_net::scenario::Scenario;

/// Nothing to be used again: reported before, or sent twice.
const NONE: u32 = u32::MAX;

/// What one sender needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Entropy {
    Recycled(Recycled),
    Published(Published),
}

/// REPS.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Recycled {
    pub(crate) entropies: Entropies,
    /// Ring: by segment, its entropy, or [`NONE`].
    sent: Vec<u32>,
}

/// The hash of the sequence number, which changes every 64 KiB.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Published {
    tuple: FiveTuple,
    mss: u64,
    /// Upper half of the sequence number of the last packet, and its hash.
    last: (u16, u32),
}

impl Entropy {
    /// What the sender of subflow `id` needs, if anything.
    pub(crate) fn of(scenario: &Scenario, id: u32, mss: u16) -> Option<Box<Self>> {
        let made = if let Some(entropies) = recycled(scenario, id) {
            Self::Recycled(Recycled {
                entropies,
                sent: vec![NONE; 16],
            })
        } else if scenario.load_balance.hashes_sequence() {
            let (flow, number) = scenario.subflow(id);
            let tuple = scenario.subflow_tuple(flow, number);
            let upper = ecmp::upper_half(&tuple, 0);
            Self::Published(Published {
                tuple,
                mss: u64::from(mss),
                last: (upper, ecmp::published(&tuple, upper)),
            })
        } else {
            return None;
        };
        Some(Box::new(made))
    }

    /// Of a packet without data, whose five-tuple has the hash `base`.
    pub(crate) fn control(&mut self, base: u32) -> u32 {
        match self {
            Self::Recycled(r) => base ^ u32::from(r.entropies.take()),
            Self::Published(_) => base,
        }
    }

    /// Of segment `seq`, sent after those from `una` on.
    pub(crate) fn data(&mut self, base: u32, una: u32, seq: u32, is_again: bool) -> u32 {
        match self {
            Self::Recycled(r) => base ^ r.send(una, seq, is_again),
            Self::Published(p) => p.hash(seq),
        }
    }

    /// An acknowledgment reports that segments have arrived. `window` is how many are sent in a round trip.
    pub(crate) fn report(
        &mut self,
        segments: std::ops::Range<u32>,
        is_marked: bool,
        now: u64,
        window: u64,
    ) {
        let Self::Recycled(r) = self else {
            return;
        };
        for seq in segments {
            let mask = r.sent.len() - 1;
            let entropy = std::mem::replace(&mut r.sent[seq as usize & mask], NONE);
            if entropy != NONE && !is_marked {
                r.entropies.recycle(entropy as u16, now, window);
            }
        }
    }

    /// A segment is deemed lost, or the retransmission timer has expired.
    pub(crate) fn suspect(&mut self, is_timeout: bool, now: u64) {
        if let Self::Recycled(r) = self {
            r.entropies.suspect(is_timeout, now);
        }
    }
}

/// The entropies that the sender of subflow `id` uses again.
pub(crate) fn recycled(scenario: &Scenario, id: u32) -> Option<Entropies> {
    let reps = scenario.load_balance.reps()?;
    Some(reps.sender(stream_key(scenario.seed, &format!("reps/{id}"))))
}

impl Recycled {
    fn send(&mut self, una: u32, seq: u32, is_again: bool) -> u32 {
        let entropy = u32::from(self.entropies.take());
        if (seq - una) as usize >= self.sent.len() {
            let mut larger = vec![NONE; self.sent.len() * 2];
            for old in una..seq {
                larger[old as usize & (self.sent.len() * 2 - 1)] =
                    self.sent[old as usize & (self.sent.len() - 1)];
            }
            self.sent = larger;
        }
        let mask = self.sent.len() - 1;
        self.sent[seq as usize & mask] = if is_again { NONE } else { entropy };
        entropy
    }
}

impl Published {
    fn hash(&mut self, seq: u32) -> u32 {
        let upper = ecmp::upper_half(&self.tuple, u64::from(seq) * self.mss);
        if upper != self.last.0 {
            self.last = (upper, ecmp::published(&self.tuple, upper));
        }
        self.last.1
    }
}
