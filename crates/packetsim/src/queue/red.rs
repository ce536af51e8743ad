//! RED: drop or mark early, with a probability that grows with the average queue.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1993;
//! the gentle variant: Floyd, "Recommendation on using the gentle_ variant of RED", 2000.

use serde::{Deserialize, Serialize};
use weft_net::random::Stream;
use weft_net::units::Capacity;

use crate::queue::{Verdict, View};

weft_net::kind! {
    /// Random early detection on the average queue length, in packets.
    pub struct Red: "queue" / "red", source "Floyd and Jacobson 1993; gentle variant: Floyd 2000" {
        /// How much the queue holds, the packet in transmission included.
        pub capacity: Capacity = Capacity::Packets(250), at least 1;
        /// Average queue, packets, below which nothing happens.
        pub min_threshold: f64 = 30.0, range 0.0..=1000000.0;
        /// Average queue, packets, at which the probability reaches `max_probability`; above `min_threshold`.
        pub max_threshold: f64 = 90.0, range 0.0..=1000000.0;
        /// Probability at `max_threshold`.
        pub max_probability: f64 = 0.1, range 0.0..=1.0;
        /// Weight of a new observation in the average.
        pub weight: f64 = 0.002, range 0.000001..=1.0;
        /// Between `max_threshold` and twice it the probability rises to 1 instead of jumping there.
        pub gentle: bool = true;
        /// Mark ECN-capable packets instead of dropping them.
        pub ecn: bool = true;
    }
}

/// What RED remembers of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    average: f64,
    /// Packets since the last one that was dropped or marked; -1 below the threshold.
    since: i64,
    random: Stream,
}

impl Memory {
    pub(crate) fn new(key: u64) -> Self {
        Self {
            average: 0.0,
            since: -1,
            random: Stream::from_key(key),
        }
    }
}

impl Red {
    pub(crate) fn admit(&self, memory: &mut Memory, view: &View) -> Verdict {
        if view.packets == 0 {
            // The average decays as if m small packets had found the queue empty (section 11 of the paper).
            let m = view.now.saturating_sub(view.idle_since) as f64 / view.packet_time as f64;
            memory.average *= libm::pow(1.0 - self.weight, m);
        } else {
            memory.average += self.weight * (view.packets as f64 - memory.average);
        }
        if !view.fits(self.capacity) {
            memory.since = 0;
            return Verdict::Drop;
        }
        let probability = self.probability(memory.average);
        if probability <= 0.0 {
            memory.since = -1;
            return Verdict::Enqueue;
        }
        memory.since += 1;
        // Spread the drops evenly: p / (1 - count p).
        let spread = 1.0 - memory.since as f64 * probability;
        let now = if spread <= probability {
            1.0
        } else {
            probability / spread
        };
        if probability < 1.0 && memory.random.uniform() >= now {
            return Verdict::Enqueue;
        }
        memory.since = 0;
        if self.ecn && view.is_ecn_capable {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }

    /// Probability for an average queue, before spreading.
    fn probability(&self, average: f64) -> f64 {
        let (low, high, most) = (self.min_threshold, self.max_threshold, self.max_probability);
        if average < low {
            0.0
        } else if average < high {
            most * (average - low) / (high - low)
        } else if self.gentle && average < 2.0 * high {
            most + (1.0 - most) * (average - high) / high
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_net::kinds::Describe;

    use super::*;

    #[test]
    fn the_probability_is_linear_between_the_thresholds() {
        let red = Red::defaults();
        assert_eq!(red.probability(29.9), 0.0);
        // Half way from 30 to 90: half of 0.1.
        assert!((red.probability(60.0) - 0.05).abs() < 1e-12);
        // Gentle: half way from 90 to 180 is half way from 0.1 to 1.
        assert!((red.probability(135.0) - 0.55).abs() < 1e-12);
        assert_eq!(red.probability(200.0), 1.0);
    }

    #[test]
    fn a_standing_average_drops_its_share() {
        // Average held at 60: p = 0.05 before spreading. The packet after a drop is number 1, so the
        // gap is uniform on 1..19, mean 10 packets: a share of 0.1.
        let red = Red {
            weight: 1.0,
            ..Red::defaults()
        };
        let mut memory = Memory::new(7);
        let view = View {
            now: 0,
            packets: 60,
            bytes: 0,
            arriving: 1500,
            is_ecn_capable: false,
            idle_since: 0,
            packet_time: 1,
        };
        let drops = (0..100_000)
            .filter(|_| red.admit(&mut memory, &view) == Verdict::Drop)
            .count();
        assert!((drops as f64 / 1e5 - 0.1).abs() < 0.003, "{drops}");
    }
}
