//! What a subflow of a multipath connection carries: its mapping of segments to data segments.
//!
//! Source: RFC 8684, section 3.3 (data sequence mapping). A mapping covers one segment.

use serde::{Deserialize, Serialize};

/// No data for the subflow.
pub(crate) const NO_DATA: u32 = u32::MAX;

/// The mapping of one subflow; plain data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mapping {
    /// Ring: by segment, its data segment.
    ring: Vec<u32>,
    /// The data segment that it may send next; [`NO_DATA`] if there is none.
    pub(crate) offer: u32,
    /// The last data segment of the flow, and its payload.
    pub(crate) last: (u32, u16),
    /// This side opened the subflow.
    pub(crate) opens: bool,
    /// The retransmission timer has expired: the others shall send what is in flight here.
    pub(crate) timed_out: bool,
    /// Segments below this have been given to the others.
    pub(crate) given: u32,
}

impl Mapping {
    pub(crate) fn new(last: (u32, u16)) -> Self {
        Self {
            ring: vec![0; 16],
            offer: NO_DATA,
            last,
            opens: false,
            timed_out: false,
            given: 0,
        }
    }

    /// The data segment that `seq` carries.
    #[inline]
    pub(crate) fn data(&self, seq: u32) -> u32 {
        self.ring[seq as usize & (self.ring.len() - 1)]
    }

    /// Segment `seq`, sent after those from `una` on, carries what was offered.
    #[inline]
    pub(crate) fn put(&mut self, una: u32, seq: u32) {
        if (seq - una) as usize == self.ring.len() {
            let mut larger = vec![0; self.ring.len() * 2];
            let mask = larger.len() - 1;
            for old in una..seq {
                larger[old as usize & mask] = self.data(old);
            }
            self.ring = larger;
        }
        let mask = self.ring.len() - 1;
        self.ring[seq as usize & mask] = self.offer;
        self.offer = NO_DATA;
    }
}
