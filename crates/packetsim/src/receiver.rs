//! A TCP receiver: one flow at the host that wants the payload.
//!
//! Sources: RFC 9293 section 3.8 and RFC 1122 section 4.2.3.2 (delayed ACKs), RFC 5681 section 4.2 (an ACK at once for
//! what is out of order or fills a gap), RFC 2018 and 2883 (SACK), RFC 7323 section 4.3 (timestamp echo), RFC 3168 and
//! RFC 8257 section 3.2 (ECN echo), RFC 4737 section 3 (reordering).
//!
//! It hands ACKs to the card even when that is busy: they are few. For a fetch it also opens the connection and asks.

use serde::{Deserialize, Serialize};
use weft_net::random::mix;
use weft_net::transport::Headers;
use weft_net::transport::tcp::Tcp;

use crate::address::Address;
use crate::inbox::FIRST_WINDOW;
use crate::islands::Islands;
use crate::packet::{Kind, Packet, flag};
use crate::record::Extents;
use crate::requests::{Numbering, Requests};
use crate::rtt::Rtt;
use crate::sender::NEVER;
use crate::wire::Wire;

/// How far a fetch has come; an upload begins at `Receiving`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// SYN sent.
    Opening,
    /// Request sent, no data yet.
    Asking,
    /// A subflow that joins: the third packet sent, the fourth has not come.
    Joining,
    /// Data flows.
    Receiving,
    /// All data has arrived.
    Complete,
    /// Nobody answers.
    Failed,
}

/// How marks are echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Echo {
    /// RFC 3168: from a mark until the sender says that it has slowed down.
    Latched,
    /// RFC 8257: exactly which segments were marked.
    Precise,
}

/// What a subflow tells of its connection in every ACK.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Shared {
    /// First data segment that is missing.
    pub(crate) data: u32,
    /// The window offered, in segments.
    pub(crate) window: u32,
}

/// One receiver; plain data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receiver {
    pub(crate) address: Address,
    pub(crate) stage: Stage,
    /// Under REPS what its packets add to the hash of their five-tuple: that of the data packet that they answer.
    entropy: u32,
    /// All ones under REPS, else 0.
    entropy_mask: u32,
    echo: Echo,
    /// The last segment was marked (precise), or a mark is being echoed (latched).
    is_marked: bool,
    /// First segment that is missing.
    pub(crate) next: u32,
    /// `next` of the last ACK.
    last_ack: u32,
    /// One past the highest segment seen.
    highest: u32,
    total: u32,
    pub(crate) headers: Headers,
    mss: u16,
    /// Of a subflow of a multipath connection: how that stands, kept up to date by the host.
    pub(crate) shared: Option<Shared>,
    /// This side opened the connection.
    pub(crate) opens: bool,
    /// What has arrived beyond the first gap.
    islands: Islands,
    /// Segments that arrived in order and are not acknowledged yet.
    pub(crate) pending: u32,
    quick: u32,
    ack_every: u32,
    quick_acks: u32,
    ack_delay: u64,
    pub(crate) ack_due: u64,
    wake_at: u64,
    /// Timestamp to be echoed.
    echo_stamp: u32,
    /// Receive buffer, bytes, as it is offered now and at most.
    buffer: u64,
    most_buffer: u64,
    idle_limit: u64,
    pub(crate) last_arrival: u64,
    /// Retransmission of SYN and request.
    pub(crate) rtt: Rtt,
    pub(crate) retries: u32,
    pub(crate) max_retries: u32,
    pub(crate) request: u32,
    /// Of a connection of an application that asks, or of a subflow of one.
    pub(crate) requests: Requests,
    pub(crate) numbering: Numbering,
    pub(crate) asks: bool,
    pub(crate) handshakes: u32,
    /// Payload bytes received, each once.
    pub(crate) delivered: u64,
    /// Segments that arrived after a later one, retransmissions left out.
    pub(crate) reordered: u64,
    /// Segments that had arrived before.
    pub(crate) duplicates: u64,
    pub(crate) extents: Extents,
    /// Data packets that arrived.
    arrivals: u64,
    /// While there are gaps: segments that were the highest when they arrived, and their place among the arrivals.
    peaks: Vec<(u32, u64)>,
    /// Packets that it sent, and that arrived for it.
    pub(crate) packets: u64,
    pub(crate) arrived: u64,
    /// Wire bytes of everything this end sent.
    pub(crate) wire_bytes: u64,
}

/// What a receiver is made of.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    pub(crate) tcp: &'a Tcp,
    pub(crate) headers: Headers,
    pub(crate) shared: Option<Shared>,
    pub(crate) address: Address,
    /// Payload of the flow; `None` for an endless one, and for a subflow, whose connection knows.
    pub(crate) size: Option<u64>,
    pub(crate) mss: u16,
    pub(crate) is_dctcp: bool,
    pub(crate) request: u32,
    pub(crate) echoes_entropy: bool,
    /// Of an application: what it wants is said as the connection goes on.
    pub(crate) asks: bool,
}

impl Receiver {
    pub(crate) fn new(setup: Setup<'_>) -> Self {
        let Setup {
            tcp,
            headers,
            shared,
            address,
            size,
            mss,
            is_dctcp,
            request,
            echoes_entropy,
            asks,
        } = setup;
        let (total, _) = crate::segments::segments(size, mss);
        let most_buffer = tcp.receive_window.0;
        Self {
            address,
            stage: Stage::Receiving,
            entropy: 0,
            entropy_mask: if echoes_entropy { u32::MAX } else { 0 },
            echo: if is_dctcp {
                Echo::Precise
            } else {
                Echo::Latched
            },
            is_marked: false,
            next: 0,
            last_ack: 0,
            highest: 0,
            total,
            headers,
            mss,
            shared,
            opens: false,
            islands: Islands::new(),
            pending: 0,
            quick: tcp.quick_acks as u32,
            ack_every: tcp.ack_every as u32,
            quick_acks: tcp.quick_acks as u32,
            ack_delay: tcp.ack_delay.0,
            ack_due: NEVER,
            wake_at: NEVER,
            echo_stamp: 0,
            buffer: if tcp.autotune {
                most_buffer.min(FIRST_WINDOW)
            } else {
                most_buffer
            },
            most_buffer,
            idle_limit: tcp.rto_min.0,
            last_arrival: 0,
            rtt: Rtt::new(tcp),
            retries: 0,
            max_retries: tcp.retries as u32,
            request,
            requests: Requests::new(),
            numbering: Numbering::default(),
            asks,
            handshakes: 0,
            delivered: 0,
            reordered: 0,
            duplicates: 0,
            extents: Extents::default(),
            arrivals: 0,
            peaks: Vec::new(),
            packets: 0,
            arrived: 0,
            wire_bytes: 0,
        }
    }

    pub(crate) fn emit(&mut self, wire: &mut Wire, mut packet: Packet) {
        packet.entropy ^= self.entropy;
        self.wire_bytes += wire.emit(self.address.link, self.address.node, packet);
        self.packets += 1;
    }

    /// Under REPS, packets that are sent again take another way.
    pub(crate) fn try_another_way(&mut self, now: u64) {
        self.entropy = mix(now) as u32 & self.entropy_mask;
    }

    /// The window offered, in segments.
    pub(crate) fn offer(&self) -> u32 {
        if let Some(shared) = &self.shared {
            return shared.window;
        }
        (self.buffer / u64::from(self.mss)) as u32
    }

    // ---- data ----

    /// A segment arrives; returns whether it completes the flow.
    #[inline]
    pub(crate) fn on_data(&mut self, packet: &Packet, wire: &mut Wire) -> bool {
        let is_complete = self.receive(packet, wire);
        if self.requests.is_waiting() {
            self.note_answers(self.shared.map_or(self.next, |s| s.data), wire);
        }
        is_complete
    }

    #[inline]
    fn receive(&mut self, packet: &Packet, wire: &mut Wire) -> bool {
        if matches!(self.stage, Stage::Asking | Stage::Opening | Stage::Joining) {
            self.stage = Stage::Receiving;
            self.ack_due = NEVER;
        }
        let seq = packet.seq;
        self.arrivals += 1;
        // After a long silence the sender may be at a window of one: do not keep it waiting (as Linux).
        if wire.now > self.last_arrival + self.idle_limit {
            self.quick = self.quick_acks;
        }
        self.last_arrival = wire.now;
        self.entropy = packet.entropy & self.entropy_mask;
        self.note_mark(packet, wire);
        if seq == self.next && self.islands.is_empty() {
            // In order: nearly always.
            if seq == self.last_ack {
                self.echo_stamp = packet.stamp;
            }
            self.take(packet);
            self.next += 1;
            self.highest = self.next.max(self.highest);
            self.pending += 1;
            if self.next == self.total {
                return self.complete(wire);
            }
            if self.quick > 0 {
                self.quick -= 1;
                self.acknowledge(wire, 0, 0);
            } else if self.pending >= self.ack_every || packet.flags & flag::FIN != 0 {
                self.acknowledge(wire, 0, 0);
            } else if self.ack_due == NEVER {
                self.arm(wire, wire.now + self.ack_delay);
            }
            return false;
        }
        self.on_disorder(packet, wire)
    }

    /// Counts the payload of a segment that arrives for the first time, and lets the buffer grow.
    #[inline]
    fn take(&mut self, packet: &Packet) {
        self.delivered += u64::from(packet.bytes - self.headers.data);
        if self.buffer < self.most_buffer {
            // Linux's tcp_grow_window: two segments for each that arrives, so slow start is not held back.
            self.buffer = (self.buffer + 2 * u64::from(self.mss)).min(self.most_buffer);
        }
    }

    #[cold]
    fn on_disorder(&mut self, packet: &Packet, wire: &mut Wire) -> bool {
        let seq = packet.seq;
        if seq < self.highest && packet.flags & flag::AGAIN == 0 {
            self.reordered += 1;
            // RFC 4737, section 4.2.2: the earliest arrival of a larger number was the highest so far.
            let first = self.peaks.partition_point(|&(peak, _)| peak <= seq);
            if let Some(&(_, place)) = self.peaks.get(first) {
                self.extents.note(self.arrivals - place);
            }
        }
        if seq >= self.highest {
            self.peaks.push((seq, self.arrivals));
        }
        self.highest = self.highest.max(seq + 1);
        self.quick = self.quick_acks;
        if seq < self.next || self.islands.contains(seq) {
            self.duplicates += 1;
            if self.next == self.total {
                // The sender has not heard that everything is here.
                self.acknowledge(wire, flag::DUPLICATE | flag::FIN, seq);
            } else {
                self.acknowledge(wire, flag::DUPLICATE, seq);
            }
            return false;
        }
        if seq <= self.last_ack {
            self.echo_stamp = packet.stamp;
        }
        self.take(packet);
        if seq == self.next {
            self.next = self.islands.reach(self.next + 1);
            if self.islands.is_empty() {
                self.peaks.clear();
            }
            if self.next == self.total {
                return self.complete(wire);
            }
        } else {
            self.islands.insert(seq);
        }
        self.acknowledge(wire, 0, 0);
        false
    }

    fn note_mark(&mut self, packet: &Packet, wire: &mut Wire) {
        let is_marked = packet.flags & flag::CE != 0;
        match self.echo {
            Echo::Precise => {
                // RFC 8257, figure 1: a change of state acknowledges at once what came before it.
                if is_marked != self.is_marked && self.pending > 0 {
                    self.acknowledge(wire, 0, 0);
                }
                self.is_marked = is_marked;
            }
            Echo::Latched => {
                if packet.flags & flag::CWR != 0 {
                    self.is_marked = false;
                }
                self.is_marked |= is_marked;
            }
        }
    }

    fn complete(&mut self, wire: &mut Wire) -> bool {
        self.stage = Stage::Complete;
        self.acknowledge(wire, flag::FIN, 0);
        true
    }

    /// Sends an ACK; `twice` is the segment that it answers, if that had arrived before.
    pub(crate) fn acknowledge(&mut self, wire: &mut Wire, mut flags: u8, twice: u32) {
        if self.is_marked {
            flags |= flag::ECE;
        }
        let mut packet =
            self.address
                .packet(Kind::Ack, self.next, self.headers.ack, flags, wire.now);
        packet.stamp = self.echo_stamp;
        packet.window = self.offer();
        packet.data = self.shared.map_or(0, |s| s.data);
        let mut blocks = u16::from(flags & flag::DUPLICATE != 0);
        if blocks > 0 {
            packet.sack[2] = twice;
        }
        if !self.islands.is_empty() {
            let room = self.headers.sack_blocks.saturating_sub(blocks);
            blocks += self.islands.report(self.next, room, &mut packet.sack);
        }
        if blocks > 0 {
            // Two bytes of padding, kind and length, and eight bytes per block.
            packet.bytes += 4 + 8 * blocks;
        }
        self.pending = 0;
        self.last_ack = self.next;
        self.ack_due = NEVER;
        self.emit(wire, packet);
    }

    // ---- timers ----

    pub(crate) fn arm(&mut self, wire: &mut Wire, due: u64) {
        self.ack_due = due;
        self.wake(wire);
    }

    /// Sets an event for what is due first, unless there is an earlier one, which will do that.
    pub(crate) fn wake(&mut self, wire: &mut Wire) {
        let due = self.ack_due.min(self.requests.due);
        if due < self.wake_at {
            self.wake_at = due;
            wire.schedule(Packet::local(
                Kind::SinkTimer,
                self.address.node,
                self.address.flow,
                due,
            ));
        }
    }

    /// A timer event: a delayed ACK, or nobody has answered.
    pub(crate) fn on_timer(&mut self, wire: &mut Wire) {
        if wire.now != self.wake_at {
            return;
        }
        self.wake_at = NEVER;
        if wire.now >= self.requests.due {
            self.on_no_answer(wire);
            if self.stage == Stage::Failed {
                return;
            }
        }
        if self.ack_due == NEVER || wire.now < self.ack_due {
            return self.wake(wire);
        }
        self.ack_due = NEVER;
        match self.stage {
            Stage::Opening | Stage::Asking | Stage::Joining => {
                self.rtt.backoff += 1;
                self.retries += 1;
                if self.retries > self.max_retries {
                    self.stage = Stage::Failed;
                } else {
                    self.send_handshake(wire);
                }
            }
            Stage::Receiving => self.acknowledge(wire, 0, 0),
            Stage::Complete | Stage::Failed => {}
        }
        self.wake(wire);
    }
}
