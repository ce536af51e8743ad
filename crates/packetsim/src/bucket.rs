//! The queue of a port with a token bucket: what waits, with when it leaves.
//!
//! Ordinary ports know all that from one number (`port.rs`); here packets leave in bursts, so that the list is kept.
//! `weft_net::shaper` has the tokens.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use weft_net::network::Link;
use weft_net::shaper::{Passage, TokenBucket};

/// A packet that has not left.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiting {
    /// When it has left, ps.
    leaves: u64,
    /// Wire bytes of all packets before it.
    bytes_before: u64,
    /// Time in which their tokens came, ps.
    busy_before: u64,
}

/// Tokens and queue of one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bucket {
    tokens: TokenBucket,
    waiting: VecDeque<Waiting>,
    /// Of all packets accepted so far.
    bytes: u64,
    busy: u64,
}

impl Bucket {
    /// The full bucket of a link; `None` where it has none.
    pub(crate) fn of(link: &Link) -> Option<Self> {
        Some(Self {
            tokens: TokenBucket::of(link)?,
            waiting: VecDeque::new(),
            bytes: 0,
            busy: 0,
        })
    }

    /// A packet arrives at `now`; the one before it has left at `busy_until`.
    pub(crate) fn accept(&mut self, now: u64, busy_until: u64, bytes: u64) -> Passage {
        while self.waiting.front().is_some_and(|w| w.leaves <= now) {
            self.waiting.pop_front();
        }
        let passage = self.tokens.pass(now.max(busy_until), bytes);
        if passage.leaves > now {
            self.waiting.push_back(Waiting {
                leaves: passage.leaves,
                bytes_before: self.bytes,
                busy_before: self.busy,
            });
        }
        self.bytes += bytes;
        self.busy += passage.cost;
        passage
    }

    /// The first that has not left at `now`.
    fn first(&self, now: u64) -> usize {
        self.waiting.partition_point(|w| w.leaves <= now)
    }

    /// Packets that have not left at `now`.
    pub(crate) fn packets(&self, now: u64) -> u64 {
        (self.waiting.len() - self.first(now)) as u64
    }

    /// Their bytes.
    pub(crate) fn bytes(&self, now: u64) -> u64 {
        let first = self.waiting.get(self.first(now));
        first.map_or(0, |w| self.bytes - w.bytes_before)
    }

    /// Time in which the tokens of those that have left came, ps.
    pub(crate) fn busy_before(&self, now: u64) -> u64 {
        let first = self.waiting.get(self.first(now));
        first.map_or(self.busy, |w| w.busy_before)
    }
}

#[cfg(test)]
mod tests {
    use weft_net::ids::NodeId;
    use weft_net::shaper::Burst;
    use weft_net::units::{Bytes, Rate, Time};

    use super::*;
    use crate::port::Ports;

    #[test]
    fn a_shaped_port_counts_what_a_list_of_departures_counts() {
        let mut random = weft_net::random::stream(3, "bucket");
        for peak in [None, Some(Rate::from_mbps(3)), Some(Rate(9_999_937))] {
            let rate = Rate::from_mbps(1);
            let link = Link {
                src: NodeId(0),
                dst: NodeId(1),
                rate,
                delay: Time::from_us(1),
                latency: Time::ZERO,
                mtu: 1500,
                overhead: 0,
                loss: None,
                is_up: true,
                shaper: Some(Burst {
                    bytes: Bytes(6000),
                    peak,
                }),
            };
            let mut ports = Ports::new(&[link], |_| true, |_| false);
            let mut sent: Vec<(u64, u64)> = Vec::new();
            let (mut now, mut most, mut waited) = (0, 0, 0);
            for _ in 0..3_000 {
                now += random.below(2 * rate.transmit_time(740).0);
                let rest = |now: u64| sent.iter().filter(move |s| s.0 > now);
                assert_eq!(ports.queued_packets(0, now), rest(now).count() as u64);
                assert_eq!(
                    ports.queued_bytes(0, now),
                    rest(now).map(|s| s.1).sum::<u64>()
                );
                let left = sent.iter().filter(|s| s.0 <= now);
                let busy: u64 = left.map(|s| rate.transmit_time(s.1).0).sum();
                assert_eq!(ports.busy_before(0, now), busy);
                let bytes = 40 + random.below(1460);
                let leaves = ports.shape(0, now, bytes);
                let on_wire = peak.map_or(0, |p| p.transmit_time(bytes).0);
                assert_eq!(ports.class(0).time_on_wire(bytes), on_wire);
                waited += leaves - on_wire - now;
                sent.push((leaves, bytes));
                let queued: u64 = sent.iter().filter(|s| s.0 > now).map(|s| s.1).sum();
                most = most.max(queued);
            }
            assert!(sent.is_sorted(), "first in, first out");
            assert_eq!((ports.max_bytes(0), ports.port(0).waited), (most, waited));
        }
    }
}
