//! Loss detection: which segments are lost, and when that is known.
//!
//! Sources: RFC 8985 (RACK: a segment is lost if one sent later has arrived and a reordering window has passed);
//! RFC 6675 section 4 (without RACK: three segments above it have arrived). Departure: segments are counted whole,
//! so the byte rule of `IsLost` is the count of segments.

use serde::{Deserialize, Serialize};

use crate::scoreboard::{Delivered, Scoreboard};

/// RACK (RFC 8985, section 6); times in ps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rack {
    /// When the most recently sent of the delivered segments was sent.
    sent: u64,
    seq: u32,
    /// Its round trip.
    rtt: u64,
    /// Reordering has been observed on this connection.
    has_reordering: bool,
    /// Widens the reordering window after spurious retransmissions.
    multiplier: u64,
    /// Recoveries for which the wide window is kept.
    persist: u32,
    /// The multiplier grows at most once per round trip: not before this segment is acknowledged.
    widen_after: u32,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            sent: 0,
            seq: 0,
            rtt: 0,
            has_reordering: false,
            multiplier: 1,
            persist: 16,
            widen_after: 0,
        }
    }

    /// Step 1 and 2: a segment was delivered.
    #[inline]
    pub(crate) fn delivered(&mut self, segment: Delivered, now: u64, min_rtt: u64) {
        let rtt = now - segment.sent;
        // The ACK of a retransmission that came back too fast is for the original.
        if segment.was_resent && rtt < min_rtt {
            return;
        }
        if (segment.sent, segment.seq) >= (self.sent, self.seq) {
            self.sent = segment.sent;
            self.seq = segment.seq;
            self.rtt = rtt;
        }
    }

    /// Step 3: a segment arrived after one that was sent later.
    pub(crate) fn saw_reordering(&mut self) {
        self.has_reordering = true;
    }

    /// A retransmission was needless (DSACK): widen the window, once per round trip.
    pub(crate) fn saw_duplicate(&mut self, una: u32, nxt: u32) {
        if una >= self.widen_after {
            self.multiplier += 1;
            self.widen_after = nxt;
            self.persist = 16;
        }
    }

    /// A recovery ended: the wide window is forgotten after 16 of them.
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Step 4: the reordering window.
    fn window(
        &self,
        board: &Scoreboard,
        in_recovery: bool,
        duplicate_acks: u32,
        srtt: u64,
        min_rtt: u64,
    ) -> u64 {
        if !self.has_reordering && (in_recovery || board.sacked >= duplicate_acks) {
            return 0;
        }
        (self.multiplier * (min_rtt / 4)).min(srtt)
    }

    /// Step 5: marks what is lost at `now`; returns how long until the next verdict is due, 0 if none is.
    pub(crate) fn detect(&self, board: &mut Scoreboard, now: u64, limits: &Limits) -> u64 {
        let Limits {
            in_recovery,
            duplicate_acks,
            srtt,
            min_rtt,
        } = *limits;
        let window = self.window(board, in_recovery, duplicate_acks, srtt, min_rtt);
        let mut timeout = 0;
        for seq in board.una..board.nxt {
            let Some(sent) = board.in_flight_since(seq) else {
                continue;
            };
            if (sent, seq) >= (self.sent, self.seq) {
                // Segments above the highest delivered one were sent later, unless they are retransmissions.
                if seq >= board.high_sacked && seq > self.seq {
                    break;
                }
                continue;
            }
            let due = sent + self.rtt + window;
            if due <= now {
                board.mark_lost(seq);
            } else {
                timeout = timeout.max(due - now);
            }
        }
        timeout
    }
}

/// What RACK needs to know of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) in_recovery: bool,
    pub(crate) duplicate_acks: u32,
    pub(crate) srtt: u64,
    pub(crate) min_rtt: u64,
}

/// RFC 6675, section 4, `IsLost`: at least `duplicate_acks` segments above it have arrived. Segments that were resent
/// are not judged again: only the timer finds a lost retransmission.
pub(crate) fn detect_by_count(board: &mut Scoreboard, duplicate_acks: u32) {
    let (mut above, mut seq) = (0, board.high_sacked);
    while seq > board.una && above < duplicate_acks {
        seq -= 1;
        above += u32::from(board.is_sacked(seq));
    }
    if above < duplicate_acks {
        return;
    }
    for lost in board.una..seq {
        if board.in_flight_since(lost).is_some() && !board.was_resent(lost) {
            board.mark_lost(lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(n: u64) -> Scoreboard {
        let mut board = Scoreboard::new();
        for now in 0..n {
            board.send(now);
        }
        board
    }

    #[test]
    fn three_above_make_a_loss() {
        let mut board = sent(10);
        board.sack(3);
        board.sack(5);
        detect_by_count(&mut board, 3);
        assert_eq!(board.lost, 0);
        board.sack(6);
        // Above 0, 1, 2: three arrived. Above 4: two.
        detect_by_count(&mut board, 3);
        assert_eq!((board.lost, board.next_lost()), (3, Some(0)));
        board.resend(0, 50);
        detect_by_count(&mut board, 3);
        assert_eq!((board.lost, board.resent), (3, 1));
    }

    #[test]
    fn rack_waits_a_quarter_of_the_round_trip() {
        // Segments sent at 0..10; number 1 delivered at 1000: rtt 999, window 999/4 = 249.
        let mut board = sent(10);
        let mut rack = Rack::new();
        let delivered = board.sack(1).expect("new");
        rack.delivered(delivered, 1_000, u64::MAX);
        let limits = Limits {
            in_recovery: false,
            duplicate_acks: 3,
            srtt: 999,
            min_rtt: 999,
        };
        // Segment 0, sent at 0, is due at 0 + 999 + 249 = 1248: 248 from now.
        assert_eq!(rack.detect(&mut board, 1_000, &limits), 248);
        assert_eq!(board.lost, 0);
        assert_eq!(rack.detect(&mut board, 1_248, &limits), 0);
        assert_eq!((board.lost, board.next_lost()), (1, Some(0)));
    }

    #[test]
    fn rack_finds_a_lost_retransmission() {
        let mut board = sent(10);
        let mut rack = Rack::new();
        for seq in 1..4 {
            let delivered = board.sack(seq).expect("new");
            rack.delivered(delivered, 1_000, u64::MAX);
        }
        let limits = Limits {
            in_recovery: true,
            duplicate_acks: 3,
            srtt: 999,
            min_rtt: 999,
        };
        rack.detect(&mut board, 1_000, &limits);
        board.resend(0, 1_000);
        // Segment 10, sent after the retransmission, arrives: the retransmission is lost too.
        board.send(1_001);
        let delivered = board.sack(10).expect("new");
        rack.delivered(delivered, 2_000, u64::MAX);
        rack.detect(&mut board, 2_000, &limits);
        assert_eq!(board.next_lost(), Some(0));
    }
}
