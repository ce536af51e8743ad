//! A TCP sender: one flow at the host that has the payload.
//!
//! Read first: RFC 9293 section 3, RFC 5681, RFC 6298, RFC 6675, RFC 8985. The parts live apart: `scoreboard.rs` (what
//! is in flight), `rtt.rs` (timeouts), `loss_recovery.rs` (what is lost), `congestion.rs` (how large the window is).
//! `handshake.rs` begins and ends the connection, `acknowledgment.rs` takes what ACKs say, `timers.rs` what is due; this file
//! sends. What the segments carry beside plain payload is in `mapping.rs` (subflows) and `messages.rs` (applications).
//!
//! Sequence numbers count segments; the FIN rides on the last one.

use serde::{Deserialize, Serialize};
use weft_net::transport::Headers;
use weft_net::transport::tcp::Tcp;

use crate::address::Address;
use crate::congestion::{Control, Controller, Path, Window};
use crate::entropy::Entropy;
use crate::loss_recovery::Rack;
use crate::mapping::{Mapping, NO_DATA};
use crate::messages::Messages;
use crate::packet::{Kind, Packet, flag};
use crate::rtt::Rtt;
use crate::scoreboard::Scoreboard;
use crate::segments::segments;
use crate::wire::Wire;

/// No timer.
pub(crate) const NEVER: u64 = u64::MAX;

/// The life of a connection at the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// SYN sent.
    Opening,
    /// SYN received and answered.
    Answering,
    /// A subflow that joins: SYN-ACK received and answered, the fourth packet has not come.
    Joining,
    /// Data flows.
    Open,
    /// A subflow whose connection has delivered everything: FIN sent.
    Closing,
    /// The last FIN has arrived.
    Closed,
    /// Given up after too many timeouts.
    Failed,
}

/// How the sender repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Repair {
    None,
    /// Fast recovery.
    Fast,
    /// After a timeout.
    Timeout,
}

/// What the next timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Timer {
    Retransmit,
    /// RACK's reordering window ends.
    Reorder,
    /// Tail loss probe.
    Probe,
}

/// What to restore if the loss was none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Undo {
    pub(crate) window: Window,
    /// Time of the first retransmission, ps; `None` before it.
    pub(crate) resent: Option<u64>,
}

/// Why [`Sender::send_next`] did not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It did.
    One,
    /// The window is full or there is nothing to send.
    Nothing,
    /// The network card has no room.
    NoRoom,
}

/// One sender; plain data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    pub(crate) address: Address,
    pub(crate) phase: Phase,
    pub(crate) repair: Repair,
    pub(crate) timer: Timer,
    pub(crate) is_ecn_capable: bool,
    /// The next data packet carries CWR.
    pub(crate) says_cwr: bool,
    /// The window limited the last attempt to send.
    pub(crate) is_limited: bool,
    pub(crate) has_rack: bool,
    pub(crate) has_probe: bool,
    pub(crate) has_timestamps: bool,
    limited_transmit: bool,
    /// Waits in the host's list for room in the card.
    pub(crate) waits_for_card: bool,
    /// The receiver offers no window and never will.
    pub(crate) is_stuck: bool,
    pub(crate) board: Scoreboard,
    pub(crate) window: Window,
    pub(crate) rtt: Rtt,
    pub(crate) control: Controller,
    pub(crate) rack: Rack,
    /// First segment beyond the receiver's window.
    pub(crate) edge: u32,
    /// Segments of the flow; `u32::MAX` for an endless one.
    pub(crate) total: u32,
    pub(crate) headers: Headers,
    mss: u16,
    last_payload: u16,
    /// Of a subflow of a multipath connection.
    pub(crate) mapping: Option<Box<Mapping>>,
    /// Of a connection of an application.
    pub(crate) messages: Option<Box<Messages>>,
    /// Where packets carry more for the switches than their five-tuple.
    pub(crate) entropy: Option<Box<Entropy>>,
    pub(crate) duplicate_acks: u32,
    /// What it is without reordering, and at most with it; the same if it does not adapt.
    pub(crate) duplicate_acks_range: (u32, u32),
    pub(crate) repair_until: u32,
    pub(crate) undo: Option<Undo>,
    /// SACK blocks of the last ACK, so that known segments are not walked again.
    pub(crate) known: [(u32, u32); 3],
    /// Tail loss probe: the segment after the last one when it was sent, and whether it was a retransmission.
    pub(crate) probe: Option<(u32, bool)>,
    pub(crate) ack_delay: u64,
    /// Start of the retransmission timer.
    pub(crate) timer_base: u64,
    /// When the last data left or was acknowledged.
    pub(crate) last_activity: u64,
    /// When RACK's reordering timer is due.
    pub(crate) reorder_due: u64,
    pub(crate) deadline: u64,
    /// When the outstanding timer event happens; [`NEVER`] if there is none.
    pub(crate) wake_at: u64,
    pub(crate) retries: u32,
    pub(crate) max_retries: u32,
    /// Longest backlog of the card, ps, at which this flow still adds to it.
    card_room: u64,
    /// An endless flow sends nothing after this.
    pub(crate) stop: u64,
    /// Wire bytes of everything this end sent.
    pub(crate) wire_bytes: u64,
    pub(crate) resent_bytes: u64,
    /// How often the retransmission timer went off before all was acknowledged, and the silence before, ps.
    pub(crate) timeouts: u64,
    pub(crate) timeout_wait: u64,
    /// Packets that it sent, and that arrived for it.
    pub(crate) packets: u64,
    pub(crate) arrived: u64,
    pub(crate) handshake_sent: u64,
    pub(crate) handshakes: u32,
}

/// What a sender is made of.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) tcp: &'a Tcp,
    pub(crate) control: Controller,
    pub(crate) headers: Headers,
    pub(crate) address: Address,
    /// Payload of the flow; `None` for an endless one, and for a subflow, whose data its connection gives it.
    pub(crate) size: Option<u64>,
    pub(crate) stop: u64,
    pub(crate) mss: u16,
    pub(crate) mapping: Option<Box<Mapping>>,
    /// A connection of an application: what it carries is said as it goes on.
    pub(crate) has_messages: bool,
    pub(crate) entropy: Option<Box<Entropy>>,
    pub(crate) card_room: u64,
    pub(crate) is_ecn_capable: bool,
}

impl Sender {
    pub(crate) fn new(setup: Setup<'_>) -> Self {
        let Setup {
            tcp,
            headers,
            control,
            address,
            size,
            stop,
            mss,
            mapping,
            has_messages,
            entropy,
            card_room,
            is_ecn_capable,
        } = setup;
        let (total, last_payload) = segments(size, mss);
        Self {
            address,
            phase: Phase::Opening,
            repair: Repair::None,
            timer: Timer::Retransmit,
            is_ecn_capable,
            says_cwr: false,
            is_limited: true,
            has_rack: tcp.rack,
            has_probe: tcp.tlp && tcp.rack,
            has_timestamps: tcp.timestamps,
            limited_transmit: tcp.limited_transmit,
            waits_for_card: false,
            is_stuck: false,
            board: Scoreboard::new(),
            window: Window {
                cwnd: tcp.initial_window as f64,
                ssthresh: f64::INFINITY,
            },
            rtt: Rtt::new(tcp),
            control,
            rack: Rack::new(),
            edge: 0,
            total: if has_messages { 0 } else { total },
            headers,
            mss,
            last_payload,
            mapping,
            messages: has_messages.then(Box::default),
            entropy,
            duplicate_acks: tcp.duplicate_acks as u32,
            duplicate_acks_range: (
                tcp.duplicate_acks as u32,
                if tcp.adaptive_duplicate_acks {
                    tcp.most_duplicate_acks.max(tcp.duplicate_acks) as u32
                } else {
                    tcp.duplicate_acks as u32
                },
            ),
            repair_until: 0,
            undo: None,
            known: [(0, 0); 3],
            probe: None,
            ack_delay: tcp.ack_delay.0,
            timer_base: 0,
            last_activity: 0,
            reorder_due: 0,
            deadline: NEVER,
            wake_at: NEVER,
            retries: 0,
            max_retries: tcp.retries as u32,
            card_room,
            stop,
            wire_bytes: 0,
            resent_bytes: 0,
            timeouts: 0,
            timeout_wait: 0,
            packets: 0,
            arrived: 0,
            handshake_sent: 0,
            handshakes: 0,
        }
    }

    /// Sends a packet without data.
    pub(crate) fn emit(&mut self, wire: &mut Wire, mut packet: Packet) {
        if let Some(entropy) = &mut self.entropy {
            packet.entropy = entropy.control(packet.entropy);
        }
        self.send_out(wire, packet);
    }

    #[inline]
    fn send_out(&mut self, wire: &mut Wire, packet: Packet) {
        self.wire_bytes += wire.emit(self.address.link, self.address.node, packet);
        self.packets += 1;
    }

    // ---- messages of an application ----

    /// A message to be sent after all others.
    pub(crate) fn add_message(&mut self, bytes: u64) {
        if let Some(messages) = &mut self.messages {
            self.total = messages.add(bytes, self.total, self.mss);
        }
    }

    /// Request `number` arrives, perhaps early or again: its answer of so many bytes follows those of the ones before.
    pub(crate) fn on_request(&mut self, number: u32, bytes: u32) {
        if let Some(messages) = &mut self.messages {
            self.total = messages.answer(number, bytes, self.total, self.mss);
        }
    }

    // ---- the data of a subflow ----

    /// Sets what may be sent next: a data segment of the connection, or [`NO_DATA`]; and its payload, if it ends a message or
    /// the flow.
    #[inline]
    pub(crate) fn offer(&mut self, data: u32, end: Option<u16>) {
        if let Some(mapping) = &mut self.mapping {
            (mapping.offer, mapping.end) = (data, end);
            self.edge = self.board.nxt + u32::from(data != NO_DATA);
        }
    }

    /// Whether the window leaves room that nothing was there to fill.
    #[inline]
    pub(crate) fn wants_data(&self) -> bool {
        self.phase == Phase::Open && !self.is_limited && self.repair != Repair::Timeout
    }

    /// Data segments that are in flight and have not been given to the other subflows before.
    pub(crate) fn give_away(&mut self, mut give: impl FnMut(u32)) {
        let Some(mapping) = &mut self.mapping else {
            return;
        };
        for seq in self.board.una.max(mapping.given)..self.board.nxt {
            if !self.board.is_sacked(seq) {
                give(mapping.data(seq));
            }
        }
        mapping.given = self.board.nxt;
        mapping.timed_out = false;
    }

    /// Tells the control of the subflow's siblings.
    #[inline]
    pub(crate) fn couple(&mut self, paths: &mut [Path]) {
        self.control.couple(self.address.number as usize, paths);
    }

    // ---- sending ----

    /// Sends one segment if window and card allow it.
    #[inline]
    pub(crate) fn send_next(&mut self, wire: &mut Wire) -> Sent {
        if self.phase != Phase::Open {
            return Sent::Nothing;
        }
        let mut pipe = f64::from(self.board.pipe());
        if !self.limited_transmit && self.repair == Repair::None {
            // Without RFC 3042 a segment beyond the hole does not make room for a new one.
            pipe += f64::from(self.board.sacked);
        }
        if pipe + 1.0 > self.window.cwnd {
            self.is_limited = true;
            return Sent::Nothing;
        }
        self.is_limited = false;
        let lost = self.board.next_lost();
        if lost.is_none()
            && (self.board.nxt >= self.total
                || self.board.nxt >= self.edge
                || wire.now >= self.stop)
        {
            return Sent::Nothing;
        }
        if wire.ports.port(self.address.link).busy_until > wire.now + self.card_room {
            return Sent::NoRoom;
        }
        match lost {
            Some(seq) => self.resend(wire, seq),
            None => self.send_new(wire),
        }
        Sent::One
    }

    pub(crate) fn send_new(&mut self, wire: &mut Wire) {
        if self.board.outstanding() == 0 {
            self.timer_base = wire.now;
        }
        let seq = self.board.send(wire.now);
        if let Some(mapping) = &mut self.mapping {
            mapping.put(self.board.una, seq);
        }
        self.transmit(wire, seq, 0);
    }

    #[cold]
    pub(crate) fn resend(&mut self, wire: &mut Wire, seq: u32) {
        self.board.resend(seq, wire.now);
        if let Some(undo) = &mut self.undo {
            undo.resent.get_or_insert(wire.now);
        }
        let before = self.wire_bytes;
        self.transmit(wire, seq, flag::AGAIN);
        self.resent_bytes += self.wire_bytes - before;
    }

    #[inline]
    fn transmit(&mut self, wire: &mut Wire, seq: u32, mut flags: u8) {
        let mut payload = self.mss;
        if seq + 1 == self.total {
            payload = self.last_payload;
            flags |= flag::FIN;
        }
        if self.is_ecn_capable {
            flags |= flag::ECT;
            if self.says_cwr {
                flags |= flag::CWR;
                self.says_cwr = false;
            }
        }
        let (mut data, mut requests) = (0, 0);
        if let Some(mapping) = &self.mapping {
            (data, requests) = (mapping.data(seq), mapping.requests);
            if let Some(last) = mapping.end_at(seq) {
                // DATA_FIN, nothing follows; or, as below, the end of a message.
                (payload, flags) = (last, flags | flag::FIN);
            }
        }
        if let Some(messages) = &self.messages {
            let (end, last) = messages.end_of(seq);
            // The end of a message asks for its acknowledgment, as PSH does; it is no FIN.
            (payload, flags) = if seq + 1 == end {
                (last, flags | flag::FIN)
            } else {
                (self.mss, flags & !flag::FIN)
            };
        }
        let bytes = self.headers.data + payload;
        let mut packet = self.address.packet(Kind::Data, seq, bytes, flags, wire.now);
        packet.data = data;
        packet.sack[0] = requests;
        if let Some(entropy) = &mut self.entropy {
            let is_again = flags & flag::AGAIN != 0;
            packet.entropy = entropy.data(packet.entropy, self.board.una, seq, is_again);
        }
        self.send_out(wire, packet);
        self.last_activity = wire.now;
    }

    /// The congestion window, bytes of payload.
    pub(crate) fn cwnd_bytes(&self) -> f64 {
        self.window.cwnd * f64::from(self.mss)
    }

    /// Whether everything is acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.board.una == self.total && self.messages.is_none()
    }
}
