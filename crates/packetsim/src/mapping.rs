//! What a subflow of a multipath connection carries: its mapping of segments to data segments.
//!
//! Source: RFC 8684, section 3.3 (data sequence mapping). A mapping covers one segment. It lasts as long as the subflow needs it:
//! a segment that others have delivered in the meantime is still sent again here with the payload that it had.

use std::collections::VecDeque;

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
    /// If that ends a message or the flow: its payload.
    pub(crate) end: Option<u16>,
    /// Segments in flight that do, and their payload.
    ends: VecDeque<(u32, u16)>,
    /// Requests of the other side that have arrived here.
    pub(crate) requests: u32,
    /// This side opened the subflow.
    pub(crate) opens: bool,
    /// The retransmission timer has expired: the others shall send what is in flight here.
    pub(crate) timed_out: bool,
    /// Segments below this have been given to the others.
    pub(crate) given: u32,
}

impl Mapping {
    pub(crate) fn new() -> Self {
        Self {
            ring: vec![0; 16],
            offer: NO_DATA,
            end: None,
            ends: VecDeque::new(),
            requests: 0,
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
        if let Some(payload) = self.end.take() {
            while self.ends.front().is_some_and(|e| e.0 < una) {
                self.ends.pop_front();
            }
            self.ends.push_back((seq, payload));
        }
    }

    /// The payload of segment `seq`, if it ends a message or the flow.
    #[inline]
    pub(crate) fn end_at(&self, seq: u32) -> Option<u16> {
        if self.ends.is_empty() {
            return None;
        }
        let at = self.ends.binary_search_by_key(&seq, |e| e.0).ok()?;
        Some(self.ends[at].1)
    }
}
