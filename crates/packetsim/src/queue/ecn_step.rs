//! ECN step: mark every packet that finds more than K in the queue.
//!
//! Source: Alizadeh et al., "Data Center TCP", SIGCOMM 2010, section 3.1; RFC 8257 section 3.1.

use weft_net::units::Capacity;

use crate::queue::{Verdict, View};

weft_net::kind! {
    /// Marks arriving ECN-capable packets while the instantaneous queue is above a threshold; drops what does not fit.
    pub struct EcnStep: "queue" / "ecn_step", source "Alizadeh et al., SIGCOMM 2010; RFC 8257" {
        /// How much the queue holds, the packet in transmission included.
        pub capacity: Capacity = Capacity::Packets(250), at least 1;
        /// A packet is marked if the queue with it is longer than this (K).
        pub threshold: Capacity = Capacity::Packets(65);
    }
}

impl EcnStep {
    /// Marks above the threshold; packets that cannot be marked are only dropped when there is no room.
    #[inline]
    pub fn admit(&self, view: &View) -> Verdict {
        if !view.fits(self.capacity) {
            Verdict::Drop
        } else if view.is_ecn_capable && view.exceeds(self.threshold) {
            Verdict::Mark
        } else {
            Verdict::Enqueue
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marking_starts_at_threshold() {
        let queue = EcnStep {
            capacity: Capacity::Packets(10),
            threshold: Capacity::Packets(3),
        };
        let with = |packets, is_ecn_capable| {
            let view = View {
                now: 0,
                packets,
                bytes: 0,
                arriving: 1500,
                is_ecn_capable,
                idle_since: 0,
                packet_time: 1,
            };
            queue.admit(&view)
        };
        // K = 3: the packet that makes the queue 3 long passes, the one that makes it 4 is marked.
        assert_eq!(with(2, true), Verdict::Enqueue);
        assert_eq!(with(3, true), Verdict::Mark);
        assert_eq!(with(3, false), Verdict::Enqueue);
        assert_eq!(with(10, true), Verdict::Drop);
    }
}
