//! Units: time in picoseconds, rates in bits per second, sizes in bytes.
//!
//! Everything is an integer, so that two machines agree to the last bit. Serialization times are
//! rounded up: a byte half sent still occupies the wire.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A point in simulated time, or a span of it, in picoseconds (u64: 213 days).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// The start of every simulation.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_ns(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn from_us(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn from_ms(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// `n` seconds.
    pub const fn from_s(n: u64) -> Self {
        Self(n * 1_000_000_000_000)
    }
    /// In nanoseconds, rounded to nearest: what the result tables carry.
    pub const fn as_ns(self) -> u64 {
        (self.0 + 500) / 1_000
    }
    /// In seconds, for rates and averages in reports (never for ordering events).
    pub fn as_s(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// The span since `earlier`, or zero if that lies in the future.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Time {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Time {
    /// The largest unit that needs no fraction: `200 ms`, `1538 ps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1_000_000_000_000, "s"),
            (1_000_000_000, "ms"),
            (1_000_000, "us"),
            (1_000, "ns"),
        ];
        for (size, name) in units {
            if self.0.is_multiple_of(size) {
                return write!(f, "{} {name}", self.0 / size);
            }
        }
        write!(f, "{} ps", self.0)
    }
}

/// A rate in bits per second; never zero in a valid network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub u64);

impl Rate {
    /// `n` gigabits per second (10^9).
    pub const fn from_gbps(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// `n` megabits per second (10^6).
    pub const fn from_mbps(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Time to put `bytes` on the wire, rounded up to the picosecond.
    pub const fn transmit_time(self, bytes: u64) -> Time {
        // 2 MB x 8e12 still fits in 64 bits, and a 64-bit division is several times faster.
        if bytes <= 2_000_000 {
            Time((bytes * 8_000_000_000_000).div_ceil(self.0))
        } else {
            Time((bytes as u128 * 8_000_000_000_000).div_ceil(self.0 as u128) as u64)
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (size, name) in [
            (1_000_000_000, "Gbps"),
            (1_000_000, "Mbps"),
            (1_000, "kbps"),
        ] {
            if self.0.is_multiple_of(size) {
                return write!(f, "{} {name}", self.0 / size);
            }
        }
        write!(f, "{} bps", self.0)
    }
}

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// How much a queue holds, or where it marks: counted in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    /// Whole packets, whatever their size.
    Packets(u64),
    /// Bytes as they occupy the wire, overhead included.
    Bytes(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_at_10_gbps_takes_1230_ns_and_400_ps() {
        // 1538 bytes x 8 bits = 12304 bits; at 10 bits per ns that is 1230.4 ns.
        assert_eq!(Rate::from_gbps(10).transmit_time(1538), Time(1_230_400));
    }

    #[test]
    fn serialization_rounds_up() {
        // 1 byte at 3 bit/s: 8/3 s = 2.666...
        assert_eq!(Rate(3).transmit_time(1), Time(2_666_666_666_667));
    }

    #[test]
    fn a_huge_transfer_does_not_overflow() {
        assert_eq!(
            Rate::from_gbps(1).transmit_time(10_000_000_000),
            Time::from_s(80)
        );
    }

    #[test]
    fn times_print_in_their_largest_whole_unit() {
        assert_eq!(Time::from_ms(200).to_string(), "200 ms");
        assert_eq!(Time(1_230_400).to_string(), "1230400 ps");
    }
}
