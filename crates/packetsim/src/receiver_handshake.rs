//! How a receiver's connection begins and ends, and how a subflow does: the other side of `handshake.rs`.
//!
//! Sources: RFC 9293 section 3.5; RFC 8684 sections 3.2 (join) and 3.3.3 (end).

use crate::address::SYN_BYTES;
use crate::packet::{Kind, flag};
use crate::receiver::{Receiver, Stage};
use crate::sender::NEVER;
use crate::wire::Wire;

impl Receiver {
    /// Opens the connection of a fetch.
    pub(crate) fn open(&mut self, wire: &mut Wire) {
        self.stage = Stage::Opening;
        self.opens = true;
        self.send_handshake(wire);
    }

    /// The SYN-ACK of a fetch arrives: asks for the payload.
    pub(crate) fn ask(&mut self, wire: &mut Wire) {
        if self.stage == Stage::Opening {
            if self.handshakes == 1 {
                self.rtt.sample(wire.now - self.last_arrival);
            }
            self.rtt.backoff = 0;
            self.retries = 0;
            self.stage = match self.address.number {
                0 if self.asks => {
                    self.stage = Stage::Receiving;
                    return self.send_requests(wire);
                }
                0 => Stage::Asking,
                _ => Stage::Joining,
            };
            self.send_handshake(wire);
        }
    }

    /// The fourth packet of a subflow that joins arrives at the side that opened it, or the third at the other, which
    /// answers it.
    pub(crate) fn on_join(&mut self, wire: &mut Wire) {
        if !self.opens {
            let mut packet = (self.address).packet(Kind::Join, 0, self.headers.ack, 0, wire.now);
            packet.window = self.offer();
            self.emit(wire, packet);
        } else if self.stage == Stage::Joining {
            self.stage = Stage::Receiving;
            self.ack_due = NEVER;
        }
    }

    /// The subflow that is being opened is not wanted any more: its third packet is not sent again.
    pub(crate) fn stop_asking(&mut self) {
        self.ack_due = NEVER;
    }

    /// Answers the FIN of a subflow, also when it comes again.
    pub(crate) fn on_fin(&mut self, wire: &mut Wire) {
        self.stage = Stage::Complete;
        self.acknowledge(wire, flag::FIN, 0);
    }

    /// The data that has just arrived completes the connection: that is acknowledged at once.
    pub(crate) fn acknowledge_now(&mut self, wire: &mut Wire) {
        if self.pending > 0 {
            self.acknowledge(wire, 0, 0);
        }
    }

    /// Answers the SYN of an upload; also when it comes again.
    pub(crate) fn answer(&mut self, wire: &mut Wire) {
        self.try_another_way(wire.now);
        let bytes = SYN_BYTES + u16::from(self.address.handshake[1]);
        let mut packet = self.address.packet(Kind::SynAck, 0, bytes, 0, wire.now);
        packet.window = self.offer();
        self.emit(wire, packet);
    }

    pub(crate) fn send_handshake(&mut self, wire: &mut Wire) {
        self.try_another_way(wire.now);
        let (kind, bytes) = match self.stage {
            Stage::Opening => (Kind::Syn, SYN_BYTES + u16::from(self.address.handshake[0])),
            Stage::Joining => (
                Kind::Join,
                self.headers.plain + u16::from(self.address.handshake[2]),
            ),
            _ => (Kind::Request, self.headers.data + self.request as u16),
        };
        let mut packet = self.address.packet(kind, 0, bytes, 0, wire.now);
        packet.window = self.offer();
        self.emit(wire, packet);
        self.handshakes += 1;
        self.last_arrival = wire.now;
        self.arm(wire, wire.now + self.rtt.rto());
    }
}
