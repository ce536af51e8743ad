//! An egress port: a queue for each class, pauses, and whose turn it is.

use std::collections::VecDeque;

use crate::flow_control::pfc::{Pfc, Scheduler};
use crate::queue::State;

use super::packet::{NONE, Packet};

/// Never.
pub(super) const NEVER: u64 = u64::MAX;

/// Packets of one class that wait for a port, as a list in [`Waiting`] entries.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) head: u32,
    pub(super) tail: u32,
    /// Packets and bytes, wire overhead included, the one on the wire among them until its last bit has left.
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) most: u64,
    /// Sum of `bytes` over time, and until when.
    byte_time: u128,
    counted: u64,
    pub(super) enqueued: u64,
    pub(super) dropped: u64,
    pub(super) marked: u64,
    /// Sum of the times at which packets began to leave minus those at which they joined: wraps.
    pub(super) waited: u64,
    /// Since when it is empty.
    pub(super) idle_since: u64,
    /// Since when it is paused; [`NEVER`] if it is not.
    pub(super) paused_since: u64,
    paused: u64,
    /// The watchdog has found a storm.
    pub(super) is_stormed: bool,
    /// What the discipline remembers.
    pub(super) discipline: State,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    /// The link that it came by; [`NONE`] at its source.
    pub(super) from: u32,
    pub(super) next: u32,
}

/// What a port must know of the packet that it is sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    /// The link that it came by; [`NONE`] at its source.
    pub(super) from: u32,
    pub(super) bytes: u16,
    pub(super) class: u8,
    /// A pause frame was in no queue.
    pub(super) is_pause: bool,
}

/// The port at the start of a link.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// What is on the wire.
    pub(super) sending: Option<Sending>,
    pub(super) free_at: u64,
    /// When it will look again; [`NEVER`] if nothing is set.
    pub(super) wake: u64,
    /// Pause frames, which go first.
    pub(super) control: VecDeque<Packet>,
    /// Bit per class: there is something in its queue; it must not send.
    pub(super) filled: u8,
    pub(super) paused: u8,
    turn: usize,
    deficits: Vec<i64>,
    pub(super) busy: u64,
    /// Begun transmissions.
    pub(super) bytes: u64,
    pub(super) packets: u64,
    /// When the last packet began to leave.
    pub(super) moved: u64,
}

/// How classes take turns.
#[derive(Clone, Debug)]
pub(super) enum Turns {
    Strict,
    /// Bytes that each class may send in its turn.
    Drr(Vec<i64>),
}

impl Turns {
    /// `mtu`: wire bytes of the largest packet, so that a turn always suffices for one.
    pub(super) fn new(pfc: &Pfc, mtu: u64) -> Self {
        match pfc.scheduler {
            Scheduler::Strict => Self::Strict,
            Scheduler::Drr => {
                let weight = |c: usize| pfc.weights.get(c).copied().unwrap_or(1);
                let least = (0..pfc.classes as usize).map(weight).min().unwrap_or(1);
                let quantum = |c: usize| (weight(c) * mtu).div_ceil(least) as i64;
                Self::Drr((0..pfc.classes as usize).map(quantum).collect())
            }
        }
    }
}

impl Class {
    pub(super) fn new(discipline: State) -> Self {
        Self {
            head: NONE,
            tail: NONE,
            packets: 0,
            bytes: 0,
            most: 0,
            byte_time: 0,
            counted: 0,
            enqueued: 0,
            dropped: 0,
            marked: 0,
            waited: 0,
            idle_since: 0,
            paused_since: NEVER,
            paused: 0,
            is_stormed: false,
            discipline,
        }
    }

    #[inline]
    fn count(&mut self, now: u64) {
        self.byte_time += u128::from(self.bytes) * u128::from(now - self.counted);
        self.counted = now;
    }

    /// A packet of so many wire bytes joins.
    #[inline]
    pub(super) fn join(&mut self, now: u64, bytes: u64) {
        self.count(now);
        self.packets += 1;
        self.bytes += bytes;
        self.most = self.most.max(self.bytes);
        self.enqueued += 1;
        self.waited = self.waited.wrapping_sub(now);
    }

    /// The last bit of a packet has left, or it is thrown away.
    #[inline]
    pub(super) fn leave(&mut self, now: u64, bytes: u64) {
        self.count(now);
        self.packets -= 1;
        self.bytes -= bytes;
        if self.packets == 0 {
            self.idle_since = now;
        }
    }

    pub(super) fn mean_bytes(&mut self, now: u64) -> f64 {
        self.count(now);
        self.byte_time as f64 / now.max(1) as f64
    }

    /// Begins or ends a pause; returns whether that is new.
    pub(super) fn pause(&mut self, now: u64, stops: bool) -> bool {
        let was = self.paused_since != NEVER;
        if was && !stops {
            self.paused += now - self.paused_since;
            self.paused_since = NEVER;
            self.is_stormed = false;
        } else if stops && !was {
            self.paused_since = now;
        }
        was != stops
    }

    /// Ps that it has been paused before `now`.
    pub(super) fn paused_before(&self, now: u64) -> u64 {
        self.paused + now.saturating_sub(self.paused_since.min(now))
    }
}

impl Port {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            sending: None,
            free_at: 0,
            wake: NEVER,
            control: VecDeque::new(),
            filled: 0,
            paused: 0,
            turn: 0,
            deficits: vec![0; classes],
            busy: 0,
            bytes: 0,
            packets: 0,
            moved: 0,
        }
    }

    /// Ps that it has been sending before `now`.
    pub(super) fn busy_before(&self, now: u64) -> u64 {
        self.busy - self.free_at.saturating_sub(now)
    }

    /// The class of `ready` (a bit each, not all 0) that sends; `head` gives the wire bytes of its first packet.
    #[inline]
    pub(super) fn choose(
        &mut self,
        turns: &Turns,
        ready: u8,
        head: impl Fn(usize) -> i64,
    ) -> usize {
        let quanta = match turns {
            Turns::Strict => return 7 - ready.leading_zeros() as usize,
            Turns::Drr(quanta) => quanta,
        };
        let classes = self.deficits.len();
        loop {
            let class = self.turn;
            if ready >> class & 1 == 1 && self.deficits[class] >= head(class) {
                self.deficits[class] -= head(class);
                return class;
            }
            if ready >> class & 1 == 0 {
                self.deficits[class] = 0;
            }
            self.turn = (class + 1) % classes;
            if ready >> self.turn & 1 == 1 {
                self.deficits[self.turn] += quanta[self.turn];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;

    #[test]
    fn turns_give_bytes_in_proportion_to_weights() {
        let pfc = Pfc {
            classes: 3,
            scheduler: Scheduler::Drr,
            weights: vec![1, 2, 5],
            ..Pfc::defaults()
        };
        let turns = Turns::new(&pfc, 1500);
        let mut port = Port::new(3);
        let sizes = [1500, 300, 700];
        let mut sent = [0; 3];
        for _ in 0..20_000 {
            let class = port.choose(&turns, 0b111, |c| sizes[c]);
            sent[class] += sizes[class];
        }
        let total: i64 = sent.iter().sum();
        for (class, weight) in [(0, 1.0), (1, 2.0), (2, 5.0)] {
            let share = sent[class] as f64 / total as f64;
            assert!((share - weight / 8.0).abs() < 0.005, "{sent:?}");
        }
        // Alone it sends whenever it may.
        assert_eq!(port.choose(&turns, 0b010, |c| sizes[c]), 1);
    }

    #[test]
    fn strict_serves_the_highest() {
        let mut port = Port::new(3);
        assert_eq!(port.choose(&Turns::Strict, 0b101, |_| 1), 2);
        assert_eq!(port.choose(&Turns::Strict, 0b001, |_| 1), 0);
    }
}
