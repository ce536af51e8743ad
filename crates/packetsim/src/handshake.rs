//! How a sender's connection begins and ends, and how a subflow does.
//!
//! Sources: RFC 9293 section 3.5; RFC 8684 sections 3.2 (join) and 3.3.3 (end). A packet that gets no answer is sent again
//! by the retransmission timer.

use crate::address::SYN_BYTES;
use crate::packet::{Kind, flag};
use crate::sender::{NEVER, Phase, Sender, Timer};
use crate::wire::Wire;

impl Sender {
    /// Opens the connection of an upload.
    pub(crate) fn open(&mut self, wire: &mut Wire) {
        self.phase = Phase::Opening;
        if let Some(mapping) = &mut self.mapping {
            mapping.opens = true;
        }
        self.send_handshake(wire, Kind::Syn);
    }

    /// Answers the SYN of a fetch; also when it comes again.
    pub(crate) fn answer(&mut self, wire: &mut Wire) {
        if matches!(self.phase, Phase::Opening | Phase::Answering) {
            self.phase = Phase::Answering;
            self.send_handshake(wire, Kind::SynAck);
        }
    }

    pub(crate) fn send_handshake(&mut self, wire: &mut Wire, kind: Kind) {
        let again = if self.handshakes > 0 { flag::AGAIN } else { 0 };
        let [syn, syn_ack, third] = self.address.handshake.map(u16::from);
        let bytes = match kind {
            Kind::Syn => SYN_BYTES + syn,
            Kind::SynAck => SYN_BYTES + syn_ack,
            Kind::Join => self.headers.plain + third,
            _ => self.headers.ack,
        };
        self.emit_plain(wire, kind, bytes, again);
        self.handshake_sent = wire.now;
        self.handshakes += 1;
        self.timer_base = wire.now;
        self.arm(wire, wire.now + self.rtt.rto(), Timer::Retransmit);
    }

    /// The other side has answered (SYN-ACK) or asked (request): data may flow. `window` is its offer, in segments.
    pub(crate) fn established(&mut self, wire: &mut Wire, window: u32) {
        if !matches!(self.phase, Phase::Opening | Phase::Answering) {
            return;
        }
        if self.handshakes == 1 {
            self.rtt.sample(wire.now - self.handshake_sent);
        }
        if self.phase == Phase::Opening {
            let bytes = self.headers.plain + u16::from(self.address.handshake[2]);
            self.emit_plain(wire, Kind::Ack, bytes, 0);
        }
        self.rtt.backoff = 0;
        self.retries = 0;
        self.phase = Phase::Open;
        self.edge = window;
        self.is_stuck = window == 0;
        self.deadline = NEVER;
    }

    /// The receiver's FIN has arrived and everything is acknowledged: answers it and is done.
    pub(crate) fn close(&mut self, wire: &mut Wire) {
        self.emit_plain(wire, Kind::Ack, self.headers.ack, flag::FIN);
        self.phase = Phase::Closed;
    }

    // ---- a subflow that joins and ends (RFC 8684, sections 3.2 and 3.3.3) ----

    /// The SYN-ACK of a subflow that joins arrives: sends the third packet and waits for the fourth.
    pub(crate) fn join_answered(&mut self, wire: &mut Wire) {
        if self.phase == Phase::Opening {
            if self.handshakes == 1 {
                self.rtt.sample(wire.now - self.handshake_sent);
            }
            self.begin(Phase::Joining);
            self.send_handshake(wire, Kind::Join);
        }
    }

    /// The fourth packet arrives at the side that opened the subflow, or the third at the other, which answers it.
    pub(crate) fn on_join(&mut self, wire: &mut Wire) {
        let opens = self.mapping.as_ref().is_some_and(|m| m.opens);
        if opens && self.phase == Phase::Joining || !opens && self.phase == Phase::Answering {
            if self.handshakes == 1 {
                self.rtt.sample(wire.now - self.handshake_sent);
            }
            self.begin(Phase::Open);
            self.deadline = NEVER;
        }
        if !opens && self.phase == Phase::Open {
            self.emit_plain(wire, Kind::Join, self.headers.ack, 0);
        }
    }

    /// All data is acknowledged: ends the subflow.
    pub(crate) fn finish(&mut self, wire: &mut Wire) {
        self.begin(Phase::Closing);
        self.send_handshake(wire, Kind::Fin);
    }

    /// Ends the subflow without waiting for an answer.
    pub(crate) fn reset(&mut self, wire: &mut Wire) {
        self.emit_plain(wire, Kind::Reset, self.headers.ack, 0);
        self.phase = Phase::Closed;
    }

    /// A packet without payload; it says how many segments have been sent.
    fn emit_plain(&mut self, wire: &mut Wire, kind: Kind, bytes: u16, flags: u8) {
        let mut packet = self.address.packet(kind, 0, bytes, flags, wire.now);
        packet.sack[0] = self.board.nxt;
        self.emit(wire, packet);
    }

    fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        self.rtt.backoff = 0;
        self.retries = 0;
        self.handshakes = 0;
    }
}
