//! A network card: queue pairs that take turns, each at its rate and within its window, and the other ends.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use weft_net::transport::rocev2::{ACK_BYTES, CNP_BYTES, HEADER_BYTES, Retransmission, Rocev2};

use crate::congestion::hpcc::Telemetry;
use crate::record::Reason;

use super::packet::{Kind, NONE, Packet, flag};
use super::port::NEVER;
use super::queue_pair::{Answer, Receiver, Sender};
use super::reaction::{Control, Heard, Reaction};
use super::{Ethernet, class};

/// The port of a host, at the start of a link.
#[derive(Debug)]
pub(super) struct Card {
    /// By class: flows that may send, in turn.
    ready: Vec<VecDeque<u32>>,
    /// Flows that wait for their time.
    timed: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Card {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            ready: vec![VecDeque::new(); classes],
            timed: BinaryHeap::new(),
        }
    }
}

/// What the flows of a workload have in common.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) transport: Rocev2,
    pub(super) control: Control,
    pub(super) is_selective: bool,
    pub(super) ack_every: u64,
    pub(super) ack_class: u8,
}

impl Profile {
    pub(super) fn new(transport: Rocev2, control: Control) -> Self {
        Self {
            is_selective: transport.retransmission == Retransmission::Selective,
            ack_every: if control.reads_acks() {
                1
            } else {
                transport.ack_every
            },
            ack_class: transport.ack_priority.unwrap_or(transport.priority) as u8,
            transport,
            control,
        }
    }
}

/// A flow at its source.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) sender: Sender,
    pub(super) reaction: Reaction,
    pub(super) profile: u32,
    /// Its card, and that of the other end; [`NONE`] where there is no way.
    pub(super) link: u32,
    pub(super) back_link: u32,
    /// Where its paths go on after these; [`NONE`] if every switch chooses.
    pub(super) place: u32,
    pub(super) back: u32,
    /// Payload of a full packet, and of the last one.
    pub(super) payload: u64,
    pub(super) rest: u64,
    /// Bits per second of its card.
    pub(super) line: f64,
    /// The last round trip, ps.
    pub(super) round_trip: u64,
    /// When the next packet may leave, and when the flow stops, ps.
    next: u64,
    pub(super) stop: u64,
    /// Its card knows of it.
    is_queued: bool,
    /// Without an answer until then, something is lost.
    deadline: u64,
    has_timer: bool,
    retries: u64,
}

/// A flow at its destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Sink {
    receiver: Receiver,
    /// One more than the highest packet that has come.
    highest: u32,
}

impl Source {
    pub(super) fn new(profile: u32, sender: Sender, reaction: Reaction) -> Self {
        Self {
            sender,
            reaction,
            profile,
            link: NONE,
            back_link: NONE,
            place: NONE,
            back: NONE,
            payload: 0,
            rest: 0,
            line: 0.0,
            round_trip: 0,
            next: 0,
            stop: u64::MAX,
            is_queued: false,
            deadline: NEVER,
            has_timer: false,
            retries: 0,
        }
    }

    /// An endless flow that has to stop ends with what it has sent.
    fn stop_if_due(&mut self, now: u64) {
        if now >= self.stop && self.sender.total == u32::MAX {
            self.sender.total = self.sender.fresh;
        }
    }
}

impl Ethernet {
    pub(super) fn start_flow(&mut self, flow: u32) {
        let record = &mut self.records[flow as usize];
        record.started = self.now;
        if self.sources[flow as usize].link == NONE {
            record.reason = Reason::PathDown;
            record.source_is_over = true;
            self.done += 1;
            return;
        }
        self.activate(flow);
    }

    /// The next packet of a flow, if it may send one, whatever its time.
    fn may_send(&mut self, flow: u32) -> Option<(u32, bool)> {
        let source = &mut self.sources[flow as usize];
        source.stop_if_due(self.now);
        let profile = &self.profiles[source.profile as usize];
        let reordering = profile.transport.reordering as u32;
        let found = source.sender.peek(reordering, profile.is_selective)?;
        let own = profile
            .transport
            .window
            .map_or(f64::INFINITY, |w| w.0 as f64);
        let window = source.reaction.window(source.payload).min(own);
        let in_flight = u64::from(source.sender.in_flight()) * source.payload;
        // What replaces a lost packet adds nothing to what is under way.
        let is_repair = found.0 < source.sender.next;
        let fits = is_repair || in_flight == 0 || (in_flight + source.payload) as f64 <= window;
        fits.then_some(found)
    }

    /// A flow that was waiting for an answer may be able to go on.
    fn activate(&mut self, flow: u32) {
        if self.sources[flow as usize].is_queued || self.may_send(flow).is_none() {
            return;
        }
        let link = self.sources[flow as usize].link;
        self.queue_flow(flow);
        self.serve(link);
    }

    /// Puts a flow among those that its card knows of.
    fn queue_flow(&mut self, flow: u32) {
        let source = &mut self.sources[flow as usize];
        let class = self.profiles[source.profile as usize].transport.priority as usize;
        source.is_queued = true;
        let card = self.cards[source.link as usize]
            .as_deref_mut()
            .expect("a flow begins at a card");
        if source.next <= self.now {
            card.ready[class].push_back(flow);
        } else {
            card.timed.push(Reverse((source.next, flow)));
        }
    }

    /// The card of a host sends what it can; the wire is free.
    pub(super) fn serve_card(&mut self, link: u32) {
        let now = self.now;
        let card = self.cards[link as usize]
            .as_deref_mut()
            .expect("the port of a host");
        while let Some(&Reverse((time, flow))) = card.timed.peek()
            && time <= now
        {
            card.timed.pop();
            let profile = self.sources[flow as usize].profile as usize;
            card.ready[self.profiles[profile].transport.priority as usize].push_back(flow);
        }
        loop {
            let card = self.cards[link as usize]
                .as_deref()
                .expect("the port of a host");
            let port = &self.ports[link as usize];
            let mut ready = port.filled;
            for (class, flows) in card.ready.iter().enumerate() {
                ready |= u8::from(!flows.is_empty()) << class;
            }
            ready &= !port.paused;
            if ready == 0 {
                let first = card.timed.peek().map(|t| t.0.0);
                return first.into_iter().for_each(|time| self.wake(link, time));
            }
            let class = self.choose_class(link, ready);
            if self.ports[link as usize].filled >> class & 1 == 1 {
                let (packet, from) = self.dequeue(link, class);
                let at = self.queue_of(link, class);
                self.queues[at].waited = self.queues[at].waited.wrapping_add(now);
                return self.transmit(link, packet, from);
            }
            let card = self.cards[link as usize]
                .as_deref_mut()
                .expect("the port of a host");
            let flow = card.ready[usize::from(class)]
                .pop_front()
                .expect("chosen because it is ready");
            self.sources[flow as usize].is_queued = false;
            // Its window may have closed since.
            if let Some((seq, is_again)) = self.may_send(flow) {
                return self.send_data(link, flow, seq, is_again);
            }
        }
    }

    fn wake(&mut self, link: u32, time: u64) {
        let port = &mut self.ports[link as usize];
        if time < port.wake {
            port.wake = time;
            let node = self.wires[link as usize].src;
            self.calendar.push_own(time, node, class::PORT, link);
        }
    }

    fn send_data(&mut self, link: u32, flow: u32, seq: u32, is_again: bool) {
        let now = self.now;
        let source = &mut self.sources[flow as usize];
        let profile = &self.profiles[source.profile as usize];
        let is_last = seq + 1 == source.sender.total;
        let payload = if is_last && source.rest > 0 {
            source.rest
        } else {
            source.payload
        };
        let bytes = payload + u64::from(HEADER_BYTES) + profile.control.telemetry();
        let wire_bytes = bytes + self.wires[link as usize].overhead;
        source.sender.sent(seq);
        source.reaction.on_sent(&profile.control, now, wire_bytes);
        source.next = now + source.reaction.gap(wire_bytes, source.line);
        source.deadline = now + profile.transport.timeout.0;
        if !std::mem::replace(&mut source.has_timer, true) {
            let node = self.wires[link as usize].src;
            self.calendar
                .push_own(source.deadline, node, class::TIMER, flow);
        }
        let has_telemetry = profile.control.telemetry() > 0;
        let mut packet = Packet {
            sent: now,
            flow,
            seq,
            ack: 0,
            place: source.place,
            telemetry: NONE,
            bytes: bytes as u16,
            class: profile.transport.priority as u8,
            kind: Kind::Data,
            flags: flag::CAPABLE | if is_again { flag::AGAIN } else { 0 },
        };
        let goes_on = self.may_send(flow).is_some();
        if !goes_on {
            packet.flags |= flag::ASKS;
        }
        if has_telemetry {
            packet.telemetry = self.free_telemetry.pop().unwrap_or_else(|| {
                self.telemetry.push(Telemetry::default());
                self.telemetry.len() as u32 - 1
            });
            self.telemetry[packet.telemetry as usize] = Telemetry::default();
        }
        let record = &mut self.records[flow as usize];
        record.sent += 1;
        record.wire_bytes += wire_bytes;
        record.resent_bytes += if is_again { payload } else { 0 };
        let at = self.queue_of(link, packet.class);
        self.queues[at].join(now, wire_bytes);
        self.queues[at].waited = self.queues[at].waited.wrapping_add(now);
        if goes_on {
            self.queue_flow(flow);
        }
        self.transmit(link, packet, NONE);
    }

    /// A packet is at its host.
    pub(super) fn receive(&mut self, packet: Packet) {
        self.records[packet.flow as usize].arrived += 1;
        match packet.kind {
            Kind::Data => self.on_data(&packet),
            Kind::Ack | Kind::Nak => self.on_answer(&packet),
            Kind::Cnp => {
                let source = &mut self.sources[packet.flow as usize];
                let control = &self.profiles[source.profile as usize].control;
                source.reaction.on_notification(control, self.now);
            }
            Kind::Pause => unreachable!("obeyed before"),
        }
    }

    fn on_data(&mut self, packet: &Packet) {
        let flow = packet.flow as usize;
        let source = &self.sources[flow];
        let profile = &self.profiles[source.profile as usize];
        let sink = &mut self.sinks[flow];
        let each = if packet.flags & flag::ASKS != 0 {
            1
        } else {
            profile.ack_every
        };
        let is_selective = profile.is_selective;
        let total = source.sender.total;
        let taken = (sink.receiver).take(packet.seq, total, each, is_selective);
        let record = &mut self.records[flow];
        record.duplicates += u64::from(taken.is_duplicate);
        record.reordered += u64::from(taken.is_new && packet.seq < sink.highest);
        sink.highest = sink.highest.max(packet.seq + 1);
        if taken.is_new {
            record.delivered +=
                u64::from(packet.bytes) - u64::from(HEADER_BYTES) - profile.control.telemetry();
            if self.scenario.flows[flow].size == Some(record.delivered) {
                record.finished = self.now;
                record.sink_is_over = true;
            }
        }
        if packet.flags & flag::MARKED != 0
            && let Some(interval) = profile.control.notification_interval()
            && sink
                .receiver
                .notified
                .is_none_or(|at| self.now - at >= interval)
        {
            sink.receiver.notified = Some(self.now);
            self.answer(packet, Kind::Cnp, CNP_BYTES);
        }
        match taken.answer {
            Answer::Silence => self.forget(packet),
            Answer::Ack => self.answer(packet, Kind::Ack, ACK_BYTES),
            Answer::Nak => self.answer(packet, Kind::Nak, ACK_BYTES),
        }
    }

    /// Answers a data packet.
    fn answer(&mut self, data: &Packet, kind: Kind, bytes: u32) {
        let flow = data.flow as usize;
        let source = &self.sources[flow];
        let profile = &self.profiles[source.profile as usize];
        let link = source.back_link;
        let carries = kind != Kind::Cnp && data.telemetry != NONE;
        let telemetry = if carries {
            profile.control.telemetry()
        } else {
            0
        };
        let packet = Packet {
            sent: data.sent,
            flow: data.flow,
            seq: data.seq,
            ack: self.sinks[flow].receiver.expected,
            place: source.back,
            telemetry: if carries { data.telemetry } else { NONE },
            bytes: (u64::from(bytes) + telemetry) as u16,
            class: profile.ack_class,
            kind,
            flags: data.flags & flag::MARKED,
        };
        self.records[flow].sent += 1;
        let at = self.queue_of(link, packet.class);
        self.queues[at].join(
            self.now,
            u64::from(packet.bytes) + self.wires[link as usize].overhead,
        );
        self.enqueue(link, at, packet, NONE);
        self.serve(link);
    }

    fn on_answer(&mut self, packet: &Packet) {
        let now = self.now;
        let flow = packet.flow as usize;
        let source = &mut self.sources[flow];
        let profile = &self.profiles[source.profile as usize];
        if self.records[flow].source_is_over {
            return self.forget(packet);
        }
        let before = source.sender.una;
        let acked = source
            .sender
            .acknowledge(packet.ack, packet.seq, profile.is_selective);
        if source.sender.una > before {
            source.retries = 0;
            source.deadline = now + profile.transport.timeout.0;
        }
        source.round_trip = now - packet.sent;
        let telemetry =
            (packet.telemetry != NONE).then(|| &self.telemetry[packet.telemetry as usize]);
        source.reaction.on_ack(
            &profile.control,
            &Heard {
                now,
                psn: packet.seq,
                next: source.sender.next,
                acked,
                round_trip: source.round_trip,
                telemetry,
            },
        );
        if packet.kind == Kind::Nak && source.sender.miss(profile.is_selective) {
            source.reaction.on_loss(&profile.control, now, false);
        }
        source.stop_if_due(now);
        let is_done = source.sender.is_done();
        self.forget(packet);
        if is_done {
            self.close(packet.flow);
        } else {
            self.activate(packet.flow);
        }
    }

    /// Everything is acknowledged.
    fn close(&mut self, flow: u32) {
        let record = &mut self.records[flow as usize];
        record.acked = self.now;
        record.closed = self.now;
        record.source_is_over = true;
        self.done += 1;
    }

    /// A queue pair has waited for an answer.
    pub(super) fn on_timer(&mut self, flow: u32) {
        let now = self.now;
        let source = &mut self.sources[flow as usize];
        let profile = &self.profiles[source.profile as usize];
        source.stop_if_due(now);
        if source.sender.is_done() && !self.records[flow as usize].source_is_over {
            return self.close(flow);
        }
        if self.records[flow as usize].source_is_over || source.sender.una == source.sender.next {
            source.has_timer = false;
            return;
        }
        if now >= source.deadline {
            source.retries += 1;
            if source.retries > profile.transport.retries {
                let record = &mut self.records[flow as usize];
                record.reason = Reason::BackOff;
                record.source_is_over = true;
                self.done += 1;
                return;
            }
            source.sender.time_out(profile.is_selective);
            source.reaction.on_loss(&profile.control, now, true);
            source.deadline = now + profile.transport.timeout.0;
        }
        let node = self.wires[source.link as usize].src;
        self.calendar
            .push_own(source.deadline, node, class::TIMER, flow);
        self.activate(flow);
    }
}
