//! A TCP sender: one flow at the host that has the payload.
//!
//! Read first: RFC 9293 section 3, RFC 5681, RFC 6298, RFC 6675, RFC 8985. The parts live apart: `scoreboard.rs` (what
//! is in flight), `rtt.rs` (timeouts), `loss_recovery.rs` (what is lost), `congestion.rs` (how large the window is).
//! This file ties them together: what an ACK, a timer or room in the network card makes the sender do.
//!
//! Departures: a retransmission that is selectively acknowledged counts for RACK if it took at least half the smoothed
//! round trip: RFC 8985 section 6.2 looks at the timestamp echo, which an out-of-order segment does not set, so that a
//! lost retransmission would always wait for the timer; Linux takes the smallest round trip, which long queues exceed.
//! Sequence numbers count segments; the FIN rides on the last one; a spurious recovery is undone when
//! the timestamp echo shows that the original arrived (RFC 3522, as Linux does), for which `timestamps` must be on.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use weft_net::transport::Headers;
use weft_net::transport::tcp::Tcp;

use crate::congestion::{Ack, Control, Controller, Path, Window};
use crate::loss_recovery::{Limits, Rack, detect_by_count};
use crate::packet::{Kind, Packet, flag, stamp};
use crate::rtt::Rtt;
use crate::scoreboard::{Delivered, Scoreboard};
use crate::wire::Wire;

/// No timer.
pub(crate) const NEVER: u64 = u64::MAX;
/// IP packet of a SYN or SYN-ACK: 20 bytes IP, 40 TCP with its options (MSS, SACK, timestamps, window scale).
pub(crate) const SYN_BYTES: u16 = 60;

/// Where a subflow lives and how its packets look.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Address {
    /// The subflow.
    pub(crate) flow: u32,
    /// The flow that it belongs to.
    pub(crate) owner: u32,
    /// Its number there.
    pub(crate) number: u32,
    /// The host that this end lives on.
    pub(crate) node: u32,
    /// The link that it sends on.
    pub(crate) link: u32,
    /// The other host.
    pub(crate) dst: u32,
    /// Hash of the five-tuple in this direction.
    pub(crate) entropy: u32,
    /// Bytes of the options of MPTCP in SYN, SYN-ACK and third packet.
    pub(crate) handshake: [u8; 3],
    /// [`flag::BACKWARD`] at the destination of the payload, else 0.
    pub(crate) direction: u8,
}

impl Address {
    /// A packet of this end.
    #[inline]
    pub(crate) fn packet(&self, kind: Kind, seq: u32, bytes: u16, flags: u8, now: u64) -> Packet {
        Packet {
            time: 0,
            link: 0,
            flow: self.flow,
            dst: self.dst,
            entropy: self.entropy,
            seq,
            bytes,
            kind,
            flags: flags | self.direction,
            stamp: stamp(now),
            window: 0,
            sack: [0; 3],
            data: 0,
        }
    }
}

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
enum Repair {
    None,
    /// Fast recovery.
    Fast,
    /// After a timeout.
    Timeout,
}

/// What the next timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Timer {
    Retransmit,
    /// RACK's reordering window ends.
    Reorder,
    /// Tail loss probe.
    Probe,
}

/// What to restore if the loss was none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Undo {
    window: Window,
    /// Time of the first retransmission, ps; `None` before it.
    resent: Option<u64>,
}

/// What a subflow of a multipath connection carries: its mapping of segments to data segments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mapping {
    /// Ring: by segment, its data segment.
    ring: Vec<u32>,
    /// The data segment that it may send next; [`NO_DATA`] if there is none.
    pub(crate) offer: u32,
    /// The last data segment of the flow, and its payload.
    last: (u32, u16),
    /// This side opened the subflow.
    opens: bool,
    /// The retransmission timer has expired: the others shall send what is in flight here.
    pub(crate) timed_out: bool,
    /// Segments below this have been given to the others.
    given: u32,
}

/// Messages of an application, one after another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Messages {
    /// Of those that are not acknowledged: the segment after the last, and the payload of the last.
    ends: VecDeque<(u32, u16)>,
    /// The request that comes next.
    next: u32,
    /// Requests that have overtaken it: their numbers, and how much they ask for.
    early: Vec<(u32, u32)>,
}

/// No data for the subflow.
pub(crate) const NO_DATA: u32 = u32::MAX;

impl Mapping {
    pub(crate) fn new(last: (u32, u16)) -> Self {
        Self {
            ring: vec![0; 16],
            offer: NO_DATA,
            last,
            opens: false,
            timed_out: false,
            given: 0,
        }
    }

    #[inline]
    fn data(&self, seq: u32) -> u32 {
        self.ring[seq as usize & (self.ring.len() - 1)]
    }

    /// Segment `seq`, sent after those from `una` on, carries what was offered.
    #[inline]
    fn put(&mut self, una: u32, seq: u32) {
        if (seq - una) as usize == self.ring.len() {
            let mut larger = vec![0; self.ring.len() * 2];
            let mask = larger.len() - 1;
            for old in una..seq {
                larger[old as usize & mask] = self.data(old);
            }
            self.ring = larger;
        }
        let mask = self.ring.len() - 1;
        self.ring[seq as usize & mask] = self.offer;
        self.offer = NO_DATA;
    }
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
    repair: Repair,
    timer: Timer,
    is_ecn_capable: bool,
    /// The next data packet carries CWR.
    says_cwr: bool,
    /// The window limited the last attempt to send.
    is_limited: bool,
    has_rack: bool,
    has_probe: bool,
    has_timestamps: bool,
    limited_transmit: bool,
    /// Waits in the host's list for room in the card.
    pub(crate) waits_for_card: bool,
    /// The receiver offers no window and never will.
    pub(crate) is_stuck: bool,
    pub(crate) board: Scoreboard,
    pub(crate) window: Window,
    pub(crate) rtt: Rtt,
    control: Controller,
    rack: Rack,
    /// First segment beyond the receiver's window.
    edge: u32,
    /// Segments of the flow; `u32::MAX` for an endless one.
    total: u32,
    headers: Headers,
    mss: u16,
    last_payload: u16,
    /// Of a subflow of a multipath connection.
    pub(crate) mapping: Option<Box<Mapping>>,
    /// Of a connection of an application.
    pub(crate) messages: Option<Box<Messages>>,
    duplicate_acks: u32,
    /// What it is without reordering, and at most with it; the same if it does not adapt.
    duplicate_acks_range: (u32, u32),
    repair_until: u32,
    undo: Option<Undo>,
    /// SACK blocks of the last ACK, so that known segments are not walked again.
    known: [(u32, u32); 3],
    /// Tail loss probe: the segment after the last one when it was sent, and whether it was a retransmission.
    probe: Option<(u32, bool)>,
    ack_delay: u64,
    /// Start of the retransmission timer.
    timer_base: u64,
    /// When the last data left or was acknowledged.
    last_activity: u64,
    /// When RACK's reordering timer is due.
    reorder_due: u64,
    deadline: u64,
    /// When the outstanding timer event happens; [`NEVER`] if there is none.
    wake_at: u64,
    retries: u32,
    max_retries: u32,
    /// Longest backlog of the card, ps, at which this flow still adds to it.
    card_room: u64,
    /// An endless flow sends nothing after this.
    stop: u64,
    /// Wire bytes of everything this end sent.
    pub(crate) wire_bytes: u64,
    pub(crate) resent_bytes: u64,
    /// Packets that it sent, and that arrived for it.
    pub(crate) packets: u64,
    pub(crate) arrived: u64,
    handshake_sent: u64,
    handshakes: u32,
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
    pub(crate) card_room: u64,
    pub(crate) is_ecn_capable: bool,
}

/// RFC 8985, section 6.2, step 2: the ACK of a segment that was resent echoes a clock from before that, so it may be the
/// original that arrived, and says nothing about the retransmission.
#[inline]
fn echoes_earlier(echo: u32, segment: &Delivered, has_timestamps: bool) -> bool {
    segment.was_resent && has_timestamps && (echo.wrapping_sub(stamp(segment.sent)) as i32) < 0
}

/// Segments of a flow, and the payload of the last one.
pub(crate) fn segments(size: Option<u64>, mss: u16) -> (u32, u16) {
    let Some(size) = size else {
        return (u32::MAX, mss);
    };
    let mss = u64::from(mss);
    let count = size.div_ceil(mss).max(1);
    (
        u32::try_from(count).expect("checked when the scenario is taken"),
        (size - (count - 1) * mss) as u16,
    )
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
            packets: 0,
            arrived: 0,
            handshake_sent: 0,
            handshakes: 0,
        }
    }

    fn emit(&mut self, wire: &mut Wire, packet: Packet) {
        self.wire_bytes += wire.emit(self.address.link, self.address.node, packet);
        self.packets += 1;
    }

    // ---- the handshake ----

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

    fn send_handshake(&mut self, wire: &mut Wire, kind: Kind) {
        let again = if self.handshakes > 0 { flag::AGAIN } else { 0 };
        let [syn, syn_ack, third] = self.address.handshake.map(u16::from);
        let bytes = match kind {
            Kind::Syn => SYN_BYTES + syn,
            Kind::SynAck => SYN_BYTES + syn_ack,
            Kind::Join => self.headers.plain + third,
            _ => self.headers.ack,
        };
        let packet = self.address.packet(kind, 0, bytes, again, wire.now);
        self.emit(wire, packet);
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
            let ack = self.address.packet(Kind::Ack, 0, bytes, 0, wire.now);
            self.emit(wire, ack);
        }
        self.rtt.backoff = 0;
        self.retries = 0;
        self.phase = Phase::Open;
        self.edge = window;
        self.is_stuck = window == 0;
        self.deadline = NEVER;
    }

    // ---- messages of an application ----

    /// A message to be sent after all others.
    pub(crate) fn add_message(&mut self, bytes: u64) {
        if let Some(messages) = &mut self.messages {
            let (count, last) = segments(Some(bytes), self.mss);
            self.total = (self.total.checked_add(count))
                .expect("an application's connection carries fewer than 2^32 segments");
            messages.ends.push_back((self.total, last));
        }
    }

    /// Request `number` arrives, perhaps early or again: its answer of so many bytes follows those of the ones before.
    pub(crate) fn on_request(&mut self, number: u32, bytes: u32) {
        let Some(messages) = &mut self.messages else {
            return;
        };
        if number < messages.next || messages.early.iter().any(|e| e.0 == number) {
            return;
        }
        messages.early.push((number, bytes));
        loop {
            let Some(messages) = &mut self.messages else {
                return;
            };
            let Some(at) = messages.early.iter().position(|e| e.0 == messages.next) else {
                return;
            };
            let (_, bytes) = messages.early.swap_remove(at);
            messages.next += 1;
            self.add_message(u64::from(bytes));
        }
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
            let ack = (self.address).packet(Kind::Join, 0, self.headers.ack, 0, wire.now);
            self.emit(wire, ack);
        }
    }

    /// All data is acknowledged: ends the subflow.
    pub(crate) fn finish(&mut self, wire: &mut Wire) {
        self.begin(Phase::Closing);
        self.send_handshake(wire, Kind::Fin);
    }

    /// Ends the subflow without waiting for an answer.
    pub(crate) fn reset(&mut self, wire: &mut Wire) {
        let packet = (self.address).packet(Kind::Reset, 0, self.headers.ack, 0, wire.now);
        self.emit(wire, packet);
        self.phase = Phase::Closed;
    }

    fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        self.rtt.backoff = 0;
        self.retries = 0;
        self.handshakes = 0;
    }

    /// Sets what may be sent next: a data segment of the connection, or [`NO_DATA`].
    #[inline]
    pub(crate) fn offer(&mut self, data: u32) {
        if let Some(mapping) = &mut self.mapping {
            mapping.offer = data;
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

    fn send_new(&mut self, wire: &mut Wire) {
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
    fn resend(&mut self, wire: &mut Wire, seq: u32) {
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
        let mut data = 0;
        if let Some(mapping) = &self.mapping {
            data = mapping.data(seq);
            if data == mapping.last.0 {
                payload = mapping.last.1;
                // DATA_FIN: nothing follows.
                flags |= flag::FIN;
            }
        }
        if let Some(messages) = &self.messages {
            let at = messages.ends.partition_point(|&(end, _)| end <= seq);
            let (end, last) = messages.ends[at];
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
        self.emit(wire, packet);
        self.last_activity = wire.now;
    }

    // ---- acknowledgments ----

    /// An ACK arrives. The caller then sends what the window allows and calls [`Self::set_timer`].
    #[inline]
    pub(crate) fn on_ack(&mut self, packet: &Packet, wire: &mut Wire) {
        let now = wire.now;
        let una = self.board.una;
        if self.phase != Phase::Open || packet.seq > self.board.nxt {
            return;
        }
        let acked = packet.seq.saturating_sub(una);
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
            while messages.ends.front().is_some_and(|e| e.0 <= self.board.una) {
                messages.ends.pop_front();
            }
        }
    }

    /// Marks what the SACK blocks report; returns how many segments are newly delivered.
    #[cold]
    fn on_sack(&mut self, packet: &Packet, now: u64) -> u32 {
        let mut delivered = 0;
        let mut known = [(0, 0); 3];
        for (i, &block) in packet
            .sack
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

    fn detect_losses(&mut self, now: u64) {
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
        }
    }

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
    fn arm(&mut self, wire: &mut Wire, deadline: u64, timer: Timer) {
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
                if self.gives_up() {
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
        if self.gives_up() {
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

    /// Counts a timeout; true once there were too many.
    fn gives_up(&mut self) -> bool {
        self.rtt.backoff += 1;
        self.retries += 1;
        if self.retries > self.max_retries {
            self.phase = Phase::Failed;
        }
        self.phase == Phase::Failed
    }

    /// The receiver's FIN has arrived and everything is acknowledged: answers it and is done.
    pub(crate) fn close(&mut self, wire: &mut Wire) {
        let last = self
            .address
            .packet(Kind::Ack, 0, self.headers.ack, flag::FIN, wire.now);
        self.emit(wire, last);
        self.phase = Phase::Closed;
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
