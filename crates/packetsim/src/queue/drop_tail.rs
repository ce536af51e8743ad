//! Drop-tail: what does not fit is dropped.

use weft_net::units::Capacity;

use crate::queue::{Verdict, View};

weft_net::kind! {
    /// First in, first out; a packet that finds the queue full is dropped.
    pub struct DropTail: "queue" / "drop_tail", source "the oldest discipline there is" {
        /// How much the queue holds, the packet in transmission included.
        pub capacity: Capacity = Capacity::Packets(100), at least 1;
    }
}

impl DropTail {
    /// Room or no room.
    #[inline]
    pub fn admit(&self, view: &View) -> Verdict {
        if view.fits(self.capacity) {
            Verdict::Enqueue
        } else {
            Verdict::Drop
        }
    }
}
