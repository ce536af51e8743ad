//! A shaper in front of a wire: a token bucket, as Linux's `tbf` (and as `htb`, with which Mininet limits its links).
//!
//! Source: tc-tbf(8); RFC 2697 has the same meter. Tokens come at the link's `rate`, at most `burst` bytes of them; a
//! packet goes out when there are as many as it has bytes on the wire, and takes them. So what fits into the burst passes
//! at the speed of the wire beneath: at once on a virtual one, else at `peak_rate`. In the long run the link carries `rate`.
//!
//! Tokens are counted in the time in which they come, in whole picoseconds: the bucket is known by the time at which it
//! will be full (the virtual scheduling of ATM's GCRA, ITU-T I.371), so that nothing happens when tokens come.

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::network::{Link, LinkConfig};
use crate::units::{Bytes, Rate, Time};

crate::choice! {
    /// What limits a link to its rate.
    pub enum Shaper {
        /// The wire itself: each packet takes the time of its bytes at `rate`.
        None = "none",
        /// Tokens: bursts pass at the speed of the wire beneath.
        TokenBucket = "token_bucket",
    }
}

/// The token bucket of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// Bytes that a full bucket holds.
    pub bytes: Bytes,
    /// The speed of the wire beneath; `None` is one that takes no time.
    pub peak: Option<Rate>,
}

impl Burst {
    /// Where nothing is said: what Mininet gives each link that it limits (15k of tc).
    pub(crate) const DEFAULT: Self = Self {
        bytes: Bytes(15 * 1024),
        peak: None,
    };
}

impl LinkConfig {
    /// The bucket of a link like this, if it has one.
    pub(crate) fn bucket(&self) -> Option<Burst> {
        (self.shaper == Shaper::TokenBucket).then(|| Burst {
            bytes: self.burst.unwrap_or(Burst::DEFAULT.bytes),
            peak: self.peak_rate,
        })
    }
}

/// What a link's keys say that cannot be, at the key relative to the link.
pub(crate) fn check(link: &Link, name: &str) -> Result<(), Fault> {
    let Some(Burst { bytes, peak }) = link.shaper else {
        return Ok(());
    };
    let full = u64::from(link.mtu + link.overhead);
    if bytes.0 < full {
        let message = format!(
            "{} B at {name} is less than a full packet ({full} B on the wire), which could never pass; take {full} B or more",
            bytes.0
        );
        return Err(Fault::new("burst", message));
    }
    if let Some(peak) = peak.filter(|&peak| peak < link.rate) {
        let message = format!(
            "{peak} at {name} is less than its rate of {}; the wire beneath is at least as fast",
            link.rate
        );
        return Err(Fault::new("peak_rate", message));
    }
    if peak.is_none() && link.delay == Time::ZERO {
        let message = format!(
            "a burst would cross {name} in no time at all: give the link a delay, or a peak_rate"
        );
        return Err(Fault::new("delay", message));
    }
    Ok(())
}

/// The tokens of one link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    rate: Rate,
    peak: Option<Rate>,
    /// Time in which an empty bucket fills, ps.
    depth: u64,
    /// When it will be full if nothing more passes, ps.
    full_at: u64,
}

/// How a packet passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When its first bit goes out, ps.
    pub begins: u64,
    /// When its last bit has gone out, ps.
    pub leaves: u64,
    /// Time in which the tokens come that it takes, ps.
    pub cost: u64,
}

impl TokenBucket {
    /// The full bucket of a link; `None` where it has none.
    #[must_use]
    pub fn of(link: &Link) -> Option<Self> {
        link.shaper.map(|burst| Self {
            rate: link.rate,
            peak: burst.peak,
            depth: link.rate.transmit_time(burst.bytes.0).0,
            full_at: 0,
        })
    }

    /// Lets a packet of `bytes` on the wire pass that is there at `ready` ps, behind the one before it, which has left by
    /// then.
    pub fn pass(&mut self, ready: u64, bytes: u64) -> Passage {
        let cost = self.rate.transmit_time(bytes).0;
        let has_tokens = (self.full_at + cost).saturating_sub(self.depth);
        let begins = ready.max(has_tokens);
        self.full_at = self.full_at.max(begins) + cost;
        Passage {
            begins,
            leaves: begins + self.peak.map_or(0, |peak| peak.transmit_time(bytes).0),
            cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::scenario::tests::build;
    use serde_json::{Value, json};

    fn bucket(burst: u64, peak: Option<u64>) -> TokenBucket {
        TokenBucket::of(&Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate: Rate::from_mbps(1),
            delay: Time::from_us(1),
            latency: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: None,
            is_up: true,
            shaper: Some(Burst {
                bytes: Bytes(burst),
                peak: peak.map(Rate::from_mbps),
            }),
        })
        .unwrap()
    }

    const US: u64 = 1_000_000;

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        // 1 Mb/s is 8 us a byte. Of ten packets of 1000 B at time 0 the first three find tokens in a bucket of 3500 B; the
        // fourth waits for 500 B, 4 ms, the others for 1000 B each, 8 ms.
        let mut bucket = bucket(3500, None);
        let mut last = 0;
        let left: Vec<u64> = (0..6)
            .map(|_| {
                last = bucket.pass(last, 1000).leaves;
                last / US
            })
            .collect();
        assert_eq!(left, [0, 0, 0, 4_000, 12_000, 20_000]);
        // After 14 ms more there are 1750 B: one passes, the next waits for 250 B, 2 ms.
        let now = (20_000 + 14_000) * US;
        assert_eq!(bucket.pass(now, 1000).leaves, now);
        assert_eq!(bucket.pass(now, 1000).leaves, now + 2_000 * US);
        // A full bucket gets no fuller.
        let later = 10_000_000 * US;
        let left: Vec<u64> = (0..4)
            .map(|_| bucket.pass(later, 1000).leaves - later)
            .collect();
        assert_eq!(left, [0, 0, 0, 4_000 * US]);
    }

    #[test]
    fn a_burst_takes_its_time_on_the_wire_beneath() {
        // 10 Mb/s beneath: 0.8 ms for each of three; while they pass, tokens for 300 B come: the fourth has 500 + 300.
        let mut bucket = bucket(3500, Some(10));
        let mut last = 0;
        let left: Vec<u64> = (0..5)
            .map(|_| {
                last = bucket.pass(last, 1000).leaves;
                last / US
            })
            .collect();
        // Tokens for the fourth at 4 ms, for the fifth at 12 ms, and 0.8 ms each.
        assert_eq!(left, [800, 1_600, 2_400, 4_800, 12_800]);
    }

    #[test]
    fn in_the_long_run_it_carries_its_rate() {
        let mut random = crate::random::stream(1, "shaper");
        let mut bucket = bucket(5000, Some(3));
        let (mut last, mut bytes) = (0, 0);
        for _ in 0..20_000 {
            let size = 60 + random.below(1440);
            let passage = bucket.pass(last, size);
            assert!(passage.begins >= last && passage.leaves > passage.begins);
            last = passage.leaves;
            bytes += size;
            // Never more than the burst above the rate.
            assert!(bytes * 8 * US <= last + 5000 * 8 * US);
        }
        assert!((last as f64 / (bytes * 8 * US) as f64 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn what_makes_no_shaper_is_refused() {
        let fault = |link: Value, overrides: Value| {
            let topology =
                json!({ "kind": "star", "hosts": 2, "link": link, "overrides": overrides });
            build(json!({ "topology": topology })).unwrap_err()[0].to_string()
        };
        let shaped = |key: &str, value: u64| {
            let mut link = json!({ "rate": 1_000_000, "shaper": "token_bucket" });
            link[key] = value.into();
            link
        };
        assert_eq!(
            fault(shaped("burst", 1000), json!([])),
            "topology.link.burst: 1000 B at h0>s is less than a full packet (1538 B on the wire), which could never pass; \
             take 1538 B or more"
        );
        assert_eq!(
            fault(shaped("peak_rate", 5), json!([])),
            "topology.link.peak_rate: 5 bps at h0>s is less than its rate of 1 Mbps; the wire beneath is at least as fast"
        );
        assert_eq!(
            fault(shaped("delay", 0), json!([])),
            "topology.link.delay: a burst would cross h0>s in no time at all: give the link a delay, or a peak_rate"
        );
        assert_eq!(
            fault(json!({ "burst": 5000 }), json!([])),
            "topology.link.burst: has no meaning without shaper = \"token_bucket\""
        );
        assert_eq!(
            fault(json!({}), json!([{ "links": "h0>*", "peak_rate": 5 }])),
            "topology.overrides[0].peak_rate: has no meaning without shaper = \"token_bucket\"; h0>s has none"
        );
        assert_eq!(
            fault(
                json!({}),
                json!([{ "links": "h0>*", "shaper": "token_bucket", "burst": 7 }])
            ),
            "topology.overrides[0].burst: 7 B at h0>s is less than a full packet (1538 B on the wire), which could never pass; \
             take 1538 B or more"
        );
    }

    #[test]
    fn one_link_may_differ() {
        let overrides = json!([
            { "links": "h0>s", "shaper": "none" },
            { "links": "h1>s", "burst": 5000, "peak_rate": 1_000_000_000_000_u64 },
        ]);
        let link = json!({ "shaper": "token_bucket" });
        let topology = json!({ "kind": "star", "hosts": 2, "link": link, "overrides": overrides });
        let s = build(json!({ "topology": topology })).unwrap();
        let burst = |bytes, peak: Option<u64>| {
            Some(Burst {
                bytes: Bytes(bytes),
                peak: peak.map(Rate::from_gbps),
            })
        };
        let shapers: Vec<_> = s.network.links.iter().map(|l| l.shaper).collect();
        assert_eq!(
            shapers,
            [
                None,
                burst(15_360, None),
                burst(5000, Some(1000)),
                burst(15_360, None)
            ]
        );
    }
}
