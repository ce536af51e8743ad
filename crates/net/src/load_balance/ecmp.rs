//! ECMP: a hash of the five-tuple chooses the hop, so that a flow keeps its path.
//!
//! Source: RFC 2992; hashing into buckets as P4 switches do it (course project and path diversity study under
//! `experiments/studies`). The key of a packet is either a 32-bit mix of the five-tuple or its CRC16 as P4 computes it
//! (polynomial 0x8005 reflected, start 0, over the 13 bytes in the order source, destination, ports, protocol:
//! CRC-16/ARC). Every switch mixes its own seed into it; with a shared seed all switches hash alike and those further up
//! see flows that the ones below have already sorted (polarization), so that paths stay unused.

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::load_balance::{FiveTuple, SwitchState, scale};
use crate::random::{Stream, mix};

crate::choice! {
    /// Whose seed is in the hash.
    pub enum Seeds {
        /// Every switch has its own.
        PerSwitch = "per_switch",
        /// All switches hash alike: polarization.
        Shared = "shared",
    }
}

crate::choice! {
    /// The hash of the five-tuple.
    pub enum Hash {
        /// 32 bits, every one of which depends on the whole tuple.
        Mix = "mix",
        /// CRC-16/ARC, as bmv2's `crc16`.
        Crc16 = "crc16",
        /// For the path diversity study alone: what its P4 program hashed. Its parser is four bytes off, so that the
        /// checksum covers the upper half of the TCP sequence number in place of the ports, and a flow gets another path
        /// every 64 KiB.
        AsPublished = "as_published",
    }
}

crate::choice! {
    /// How buckets are laid over the hops.
    pub enum BucketMap {
        /// Shuffled, each hop the same number of buckets; where that does not divide, one hop drawn at random has
        /// fewer than another (8 buckets on 3 hops: 3, 3, 2).
        Even = "even",
        /// Each bucket on a hop of its own drawing: hops may get several, or none.
        Random = "random",
    }
}

crate::kind! {
    /// Equal-cost multipath: flows are hashed over the hops.
    pub struct Ecmp: "load_balance" / "ecmp", source "RFC 2992" {
        /// Whose seed is in the hash. With a checksum, `shared` means the bare checksum and no seed.
        pub seeds: Seeds = Seeds::PerSwitch;
        /// The hash of the five-tuple; `as_published` has the sequence number in place of the ports, for one study alone.
        pub hash: Hash = Hash::Mix;
        /// Buckets between hash and hops: a power of two (the low bits of the hash count); 0 hashes straight to hops.
        pub buckets: u64 = 0, range 0..=65536;
        /// How buckets are laid over the hops, drawn once per switch.
        pub bucket_map: BucketMap = BucketMap::Even;
    }
}

impl Ecmp {
    /// Refuses a number of buckets that is no power of two.
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.buckets == 0 || self.buckets.is_power_of_two() {
            return Ok(());
        }
        let above = self.buckets.next_power_of_two();
        let message = format!(
            "{} is no power of two; take {} or {above}, or 0 for none",
            self.buckets,
            above / 2
        );
        Err(Fault::new("load_balance.buckets", message))
    }

    pub(super) fn entropy(&self, tuple: &FiveTuple) -> u32 {
        match self.hash {
            Hash::Mix => tuple.mixed(),
            Hash::Crc16 => u32::from(crc16(&bytes(tuple))),
            Hash::AsPublished => published(tuple, upper_half(tuple, 0)),
        }
    }

    /// Whether packets of one flow have different hashes.
    pub(super) fn hashes_sequence(&self) -> bool {
        self.hash == Hash::AsPublished
    }

    pub(super) fn switch(&self, own: u64, shared: u64) -> SwitchState {
        let hash = match (self.seeds, self.hash) {
            (Seeds::PerSwitch, _) => State::Seeded(own),
            (Seeds::Shared, Hash::Mix) => State::Seeded(shared),
            (Seeds::Shared, Hash::Crc16 | Hash::AsPublished) => State::Bare16,
        };
        if self.buckets == 0 {
            return SwitchState::Ecmp(hash);
        }
        // The map is each switch's own even where the hash is shared.
        let mut random = Stream::from_key(own);
        // Where a bucket lies on the circle of 2^32 that is divided among the hops.
        let width = (1_u64 << 32) / self.buckets;
        let places = match self.bucket_map {
            BucketMap::Even => {
                let phase = random.below(width);
                let mut places: Vec<u32> = (0..self.buckets)
                    .map(|b| (b * width + phase) as u32)
                    .collect();
                random.shuffle(&mut places);
                places
            }
            BucketMap::Random => (0..self.buckets)
                .map(|_| (random.next_u64() >> 32) as u32)
                .collect(),
        };
        SwitchState::Buckets(Buckets {
            hash,
            places: places.into(),
        })
    }
}

/// How one switch hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// The entropy mixed with this key.
    Seeded(u64),
    /// The entropy itself, of which only 16 bits are used.
    Bare16,
}

impl State {
    #[inline]
    pub(super) fn choose(&self, entropy: u32, n: u32) -> u32 {
        match *self {
            Self::Seeded(key) => scale(seeded(key, entropy), n),
            Self::Bare16 => scale(entropy << 16, n),
        }
    }
}

#[inline(always)]
fn seeded(key: u64, entropy: u32) -> u32 {
    (mix(key ^ u64::from(entropy)) >> 32) as u32
}

/// The buckets of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buckets {
    hash: State,
    /// A power of two of them.
    places: Box<[u32]>,
}

impl Buckets {
    #[inline]
    pub(super) fn choose(&self, entropy: u32, n: u32) -> u32 {
        let hash = match self.hash {
            State::Seeded(key) => seeded(key, entropy),
            State::Bare16 => entropy,
        };
        scale(self.places[hash as usize & (self.places.len() - 1)], n)
    }
}

/// The 13 bytes that are hashed, in network order.
fn bytes(tuple: &FiveTuple) -> [u8; 13] {
    let mut bytes = [0; 13];
    bytes[0..4].copy_from_slice(&tuple.src);
    bytes[4..8].copy_from_slice(&tuple.dst);
    bytes[8..10].copy_from_slice(&tuple.src_port.to_be_bytes());
    bytes[10..12].copy_from_slice(&tuple.dst_port.to_be_bytes());
    bytes[12] = tuple.protocol;
    bytes
}

/// The hash `as_published` of a packet whose sequence number has this upper half: addresses, the two bytes that the program
/// took for ports of eight bits, protocol. Of UDP these would be the length, which a flow does not change.
pub fn published(tuple: &FiveTuple, upper: u16) -> u32 {
    let mut bytes = [0; 11];
    bytes[0..4].copy_from_slice(&tuple.src);
    bytes[4..8].copy_from_slice(&tuple.dst);
    if tuple.protocol == 6 {
        bytes[8..10].copy_from_slice(&upper.to_be_bytes());
    }
    bytes[10] = tuple.protocol;
    u32::from(crc16(&bytes))
}

/// The upper half of the sequence number of byte `offset` of a connection. Where it begins depends on the five-tuple, as in
/// RFC 6528.
pub fn upper_half(tuple: &FiveTuple, offset: u64) -> u16 {
    (tuple.mixed().wrapping_add(1).wrapping_add(offset as u32) >> 16) as u16
}

/// CRC-16/ARC.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |crc, _| {
            if crc & 1 == 1 {
                crc >> 1 ^ 0xa001
            } else {
                crc >> 1
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::load_balance::tests::{hops, kind, network, tuple};

    #[test]
    fn the_checksum_is_crc_16_arc() {
        // The check value of CRC-16/ARC in every catalogue of checksums.
        assert_eq!(crc16(b"123456789"), 0xbb3d);
    }

    /// Mean over `seeds` of the largest number of flows on one link.
    fn mean_largest(flows: u32, links: u32, seeds: u64) -> f64 {
        let balance = kind(r#"{"kind":"ecmp"}"#);
        let (network, hops) = (network(), hops(links));
        let largest = |seed| {
            let mut state = balance.switch(seed, &network, NodeId(16));
            let mut load = vec![0_u32; links as usize];
            for i in 0..flows {
                load[(state.choose(balance.entropy(&tuple(i)), NodeId(1), &hops).0 - 100)
                    as usize] += 1;
            }
            f64::from(load.into_iter().max().unwrap())
        };
        (0..seeds).map(largest).sum::<f64>() / seeds as f64
    }

    #[test]
    fn collisions_are_those_of_balls_in_bins() {
        // Oracle 6. For 4/4: P(max = 1..4) = 24, 180, 48, 4 of 256, so the mean is (24 + 2*180 + 3*48 + 4*4) / 256 = 2.125.
        for (flows, links, mean) in [
            (4, 4, 2.1250),
            (8, 8, 2.5972),
            (16, 4, 6.1390),
            (64, 8, 12.2353),
        ] {
            let found = mean_largest(flows, links, 10_000);
            assert!(
                (found / mean - 1.0).abs() < 0.01,
                "{flows} on {links}: {found}"
            );
        }
    }

    #[test]
    fn buckets_are_a_power_of_two() {
        let fault = kind(r#"{"kind":"ecmp","buckets":12}"#).check().unwrap_err();
        assert_eq!(
            fault.to_string(),
            "load_balance.buckets: 12 is no power of two; take 8 or 16, or 0 for none"
        );
    }

    #[test]
    fn a_flow_keeps_its_hop() {
        let (network, hops) = (network(), hops(4));
        for text in [
            r#"{"kind":"ecmp"}"#,
            r#"{"kind":"ecmp","hash":"crc16","buckets":8,"seeds":"shared"}"#,
        ] {
            let balance = kind(text);
            let mut state = balance.switch(1, &network, NodeId(16));
            let first = state.choose(balance.entropy(&tuple(1)), NodeId(1), &hops);
            assert!(
                (0..100)
                    .all(|_| state.choose(balance.entropy(&tuple(1)), NodeId(1), &hops) == first)
            );
        }
    }

    #[test]
    fn the_published_hash_changes_every_64_kib_and_knows_no_ports() {
        let t = tuple(1);
        let at = |offset| published(&t, upper_half(&t, offset));
        // Over 1 MiB the upper half has 16 or 17 values, and CRC-16 tells all of them apart.
        let hashes: Vec<_> = (0..1024).map(|kib| at(kib * 1024)).collect();
        let changes = hashes.windows(2).filter(|w| w[0] != w[1]).count();
        assert!((15..=16).contains(&changes), "{changes}");
        let other = FiveTuple { src_port: 9, ..t };
        assert_eq!(published(&t, 7), published(&other, 7));
        assert_ne!(upper_half(&t, 0), upper_half(&other, 0));
        let balance = kind(r#"{"kind":"ecmp","hash":"as_published","buckets":8}"#);
        assert!(!balance.is_per_flow() && balance.hashes_sequence());
        assert_eq!(balance.entropy(&t), at(0));
    }

    #[test]
    fn a_shared_seed_polarizes() {
        // Flows that one switch sends to its first hop all go to the first hop of the next one, too.
        let (network, hops) = (network(), hops(2));
        let second_hops = |text: &str| {
            let balance = kind(text);
            let (mut below, mut above) = (
                balance.switch(1, &network, NodeId(16)),
                balance.switch(1, &network, NodeId(24)),
            );
            let entropies = (0..1000).map(|i| balance.entropy(&tuple(i)));
            let first: Vec<u32> = entropies
                .filter(|&e| below.choose(e, NodeId(1), &hops) == hops[0])
                .collect();
            let again = first
                .iter()
                .filter(|&&e| above.choose(e, NodeId(1), &hops) == hops[0])
                .count();
            again as f64 / first.len() as f64
        };
        assert_eq!(second_hops(r#"{"kind":"ecmp","seeds":"shared"}"#), 1.0);
        assert_eq!(
            second_hops(r#"{"kind":"ecmp","seeds":"shared","hash":"crc16"}"#),
            1.0
        );
        // Own seeds: half of about 500, standard deviation 2.2 points.
        assert!((second_hops(r#"{"kind":"ecmp"}"#) - 0.5).abs() < 0.1);
    }

    /// How many of 8 buckets each of `n` hops gets at switch 16.
    fn buckets_of(map: &str, seed: u64, n: u32) -> Vec<usize> {
        let text = format!(
            r#"{{"kind":"ecmp","buckets":8,"bucket_map":"{map}","hash":"crc16","seeds":"shared"}}"#
        );
        let mut state = kind(&text).switch(seed, &network(), NodeId(16));
        let chosen: Vec<_> = (0..8)
            .map(|bucket| state.choose(bucket, NodeId(1), &hops(n)).0 - 100)
            .collect();
        (0..n)
            .map(|hop| chosen.iter().filter(|&&c| c == hop).count())
            .collect()
    }

    #[test]
    fn an_even_map_gives_every_hop_its_share_of_buckets() {
        let mut short = [0; 3];
        for seed in 0..300 {
            assert_eq!(buckets_of("even", seed, 4), [2, 2, 2, 2]);
            // 8 on 3 is 3, 3, 2, in any order.
            let three = buckets_of("even", seed, 3);
            assert_eq!(three.iter().filter(|&&b| b == 3).count(), 2, "{three:?}");
            short[three.iter().position(|&b| b == 2).unwrap()] += 1;
        }
        // Every hop is the short one for a third of the switches: 100, standard deviation 8.2.
        assert!(
            short.iter().all(|&s: &i32| (s - 100).abs() < 41),
            "{short:?}"
        );
    }

    #[test]
    fn a_random_map_may_be_skewed() {
        // 8 buckets on 4 hops: 40824 of the 4^8 = 65536 maps leave no hop empty, 0.623.
        let full = (0..1000)
            .filter(|&seed| buckets_of("random", seed, 4).iter().all(|&b| b > 0))
            .count();
        assert!((full as f64 / 1000.0 - 0.623).abs() < 0.08, "{full}");
    }
}
