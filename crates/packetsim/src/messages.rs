//! What the connection of an application carries: messages, one after another.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::segments::segments;

/// The messages of one connection; plain data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Messages {
    /// Of those that are not acknowledged: the segment after the last, and the payload of the last.
    ends: VecDeque<(u32, u16)>,
    /// The request that comes next.
    next: u32,
    /// Requests that have overtaken it: their numbers, and how much they ask for.
    early: Vec<(u32, u32)>,
}

impl Messages {
    /// A message after all others, which end before segment `total`; returns where it ends.
    pub(crate) fn add(&mut self, bytes: u64, total: u32, mss: u16) -> u32 {
        let (count, last) = segments(Some(bytes), mss);
        let end = (total.checked_add(count))
            .expect("an application's connection carries fewer than 2^32 segments");
        self.ends.push_back((end, last));
        end
    }

    fn note_request(&mut self, number: u32, bytes: u32) {
        if number >= self.next && self.early.iter().all(|e| e.0 != number) {
            self.early.push((number, bytes));
        }
    }

    /// Request `number` arrives, perhaps early or again: its answer of so many bytes follows those of the ones before.
    /// Messages end before segment `total` so far; returns where they end now.
    pub(crate) fn answer(&mut self, number: u32, bytes: u32, mut total: u32, mss: u16) -> u32 {
        self.note_request(number, bytes);
        while let Some(bytes) = self.take_request() {
            total = self.add(u64::from(bytes), total, mss);
        }
        total
    }

    /// Takes the request that comes next, if it is here: how much it asks for.
    fn take_request(&mut self) -> Option<u32> {
        let at = self.early.iter().position(|e| e.0 == self.next)?;
        self.next += 1;
        Some(self.early.swap_remove(at).1)
    }

    /// The message of segment `seq`: the segment after its last, and the payload of the last.
    #[inline]
    pub(crate) fn end_of(&self, seq: u32) -> (u32, u16) {
        let at = self.ends.partition_point(|&(end, _)| end <= seq);
        self.ends[at]
    }

    /// Segments below `una` are acknowledged.
    #[inline]
    pub(crate) fn acknowledge(&mut self, una: u32) {
        while self.ends.front().is_some_and(|e| e.0 <= una) {
            self.ends.pop_front();
        }
    }
}
