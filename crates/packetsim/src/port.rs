//! A port: the egress queue of a directed link, first in, first out, with one event per packet.
//!
//! A packet that joins a FIFO queue leaves at `max(now, busy_until) + size / rate`, whatever comes later; so its
//! arrival at the next node is known at once, and the backlog follows from `busy_until`. Only a limit in *packets*
//! needs more: a ring of the sizes that wait, from which their departures follow. A port with a token bucket has a list of
//! its own (`bucket.rs`).

use serde::{Deserialize, Serialize};
use weft_net::network::Link;

use crate::bucket::Bucket;
use crate::prefetch::prefetch;

/// What every packet touches: one cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// When the last bit of the last packet leaves, ps.
    pub(crate) busy_until: u64,
    /// Wire bytes of all packets accepted so far.
    pub(crate) bytes: u64,
    /// Bytes times picoseconds spent in the queue, the transmission included.
    pub(crate) byte_time: u128,
    /// Packets accepted so far.
    pub(crate) packets: u64,
    /// Time spent waiting for transmission to begin, summed over packets, ps.
    pub(crate) waited: u64,
    /// Longest backlog seen, ps of transmission; of a shaped port, bytes.
    max_backlog: u64,
    /// The ring of sizes while more than one packet is here; of a shaped port, [`SHAPED`] and the number of its bucket.
    ring: u32,
    /// Index of its [`Class`].
    class: u32,
}

const _: () = assert!(size_of::<Port>() == 64);

const NO_RING: u32 = u32::MAX;
const SHAPED: u32 = 1 << 31;

/// What ports of equal links share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Class {
    /// Bits per second.
    pub(crate) rate: u64,
    /// Propagation delay, ps.
    pub(crate) delay: u64,
    /// Bytes beside the IP packet.
    pub(crate) overhead: u64,
    /// Picoseconds per byte if that is a whole number, else 0.
    ps_per_byte: u64,
    /// Whether packets are counted, not only bytes.
    counts_packets: bool,
    /// Whether the wire loses packets.
    pub(crate) is_lossy: bool,
    /// Whether packets pass a token bucket; then `rate` is that of the tokens.
    pub(crate) is_shaped: bool,
    /// One of both, or somebody looks at the packets: they need more than to be accepted.
    pub(crate) is_special: bool,
    /// Bits per second of the wire beneath the bucket; 0 takes no time.
    peak: u64,
}

/// What few packets touch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Packets that the queue refused.
    pub(crate) dropped: u64,
    /// Packets that the queue marked.
    pub(crate) marked: u64,
    /// Sum of the rounded-up serialization times, ps, where that does not follow from the bytes.
    busy: u64,
}

/// Where the sizes of the packets at one port lie: oldest first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ring {
    /// When the oldest has left, ps.
    oldest_leaves: u64,
    head: u32,
    length: u32,
}

/// Rings of one capacity, a power of two that doubles when one of them is full.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rings {
    capacity: u32,
    rings: Vec<Ring>,
    /// Ring `i` is `sizes[i * capacity..][..capacity]`.
    sizes: Vec<u16>,
    free: Vec<u32>,
}

/// All ports, by link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ports {
    ports: Vec<Port>,
    classes: Vec<Class>,
    pub(crate) tallies: Vec<Tally>,
    rings: Rings,
    /// Of the shaped ports.
    buckets: Vec<Bucket>,
}

impl Class {
    fn new(link: &Link, counts_packets: bool, is_lossy: bool) -> Self {
        let exact = 8_000_000_000_000 % link.rate.0 == 0;
        Self {
            rate: link.rate.0,
            delay: link.delay.0,
            overhead: u64::from(link.overhead),
            ps_per_byte: if exact {
                8_000_000_000_000 / link.rate.0
            } else {
                0
            },
            counts_packets,
            is_lossy,
            is_shaped: link.shaper.is_some(),
            is_special: is_lossy || link.shaper.is_some(),
            peak: link.shaper.and_then(|s| s.peak).map_or(0, |peak| peak.0),
        }
    }

    /// From the first bit of a packet leaving to the last, ps.
    pub(crate) fn time_on_wire(&self, bytes: u64) -> u64 {
        match (self.is_shaped, self.peak) {
            (false, _) => self.transmit_time(bytes),
            (true, 0) => 0,
            (true, peak) => weft_net::units::Rate(peak).transmit_time(bytes).0,
        }
    }

    /// Time to send `bytes`, rounded up, ps.
    #[inline(always)]
    pub(crate) fn transmit_time(&self, bytes: u64) -> u64 {
        if self.ps_per_byte != 0 {
            bytes * self.ps_per_byte
        } else {
            weft_net::units::Rate(self.rate).transmit_time(bytes).0
        }
    }

    /// Bytes that are sent in `time` ps, a part-sent one counted whole.
    pub(crate) fn bytes_in(&self, time: u64) -> u64 {
        if self.ps_per_byte != 0 {
            time.div_ceil(self.ps_per_byte)
        } else {
            (u128::from(time) * u128::from(self.rate)).div_ceil(8_000_000_000_000) as u64
        }
    }
}

impl Ports {
    /// Idle ports; `counts_packets` says which must know how many packets they hold, `is_lossy` whose wires lose some.
    pub(crate) fn new(
        links: &[Link],
        counts_packets: impl Fn(usize) -> bool,
        is_lossy: impl Fn(usize) -> bool,
    ) -> Self {
        let mut classes: Vec<Class> = links
            .iter()
            .enumerate()
            .map(|(i, l)| Class::new(l, counts_packets(i), is_lossy(i)))
            .collect();
        let of_link = classes.clone();
        classes.sort();
        classes.dedup();
        let mut buckets = Vec::new();
        let mut ring = |link: &Link| match Bucket::of(link) {
            None => NO_RING,
            Some(bucket) => {
                buckets.push(bucket);
                SHAPED | (buckets.len() - 1) as u32
            }
        };
        let port = |(link, class): (&Link, &Class)| Port {
            busy_until: 0,
            bytes: 0,
            byte_time: 0,
            packets: 0,
            waited: 0,
            max_backlog: 0,
            ring: ring(link),
            class: classes.binary_search(class).expect("collected above") as u32,
        };
        Self {
            ports: links.iter().zip(&of_link).map(port).collect(),
            tallies: vec![Tally::default(); links.len()],
            classes,
            buckets,
            rings: Rings {
                capacity: 64,
                rings: Vec::new(),
                sizes: Vec::new(),
                free: Vec::new(),
            },
        }
    }

    /// Makes a port special: what leaves it is looked at.
    pub(crate) fn watch(&mut self, link: u32) {
        let watched = Class {
            is_special: true,
            ..self.class(link).clone()
        };
        let known = self.classes.iter().position(|c| *c == watched);
        self.ports[link as usize].class = known.unwrap_or_else(|| {
            self.classes.push(watched);
            self.classes.len() - 1
        }) as u32;
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ports.len()
    }

    /// The port of a link.
    #[inline(always)]
    pub(crate) fn port(&self, link: u32) -> &Port {
        &self.ports[link as usize]
    }

    /// What it is like.
    #[inline(always)]
    pub(crate) fn class(&self, link: u32) -> &Class {
        &self.classes[self.ports[link as usize].class as usize]
    }

    /// Bytes that have not left at `now`, a part-sent packet by its rest, rounded up; at a shaped port, by whole packets.
    #[inline]
    pub(crate) fn queued_bytes(&self, link: u32, now: u64) -> u64 {
        if self.class(link).is_shaped {
            return self.bucket(self.port(link)).bytes(now);
        }
        self.class(link)
            .bytes_in(self.port(link).busy_until.saturating_sub(now))
    }

    /// Time that the port has spent sending before `now`, ps. Of a shaped port it is the time in which the tokens came that
    /// have been taken by what has left: the share of `rate` that was used, which during a burst is above one.
    pub(crate) fn busy_before(&self, link: u32, now: u64) -> u64 {
        let (port, class) = (self.port(link), self.class(link));
        if class.is_shaped {
            return self.bucket(port).busy_before(now);
        }
        let busy = if class.ps_per_byte != 0 {
            port.bytes * class.ps_per_byte
        } else {
            self.tallies[link as usize].busy
        };
        busy - port.busy_until.saturating_sub(now)
    }

    /// Packets that have not left at `now`, where they are counted.
    #[inline]
    pub(crate) fn queued_packets(&mut self, link: u32, now: u64) -> u64 {
        let port = &mut self.ports[link as usize];
        if port.busy_until <= now {
            return 0;
        }
        if port.ring >= SHAPED {
            return if port.ring == NO_RING {
                1
            } else {
                self.buckets[(port.ring & !SHAPED) as usize].packets(now)
            };
        }
        let class = &self.classes[port.class as usize];
        // The last packet leaves at busy_until, so the ring does not run empty here.
        while self.rings.rings[port.ring as usize].oldest_leaves <= now {
            let next = self.rings.pop(port.ring);
            self.rings.rings[port.ring as usize].oldest_leaves +=
                class.transmit_time(u64::from(next));
        }
        u64::from(self.rings.rings[port.ring as usize].length)
    }

    /// Fetches the port, ahead of [`Self::prefetch_ring`].
    #[inline(always)]
    pub(crate) fn prefetch(&self, link: u32) {
        prefetch(&self.ports[link as usize]);
    }

    /// Fetches the state of its ring, once the port is here.
    #[inline(always)]
    pub(crate) fn prefetch_ring(&self, link: u32) {
        if let Some(ring) = self
            .rings
            .rings
            .get(self.ports[link as usize].ring as usize)
        {
            prefetch(ring);
        }
    }

    /// Fetches both ends of the ring, once its state is here.
    #[inline(always)]
    pub(crate) fn prefetch_sizes(&self, link: u32) {
        let number = self.ports[link as usize].ring;
        if let Some(ring) = self.rings.rings.get(number as usize) {
            prefetch(&self.rings.sizes[self.rings.place(number, ring.head)]);
            prefetch(
                &self.rings.sizes[self
                    .rings
                    .place(number, ring.head.wrapping_add(ring.length))],
            );
        }
    }

    fn bucket(&self, port: &Port) -> &Bucket {
        &self.buckets[(port.ring & !SHAPED) as usize]
    }

    /// The longest backlog seen, bytes.
    pub(crate) fn max_bytes(&self, link: u32) -> u64 {
        let (port, class) = (self.port(link), self.class(link));
        if class.is_shaped {
            port.max_backlog
        } else {
            class.bytes_in(port.max_backlog)
        }
    }

    /// Accepts a packet at a shaped port: returns when its last bit leaves.
    #[cold]
    pub(crate) fn shape(&mut self, link: u32, now: u64, bytes: u64) -> u64 {
        let port = &mut self.ports[link as usize];
        let bucket = &mut self.buckets[(port.ring & !SHAPED) as usize];
        let passage = bucket.accept(now, port.busy_until, bytes);
        port.busy_until = passage.leaves;
        port.bytes += bytes;
        port.packets += 1;
        port.waited += passage.begins - now;
        port.byte_time += u128::from(bytes) * u128::from(passage.leaves - now);
        port.max_backlog = port.max_backlog.max(bucket.bytes(now));
        passage.leaves
    }

    /// Accepts a packet of `bytes` on the wire: returns when its last bit leaves.
    #[inline]
    pub(crate) fn accept(&mut self, link: u32, now: u64, bytes: u64) -> u64 {
        let port = &mut self.ports[link as usize];
        let class = &self.classes[port.class as usize];
        let time = class.transmit_time(bytes);
        let mut begins = now;
        if port.busy_until > now {
            begins = port.busy_until;
            port.waited += begins - now;
            if class.counts_packets {
                if port.ring == NO_RING {
                    port.ring = self.rings.take(begins);
                }
                self.rings.push(port.ring, bytes as u16);
            }
        } else if port.ring != NO_RING {
            self.rings.free.push(port.ring);
            port.ring = NO_RING;
        }
        let leaves = begins + time;
        port.busy_until = leaves;
        port.bytes += bytes;
        port.packets += 1;
        port.max_backlog = port.max_backlog.max(leaves - now);
        port.byte_time += u128::from(bytes) * u128::from(leaves - now);
        if class.ps_per_byte == 0 {
            self.tallies[link as usize].busy += time;
        }
        leaves
    }
}

impl Rings {
    #[inline(always)]
    fn place(&self, ring: u32, at: u32) -> usize {
        ring as usize * self.capacity as usize + (at & (self.capacity - 1)) as usize
    }

    /// A ring with one packet, in transmission until `leaves`; its size does not matter any more.
    #[cold]
    fn take(&mut self, leaves: u64) -> u32 {
        let fresh = Ring {
            oldest_leaves: leaves,
            head: 0,
            length: 1,
        };
        if let Some(ring) = self.free.pop() {
            self.rings[ring as usize] = fresh;
            return ring;
        }
        self.rings.push(fresh);
        self.sizes
            .resize(self.sizes.len() + self.capacity as usize, 0);
        self.rings.len() as u32 - 1
    }

    /// The oldest has left; returns the size of the next.
    #[inline]
    fn pop(&mut self, number: u32) -> u16 {
        let ring = &mut self.rings[number as usize];
        ring.head = ring.head.wrapping_add(1);
        ring.length -= 1;
        let head = ring.head;
        self.sizes[self.place(number, head)]
    }

    #[inline]
    fn push(&mut self, number: u32, bytes: u16) {
        if self.rings[number as usize].length == self.capacity {
            self.grow();
        }
        let ring = &mut self.rings[number as usize];
        let at = ring.head.wrapping_add(ring.length);
        ring.length += 1;
        let place = self.place(number, at);
        self.sizes[place] = bytes;
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Vec::with_capacity(self.sizes.len() * 2);
        for number in 0..self.rings.len() as u32 {
            let Ring { head, length, .. } = self.rings[number as usize];
            larger
                .extend((0..length).map(|i| self.sizes[self.place(number, head.wrapping_add(i))]));
            larger.resize((number as usize + 1) * 2 * self.capacity as usize, 0);
            self.rings[number as usize].head = 0;
        }
        self.sizes = larger;
        self.capacity *= 2;
    }
}

#[cfg(test)]
mod tests {
    use weft_net::ids::NodeId;
    use weft_net::units::{Rate, Time};

    use super::*;

    fn link(rate: Rate) -> Link {
        Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate,
            delay: Time::ZERO,
            latency: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: None,
            is_up: true,
            shaper: None,
        }
    }

    #[test]
    fn packets_leave_one_after_another() {
        let mut ports = Ports::new(&[link(Rate::from_gbps(8))], |_| true, |_| false);
        // 8 Gbps: 1 ns per byte. Three packets of 1000 B at time 0 leave at 1, 2 and 3 us.
        for n in 1..=3 {
            assert_eq!(ports.accept(0, 0, 1000), n * 1_000_000);
        }
        for (now, packets) in [
            (0, 3),
            (999_999, 3),
            (1_000_000, 2),
            (2_000_000, 1),
            (3_000_000, 0),
        ] {
            assert_eq!(ports.queued_packets(0, now), packets, "at {now} ps");
        }
        assert_eq!(ports.queued_bytes(0, 1_500_000), 1_500);
        // Waits: 0 + 1 + 2 us; byte-time: 1000 B x (1 + 2 + 3) us.
        assert_eq!(ports.port(0).waited, 3_000_000);
        assert_eq!(ports.port(0).byte_time, 6_000_000_000);
        assert_eq!(ports.busy_before(0, 2_500_000), 2_500_000);
    }

    #[test]
    fn the_ring_counts_what_a_list_of_departures_counts() {
        let mut random = weft_net::random::stream(3, "port");
        for rate in [
            Rate::from_gbps(10),
            Rate(9_999_999_937),
            Rate::from_mbps(20),
        ] {
            let mut ports = Ports::new(&[link(rate)], |_| true, |_| false);
            let (mut now, mut departures) = (0, Vec::new());
            for _ in 0..5_000 {
                now += random.below(2 * rate.transmit_time(700).0);
                let expected = departures.iter().filter(|&&d| d > now).count() as u64;
                assert_eq!(ports.queued_packets(0, now), expected);
                departures.push(ports.accept(0, now, 40 + random.below(1460)));
            }
        }
    }
}
