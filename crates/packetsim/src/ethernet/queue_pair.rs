//! A queue pair: what its sender has to send, what its receiver has, and how losses are repaired.
//!
//! Packets are numbered from 0. Go back N: the receiver takes packets in order only and says once where the gap is; the sender
//! starts again there. Selective (IRN): the receiver keeps what comes and names it; the sender sends what is missing, each packet once
//! until its recovery ends, and after a timeout once more.

use std::collections::VecDeque;

/// How far a receiver's answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing need be said.
    Silence,
    /// Everything before the first missing packet has arrived.
    Ack,
    /// There is a gap.
    Nak,
}

/// The receiving end.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// First packet that is missing.
    pub(super) expected: u32,
    /// Of the packets from `expected` on: whether they are here (selective).
    here: VecDeque<bool>,
    /// The gap has been named (go back N).
    is_told: bool,
    /// Packets since the last acknowledgment.
    unanswered: u64,
    /// When the last notification was sent, ps.
    pub(super) notified: Option<u64>,
}

/// What became of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) answer: Answer,
    /// It is new, and counts.
    pub(super) is_new: bool,
    /// It had arrived before.
    pub(super) is_duplicate: bool,
}

impl Receiver {
    /// Packet `seq` of `total` arrives; every `each` packets are acknowledged.
    pub(super) fn take(&mut self, seq: u32, total: u32, each: u64, is_selective: bool) -> Taken {
        let taken = |answer, is_new, is_duplicate| Taken {
            answer,
            is_new,
            is_duplicate,
        };
        if seq < self.expected {
            return taken(Answer::Ack, false, true);
        }
        if seq > self.expected {
            if !is_selective {
                let answer = if self.is_told {
                    Answer::Silence
                } else {
                    Answer::Nak
                };
                self.is_told = true;
                return taken(answer, false, false);
            }
            let at = (seq - self.expected) as usize;
            if self.here.len() <= at {
                self.here.resize(at + 1, false);
            }
            let was = std::mem::replace(&mut self.here[at], true);
            return taken(Answer::Nak, !was, was);
        }
        self.is_told = false;
        self.here.pop_front();
        self.expected += 1;
        while self.here.front() == Some(&true) {
            self.here.pop_front();
            self.expected += 1;
        }
        self.unanswered += 1;
        let is_due = self.unanswered >= each || self.expected == total || !self.here.is_empty();
        if is_due {
            self.unanswered = 0;
        }
        taken(
            if is_due { Answer::Ack } else { Answer::Silence },
            true,
            false,
        )
    }
}

/// The sending end.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// Packets of the flow; `u32::MAX` if there is no end.
    pub(super) total: u32,
    /// First packet not acknowledged, next to be sent, and the first that was never sent.
    pub(super) una: u32,
    pub(super) next: u32,
    pub(super) fresh: u32,
    /// Of the packets from `una` on: whether they have arrived (selective).
    arrived: VecDeque<bool>,
    /// Selective recovery goes until everything before this is acknowledged; `una` if there is none.
    until: u32,
    /// Of the missing packets, the first that has not been sent again in this recovery.
    repair: u32,
    /// Packets known to have arrived, in `arrived`.
    known: u32,
    /// One more than the last packet known to have arrived.
    highest: u32,
}

impl Sender {
    pub(super) fn new(total: u32) -> Self {
        Self {
            total,
            una: 0,
            next: 0,
            fresh: 0,
            arrived: VecDeque::new(),
            until: 0,
            repair: 0,
            known: 0,
            highest: 0,
        }
    }

    /// Packets that are on their way, as far as is known.
    pub(super) fn in_flight(&self) -> u32 {
        self.next - self.una - self.known
    }

    /// Everything is acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.una == self.total
    }

    /// The packet to be sent now, if there is one, and whether it was sent before. `reordering`: see the transport.
    pub(super) fn peek(&mut self, reordering: u32, is_selective: bool) -> Option<(u32, bool)> {
        if is_selective && self.una < self.until {
            self.repair = self.repair.max(self.una);
            let end = self.until.min(self.highest.saturating_sub(reordering - 1));
            while self.repair < end && self.has_arrived(self.repair) {
                self.repair += 1;
            }
            if self.repair < end {
                return Some((self.repair, true));
            }
        }
        (self.next < self.total).then_some((self.next, self.next < self.fresh))
    }

    fn has_arrived(&self, seq: u32) -> bool {
        let at = (seq - self.una) as usize;
        self.arrived.get(at) == Some(&true)
    }

    /// Packet `seq`, which [`Self::peek`] gave, is sent.
    pub(super) fn sent(&mut self, seq: u32) {
        if seq < self.next {
            self.repair = seq + 1;
        } else {
            self.next = seq + 1;
            self.fresh = self.fresh.max(self.next);
        }
    }

    /// Everything before `ack` has arrived, and so has `seq`. Returns how many packets are newly acknowledged or known.
    pub(super) fn acknowledge(&mut self, ack: u32, seq: u32, is_selective: bool) -> u32 {
        let mut newly = 0;
        while self.una < ack {
            self.una += 1;
            match self.arrived.pop_front() {
                Some(true) => self.known -= 1,
                _ => newly += 1,
            }
        }
        // What was sent again from an earlier packet on may have been acknowledged meanwhile.
        self.next = self.next.max(self.una);
        if is_selective && seq >= self.una && seq < self.next {
            let at = (seq - self.una) as usize;
            if self.arrived.len() <= at {
                self.arrived.resize(at + 1, false);
            }
            if !std::mem::replace(&mut self.arrived[at], true) {
                self.known += 1;
                newly += 1;
            }
            self.highest = self.highest.max(seq + 1);
        }
        newly
    }

    /// The receiver misses packet `una`. Returns whether that begins a recovery.
    pub(super) fn miss(&mut self, is_selective: bool) -> bool {
        if !is_selective {
            let is_new = self.next > self.una;
            self.next = self.una;
            return is_new;
        }
        if self.una < self.until {
            return false;
        }
        (self.until, self.repair) = (self.next, self.una);
        true
    }

    /// Nothing came for too long: the first missing packet, and what follows, is sent again.
    pub(super) fn time_out(&mut self, is_selective: bool) {
        if is_selective {
            (self.until, self.repair, self.highest) = (self.next, self.una, self.next);
            // Only the first may be sent on mere suspicion; what it brings back tells of the others.
            self.highest = self.highest.max(self.una + 1);
        } else {
            self.next = self.una;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_gap_is_named_once_and_filled_from_there() {
        let mut receiver = Receiver::default();
        let mut sender = Sender::new(10);
        for seq in 0..6 {
            assert_eq!(sender.peek(1, false), Some((seq, false)));
            sender.sent(seq);
        }
        assert_eq!(receiver.take(0, 10, 1, false).answer, Answer::Ack);
        // 1 is lost.
        assert_eq!(receiver.take(2, 10, 1, false).answer, Answer::Nak);
        assert_eq!(receiver.take(3, 10, 1, false).answer, Answer::Silence);
        assert_eq!(sender.acknowledge(1, 2, false), 1);
        assert!(sender.miss(false));
        assert_eq!(sender.peek(1, false), Some((1, true)));
        assert_eq!(sender.in_flight(), 0);
    }

    #[test]
    fn only_what_is_missing_is_sent_again() {
        let mut sender = Sender::new(10);
        (0..6).for_each(|seq| sender.sent(seq));
        // 1 and 3 are lost.
        sender.acknowledge(1, 0, true);
        for seq in [2, 4, 5] {
            sender.acknowledge(1, seq, true);
            sender.miss(true);
        }
        let mut again = Vec::new();
        while let Some((seq, true)) = sender.peek(1, true) {
            again.push(seq);
            sender.sent(seq);
        }
        assert_eq!(again, [1, 3]);
        assert_eq!(
            (sender.in_flight(), sender.peek(1, true)),
            (2, Some((6, false)))
        );
        // With more tolerance 3 is not yet given up: only 2 packets after it have arrived.
        assert_eq!(sender.acknowledge(6, 5, true), 2);
        assert_eq!(sender.in_flight(), 0);
    }

    proptest! {
        /// Whatever is lost, everything arrives once, in the end.
        #[test]
        fn everything_arrives(total in 1_u32..60, is_selective: bool, losses in prop::collection::vec(any::<bool>(), 400)) {
            let (mut sender, mut receiver) = (Sender::new(total), Receiver::default());
            let mut new = 0;
            let mut losses = losses.into_iter();
            for _ in 0..2000 {
                if sender.is_done() {
                    break;
                }
                let mut progressed = false;
                let mut window = Vec::new();
                while window.len() < 8 && let Some((seq, _)) = sender.peek(1, is_selective) {
                    sender.sent(seq);
                    window.push(seq);
                }
                for seq in window {
                    if losses.next().unwrap_or(false) {
                        continue;
                    }
                    let taken = receiver.take(seq, total, 1, is_selective);
                    new += u32::from(taken.is_new);
                    if losses.next().unwrap_or(false) || taken.answer == Answer::Silence {
                        continue;
                    }
                    progressed |= sender.acknowledge(receiver.expected, seq, is_selective) > 0;
                    if taken.answer == Answer::Nak {
                        sender.miss(is_selective);
                    }
                }
                if !progressed {
                    sender.time_out(is_selective);
                }
            }
            prop_assert!(sender.is_done(), "{sender:?} {receiver:?}");
            prop_assert_eq!(new, total);
        }
    }
}
