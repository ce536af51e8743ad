//! A switch: packets go from input buffers through the core to output buffers and onto the wire.
//!
//! An input buffer keeps a queue for each output and lane, which share its credits: nothing waits behind a packet for another port,
//! but a full buffer stops all. A port takes packets in turn from the inputs that have some for it. A packet starts through the core when its
//! head has been in the buffer for `switch_delay`, the lane has credits for all of it, the output buffer has room for all of it,
//! and fewer than `max_being_sent` packets are leaving its input buffer. Then everything is known: with its tail at `a` and `n` credits,
//!
//! - the core is held until the later of start + n x core time and a + switch_delay + core time,
//! - the wire starts at the later of start + output_delay and the end of the packet before,
//! - and ends at the later of n x wire time after that and output_delay + wire time after the core,
//!
//! so that a slow input holds a fast output.

use super::arbiter::Arbiter;
use super::buffer::Buffer;
use super::calendar::{Class, event};
use super::lane::{NEVER, Release};
use super::{Lossless, Packet, flag};

/// The port at the start of a link.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// When the wire is free of all packets that have a time on it, ps.
    pub(super) wire_free: u64,
    /// When the port may take the next packet from an input.
    core_free: u64,
    /// When it will look again; [`NEVER`] if nothing is set.
    wake: u64,
    /// Where packets wait for the wire; a host has none.
    buffer: Option<Buffer>,
    pub(super) arbiter: Arbiter,
    /// Ps of all packets that have a time on the wire.
    pub(super) busy: u64,
    /// Time of a credit on the wire.
    wire_credit: u64,
    /// Credits and packets that have a time on the wire.
    pub(super) credits: u64,
    pub(super) packets: u64,
}

/// The buffer at the end of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// When the packets that leave it at once will have left, as many as may; a host's drains one after another.
    leaving: [u64; 4],
    slots: u8,
}

/// A packet in a virtual output queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    pub(super) next: u32,
}

/// No packet.
pub(super) const NONE: u32 = u32::MAX;

/// What a port can do now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// Take the next packet of this lane from this input (or, of a host, from its own queue).
    Start { lane: u8, input: u32 },
    /// Nothing before this time.
    Wait(u64),
}

impl Output {
    pub(super) fn new(wire_credit: u64, buffer: Option<Buffer>) -> Self {
        Self {
            wire_free: 0,
            core_free: 0,
            wake: NEVER,
            buffer,
            arbiter: Arbiter::default(),
            busy: 0,
            wire_credit,
            credits: 0,
            packets: 0,
        }
    }

    /// Has the packets of the buffer fetched.
    #[inline]
    pub(super) fn fetch_buffer(&self) {
        self.buffer.iter().for_each(Buffer::fetch);
    }

    /// Ps that the wire has carried something before `now`.
    pub(super) fn busy_before(&self, now: u64) -> u64 {
        let after = match &self.buffer {
            Some(buffer) => buffer.sending_after(now, self.wire_credit),
            None => self.wire_free.saturating_sub(now),
        };
        self.busy - after
    }

    /// Packets and credits whose last bit has left at `now`.
    pub(super) fn sent_before(&self, now: u64) -> (u64, u64) {
        let after = match &self.buffer {
            Some(buffer) => buffer.unsent(now),
            None => (u64::from(self.wire_free > now), 0),
        };
        (self.packets - after.0, self.credits - after.1)
    }
}

impl Input {
    pub(super) fn new(slots: u64) -> Self {
        Self {
            leaving: [0; 4],
            slots: slots as u8,
        }
    }

    /// When one more packet may leave, and its place.
    #[inline]
    fn slot(&self) -> (usize, u64) {
        let mut best = (0, self.leaving[0]);
        for i in 1..usize::from(self.slots) {
            if self.leaving[i] < best.1 {
                best = (i, self.leaving[i]);
            }
        }
        best
    }

    /// Drains a packet that is whole at `now` in `time`, after those before it; when it is gone.
    pub(super) fn drain(&mut self, now: u64, time: u64) -> u64 {
        self.leaving[0] = self.leaving[0].max(now) + time;
        self.leaving[0]
    }
}

impl Lossless {
    /// The head of a packet that came over `link` may leave the input buffer.
    #[inline]
    pub(super) fn on_head(&mut self, link: u32, packet: Packet) {
        let now = self.now;
        let out = self.fabric.paths[packet.place as usize];
        let level = self.fabric.lane_from(link, out, packet.level);
        let lane = (out * self.fabric.lanes) as usize + usize::from(level);
        self.enqueue(link, out, level, packet);
        self.lanes[lane].join(now, packet.credits);
        if let Some(marking) = &mut self.marking[lane] {
            let tail = packet.tail + self.fabric.switch_delay;
            marking.join(now, tail, packet.credits, &self.lanes[lane]);
        }
        self.serve(out);
    }

    /// Puts a packet into its virtual output queue.
    #[inline]
    fn enqueue(&mut self, link: u32, out: u32, level: u8, packet: Packet) {
        let input = self.fabric.wires[link as usize].input;
        let port = &self.fabric.wires[out as usize];
        let inputs = self.fabric.inputs(port.src).len() as u32;
        let queue = (port.queues + u32::from(level) * inputs + input) as usize;
        let word = port.asking + u32::from(level) * inputs.div_ceil(64) + input / 64;
        let entry = Waiting { packet, next: NONE };
        let place = if self.vacant == NONE {
            self.waiting.push(entry);
            self.waiting.len() as u32 - 1
        } else {
            let place = self.vacant;
            self.vacant = self.waiting[place as usize].next;
            self.waiting[place as usize] = entry;
            place
        };
        let (head, tail) = &mut self.queues[queue];
        if *head == NONE {
            *head = place;
            self.asking[word as usize] |= 1 << (input % 64);
        } else {
            self.waiting[*tail as usize].next = place;
        }
        *tail = place;
    }

    /// Takes the first packet of a virtual output queue.
    #[inline]
    fn dequeue(&mut self, out: u32, level: u8, input: u32) -> Packet {
        let port = &self.fabric.wires[out as usize];
        let inputs = self.fabric.inputs(port.src).len() as u32;
        let queue = (port.queues + u32::from(level) * inputs + input) as usize;
        let place = self.queues[queue].0;
        let entry = self.waiting[place as usize];
        self.queues[queue].0 = entry.next;
        if entry.next == NONE {
            let word = port.asking + u32::from(level) * inputs.div_ceil(64) + input / 64;
            self.asking[word as usize] &= !(1 << (input % 64));
        }
        self.waiting[place as usize].next = self.vacant;
        self.vacant = place;
        entry.packet
    }

    /// A port looks again.
    #[inline]
    pub(super) fn on_port(&mut self, link: u32) {
        let output = &mut self.outputs[link as usize];
        if output.wake != self.now {
            return;
        }
        output.wake = NEVER;
        if self.fabric.wires[link as usize].starts_at_host {
            self.serve_adapter(link);
        } else {
            self.serve(link);
        }
    }

    /// A port will look again at `time`, or earlier if that is set already.
    #[inline]
    pub(super) fn wake(&mut self, link: u32, time: u64) {
        let output = &mut self.outputs[link as usize];
        if time < output.wake {
            output.wake = time;
            let node = self.fabric.wires[link as usize].src;
            self.calendar.push_own(time, node, Class::Port as u8, link);
        }
    }

    /// The port of a switch sends what it can.
    #[inline]
    fn serve(&mut self, out: u32) {
        let free = self.outputs[out as usize].core_free;
        if free > self.now {
            return self.wake(out, free);
        }
        let mut choice = self.choose(out);
        if let Choice::Start { lane, input } = choice {
            self.transfer(out, lane, input);
            choice = self.look_ahead(out);
        }
        if let Choice::Wait(time) = choice
            && time != NEVER
        {
            let free = self.outputs[out as usize].core_free;
            self.wake(out, time.max(free));
        }
    }

    /// When the port could go on after a packet that has just started.
    #[inline]
    fn look_ahead(&mut self, out: u32) -> Choice {
        let mut first = NEVER;
        for level in 0..self.fabric.lanes as u8 {
            first = first.min(self.candidate(out, level).1);
        }
        Choice::Wait(first)
    }

    /// What the port of a switch may do now.
    #[inline]
    fn choose(&mut self, out: u32) -> Choice {
        if self.fabric.lanes == 1 {
            let (input, time) = self.candidate(out, 0);
            return if time <= self.now {
                Choice::Start { lane: 0, input }
            } else {
                Choice::Wait(time)
            };
        }
        let mut inputs = [NONE; 15];
        let (mut ready, mut first) = (0_u16, NEVER);
        for level in 0..self.fabric.lanes as u8 {
            let (input, time) = self.candidate(out, level);
            if time <= self.now {
                ready |= 1 << level;
                inputs[usize::from(level)] = input;
            }
            first = first.min(time);
        }
        let arbiter = &mut self.outputs[out as usize].arbiter;
        match (ready != 0).then(|| arbiter.choose(&self.tables, ready)) {
            Some(Some(lane)) => Choice::Start {
                lane,
                input: inputs[usize::from(lane)],
            },
            Some(None) => unreachable!("a lane that no table serves is refused at the start"),
            None => Choice::Wait(first),
        }
    }

    /// Of the inputs that have something for a lane, the first in turn that can send now, or when the first can.
    #[inline]
    fn candidate(&mut self, out: u32, level: u8) -> (u32, u64) {
        let now = self.now;
        let port = &self.fabric.wires[out as usize];
        let sources = self.fabric.inputs(port.src);
        let inputs = sources.len() as u32;
        let words = inputs.div_ceil(64);
        let asking = (port.asking + u32::from(level) * words) as usize;
        let queues = port.queues + u32::from(level) * inputs;
        let lane = (out * self.fabric.lanes) as usize + usize::from(level);
        let buffer = self.outputs[out as usize].buffer.as_ref();
        let buffer = buffer.expect("the port of a switch has a buffer");
        let start = self.lanes[lane].served + 1;
        let mut best = (NONE, NEVER);
        // Credits and room for packets of one size are asked for once.
        let mut known = (0, 0, 0);
        let mut starved = u16::MAX;
        let first = start / 64;
        // The word of the turn comes twice: what lies behind the turn, and what lies before it.
        for step in 0..=words {
            let word = (first + step) % words;
            let mut bits = self.asking[asking + word as usize];
            if step == 0 {
                bits &= if first < words {
                    u64::MAX << (start % 64)
                } else {
                    u64::MAX
                };
            }
            if step == words {
                bits &= if first < words {
                    !(u64::MAX << (start % 64))
                } else {
                    0
                };
            }
            while bits != 0 {
                let input = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let head = self.queues[(queues + input) as usize].0;
                let credits = self.waiting[head as usize].packet.credits;
                if known.0 != credits {
                    known = (
                        credits,
                        self.lanes[lane].credit_time(credits),
                        buffer.room_time(credits),
                    );
                }
                if known.1 == NEVER {
                    starved = starved.min(credits);
                    continue;
                }
                let slot = self.inputs[sources[input as usize] as usize].slot().1;
                let time = known.1.max(known.2).max(slot);
                if time <= now {
                    return (input, time);
                }
                if time < best.1 {
                    best = (input, time);
                }
            }
        }
        if starved != u16::MAX {
            self.lanes[lane].starve(now, starved);
        }
        best
    }

    /// A packet starts through the core.
    #[inline]
    fn transfer(&mut self, out: u32, level: u8, input: u32) {
        let now = self.now;
        let mut packet = self.dequeue(out, level, input);
        let port = &self.fabric.wires[out as usize];
        let link = self.fabric.inputs(port.src)[input as usize];
        let lane = (out * self.fabric.lanes) as usize + usize::from(level);
        let credits = u64::from(packet.credits);
        let (switch_delay, output_delay) = (self.fabric.switch_delay, self.fabric.output_delay);
        let core = self.fabric.core_credit;
        let core_end = (now + credits * core).max(packet.tail + switch_delay + core);
        if let Some(marking) = &mut self.marking[lane]
            && marking.leave(now, core_end, &packet, &self.lanes[lane])
        {
            packet.flags |= flag::FECN;
            self.lanes[lane].marked += 1;
            self.marked[packet.flow as usize] += 1;
        }
        let output = &mut self.outputs[out as usize];
        let from = (now + output_delay).max(output.wire_free);
        let to = (from + credits * port.credit).max(core_end + output_delay + port.credit);
        output.core_free = core_end;
        output.wire_free = to;
        if let Some(buffer) = &mut output.buffer {
            buffer.take(now, packet.credits, from, to);
        }
        if self.fabric.lanes > 1 {
            output.arbiter.charge(packet.credits);
        }
        let slot = self.inputs[link as usize].slot().0;
        self.inputs[link as usize].leaving[slot] = core_end;
        self.lanes[lane].served = input;
        self.lanes[lane].leave(now, packet.credits);
        let came_by = packet.lane;
        packet.lane = level;
        packet.place += 1;
        self.send(out, packet, from, to);
        self.give_back(link, came_by, packet.credits, now, core_end);
    }

    /// A packet goes onto the wire of `link`: the node at its end will see it.
    #[inline]
    pub(super) fn send(&mut self, link: u32, mut packet: Packet, from: u64, to: u64) {
        let wire = &self.fabric.wires[link as usize];
        let lane = (link * self.fabric.lanes) as usize + usize::from(packet.lane);
        self.lanes[lane].consume(self.now, packet.credits);
        let output = &mut self.outputs[link as usize];
        output.busy += u64::from(packet.credits) * wire.credit;
        output.credits += u64::from(packet.credits);
        output.packets += 1;
        self.hops += 1;
        let identity = u64::from(link) << 32 | u64::from(packet.flow);
        let what =
            u64::from(packet.seq).rotate_left(40) ^ u64::from(packet.flags & flag::BECN) << 20;
        let node = &mut self.fingerprints[wire.src as usize];
        *node = node.wrapping_add(crate::wire::mix_pair(from, identity ^ what));
        packet.tail = to + wire.delay;
        let (time, class) = if wire.ends_at_host {
            (packet.tail, Class::Tail)
        } else {
            let head = from + wire.delay + wire.credit + self.fabric.switch_delay;
            (head, Class::Head)
        };
        let next = event(time, wire.dst, class, link, packet);
        self.calendar.push(next);
    }

    /// Credits of the buffer at the end of `link` get free, from the first to the last: its sender will know.
    #[inline]
    pub(super) fn give_back(&mut self, link: u32, level: u8, credits: u16, from: u64, to: u64) {
        let delay = self.fabric.credit_delay + self.fabric.wires[link as usize].propagation;
        let lane = (link * self.fabric.lanes) as usize + usize::from(level);
        let lane = &mut self.lanes[lane];
        lane.release(Release {
            credits,
            from: from + delay,
            to: to + delay,
        });
        if lane.starved_since != NEVER {
            let time = lane.credit_time(lane.needs);
            if time != NEVER {
                self.wake(link, time.max(self.now));
            }
        }
    }
}
