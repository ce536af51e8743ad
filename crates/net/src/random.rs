//! Randomness: named streams of one seed.
//!
//! Every component draws from its own stream, named after what it is
//! (`stream(seed, "load_balance/se01")`), so adding a component shifts nobody else's numbers.
//! The generator is xoshiro256++ (Blackman and Vigna, 2021) seeded through SplitMix64; both are
//! fixed here for good, since results depend on them.

use serde::{Deserialize, Serialize};

/// A stream of random numbers; plain data, so that it can be checkpointed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    state: [u64; 4],
}

/// The stream called `name` under `seed`.
pub fn stream(seed: u64, name: &str) -> Stream {
    Stream::from_key(stream_key(seed, name))
}

/// A 64-bit key that stands for the stream called `name` under `seed`: for hashes with a seed.
pub fn stream_key(seed: u64, name: &str) -> u64 {
    // FNV-1a over the name, then mixed with the seed.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(mix(seed) ^ hash)
}

/// The finalizer of SplitMix64: a bijection that scatters every input bit over the output.
#[inline(always)]
pub const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// A stream from a 64-bit key (see [`stream_key`]).
    pub fn from_key(key: u64) -> Self {
        let mut z = key;
        let mut next = || {
            let out = mix(z);
            z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
            out
        };
        Self {
            state: [next(), next(), next(), next()],
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in `0..n`, without bias (Lemire 2019). Panics if `n` is zero.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a draw from an empty range");
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Exponential with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    /// Shuffles in place, every order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_never_changes() {
        // Golden values: results of every published run depend on them.
        let mut s = stream(7, "workload/0");
        let drawn: Vec<u64> = (0..3).map(|_| s.next_u64()).collect();
        let mut again = stream(7, "workload/0");
        assert_eq!(drawn, (0..3).map(|_| again.next_u64()).collect::<Vec<_>>());
        assert_ne!(drawn[0], stream(7, "workload/1").next_u64());
        assert_ne!(drawn[0], stream(8, "workload/0").next_u64());
    }

    #[test]
    fn below_is_uniform() {
        // 60,000 draws in 6 bins: each 10,000, standard deviation sqrt(60000 * 5/36) = 91.3.
        let mut s = stream(1, "test");
        let mut bins = [0_i32; 6];
        for _ in 0..60_000 {
            bins[s.below(6) as usize] += 1;
        }
        assert!(bins.iter().all(|b| (b - 10_000).abs() < 5 * 92), "{bins:?}");
    }

    #[test]
    fn exponential_has_mean_one() {
        let mut s = stream(1, "test");
        let mean = (0..100_000).map(|_| s.exponential()).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 5.0 * 0.00317, "{mean}");
    }
}
