//! The scoreboard: what the sender knows of every segment in flight.
//!
//! Source: RFC 6675, section 3 (scoreboard and pipe). One word per segment: when it was last sent, and four flags.

use serde::{Deserialize, Serialize};

const SACKED: u64 = 1 << 63;
const LOST: u64 = 1 << 62;
const RESENT: u64 = 1 << 61;
const EVER_RESENT: u64 = 1 << 60;
const SENT: u64 = EVER_RESENT - 1;

/// A segment that has just been delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    /// When it was last sent, ps.
    pub(crate) sent: u64,
    /// Whether it was sent more than once.
    pub(crate) was_resent: bool,
    /// Its number.
    pub(crate) seq: u32,
}

/// Segments `una..nxt`, in a ring.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scoreboard {
    ring: Vec<u64>,
    /// First segment that is not acknowledged.
    pub(crate) una: u32,
    /// Next segment to be sent for the first time.
    pub(crate) nxt: u32,
    /// How many are selectively acknowledged.
    pub(crate) sacked: u32,
    /// How many are deemed lost (those resent included).
    pub(crate) lost: u32,
    /// How many of the lost are on their way again.
    pub(crate) resent: u32,
    /// One past the highest segment that is selectively acknowledged; at least `una`.
    pub(crate) high_sacked: u32,
    /// No segment below this is lost and waits to be resent.
    hint: u32,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self {
            ring: vec![0; 16],
            una: 0,
            nxt: 0,
            sacked: 0,
            lost: 0,
            resent: 0,
            high_sacked: 0,
            hint: 0,
        }
    }

    #[inline(always)]
    fn at(&mut self, seq: u32) -> &mut u64 {
        let mask = self.ring.len() - 1;
        &mut self.ring[seq as usize & mask]
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// Segments believed to be in the network: `pipe` of RFC 6675.
    #[inline(always)]
    pub(crate) fn pipe(&self) -> u32 {
        self.outstanding() - self.sacked - self.lost + self.resent
    }

    /// A new segment leaves at `now`; returns its number.
    #[inline]
    pub(crate) fn send(&mut self, now: u64) -> u32 {
        if self.outstanding() as usize == self.ring.len() {
            self.grow();
        }
        let seq = self.nxt;
        *self.at(seq) = now;
        self.nxt += 1;
        seq
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = vec![0; self.ring.len() * 2];
        let mask = larger.len() - 1;
        for seq in self.una..self.nxt {
            larger[seq as usize & mask] = *self.at(seq);
        }
        self.ring = larger;
    }

    /// Segment `seq` leaves again at `now`.
    pub(crate) fn resend(&mut self, seq: u32, now: u64) {
        let word = self.at(seq);
        let old = *word;
        *word =
            (old & (SACKED | LOST)) | EVER_RESENT | if old & LOST != 0 { RESENT } else { 0 } | now;
        if old & LOST != 0 && old & RESENT == 0 {
            self.resent += 1;
        }
    }

    /// Everything below `ack` has arrived; `delivered` is told of each that was not selectively acknowledged before.
    #[inline]
    pub(crate) fn acknowledge(&mut self, ack: u32, mut delivered: impl FnMut(Delivered)) {
        for seq in self.una..ack {
            let word = *self.at(seq);
            if word & SACKED != 0 {
                self.sacked -= 1;
            } else {
                delivered(Delivered {
                    sent: word & SENT,
                    was_resent: word & EVER_RESENT != 0,
                    seq,
                });
            }
            self.forget(word);
        }
        self.una = ack;
        self.high_sacked = self.high_sacked.max(ack);
        self.hint = self.hint.max(ack);
    }

    /// Takes a segment out of the counts of the lost.
    #[inline]
    fn forget(&mut self, word: u64) {
        if word & LOST != 0 {
            self.lost -= 1;
            if word & RESENT != 0 {
                self.resent -= 1;
            }
        }
    }

    /// `seq` is selectively acknowledged; returns what was delivered, or `None` if that was known.
    #[inline]
    pub(crate) fn sack(&mut self, seq: u32) -> Option<Delivered> {
        let word = *self.at(seq);
        if word & SACKED != 0 {
            return None;
        }
        self.forget(word);
        *self.at(seq) = (word & !(LOST | RESENT)) | SACKED;
        self.sacked += 1;
        self.high_sacked = self.high_sacked.max(seq + 1);
        Some(Delivered {
            sent: word & SENT,
            was_resent: word & EVER_RESENT != 0,
            seq,
        })
    }

    /// `seq` is deemed lost (again, if it was resent).
    pub(crate) fn mark_lost(&mut self, seq: u32) {
        let word = *self.at(seq);
        debug_assert!(word & SACKED == 0, "a delivered segment is not lost");
        if word & LOST == 0 {
            self.lost += 1;
        } else if word & RESENT != 0 {
            self.resent -= 1;
        }
        *self.at(seq) = (word & !RESENT) | LOST;
        self.hint = self.hint.min(seq);
    }

    /// After a timeout: everything that is not selectively acknowledged is lost.
    pub(crate) fn mark_all_lost(&mut self) {
        for seq in self.una..self.nxt {
            if *self.at(seq) & SACKED == 0 {
                self.mark_lost(seq);
            }
        }
    }

    /// Undoes every verdict of loss: they were wrong (the segments had only been late).
    pub(crate) fn forget_losses(&mut self) {
        for seq in self.una..self.nxt {
            *self.at(seq) &= !(LOST | RESENT);
        }
        self.lost = 0;
        self.resent = 0;
    }

    /// The lowest segment that is lost and not on its way again.
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        if self.lost == self.resent {
            return None;
        }
        let mut seq = self.hint.max(self.una);
        while *self.at(seq) & (LOST | RESENT) != LOST {
            seq += 1;
        }
        self.hint = seq;
        Some(seq)
    }

    /// Whether `seq` may still be declared lost, and when it was last sent: not delivered, not lost already unless resent.
    #[inline]
    pub(crate) fn in_flight_since(&mut self, seq: u32) -> Option<u64> {
        let word = *self.at(seq);
        let waits = word & SACKED == 0 && word & (LOST | RESENT) != LOST;
        waits.then_some(word & SENT)
    }

    /// Whether `seq` was sent more than once.
    pub(crate) fn was_resent(&mut self, seq: u32) -> bool {
        *self.at(seq) & EVER_RESENT != 0
    }

    /// Whether `seq` is selectively acknowledged.
    pub(crate) fn is_sacked(&mut self, seq: u32) -> bool {
        *self.at(seq) & SACKED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipe_follows_rfc_6675() {
        let mut board = Scoreboard::new();
        for now in 0..40 {
            board.send(now);
        }
        assert_eq!(board.pipe(), 40);
        // Segments 0 and 1 missing, 2..5 arrived: 40 - 3.
        for seq in 2..5 {
            assert!(board.sack(seq).is_some());
            assert!(board.sack(seq).is_none());
        }
        assert_eq!(board.pipe(), 37);
        board.mark_lost(0);
        board.mark_lost(1);
        assert_eq!(board.pipe(), 35);
        assert_eq!(board.next_lost(), Some(0));
        board.resend(0, 50);
        assert_eq!((board.pipe(), board.next_lost()), (36, Some(1)));
        board.resend(1, 51);
        assert_eq!((board.pipe(), board.next_lost()), (37, None));
        // Everything up to 5 arrives: 35 new ones are left.
        let mut seen = Vec::new();
        board.acknowledge(5, |d| seen.push((d.seq, d.sent, d.was_resent)));
        assert_eq!(seen, [(0, 50, true), (1, 51, true)]);
        assert_eq!(
            (board.pipe(), board.lost, board.sacked, board.resent),
            (35, 0, 0, 0)
        );
        board.mark_all_lost();
        assert_eq!((board.pipe(), board.next_lost()), (0, Some(5)));
    }
}
