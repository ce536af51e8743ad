//! The calendar: which packets arrive in which window of time.
//!
//! There is no priority queue. Time is cut into windows of `2^shift` ps, not longer than the lookahead of the network
//! (the shortest time in which anything crosses a link), so nothing that happens inside a window can add an arrival to
//! it: its set is complete when it opens, and is sorted once. Windows are slots of a hierarchical wheel (Varghese and
//! Lauck, SOSP 1987): 4096 windows on the lowest level, each slot of a higher level covering 4096 of the one below.
//! Packets are stored by value in chunks from a last-in-first-out pool, so that recycled memory is still in cache.

use serde::{Deserialize, Serialize};

use crate::packet::{Kind, Packet};

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

/// Some packets of a window, where they lie: read them with [`Calendar::packet`], then give them back with
/// [`Calendar::release`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    chunk: u32,
    length: u32,
}

impl Piece {
    /// Where the packets are.
    pub(crate) fn places(self) -> std::ops::Range<u32> {
        let start = self.chunk * CHUNK as u32;
        start..start + self.length
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
    /// Chunk `i` is `arena[i * CHUNK..][..CHUNK]`.
    arena: Vec<Packet>,
    /// By chunk: the next older one of its list.
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
            arena: Vec::new(),
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
        let at = (window >> (BITS * level as u32)) as usize & (SLOTS - 1);
        let slot = &mut self.levels[level].slots[at];
        if slot.fill as usize == CHUNK {
            self.add_chunk(level, at);
        }
        let slot = &mut self.levels[level].slots[at];
        let place = slot.head as usize * CHUNK + slot.fill as usize;
        slot.fill += 1;
        self.arena[place] = packet;
    }

    #[cold]
    fn add_chunk(&mut self, level: usize, at: usize) {
        let chunk = self.free.pop().unwrap_or_else(|| {
            let chunk = self.next.len() as u32;
            self.arena.resize(
                self.arena.len() + CHUNK,
                Packet::local(Kind::Start, 0, 0, 0),
            );
            self.next.push(NONE);
            chunk
        });
        let slot = &mut self.levels[level].slots[at];
        self.next[chunk as usize] = slot.head;
        *slot = Slot {
            head: chunk,
            fill: 0,
        };
        self.levels[level].occupied[at / 64] |= 1 << (at % 64);
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
            let mut pieces = Vec::new();
            self.take(level, slot, &mut pieces);
            for piece in &pieces {
                for place in piece.places() {
                    let packet = self.arena[place as usize];
                    self.push(packet);
                }
            }
            self.release(&mut pieces);
            return;
        }
        unreachable!("{} packets in the calendar, none on any level", self.len);
    }

    /// Opens `window` (from [`Self::next_window`]): adds the pieces that hold its packets to `pieces`.
    pub(crate) fn open(&mut self, window: u64, pieces: &mut Vec<Piece>) {
        self.current = window;
        self.take(0, window as usize & (SLOTS - 1), pieces);
    }

    fn take(&mut self, level: usize, at: usize, pieces: &mut Vec<Piece>) {
        let Slot { head, fill } = std::mem::replace(&mut self.levels[level].slots[at], EMPTY);
        self.levels[level].occupied[at / 64] &= !(1 << (at % 64));
        let (mut chunk, mut length) = (head, fill);
        while chunk != NONE {
            pieces.push(Piece { chunk, length });
            self.len -= length as usize;
            chunk = std::mem::replace(&mut self.next[chunk as usize], NONE);
            length = CHUNK as u32;
        }
    }

    /// A packet of an open piece.
    #[inline(always)]
    pub(crate) fn packet(&self, place: u32) -> &Packet {
        &self.arena[place as usize]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn packet_mut(&mut self, place: u32) -> &mut Packet {
        &mut self.arena[place as usize]
    }

    /// Gives back the memory of pieces whose packets have been handled.
    pub(crate) fn release(&mut self, pieces: &mut Vec<Piece>) {
        self.free.extend(pieces.drain(..).map(|piece| piece.chunk));
    }

    /// Everything that lies in the calendar, in no order that means anything.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let lists = self
            .levels
            .iter()
            .flat_map(|level| &level.slots)
            .filter(|slot| slot.head != NONE);
        lists.flat_map(move |slot| {
            let mut next = Some((slot.head, slot.fill));
            std::iter::from_fn(move || {
                let (chunk, length) = next.filter(|n| n.0 != NONE)?;
                next = Some((self.next[chunk as usize], CHUNK as u32));
                Some(&self.arena[chunk as usize * CHUNK..][..length as usize])
            })
            .flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(calendar: &mut Calendar) -> Option<Vec<u64>> {
        let window = calendar.next_window()?;
        let mut pieces = Vec::new();
        calendar.open(window, &mut pieces);
        let mut times: Vec<u64> = pieces
            .iter()
            .flat_map(|p| p.places())
            .map(|at| calendar.packet(at).time)
            .collect();
        calendar.release(&mut pieces);
        assert!(times.iter().all(|t| t >> 10 == window));
        times.sort_unstable();
        Some(times)
    }

    #[test]
    fn what_goes_in_comes_out_in_order_over_all_levels() {
        let mut random = weft_net::random::stream(1, "calendar");
        let mut calendar = Calendar::new(10);
        let mut times = Vec::new();
        for _ in 0..20_000 {
            let bits = random.below(60);
            times.push(random.next_u64() >> bits);
        }
        for &time in &times {
            calendar.push(Packet::local(Kind::Start, 0, 0, time));
        }
        assert_eq!(calendar.packets().count(), times.len());
        times.sort_unstable();
        let mut drained = Vec::new();
        while let Some(window) = open(&mut calendar) {
            drained.extend(window);
        }
        assert_eq!(drained, times);
    }

    #[test]
    fn packets_may_be_added_while_time_goes_on() {
        let mut random = weft_net::random::stream(2, "calendar");
        let mut calendar = Calendar::new(10);
        calendar.push(Packet::local(Kind::Start, 0, 0, 5_000));
        let (mut seen, mut last) = (0, 0);
        while let Some(window) = open(&mut calendar) {
            for time in window {
                assert!(time >= last);
                last = time;
                seen += 1;
                if seen < 5_000 {
                    for _ in 0..1 + random.below(2) {
                        let bits = 1 + random.below(40);
                        calendar.push(Packet::local(
                            Kind::Start,
                            0,
                            0,
                            time + 1_024 + random.below(1 << bits),
                        ));
                    }
                }
            }
        }
        assert!(seen >= 5_000);
        assert_eq!(calendar.packets().count(), 0);
    }
}
