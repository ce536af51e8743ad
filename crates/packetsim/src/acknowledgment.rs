//! What an ACK tells a sender: what has arrived, what is lost, how large the window becomes.
//!
//! Sources: RFC 5681, RFC 6675 and RFC 8985, by the parts that `scoreboard.rs`, `loss_recovery.rs` and `congestion.rs` hold.
//!
//! Departures: a retransmission that is selectively acknowledged counts for RACK if it took at least half the smoothed
//! round trip: RFC 8985 section 6.2 looks at the timestamp echo, which an out-of-order segment does not set, so that a
//! lost retransmission would always wait for the timer; Linux takes the smallest round trip, which long queues exceed.
//! A spurious recovery is undone when the timestamp echo shows that the original arrived (RFC 3522, as Linux does), for
//! which `timestamps` must be on.

use crate::congestion::{Ack, Control};
use crate::loss_recovery::{Limits, detect_by_count};
use crate::packet::{Packet, flag, stamp};
use crate::scoreboard::Delivered;
use crate::sender::{Phase, Repair, Sender, Undo};
use crate::wire::Wire;

/// RFC 8985, section 6.2, step 2: the ACK of a segment that was resent echoes a clock from before that, so it may be the
/// original that arrived, and says nothing about the retransmission.
#[inline]
fn echoes_earlier(echo: u32, segment: &Delivered, has_timestamps: bool) -> bool {
    segment.was_resent && has_timestamps && (echo.wrapping_sub(stamp(segment.sent)) as i32) < 0
}

impl Sender {
    /// An ACK arrives. The caller then sends what the window allows and calls [`Self::set_timer`].
    #[inline]
    pub(crate) fn on_ack(&mut self, packet: &Packet, wire: &mut Wire) {
        let now = wire.now;
        let una = self.board.una;
        if self.phase != Phase::Open || packet.seq > self.board.nxt {
            return;
        }
        let acked = packet.seq.saturating_sub(una);
        if self.entropy.is_some() {
            self.report(packet, now);
        }
        self.edge = self.edge.max(packet.seq.saturating_add(packet.window));
        let (mut sample, mut echoed, mut newest, mut delivered) = (0, 0, 0, 0);
        let has_gaps = self.board.sacked > 0 || self.repair != Repair::None;
        if acked > 0 {
            let (rack, min_rtt, high_sacked) =
                (&mut self.rack, self.rtt.min, self.board.high_sacked);
            let (has_rack, has_timestamps, mut reordering) =
                (self.has_rack, self.has_timestamps, 0);
            self.board.acknowledge(packet.seq, |segment| {
                delivered += 1;
                if !segment.was_resent {
                    newest = now - segment.sent;
                    if sample == 0 {
                        sample = newest;
                    }
                    reordering = reordering.max(high_sacked.saturating_sub(segment.seq));
                } else if has_timestamps && packet.stamp == stamp(segment.sent) {
                    // The echo says that it was the last transmission that arrived (RFC 7323, section 4).
                    echoed = now - segment.sent;
                }
                if has_rack && !echoes_earlier(packet.stamp, &segment, has_timestamps) {
                    rack.delivered(segment, now, min_rtt);
                }
            });
            if reordering > 0 {
                self.saw_reordering(reordering);
            }
            if sample == 0 {
                sample = echoed;
            }
        }
        if packet.sack[0] != 0 {
            delivered += self.on_sack(packet, now);
        }
        if sample != 0 {
            self.rtt.sample(sample);
        }
        let ack = Ack {
            now,
            acked,
            rtt: newest,
            srtt: self.rtt.srtt,
            una: self.board.una,
            nxt: self.board.nxt,
            is_marked: packet.flags & flag::ECE != 0,
            is_limited: self.is_limited
                || (self.window.in_slow_start()
                    && self.window.cwnd < 2.0 * f64::from(self.board.pipe() + delivered)),
        };
        self.control.on_delivered(delivered, &ack);
        if acked > 0 {
            self.rtt.backoff = 0;
            self.retries = 0;
            self.timer_base = now;
            self.last_activity = now;
            if self.undo.is_some() {
                self.undo_if_spurious(packet, now);
            }
        }
        if ack.is_marked && self.is_ecn_capable {
            let before = self.window.cwnd;
            self.control.on_mark(&mut self.window, &ack);
            self.says_cwr |= self.window.cwnd < before;
        }
        if packet.flags & flag::DUPLICATE != 0 {
            self.rack.saw_duplicate(self.board.una, self.board.nxt);
        }
        if self.probe.is_some() {
            self.judge_probe(packet, acked, now);
        }
        if has_gaps || self.board.sacked > 0 {
            self.detect_losses(now);
        } else {
            self.reorder_due = 0;
        }
        if acked > 0 {
            let after_timeout = self.repair == Repair::Timeout;
            if self.repair != Repair::None && self.board.una >= self.repair_until {
                self.repair = Repair::None;
                self.undo = None;
                self.rack.recovered();
            }
            if after_timeout {
                // What had been selectively acknowledged before does not open the window again (RFC 3465, section 2.3).
                let ack = Ack {
                    acked: delivered.min(2),
                    ..ack
                };
                self.control.on_ack(&mut self.window, &ack);
            } else if self.repair == Repair::None {
                self.control.on_ack(&mut self.window, &ack);
            }
        }
        self.is_stuck = self.edge == 0;
        if let Some(messages) = &mut self.messages {
            messages.acknowledge(self.board.una);
        }
    }

    /// Tells which segments the ACK reports, so that their entropies may be used again.
    #[cold]
    fn report(&mut self, packet: &Packet, now: u64) {
        let Some(entropy) = &mut self.entropy else {
            return;
        };
        let is_marked = packet.flags & flag::ECE != 0;
        let (una, nxt, window) = (self.board.una, self.board.nxt, self.window.cwnd as u64);
        let mut report = |from: u32, to: u32| {
            entropy.report(from.max(una)..to.min(nxt), is_marked, now, window);
        };
        report(una, packet.seq);
        for &block in packet.sack.iter().take_while(|&&block| block != 0) {
            let start = packet.seq + (block >> 16);
            let known = self.known.iter().filter(|k| k.0 == start).map(|k| k.1);
            report(known.max().unwrap_or(start), start + (block & 0xffff));
        }
    }

    /// Marks what the SACK blocks report; returns how many segments are newly delivered.
    #[cold]
    fn on_sack(&mut self, packet: &Packet, now: u64) -> u32 {
        let mut delivered = 0;
        let mut known = [(0, 0); 3];
        // The third of an answer to a duplicate is no block (see `Packet::sack`).
        let blocks = 3 - usize::from(packet.flags & flag::DUPLICATE != 0);
        for (i, &block) in packet.sack[..blocks]
            .iter()
            .enumerate()
            .take_while(|&(_, &block)| block != 0)
        {
            let start = packet.seq + (block >> 16);
            let end = start + (block & 0xffff);
            // A block mostly grows at its end: begin where the last ACK's block of the same start ended.
            let from = self
                .known
                .iter()
                .filter(|k| k.0 == start)
                .map(|k| k.1)
                .max()
                .unwrap_or(start);
            // An ACK that was overtaken may report segments that are acknowledged by now.
            for seq in from.max(start).max(self.board.una)..end.min(self.board.nxt) {
                let high_sacked = self.board.high_sacked;
                if let Some(segment) = self.board.sack(seq) {
                    delivered += 1;
                    if !segment.was_resent && seq < high_sacked {
                        self.saw_reordering(high_sacked - seq);
                    }
                    if self.has_rack {
                        // The echo of a selective ACK says nothing of this segment: what comes back in less than
                        // half a round trip is taken for a late original.
                        let is_early = now - segment.sent < self.rtt.srtt / 2;
                        if !(segment.was_resent && is_early) {
                            self.rack.delivered(segment, now, self.rtt.min);
                        }
                    }
                }
            }
            known[i] = (start, end);
        }
        self.known = known;
        delivered
    }

    /// The first ACK after a retransmission echoes the clock of the original: the loss was none.
    fn undo_if_spurious(&mut self, packet: &Packet, now: u64) {
        let Some(Undo {
            window,
            resent: Some(resent),
        }) = self.undo
        else {
            return;
        };
        // The clock wraps after 4.4 s: beyond half of that it cannot tell before from after.
        let is_clear = self.has_timestamps && now - resent < (1 << 31) << 10;
        if is_clear && (packet.stamp.wrapping_sub(stamp(resent)) as i32) < 0 {
            self.window.cwnd = self.window.cwnd.max(window.cwnd);
            self.window.ssthresh = window.ssthresh;
            self.board.forget_losses();
            self.control.on_undo();
            self.rack.saw_reordering();
            self.repair = Repair::None;
        }
        // One verdict per recovery: later ACKs echo segments that were sent after it began.
        self.undo = None;
    }

    /// A segment was delivered after one that is `distance` minus one segments above it: RACK waits from now on, and if the
    /// threshold adapts, so many duplicate ACKs say nothing (Linux: tcp_check_sack_reordering).
    #[cold]
    fn saw_reordering(&mut self, distance: u32) {
        self.rack.saw_reordering();
        let most = self.duplicate_acks_range.1;
        self.duplicate_acks = self.duplicate_acks.max(distance.min(most));
    }

    pub(crate) fn detect_losses(&mut self, now: u64) {
        if self.has_rack {
            let limits = Limits {
                in_recovery: self.repair != Repair::None,
                duplicate_acks: self.duplicate_acks,
                srtt: self.rtt.srtt,
                min_rtt: self.rtt.min,
            };
            let wait = self.rack.detect(&mut self.board, now, &limits);
            self.reorder_due = if wait == 0 { 0 } else { now + wait };
        } else {
            detect_by_count(&mut self.board, self.duplicate_acks);
        }
        if self.repair == Repair::None && self.board.lost > 0 {
            self.undo = Some(Undo {
                window: self.window,
                resent: None,
            });
            self.control.on_loss(&mut self.window, now, self.board.nxt);
            self.repair = Repair::Fast;
            self.repair_until = self.board.nxt;
            if let Some(entropy) = &mut self.entropy {
                entropy.suspect(false, now);
            }
        }
    }

    /// Section 7.4: if the probe repaired a loss, the window must answer for it.
    fn judge_probe(&mut self, packet: &Packet, acked: u32, now: u64) {
        let Some((end, was_resent)) = self.probe else {
            return;
        };
        if packet.seq < end {
            return;
        }
        let is_duplicate = packet.flags & flag::DUPLICATE != 0;
        if !was_resent || is_duplicate {
            self.probe = None;
        } else if packet.seq > end {
            self.probe = None;
            if self.repair == Repair::None {
                self.control.on_loss(&mut self.window, now, self.board.nxt);
            }
        } else if acked == 0 && packet.sack[0] == 0 {
            self.probe = None;
        }
    }
}
