//! Progressive filling: the level of all rates rises until a link is full or a sender has enough; who is held there
//! keeps what it has, and the others go on.
//!
//! Source: Bertsekas and Gallager, Data Networks, 1992, section 6.5.2. The subflows of one flow share its growth: each
//! of `n` that still grow gets 1/n of it. So a flow that finds room on one path takes there what it is denied on the
//! others, and on one bottleneck all its subflows together get what a flow with one path gets.
//!
//! Some of the subflows may be filled while the others keep their rates ([`Filling::fill`]). A heap holds the level at
//! which each link would be full. That level rises as others are held, so that it is looked at again before it counts; it
//! falls where siblings begin to grow faster, and then stands in the heap a second time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::active::{Active, Bottleneck};

/// A link while it is filled.
#[derive(Clone, Copy, Debug)]
struct Room {
    link: u32,
    /// What was left at level `since`.
    left: f64,
    since: f64,
    /// How fast it fills with the level.
    growth: f64,
    /// Uses that still grow.
    growing: u32,
}

impl Room {
    fn settle(&mut self, level: f64) {
        self.left -= self.growth * (level - self.since);
        self.since = level;
    }

    /// The level at which it is full.
    fn full_at(&self) -> f64 {
        self.since + self.left.max(0.0) / self.growth
    }
}

/// A subflow while it is filled.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// What it had at level `since`.
    rate: f64,
    since: f64,
    /// How fast it grows with the level; 0 when it is held.
    growth: f64,
}

/// Levels sort as their bits, since none is negative.
type Entry = Reverse<(u64, u32)>;

/// Memory that one filling leaves to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filling {
    rooms: Vec<Room>,
    /// By link: its place in `rooms` plus one, 0 if it is not touched.
    place: Vec<u32>,
    /// By slot, of those that are filled.
    shares: Vec<Share>,
    /// By slot: whether it is filled.
    is_filled: Vec<bool>,
    links: BinaryHeap<Entry>,
    limits: BinaryHeap<Entry>,
}

impl Filling {
    /// Gives the subflows of `slots` (with all their siblings, each once) what the others leave, and writes their rate,
    /// level and bottleneck. Returns the links that they use: [`Filling::touched`].
    pub(crate) fn fill(&mut self, active: &mut Active, slots: &[u32]) {
        self.begin(active, slots);
        loop {
            let link = self.links.peek().map(|e| f64::from_bits(e.0.0));
            let limit = self.limits.peek().map(|e| f64::from_bits(e.0.0));
            match (link, limit) {
                (Some(at), limit) if limit.is_none_or(|l| at < l) => self.fill_link(active),
                (_, Some(at)) => {
                    let Reverse((_, slot)) = self.limits.pop().expect("peeked");
                    let share = self.shares[slot as usize];
                    if share.growth == 0.0 {
                        continue;
                    }
                    let due = reached(&share, active[slot].limit);
                    if due > at {
                        self.limits.push(entry(due, slot));
                    } else {
                        self.hold(active, slot, at, Bottleneck::Limit);
                    }
                }
                (_, None) => break,
            }
        }
        for &slot in slots {
            self.is_filled[slot as usize] = false;
        }
    }

    /// The links that the last filling touched.
    pub(crate) fn touched(&self) -> impl Iterator<Item = u32> {
        self.rooms.iter().map(|r| r.link)
    }

    fn begin(&mut self, active: &Active, slots: &[u32]) {
        for room in self.rooms.drain(..) {
            self.place[room.link as usize] = 0;
        }
        self.links.clear();
        self.limits.clear();
        self.place.resize(active.capacities.len(), 0);
        self.shares.resize(active.slots(), Share::default());
        self.is_filled.resize(active.slots(), false);
        for &slot in slots {
            self.is_filled[slot as usize] = true;
        }
        for &slot in slots {
            let mut siblings = 1;
            let mut other = active[slot].sibling;
            while other != slot {
                siblings += 1;
                other = active[other].sibling;
            }
            let growth = 1.0 / f64::from(siblings);
            self.shares[slot as usize] = Share {
                rate: 0.0,
                since: 0.0,
                growth,
            };
            if active[slot].limit.is_finite() {
                let due = reached(&self.shares[slot as usize], active[slot].limit);
                self.limits.push(entry(due, slot));
            }
            for u in &active[slot].uses {
                let place = &mut self.place[u.link as usize];
                if *place == 0 {
                    self.rooms.push(Room {
                        link: u.link,
                        left: active.capacities[u.link as usize],
                        since: 0.0,
                        growth: 0.0,
                        growing: 0,
                    });
                    *place = self.rooms.len() as u32;
                }
                let room = &mut self.rooms[*place as usize - 1];
                room.growth += growth * u.weight;
                room.growing += 1;
            }
        }
        for (i, room) in self.rooms.iter_mut().enumerate() {
            // Summed afresh, so that no rounding piles up from one change to the next.
            for &(slot, which) in active.users(room.link) {
                if !self.is_filled[slot as usize] {
                    let other = &active[slot];
                    room.left -= other.rate * other.uses[which as usize].weight;
                }
            }
            self.links.push(entry(room.full_at(), i as u32));
        }
    }

    /// The link that stands first in the heap, if it is full at that level.
    fn fill_link(&mut self, active: &mut Active) {
        let Reverse((bits, place)) = self.links.pop().expect("peeked");
        let room = self.rooms[place as usize];
        if room.growing == 0 {
            return;
        }
        let level = room.full_at();
        if level.to_bits() > bits {
            self.links.push(entry(level, place));
            return;
        }
        for at in 0..active.users(room.link).len() {
            let (slot, _) = active.users(room.link)[at];
            if self.is_filled[slot as usize] && self.shares[slot as usize].growth > 0.0 {
                self.hold(active, slot, level, Bottleneck::Link(room.link));
            }
        }
    }

    /// A subflow keeps what it has at `level`; its siblings take over its growth.
    fn hold(&mut self, active: &mut Active, slot: u32, level: f64, by: Bottleneck) {
        let share = std::mem::take(&mut self.shares[slot as usize]);
        let subflow = &mut active[slot];
        subflow.rate = match by {
            Bottleneck::Limit => subflow.limit,
            _ => share.rate + share.growth * (level - share.since),
        };
        subflow.level = level;
        subflow.bottleneck = by;
        for u in &active[slot].uses {
            let room = &mut self.rooms[self.place[u.link as usize] as usize - 1];
            room.settle(level);
            room.growing -= 1;
            room.growth = if room.growing == 0 {
                0.0
            } else {
                room.growth - share.growth * u.weight
            };
        }
        let mut growing = 0;
        let mut other = active[slot].sibling;
        while other != slot {
            growing += u32::from(self.shares[other as usize].growth > 0.0);
            other = active[other].sibling;
        }
        if growing == 0 {
            return;
        }
        let mut other = active[slot].sibling;
        while other != slot {
            if self.shares[other as usize].growth > 0.0 {
                self.speed_up(active, other, level, 1.0 / f64::from(growing));
            }
            other = active[other].sibling;
        }
    }

    fn speed_up(&mut self, active: &Active, slot: u32, level: f64, growth: f64) {
        let share = &mut self.shares[slot as usize];
        let more = growth - share.growth;
        share.rate += share.growth * (level - share.since);
        share.since = level;
        share.growth = growth;
        if active[slot].limit.is_finite() {
            self.limits
                .push(entry(reached(share, active[slot].limit), slot));
        }
        for u in &active[slot].uses {
            let place = self.place[u.link as usize] - 1;
            let room = &mut self.rooms[place as usize];
            room.settle(level);
            room.growth += more * u.weight;
            self.links.push(entry(room.full_at().max(level), place));
        }
    }
}

/// The level at which a subflow that grows has reached `limit`.
fn reached(share: &Share, limit: f64) -> f64 {
    share.since + (limit - share.rate).max(0.0) / share.growth
}

fn entry(level: f64, of: u32) -> Entry {
    Reverse((level.max(0.0).to_bits(), of))
}
