//! A port: the egress queue of a directed link, first in, first out, with one event per packet.
//!
//! A packet that joins a FIFO queue leaves at `max(now, busy_until) + size / rate`, whatever comes later; so its
//! arrival at the next node is known at once, and the backlog follows from `busy_until`. Only a limit in *packets*
//! needs more: a ring of the sizes that wait, from which their departures follow.

use serde::{Deserialize, Serialize};
use weft_net::network::{Link, LossKind};
use weft_net::random::Stream;

/// What every packet touches; one cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// When the last bit of the last packet leaves, ps.
    pub(crate) busy_until: u64,
    /// Propagation delay, ps.
    pub(crate) delay: u64,
    /// Wire bytes of all packets accepted so far.
    pub(crate) bytes: u64,
    /// Packets accepted so far.
    pub(crate) packets: u64,
    /// Time spent waiting for transmission to begin, summed over packets, ps.
    pub(crate) waited: u64,
    /// Picoseconds per byte if that is a whole number, else 0.
    ps_per_byte: u32,
    /// Bytes beside the IP packet.
    pub(crate) overhead: u16,
    /// Whether the ring is kept.
    counts_packets: bool,
    /// Whether the wire loses packets.
    pub(crate) is_lossy: bool,
    /// Longest backlog seen, ps of transmission.
    pub(crate) max_backlog: u64,
    /// Node at the other end.
    pub(crate) dst: u32,
    spare: u32,
}

/// What packets touch that have to wait, and what is read at the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Backlog {
    /// Wire sizes of the packets that have not left, oldest first, in a ring.
    ring: Vec<u16>,
    head: u32,
    length: u32,
    /// When the oldest has left, ps.
    head_leaves: u64,
    /// Bits per second.
    pub(crate) rate: u64,
    /// Sum of the rounded-up serialization times, ps.
    pub(crate) busy: u64,
    /// Bytes times picoseconds spent in the queue, the transmission included.
    pub(crate) byte_time: u128,
    /// Packets that the queue refused.
    pub(crate) dropped: u64,
    /// Packets that the queue marked.
    pub(crate) marked: u64,
}

/// How a lossy wire chooses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wear {
    kind: LossKind,
    p: f64,
    /// Periodic: fraction of a loss that has built up.
    built_up: f64,
    random: Stream,
    /// Packets lost.
    pub(crate) lost: u64,
    /// Their bytes.
    pub(crate) lost_bytes: u64,
}

impl Port {
    pub(crate) fn new(link: &Link, counts_packets: bool) -> Self {
        let exact = 8_000_000_000_000 % link.rate.0 == 0
            && 8_000_000_000_000 / link.rate.0 <= u64::from(u32::MAX);
        Self {
            busy_until: 0,
            delay: link.delay.0,
            bytes: 0,
            packets: 0,
            waited: 0,
            ps_per_byte: if exact {
                (8_000_000_000_000 / link.rate.0) as u32
            } else {
                0
            },
            overhead: link.overhead as u16,
            counts_packets,
            is_lossy: link.loss.is_some(),
            max_backlog: 0,
            dst: link.dst.0,
            spare: 0,
        }
    }

    /// Time to send `bytes`, rounded up.
    #[inline(always)]
    pub(crate) fn transmit_time(&self, bytes: u64, backlog: &Backlog) -> u64 {
        if self.ps_per_byte != 0 {
            bytes * u64::from(self.ps_per_byte)
        } else {
            weft_net::units::Rate(backlog.rate).transmit_time(bytes).0
        }
    }

    /// Bytes that have not left at `now`, a part-sent packet by its rest, rounded up.
    #[inline]
    pub(crate) fn queued_bytes(&self, now: u64, backlog: &Backlog) -> u64 {
        let left = self.busy_until.saturating_sub(now);
        if self.ps_per_byte != 0 {
            left.div_ceil(u64::from(self.ps_per_byte))
        } else {
            (u128::from(left) * u128::from(backlog.rate)).div_ceil(8_000_000_000_000) as u64
        }
    }

    /// Packets that have not left at `now`, if they are counted.
    #[inline]
    pub(crate) fn queued_packets(&self, now: u64, backlog: &mut Backlog) -> u64 {
        if self.busy_until <= now {
            backlog.length = 0;
            return 0;
        }
        while backlog.length > 0 && backlog.head_leaves <= now {
            backlog.pop();
            let next = u64::from(backlog.front());
            backlog.head_leaves += self.transmit_time(next, backlog);
        }
        u64::from(backlog.length)
    }

    /// Accepts a packet of `bytes` on the wire: returns when its last bit leaves.
    #[inline]
    pub(crate) fn accept(&mut self, now: u64, bytes: u64, backlog: &mut Backlog) -> u64 {
        let time = self.transmit_time(bytes, backlog);
        let begins = if self.busy_until > now {
            let wait = self.busy_until - now;
            self.waited += wait;
            if self.counts_packets {
                backlog.push(bytes as u16);
            }
            self.busy_until
        } else {
            if self.counts_packets {
                backlog.restart(bytes as u16, now + time);
            }
            now
        };
        let leaves = begins + time;
        self.busy_until = leaves;
        self.bytes += bytes;
        self.packets += 1;
        self.max_backlog = self.max_backlog.max(leaves - now);
        backlog.busy += time;
        backlog.byte_time += u128::from(bytes) * u128::from(leaves - now);
        leaves
    }
}

impl Backlog {
    pub(crate) fn new(link: &Link) -> Self {
        Self {
            ring: Vec::new(),
            head: 0,
            length: 0,
            head_leaves: 0,
            rate: link.rate.0,
            busy: 0,
            byte_time: 0,
            dropped: 0,
            marked: 0,
        }
    }

    #[inline]
    fn front(&self) -> u16 {
        self.ring[self.head as usize & (self.ring.len() - 1)]
    }

    #[inline]
    fn pop(&mut self) {
        self.head = self.head.wrapping_add(1);
        self.length -= 1;
    }

    /// The queue was empty: this packet is in transmission until `leaves`.
    #[inline]
    fn restart(&mut self, bytes: u16, leaves: u64) {
        self.length = 0;
        self.head_leaves = leaves;
        self.push(bytes);
    }

    #[inline]
    fn push(&mut self, bytes: u16) {
        if self.length as usize == self.ring.len() {
            self.grow();
        }
        let at = self.head.wrapping_add(self.length) as usize & (self.ring.len() - 1);
        self.ring[at] = bytes;
        self.length += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger: Vec<u16> = (0..self.length)
            .map(|i| self.ring[self.head.wrapping_add(i) as usize & (self.ring.len() - 1)])
            .collect();
        larger.resize((self.ring.len() * 2).max(8), 0);
        self.ring = larger;
        self.head = 0;
    }
}

impl Wear {
    pub(crate) fn new(link: &Link, key: u64) -> Option<Self> {
        link.loss.as_ref().map(|loss| Self {
            kind: loss.kind,
            p: loss.p,
            built_up: 0.0,
            random: Stream::from_key(key),
            lost: 0,
            lost_bytes: 0,
        })
    }

    /// Whether the next packet is lost.
    pub(crate) fn takes(&mut self, bytes: u64) -> bool {
        let is_lost = match self.kind {
            LossKind::Random => self.random.uniform() < self.p,
            LossKind::Periodic => {
                self.built_up += self.p;
                let is_due = self.built_up >= 1.0 - 1e-9;
                if is_due {
                    self.built_up -= 1.0;
                }
                is_due
            }
        };
        if is_lost {
            self.lost += 1;
            self.lost_bytes += bytes;
        }
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use weft_net::ids::NodeId;
    use weft_net::units::{Rate, Time};

    use super::*;

    fn port(rate: Rate) -> (Port, Backlog) {
        let link = Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate,
            delay: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: None,
            is_up: true,
        };
        (Port::new(&link, true), Backlog::new(&link))
    }

    #[test]
    fn packets_leave_one_after_another() {
        let (mut port, mut backlog) = port(Rate::from_gbps(8));
        // 8 Gbps: 1 ns per byte. Three packets of 1000 B at time 0 leave at 1, 2 and 3 us.
        for n in 1..=3 {
            assert_eq!(port.accept(0, 1000, &mut backlog), n * 1_000_000);
        }
        assert_eq!(port.queued_packets(0, &mut backlog), 3);
        assert_eq!(port.queued_packets(999_999, &mut backlog), 3);
        assert_eq!(port.queued_packets(1_000_000, &mut backlog), 2);
        assert_eq!(port.queued_bytes(1_500_000, &backlog), 1_500);
        assert_eq!(port.queued_packets(3_000_000, &mut backlog), 0);
        // Waits: 0 + 1 + 2 us; byte-time: 1000 B x (1 + 2 + 3) us.
        assert_eq!(port.waited, 3_000_000);
        assert_eq!(backlog.byte_time, 6_000_000_000);
    }

    #[test]
    fn the_ring_counts_what_a_list_of_departures_counts() {
        let mut random = weft_net::random::stream(3, "port");
        for rate in [
            Rate::from_gbps(10),
            Rate(9_999_999_937),
            Rate::from_mbps(20),
        ] {
            let (mut port, mut backlog) = port(rate);
            let (mut now, mut departures) = (0, Vec::new());
            for _ in 0..5_000 {
                now += random.below(2 * rate.transmit_time(700).0);
                let expected = departures.iter().filter(|&&d| d > now).count() as u64;
                assert_eq!(port.queued_packets(now, &mut backlog), expected);
                departures.push(port.accept(now, 40 + random.below(1460), &mut backlog));
            }
        }
    }

    #[test]
    fn a_periodic_wire_loses_every_thousandth() {
        let mut link = Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate: Rate(1),
            delay: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: None,
            is_up: true,
        };
        link.loss = Some(weft_net::network::Loss {
            kind: LossKind::Periodic,
            p: 1e-3,
        });
        let mut wear = Wear::new(&link, 0).expect("lossy");
        let lost: Vec<usize> = (1..=5_000).filter(|_| wear.takes(1)).collect();
        assert_eq!(lost, [1000, 2000, 3000, 4000, 5000]);
    }
}
