//! A host adapter: sources that share a wire and a bus, and the sink behind it.
//!
//! The adapter sends a data packet at most every [`Infiniband::packet_period`], from its queue pairs in turn; notifications go between
//! them as soon as the wire is free. A packet needs credits like any other, and starts on the wire at once. At the sink a packet counts when its
//! last bit is there; its credits come back when the bus has drained it, one packet after another.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use weft_net::transport::infiniband::Infiniband;
use weft_net::units::Time;

use crate::flow_control::credit::{CREDIT, credits};
use crate::record::{Reason, UNKNOWN};

use super::calendar::Class;
use super::lane::NEVER;
use super::switch::{Choice, NONE};
use super::{Lossless, Packet, flag};

/// The port of a host, at the start of a link.
#[derive(Debug, Default)]
pub(super) struct Adapter {
    /// When the bus has the next data packet, ps.
    next: u64,
    /// By lane: flows that may send, in turn.
    ready: Vec<VecDeque<u32>>,
    /// Flows that wait out a delay.
    delayed: BinaryHeap<Reverse<(u64, u32)>>,
    /// By lane: notifications that wait for the wire.
    notices: Vec<VecDeque<Packet>>,
}

impl Adapter {
    pub(super) fn new(lanes: u32) -> Self {
        Self {
            ready: vec![VecDeque::new(); lanes as usize],
            notices: vec![VecDeque::new(); lanes as usize],
            ..Self::default()
        }
    }
}

/// What a flow's adapter knows of it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Its workload's place in [`Lossless::profiles`].
    pub(super) profile: u32,
    /// Where its paths begin in `Fabric::paths`, there and back; [`NONE`] where there is no way.
    pub(super) place: u32,
    pub(super) back: u32,
    /// Payload bytes that are left, `u64::MAX` if there is no end.
    remaining: u64,
    /// When it stops, ps.
    stop: u64,
    seq: u32,
    /// Packets since the last delay.
    burst: u32,
    /// Its place in the table of delays; [`NONE`] without congestion control.
    pub(super) reaction: u32,
}

impl Source {
    pub(super) fn new(
        profile: u32,
        place: u32,
        back: u32,
        size: Option<u64>,
        stop: Option<Time>,
    ) -> Self {
        Self {
            profile,
            place,
            back,
            remaining: size.unwrap_or(u64::MAX),
            stop: stop.map_or(u64::MAX, |t| t.0),
            seq: 0,
            burst: 0,
            reaction: NONE,
        }
    }
}

/// What the flows of a workload have in common.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) transport: Infiniband,
    /// Payload of a full packet.
    pub(super) payload: u64,
    pub(super) level: u8,
    /// Its congestion control: its place in [`Lossless::controls`], or [`NONE`].
    pub(super) control: u32,
}

impl Lossless {
    /// A flow starts at its source.
    pub(super) fn start_flow(&mut self, flow: u32) {
        let now = self.now;
        self.records[flow as usize].started = now;
        let source = &self.sources[flow as usize];
        if source.place == NONE {
            let record = &mut self.records[flow as usize];
            record.reason = Reason::PathDown;
            record.source_is_over = true;
            self.done += 1;
            return;
        }
        if source.reaction != NONE {
            self.reactions[source.reaction as usize].start(now);
        }
        let link = self.fabric.paths[source.place as usize];
        let level = self.profiles[source.profile as usize].level;
        let lane = self.fabric.lane(link, level);
        self.adapter(link).ready[usize::from(lane)].push_back(flow);
        self.serve_adapter(link);
    }

    #[inline]
    fn adapter(&mut self, link: u32) -> &mut Adapter {
        let adapter = self.adapters[link as usize].as_deref_mut();
        adapter.expect("a path begins at a host")
    }

    /// The port of a host sends what it can.
    pub(super) fn serve_adapter(&mut self, link: u32) {
        let free = self.outputs[link as usize].wire_free;
        if free > self.now {
            return self.wake(link, free);
        }
        let mut choice = self.choose_source(link);
        if let Choice::Start { lane, .. } = choice {
            self.send_from_host(link, lane);
            choice = self.choose_source(link);
        }
        let free = self.outputs[link as usize].wire_free;
        match choice {
            Choice::Start { .. } => self.wake(link, free),
            Choice::Wait(NEVER) => {}
            Choice::Wait(time) => self.wake(link, time.max(free)),
        }
    }

    /// Which lane of a host's port may send now, its wire free.
    fn choose_source(&mut self, link: u32) -> Choice {
        let now = self.now;
        let adapter = self.adapters[link as usize].as_deref_mut();
        let adapter = adapter.expect("the port of a host");
        while let Some(&Reverse((time, flow))) = adapter.delayed.peek()
            && time <= now
        {
            adapter.delayed.pop();
            let level = self.profiles[self.sources[flow as usize].profile as usize].level;
            let lane = self.fabric.lane(link, level);
            adapter.ready[usize::from(lane)].push_back(flow);
        }
        let mut first = adapter.delayed.peek().map_or(NEVER, |d| d.0.0);
        let mut ready = 0_u16;
        for level in 0..self.fabric.lanes as usize {
            let lane = &mut self.lanes[(link * self.fabric.lanes) as usize + level];
            let (credits, after) = if let Some(notice) = adapter.notices[level].front() {
                (notice.credits, 0)
            } else if let Some(&flow) = adapter.ready[level].front() {
                let source = &self.sources[flow as usize];
                let profile = &self.profiles[source.profile as usize];
                (packet_credits(profile, source.remaining), adapter.next)
            } else {
                continue;
            };
            let time = lane.credit_time(credits);
            if time == NEVER {
                lane.starve(now, credits);
                continue;
            }
            let time = time.max(after);
            if time <= now {
                ready |= 1 << level;
            }
            first = first.min(time);
        }
        if ready == 0 {
            return Choice::Wait(first);
        }
        let lane = if self.fabric.lanes == 1 {
            0
        } else {
            let arbiter = &mut self.outputs[link as usize].arbiter;
            let lane = arbiter.choose(&self.tables, ready);
            lane.expect("a lane that no table serves is refused at the start")
        };
        Choice::Start { lane, input: 0 }
    }

    /// A host sends the next packet of a lane: a notification, or data.
    fn send_from_host(&mut self, link: u32, lane: u8) {
        let now = self.now;
        let adapter = self.adapters[link as usize].as_deref_mut();
        let adapter = adapter.expect("the port of a host");
        let wire_credit = self.fabric.wires[link as usize].credit;
        let packet = if let Some(notice) = adapter.notices[usize::from(lane)].pop_front() {
            notice
        } else {
            let flow = adapter.ready[usize::from(lane)].pop_front();
            let flow = flow.expect("chosen because something is ready");
            let source = &mut self.sources[flow as usize];
            let profile = &self.profiles[source.profile as usize];
            let credits = packet_credits(profile, source.remaining);
            let packet = Packet {
                tail: 0,
                flow,
                seq: source.seq,
                place: source.place + 1,
                credits,
                level: profile.level,
                lane,
                flags: 0,
            };
            source.seq = source.seq.wrapping_add(1);
            if source.remaining != u64::MAX {
                source.remaining -= profile.payload.min(source.remaining);
            }
            let period = profile
                .transport
                .packet_period(u64::from(credits), wire_credit);
            adapter.next = now + period;
            let record = &mut self.records[flow as usize];
            record.wire_bytes += u64::from(credits) * CREDIT;
            if source.remaining == 0 || now + period >= source.stop {
                record.source_is_over = true;
            } else {
                let mut at = now + period;
                if source.reaction != NONE {
                    source.burst += 1;
                    let control = &self.controls[profile.control as usize];
                    if source.burst >= control.burst {
                        let reaction = &mut self.reactions[source.reaction as usize];
                        let wire_time = u64::from(credits) * wire_credit;
                        at += control.delay(reaction, now, wire_time) * u64::from(source.burst);
                        source.burst = 0;
                    }
                }
                if at <= adapter.next {
                    adapter.ready[usize::from(lane)].push_back(flow);
                } else {
                    adapter.delayed.push(Reverse((at, flow)));
                }
            }
            packet
        };
        let lane_of_link = (link * self.fabric.lanes) as usize + usize::from(lane);
        self.lanes[lane_of_link].packets += 1;
        self.records[packet.flow as usize].sent += 1;
        let end = now + u64::from(packet.credits) * wire_credit;
        let output = &mut self.outputs[link as usize];
        output.wire_free = end;
        if self.fabric.lanes > 1 {
            output.arbiter.charge(packet.credits);
        }
        self.send(link, packet, now, end);
    }

    /// The last bit of a packet is at the host at the end of `link`.
    pub(super) fn on_tail(&mut self, link: u32, packet: Packet) {
        let now = self.now;
        let flow = packet.flow as usize;
        self.records[flow].arrived += 1;
        let profile = self.sources[flow].profile as usize;
        if packet.flags & flag::BECN != 0 {
            // The adapter itself takes it; nothing goes over the bus.
            self.give_back(link, packet.lane, packet.credits, now, now);
            let source = &self.sources[flow];
            if source.reaction != NONE {
                let control = &self.controls[self.profiles[profile].control as usize];
                control.react(&mut self.reactions[source.reaction as usize], now);
            }
            return self.close(flow);
        }
        let drain = self.profiles[profile]
            .transport
            .drain_time(u64::from(packet.credits));
        let gone = self.inputs[link as usize].drain(now, drain);
        self.give_back(link, packet.lane, packet.credits, gone, gone);
        let record = &mut self.records[flow];
        let payload = self.profiles[profile].payload;
        match self.scenario.flows[flow].size {
            Some(size) => {
                record.delivered += payload.min(size - record.delivered);
                if record.delivered == size {
                    let node = self.fabric.wires[link as usize].dst;
                    self.calendar
                        .push_own(gone, node, Class::Drained as u8, packet.flow);
                }
            }
            None => record.delivered += payload,
        }
        if packet.flags & flag::FECN != 0 {
            self.notify(&packet);
        }
        self.close(flow);
    }

    /// A marked packet is answered at once.
    fn notify(&mut self, packet: &Packet) {
        let source = &self.sources[packet.flow as usize];
        let profile = &self.profiles[source.profile as usize];
        if profile.control == NONE || source.back == NONE {
            return;
        }
        let control = &self.controls[profile.control as usize];
        let level = control.notice_level.unwrap_or(packet.level);
        let link = self.fabric.paths[source.back as usize];
        let lane = self.fabric.lane(link, level);
        let notice = Packet {
            tail: 0,
            flow: packet.flow,
            seq: packet.seq,
            place: source.back + 1,
            credits: control.notice_credits,
            level,
            lane,
            flags: flag::BECN,
        };
        self.adapter(link).notices[usize::from(lane)].push_back(notice);
        self.serve_adapter(link);
    }

    /// The last packet of a flow with a size has been drained.
    pub(super) fn on_drained(&mut self, flow: u32) {
        let record = &mut self.records[flow as usize];
        record.finished = self.now;
        record.sink_is_over = true;
        self.done += 1;
    }

    /// An endless flow that has stopped is done when its last packet is there.
    fn close(&mut self, flow: usize) {
        let record = &mut self.records[flow];
        let is_endless = self.scenario.flows[flow].size.is_none();
        if is_endless
            && record.source_is_over
            && record.closed == UNKNOWN
            && record.arrived == record.sent
        {
            record.closed = self.now;
            self.done += 1;
        }
    }
}

/// Credits of the next packet of a flow with so many payload bytes left.
#[inline]
fn packet_credits(profile: &Profile, remaining: u64) -> u16 {
    let bytes = profile.transport.header.0 + profile.payload.min(remaining);
    credits(bytes) as u16
}
