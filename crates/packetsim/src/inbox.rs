//! The data level of a multipath connection at the host that wants the payload.
//!
//! Source: RFC 8684, section 3.3.1 (data ACK) and 3.3.5 (one receive window for all subflows, relative to the data ACK).
//! Departure: a segment counts at the data level as soon as it arrives; in a real stack it first waits for what its own
//! subflow still misses.

use serde::{Deserialize, Serialize};

use crate::requests::Numbering;
use crate::segments::segments;

/// Linux: a connection begins with a window of 64 KiB, which then grows.
pub(crate) const FIRST_WINDOW: u64 = 65_536;

/// One connection; plain data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Inbox {
    /// First data segment that is missing.
    pub(crate) next: u32,
    total: u32,
    mss: u16,
    /// Ring of bits: which segments from `next` on have arrived.
    bits: Vec<u64>,
    /// Receive buffer, bytes, as it is offered now and at most.
    buffer: u64,
    most_buffer: u64,
    /// Payload bytes received, each once.
    pub(crate) delivered: u64,
    /// This end has opened the other subflows.
    pub(crate) has_joined: bool,
    /// Messages whose last segment has arrived, and others not: the segment after it.
    ends: Vec<u32>,
    /// Of a connection of an application that asks.
    pub(crate) numbering: Numbering,
    /// Whose turn it is to ask, under round robin.
    pub(crate) turn: u32,
    /// When data arrived last.
    pub(crate) heard: u64,
}

impl Inbox {
    pub(crate) fn new(size: Option<u64>, mss: u16, most_buffer: u64, autotune: bool) -> Self {
        let (total, _) = segments(size, mss);
        Self {
            next: 0,
            total,
            mss,
            bits: vec![0; 4],
            buffer: if autotune {
                most_buffer.min(FIRST_WINDOW)
            } else {
                most_buffer
            },
            most_buffer,
            delivered: 0,
            has_joined: false,
            ends: Vec::new(),
            numbering: Numbering::default(),
            turn: 0,
            heard: 0,
        }
    }

    /// The window offered, in segments.
    #[inline]
    pub(crate) fn offer(&self) -> u32 {
        (self.buffer / u64::from(self.mss)) as u32
    }

    /// Whether all data has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.next == self.total
    }

    #[inline]
    fn place(&self, data: u32) -> (usize, u64) {
        let mask = self.bits.len() * 64 - 1;
        let at = data as usize & mask;
        (at / 64, 1 << (at % 64))
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; self.bits.len() * 2];
        let old = std::mem::replace(&mut self.bits, larger);
        let mask = old.len() * 64 - 1;
        for data in self.next..self.next.saturating_add(old.len() as u32 * 64) {
            let at = data as usize & mask;
            if old[at / 64] & 1 << (at % 64) != 0 {
                let (word, bit) = self.place(data);
                self.bits[word] |= bit;
            }
        }
    }

    /// A data segment arrives on some subflow; `is_end`: it ends a message or the flow. Whether something is whole with it.
    #[inline]
    pub(crate) fn arrive(&mut self, data: u32, payload: u16, is_end: bool) -> bool {
        if data < self.next {
            return false;
        }
        while (data - self.next) as usize >= self.bits.len() * 64 {
            self.grow();
        }
        let (word, bit) = self.place(data);
        if self.bits[word] & bit != 0 {
            return false;
        }
        self.bits[word] |= bit;
        self.delivered += u64::from(payload);
        if self.buffer < self.most_buffer {
            // Linux's tcp_grow_window: two segments for each that arrives, so slow start is not held back.
            self.buffer = (self.buffer + 2 * u64::from(self.mss)).min(self.most_buffer);
        }
        loop {
            let (word, bit) = self.place(self.next);
            if self.bits[word] & bit == 0 {
                break;
            }
            self.bits[word] &= !bit;
            self.next += 1;
        }
        if is_end {
            self.ends.push(data + 1);
        }
        let before = self.ends.len();
        if before > 0 {
            self.ends.retain(|&end| end > self.next);
        }
        self.ends.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_ack_waits_for_the_slowest_subflow() {
        let payload = |data| if data == 999 { 500 } else { 1000 };
        let mut inbox = Inbox::new(Some(999_500), 1000, 400_000, false);
        for data in (0..1000).filter(|d| d % 300 != 7) {
            inbox.arrive(data, payload(data), data == 999);
            inbox.arrive(data, payload(data), data == 999);
        }
        assert_eq!((inbox.next, inbox.delivered), (7, 999_500 - 4 * 1000));
        for data in [7, 307, 907] {
            assert!(!inbox.arrive(data, 1000, false));
        }
        assert_eq!((inbox.next, inbox.is_complete()), (607, false));
        assert!(inbox.arrive(607, 1000, false));
        assert!(inbox.is_complete());
        assert_eq!(inbox.delivered, 999_500);
    }

    #[test]
    fn a_message_is_whole_when_nothing_before_its_end_is_missing() {
        // Messages end with segments 2, 3 and 5.
        let mut inbox = Inbox::new(None, 1000, 80_000, false);
        let mut whole = Vec::new();
        for data in [2, 3, 0, 4, 5, 5, 1] {
            let is_end = [2, 3, 5].contains(&data);
            whole.push(inbox.arrive(data, if is_end { 10 } else { 1000 }, is_end));
        }
        assert_eq!(whole, [false, false, false, false, false, false, true]);
        assert_eq!((inbox.next, inbox.delivered), (6, 3 * 1000 + 3 * 10));
        assert!(inbox.arrive(6, 7, true));
    }

    #[test]
    fn the_window_grows_with_the_data() {
        let mut inbox = Inbox::new(None, 1000, 80_000, true);
        assert_eq!(inbox.offer(), 65);
        for data in 0..20 {
            inbox.arrive(data, 1000, false);
        }
        assert_eq!(inbox.offer(), 80);
    }
}
