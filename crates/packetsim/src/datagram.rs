//! UDP: a source that sends by the clock, and a sink that counts.
//!
//! Source: RFC 768. A datagram that finds the network card without room waits in the socket and is never lost there.

use serde::{Deserialize, Serialize};
use weft_net::load_balance::reps::Entropies;
use weft_net::random::Stream;
use weft_net::results::Latency;
use weft_net::transport::udp::{Arrivals, HEADER_BYTES, PacketSizes, Udp};

use crate::address::Address;
use crate::packet::{Kind, Packet, flag};
use crate::sender::Sent;
use crate::wire::Wire;

/// One source; plain data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) address: Address,
    arrivals: Arrivals,
    sizes: PacketSizes,
    /// Mean size of an IP packet.
    packet: u32,
    mtu: u32,
    /// Mean gap between datagrams, ps.
    gap: f64,
    random: Stream,
    /// Payload bytes not sent yet; `None` is endless.
    left: Option<u64>,
    stop: u64,
    card_room: u64,
    /// When the next datagram is ready; a real number, so that rounding does not bias the rate.
    ready: f64,
    /// Its size is drawn once it is ready.
    seq: u32,
    /// REPS without acknowledgments: all of them random.
    entropies: Option<Entropies>,
    pub(crate) waits_for_card: bool,
    pub(crate) is_done: bool,
    pub(crate) wire_bytes: u64,
    pub(crate) packets: u64,
}

/// What a source is made of.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) udp: &'a Udp,
    pub(crate) address: Address,
    pub(crate) size: Option<u64>,
    pub(crate) stop: u64,
    /// Largest IP packet.
    pub(crate) mtu: u32,
    /// Bytes beside the IP packet on the first link.
    pub(crate) overhead: u32,
    pub(crate) card_room: u64,
    pub(crate) entropies: Option<Entropies>,
}

impl Source {
    /// The rate counts what the wire of the first link carries; `random` draws gaps and sizes.
    pub(crate) fn new(setup: Setup<'_>, random: Stream) -> Self {
        let Setup {
            udp,
            address,
            size,
            stop,
            mtu,
            overhead,
            card_room,
            entropies,
        } = setup;
        let packet = udp.packet.map_or(mtu, |p| p.0 as u32).min(mtu);
        Self {
            address,
            arrivals: udp.arrivals,
            sizes: udp.packet_size,
            packet,
            mtu,
            gap: f64::from(packet + overhead) * 8e12 / udp.rate.0 as f64,
            random,
            left: size,
            stop,
            card_room,
            ready: 0.0,
            seq: 0,
            entropies,
            waits_for_card: false,
            is_done: false,
            wire_bytes: 0,
            packets: 0,
        }
    }

    /// Begins: constant arrivals with the first datagram at once, Poisson arrivals after a first gap.
    pub(crate) fn open(&mut self, now: u64) {
        self.ready = now as f64;
        if self.arrivals == Arrivals::Poisson {
            self.ready += self.gap * self.random.exponential();
        }
    }

    /// Sends one datagram if one is ready and the card has room; else sets a timer for the next.
    pub(crate) fn send_next(&mut self, wire: &mut Wire) -> Sent {
        if self.is_done {
            return Sent::Nothing;
        }
        let ready = self.ready as u64;
        if ready >= self.stop {
            self.is_done = true;
            return Sent::Nothing;
        }
        if ready > wire.now {
            let event = Packet::local(
                Kind::SourceTimer,
                self.address.node,
                self.address.flow,
                ready,
            );
            wire.schedule(event);
            return Sent::Nothing;
        }
        if wire.ports.port(self.address.link).busy_until > wire.now + self.card_room {
            return Sent::NoRoom;
        }
        let mut bytes = match self.sizes {
            PacketSizes::Fixed => self.packet,
            PacketSizes::Exponential => {
                let drawn = f64::from(self.packet) * self.random.exponential() + 0.5;
                (drawn as u32).clamp(HEADER_BYTES + 1, self.mtu)
            }
        };
        let mut flags = 0;
        if let Some(left) = &mut self.left {
            bytes =
                bytes.min(HEADER_BYTES + u32::try_from(*left).unwrap_or(u32::MAX - HEADER_BYTES));
            *left -= u64::from(bytes - HEADER_BYTES);
            if *left == 0 {
                flags = flag::FIN;
                self.is_done = true;
            }
        }
        let mut packet =
            self.address
                .packet(Kind::Datagram, self.seq, bytes as u16, flags, wire.now);
        // The receiver measures the delay from when the datagram was ready: waiting in the socket counts.
        packet.sack[0] = ready as u32;
        packet.sack[1] = (ready >> 32) as u32;
        if let Some(entropies) = &mut self.entropies {
            packet.entropy ^= u32::from(entropies.take());
        }
        self.seq = self.seq.wrapping_add(1);
        self.wire_bytes += wire.emit(self.address.link, self.address.node, packet);
        self.packets += 1;
        self.ready += match self.arrivals {
            Arrivals::Constant => self.gap,
            Arrivals::Poisson => self.gap * self.random.exponential(),
        };
        Sent::One
    }
}

/// One sink.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sink {
    pub(crate) delivered: u64,
    pub(crate) reordered: u64,
    /// One past the highest number seen.
    highest: u32,
    pub(crate) delays: Histogram,
    pub(crate) last_arrival: u64,
}

impl Sink {
    pub(crate) fn new() -> Self {
        Self {
            delivered: 0,
            reordered: 0,
            highest: 0,
            delays: Histogram::new(),
            last_arrival: 0,
        }
    }

    /// A datagram arrives; its delay is recorded inside the measurement window only.
    pub(crate) fn on_datagram(&mut self, packet: &Packet, now: u64, is_measured: bool) {
        self.delivered += u64::from(u32::from(packet.bytes) - HEADER_BYTES);
        if packet.seq < self.highest {
            self.reordered += 1;
        }
        self.highest = self.highest.max(packet.seq.wrapping_add(1));
        self.last_arrival = now;
        if is_measured {
            let ready = u64::from(packet.sack[0]) | u64::from(packet.sack[1]) << 32;
            self.delays.add(now - ready);
        }
    }
}

/// Counts of delays in buckets whose width is 1/128 of their value or less.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Histogram {
    counts: Vec<u32>,
    total: u64,
    sum: u128,
}

impl Histogram {
    const BITS: u32 = 7;

    pub(crate) fn new() -> Self {
        Self {
            counts: Vec::new(),
            total: 0,
            sum: 0,
        }
    }

    fn bucket(value: u64) -> usize {
        let shift = (64 - value.leading_zeros()).saturating_sub(Self::BITS + 1);
        ((u64::from(shift) << Self::BITS) + (value >> shift)) as usize
    }

    pub(crate) fn add(&mut self, value: u64) {
        let bucket = Self::bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.sum += u128::from(value);
    }

    /// Mean, median and 99th percentile; `None` if there is no value.
    pub(crate) fn summary(&self) -> Option<Latency> {
        Some(Latency {
            mean: (self.sum / u128::from(self.total.max(1))) as u64,
            p50: self.quantile(0.5)?,
            p99: self.quantile(0.99)?,
        })
    }

    /// The value that a share `q` of all lie at or below, within 0.8 %; `None` if there are none.
    pub(crate) fn quantile(&self, q: f64) -> Option<u64> {
        let rank = libm::ceil(q * self.total as f64).max(1.0) as u64;
        let mut below = 0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            below += u64::from(count);
            if count > 0 && below >= rank {
                let bucket = bucket as u64;
                let shift = (bucket >> Self::BITS).saturating_sub(1);
                let low = (bucket - (shift << Self::BITS)) << shift;
                return Some(low + (1 << shift) / 2);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_exact() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.summary(), None);
        for value in [1, 2, 1_000_000_007] {
            histogram.add(value);
        }
        assert_eq!(histogram.summary().unwrap().mean, 1_000_000_010 / 3);
    }

    #[test]
    fn quantiles_are_within_a_bucket() {
        let mut histogram = Histogram::new();
        for value in 1..=100_000 {
            histogram.add(value * 1_000);
        }
        for (q, expected) in [
            (0.5, 50_000_000.0),
            (0.99, 99_000_000.0),
            (0.001, 100_000.0),
        ] {
            let found = histogram.quantile(q).expect("not empty") as f64;
            assert!((found / expected - 1.0).abs() < 0.008, "{q}: {found}");
        }
    }
}
