//! The calendar: which packets arrive in which window of time.
//!
//! There is no priority queue. Time is cut into windows of `2^shift` ps, not longer than the lookahead of the network
//! (the shortest time in which anything crosses a link), so nothing that happens inside a window can add an arrival to
//! it: its set is complete when it opens, and is sorted once. Windows are slots of a hierarchical wheel (Varghese and
//! Lauck, SOSP 1987): 4096 windows on the lowest level, each slot of a higher level covering 4096 of the one below.
//! Packets are stored by value in chunks from a last-in-first-out pool, so that recycled memory is still in cache.

use serde::{Deserialize, Serialize};

use crate::packet::Packet;

const BITS: u32 = 12;
const SLOTS: usize = 1 << BITS;
/// Packets per chunk: about 4 kB.
const CHUNK: usize = 73;
const NONE: u32 = u32::MAX;

/// A list of chunks: the newest first, only it may be part full.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Slot {
    head: u32,
    fill: u32,
}

const EMPTY: Slot = Slot {
    head: NONE,
    fill: CHUNK as u32,
};

/// One level of the wheel.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Level {
    slots: Vec<Slot>,
    occupied: Vec<u64>,
}

impl Level {
    fn new() -> Self {
        Self {
            slots: vec![EMPTY; SLOTS],
            occupied: vec![0; SLOTS / 64],
        }
    }

    /// The first occupied slot at or after `from`.
    fn next_occupied(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.occupied.get(word)? & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            word += 1;
            bits = *self.occupied.get(word)?;
        }
    }
}

/// Everything that will happen, by window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Calendar {
    /// A window is `2^shift` ps.
    shift: u32,
    /// The window that was opened last.
    current: u64,
    levels: Vec<Level>,
    chunks: Vec<Vec<Packet>>,
    next: Vec<u32>,
    free: Vec<u32>,
    len: usize,
}

impl Calendar {
    /// An empty calendar with windows of `2^shift` ps.
    pub(crate) fn new(shift: u32) -> Self {
        let levels = (64 - shift).div_ceil(BITS);
        Self {
            shift,
            current: 0,
            levels: (0..levels).map(|_| Level::new()).collect(),
            chunks: Vec::new(),
            next: Vec::new(),
            free: Vec::new(),
            len: 0,
        }
    }

    /// Width of a window, ps.
    pub(crate) fn width(&self) -> u64 {
        1 << self.shift
    }

    /// Adds a packet. Its window must not lie before the one opened last.
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet) {
        let window = packet.time >> self.shift;
        debug_assert!(window >= self.current, "time never decreases");
        self.len += 1;
        let apart = window ^ self.current;
        let level = if apart < SLOTS as u64 {
            0
        } else {
            ((63 - apart.leading_zeros()) / BITS) as usize
        };
        let slot = (window >> (BITS * level as u32)) as usize & (SLOTS - 1);
        let Slot { head, fill } = self.levels[level].slots[slot];
        if (fill as usize) < CHUNK {
            self.chunks[head as usize].push(packet);
            self.levels[level].slots[slot].fill = fill + 1;
        } else {
            self.push_to_fresh_chunk(level, slot, packet);
        }
    }

    #[cold]
    fn push_to_fresh_chunk(&mut self, level: usize, slot: usize, packet: Packet) {
        let chunk = self.free.pop().unwrap_or_else(|| {
            self.chunks.push(Vec::with_capacity(CHUNK));
            self.next.push(NONE);
            self.chunks.len() as u32 - 1
        });
        let place = &mut self.levels[level].slots[slot];
        self.next[chunk as usize] = place.head;
        *place = Slot {
            head: chunk,
            fill: 1,
        };
        self.levels[level].occupied[slot / 64] |= 1 << (slot % 64);
        self.chunks[chunk as usize].push(packet);
    }

    /// The first window that has anything, without opening it.
    pub(crate) fn next_window(&mut self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        loop {
            let from = self.current as usize & (SLOTS - 1);
            if let Some(slot) = self.levels[0].next_occupied(from) {
                return Some((self.current & !(SLOTS as u64 - 1)) | slot as u64);
            }
            self.descend();
        }
    }

    /// Level 0 is exhausted: moves the next occupied slot of the higher levels one level down.
    fn descend(&mut self) {
        for level in 1..self.levels.len() {
            let shift = BITS * level as u32;
            let from = (self.current >> shift) as usize & (SLOTS - 1);
            // The slot of the current position itself has already been moved down.
            let Some(slot) = self.levels[level].next_occupied(from) else {
                continue;
            };
            let above = shift + BITS;
            let base = if above >= 64 {
                0
            } else {
                self.current >> above << above
            };
            self.current = base | (slot as u64) << shift;
            self.len -= self.take(level, slot, |calendar, packet| calendar.push(packet));
            return;
        }
        unreachable!("{} packets in the calendar, none on any level", self.len);
    }

    /// Opens `window` (from [`Self::next_window`]): moves its packets to the end of `into`.
    pub(crate) fn open(&mut self, window: u64, into: &mut Vec<Packet>) {
        self.current = window;
        let slot = window as usize & (SLOTS - 1);
        self.len -= self.take(0, slot, |_, packet| into.push(packet));
    }

    /// Empties a slot, giving each packet to `act`; returns how many there were.
    fn take(&mut self, level: usize, slot: usize, mut act: impl FnMut(&mut Self, Packet)) -> usize {
        let mut chunk = self.levels[level].slots[slot].head;
        self.levels[level].slots[slot] = EMPTY;
        self.levels[level].occupied[slot / 64] &= !(1 << (slot % 64));
        let mut count = 0;
        while chunk != NONE {
            let mut packets = std::mem::take(&mut self.chunks[chunk as usize]);
            count += packets.len();
            for &packet in &packets {
                act(self, packet);
            }
            packets.clear();
            self.chunks[chunk as usize] = packets;
            self.free.push(chunk);
            chunk = std::mem::replace(&mut self.next[chunk as usize], NONE);
        }
        count
    }

    /// Everything that lies in the calendar, in no order that means anything.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.chunks.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn drain(calendar: &mut Calendar) -> Vec<u64> {
        let mut out = Vec::new();
        while let Some(window) = calendar.next_window() {
            let mut packets = Vec::new();
            calendar.open(window, &mut packets);
            let mut times: Vec<u64> = packets.iter().map(|p| p.time).collect();
            assert!(times.iter().all(|t| t >> 10 == window));
            times.sort_unstable();
            out.extend(times);
        }
        out
    }

    #[test]
    fn what_goes_in_comes_out_in_order_over_all_levels() {
        let mut random = weft_net::random::stream(1, "calendar");
        let mut calendar = Calendar::new(10);
        let mut times: Vec<u64> = (0..20_000)
            .map(|_| random.next_u64() >> random.below(60))
            .collect();
        for &time in &times {
            calendar.push(Packet::local(Kind::Start, 0, 0, time));
        }
        times.sort_unstable();
        assert_eq!(drain(&mut calendar), times);
    }

    #[test]
    fn packets_may_be_added_while_time_goes_on() {
        let mut random = weft_net::random::stream(2, "calendar");
        let mut calendar = Calendar::new(10);
        calendar.push(Packet::local(Kind::Start, 0, 0, 5_000));
        let (mut seen, mut last, mut packets) = (0, 0, Vec::new());
        while let Some(window) = calendar.next_window() {
            calendar.open(window, &mut packets);
            for packet in packets.drain(..) {
                assert!(packet.time >> 10 >= last >> 10);
                last = packet.time;
                seen += 1;
                if seen < 5_000 {
                    for _ in 0..1 + random.below(2) {
                        let bits = 1 + random.below(40);
                        let ahead = 1_024 + random.below(1 << bits);
                        calendar.push(Packet::local(Kind::Start, 0, 0, packet.time + ahead));
                    }
                }
            }
        }
        assert!(seen >= 5_000);
        assert_eq!(calendar.packets().count(), 0);
    }
}
