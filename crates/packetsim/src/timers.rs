//! The timers of a sender: what is due first, and what happens then.
//!
//! Sources: RFC 6298 (retransmission), RFC 8985 sections 6.3 (reordering) and 7 (tail loss probe), RFC 5681 section 3.1.

use crate::congestion::Control;
use crate::packet::{Kind, Packet};
use crate::sender::{NEVER, Phase, Repair, Sender, Timer, Undo};
use crate::wire::Wire;

impl Sender {
    // ---- tail loss probe (RFC 8985, section 7) ----

    fn send_probe(&mut self, wire: &mut Wire) {
        if self.board.nxt < self.total && self.board.nxt < self.edge && wire.now < self.stop {
            self.send_new(wire);
            self.probe = Some((self.board.nxt, false));
        } else {
            self.resend(wire, self.board.nxt - 1);
            self.probe = Some((self.board.nxt, true));
        }
        self.timer_base = wire.now;
    }

    // ---- timers ----

    /// Sets the timer to what is due first. Called after everything that changes the connection.
    #[inline]
    pub(crate) fn set_timer(&mut self, wire: &mut Wire) {
        if self.phase != Phase::Open {
            return;
        }
        if self.board.outstanding() == 0 {
            self.deadline = NEVER;
            return;
        }
        let retransmit = self.timer_base + self.rtt.rto();
        if self.reorder_due != 0 && self.reorder_due < retransmit {
            return self.arm(wire, self.reorder_due, Timer::Reorder);
        }
        let may_probe = self.has_probe
            && self.probe.is_none()
            && self.repair == Repair::None
            && self.board.sacked == 0;
        if may_probe && self.rtt.srtt != 0 {
            let mut wait = 2 * self.rtt.srtt;
            if self.board.outstanding() == 1 {
                wait += self.ack_delay;
            }
            let probe = self.last_activity + wait;
            if probe < retransmit {
                return self.arm(wire, probe.max(wire.now + 1), Timer::Probe);
            }
        }
        self.arm(wire, retransmit.max(wire.now + 1), Timer::Retransmit);
    }

    /// The timer is mostly moved back, so an event that comes too early sets itself again.
    #[inline]
    pub(crate) fn arm(&mut self, wire: &mut Wire, deadline: u64, timer: Timer) {
        self.deadline = deadline;
        self.timer = timer;
        if deadline < self.wake_at {
            self.wake_at = deadline;
            let event = Packet::local(
                Kind::SourceTimer,
                self.address.node,
                self.address.flow,
                deadline,
            );
            wire.schedule(event);
        }
    }

    /// A timer event; one that was overtaken does nothing.
    pub(crate) fn on_timer(&mut self, wire: &mut Wire) {
        if wire.now != self.wake_at {
            return;
        }
        self.wake_at = NEVER;
        if self.deadline == NEVER || matches!(self.phase, Phase::Closed | Phase::Failed) {
            return;
        }
        if wire.now < self.deadline {
            return self.arm(wire, self.deadline, self.timer);
        }
        self.deadline = NEVER;
        match (self.phase, self.timer) {
            (Phase::Opening | Phase::Answering | Phase::Joining | Phase::Closing, _) => {
                if self.phase != Phase::Closing {
                    self.note_timeout(wire.now - self.timer_base);
                }
                if self.gives_up(wire.now) {
                    return;
                }
                let kind = match self.phase {
                    Phase::Opening => Kind::Syn,
                    Phase::Answering => Kind::SynAck,
                    Phase::Joining => Kind::Join,
                    _ => Kind::Fin,
                };
                self.send_handshake(wire, kind);
            }
            (_, Timer::Reorder) => {
                self.reorder_due = 0;
                self.detect_losses(wire.now);
            }
            (_, Timer::Probe) => self.send_probe(wire),
            (_, Timer::Retransmit) => self.on_timeout(wire),
        }
    }

    /// RFC 6298, section 5.4 to 5.6; RFC 5681, section 3.1.
    fn on_timeout(&mut self, wire: &mut Wire) {
        if let Some(mapping) = &mut self.mapping {
            mapping.timed_out = true;
        }
        self.note_timeout(wire.now - self.last_activity.max(self.timer_base));
        if self.gives_up(wire.now) {
            return;
        }
        if self.repair == Repair::None {
            self.undo = Some(Undo {
                window: self.window,
                resent: None,
            });
            if self.board.sacked >= self.duplicate_acks_range.0 {
                // Fewer duplicate ACKs would have found the loss without the timer (Linux: tcp_enter_loss).
                self.duplicate_acks = self.duplicate_acks_range.0;
            }
        }
        if self.repair != Repair::Timeout || self.rtt.backoff == 1 {
            self.control
                .on_timeout(&mut self.window, self.board.pipe(), wire.now);
        }
        self.window.cwnd = 1.0;
        self.board.mark_all_lost();
        self.repair = Repair::Timeout;
        self.repair_until = self.board.nxt;
        self.probe = None;
        self.reorder_due = 0;
        self.timer_base = wire.now;
    }

    /// The retransmission timer goes off after `silence` in which nothing was sent and nothing new was acknowledged.
    fn note_timeout(&mut self, silence: u64) {
        self.timeouts += 1;
        self.timeout_wait += silence;
    }

    /// Counts a timeout; true once there were too many.
    fn gives_up(&mut self, now: u64) -> bool {
        if let Some(entropy) = &mut self.entropy {
            entropy.suspect(true, now);
        }
        self.rtt.backoff += 1;
        self.retries += 1;
        if self.retries > self.max_retries {
            self.phase = Phase::Failed;
        }
        self.phase == Phase::Failed
    }
}
