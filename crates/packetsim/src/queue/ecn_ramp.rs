//! ECN ramp: mark with a probability that grows with the queue of the moment.
//!
//! Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1 and figure 5: nothing below
//! Kmin, linear up to Pmax at Kmax, everything above. It is RED without an average.

use serde::{Deserialize, Serialize};
use weft_net::random::Stream;
use weft_net::units::Capacity;

use crate::queue::{Verdict, View};

weft_net::kind! {
    /// Marks arriving ECN-capable packets with a probability that rises between two lengths of the queue.
    pub struct EcnRamp: "queue" / "ecn_ramp", source "Zhu et al., SIGCOMM 2015" {
        /// How much the queue holds, the packet in transmission included. The buffer of a lossless class is that of
        /// `[flow_control]` instead.
        pub capacity: Capacity = Capacity::Bytes(4_000_000), at least 1;
        /// Up to this length nothing is marked (Kmin).
        pub min_threshold: Capacity = Capacity::Bytes(100_000);
        /// Above this length everything is (Kmax); above `min_threshold`, and in the same unit.
        pub max_threshold: Capacity = Capacity::Bytes(400_000);
        /// Probability at `max_threshold` (Pmax).
        pub max_probability: f64 = 0.2, range 0.0..=1.0;
    }
}

/// The random numbers of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Memory(Stream);

impl Memory {
    pub(crate) fn new(key: u64) -> Self {
        Self(Stream::from_key(key))
    }
}

impl EcnRamp {
    /// Marks by chance; packets that cannot be marked are only dropped when there is no room.
    #[inline]
    pub(crate) fn admit(&self, memory: &mut Memory, view: &View) -> Verdict {
        if !view.fits(self.capacity) {
            return Verdict::Drop;
        }
        if !view.is_ecn_capable {
            return Verdict::Enqueue;
        }
        let (length, least, most) = match (self.min_threshold, self.max_threshold) {
            (Capacity::Packets(least), Capacity::Packets(most)) => (view.packets + 1, least, most),
            (Capacity::Bytes(least), Capacity::Bytes(most)) => {
                (view.bytes + view.arriving, least, most)
            }
            // Refused when the experiment was read.
            _ => return Verdict::Enqueue,
        };
        if length <= least {
            return Verdict::Enqueue;
        }
        if length > most {
            return Verdict::Mark;
        }
        let share = (length - least) as f64 / (most - least) as f64;
        if memory.0.uniform() < share * self.max_probability {
            Verdict::Mark
        } else {
            Verdict::Enqueue
        }
    }

    /// Whether the thresholds go together.
    pub(crate) fn is_sound(&self) -> bool {
        match (self.min_threshold, self.max_threshold) {
            (Capacity::Packets(least), Capacity::Packets(most))
            | (Capacity::Bytes(least), Capacity::Bytes(most)) => least < most,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;

    #[test]
    fn the_probability_is_a_ramp() {
        let queue = EcnRamp::defaults();
        let mut memory = Memory::new(1);
        let mut share = |bytes: u64| {
            let view = View {
                now: 0,
                packets: 1,
                bytes: bytes - 1000,
                arriving: 1000,
                is_ecn_capable: true,
                idle_since: 0,
                packet_time: 1,
            };
            let marks = (0..20_000).filter(|_| queue.admit(&mut memory, &view) == Verdict::Mark);
            marks.count() as f64 / 20_000.0
        };
        assert_eq!(share(100_000), 0.0);
        assert!((share(250_000) - 0.1).abs() < 0.01);
        assert!((share(400_000) - 0.2).abs() < 0.01);
        assert_eq!(share(400_001), 1.0);
    }
}
