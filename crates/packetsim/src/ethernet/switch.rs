//! A switch: a packet comes in, finds its port, its class and its place in the buffer, or none.

use weft_net::ids::{LinkId, NodeId};
use weft_net::load_balance::Moment;
use weft_net::random::mix;

use crate::prefetch::prefetch;
use crate::queue::{Queue, Verdict, View};
use crate::wheel::Event;

use super::packet::{Kind, NONE, Packet, flag};
use super::port::{NEVER, Sending, Waiting};
use super::{Ethernet, class};

impl Ethernet {
    /// A packet that came over `link` goes on.
    pub(super) fn forward(&mut self, link: u32, mut packet: Packet) {
        let out = self.next_link(link, &mut packet);
        if out == NONE {
            self.unroutable += 1;
            return self.lose(&packet);
        }
        let node = self.wires[link as usize].dst as usize;
        let (from, to) = (
            self.queue_of(link, packet.class),
            self.queue_of(out, packet.class),
        );
        let is_lossless = self.pfc.is_lossless(u64::from(packet.class));
        let bytes = u64::from(packet.bytes);
        let verdict = self.judge(out, to, &packet);
        let shared = self.shared[node].as_mut().expect("a switch has a buffer");
        let queue = &mut self.queues[to];
        let is_stormed =
            queue.is_stormed && self.ports[out as usize].paused >> packet.class & 1 == 1;
        let is_refused =
            verdict == Verdict::Drop || !is_lossless && queue.bytes >= shared.threshold();
        if is_stormed || is_refused || !shared.admit(&mut self.ingress[from], bytes) {
            queue.dropped += 1;
            return self.lose(&packet);
        }
        if verdict == Verdict::Mark {
            queue.marked += 1;
            self.marked[packet.flow as usize] += 1;
            packet.flags |= flag::MARKED;
        }
        queue.join(self.now, bytes + self.wires[out as usize].overhead);
        self.enqueue(out, to, packet, link);
        self.signal(link, packet.class);
        self.serve(out);
    }

    /// The link by which a packet goes on; [`NONE`] where there is no way.
    #[inline]
    fn next_link(&mut self, link: u32, packet: &mut Packet) -> u32 {
        if packet.place != NONE {
            let out = self.paths[packet.place as usize];
            packet.place += 1;
            return out;
        }
        let node = NodeId(self.wires[link as usize].dst);
        let flow = &self.scenario.flows[packet.flow as usize];
        let is_back = packet.kind != Kind::Data;
        let dst = if is_back { flow.src } else { flow.dst };
        let hops = self.scenario.routes.next_hops(node, dst);
        if hops.is_empty() {
            return NONE;
        }
        let entropy = self.entropy[packet.flow as usize][usize::from(is_back)];
        let (wires, queues) = (&self.wires, &self.queues);
        let classes = self.pfc.classes as usize;
        let backlog = |link: LinkId| {
            let first = link.index() * classes;
            let bytes: u64 = queues[first..first + classes].iter().map(|q| q.bytes).sum();
            wires[link.index()].transmit(bytes)
        };
        let moment = Moment {
            now: self.now,
            backlog,
        };
        self.balance[node.index()]
            .choose_at(entropy, dst, hops, moment)
            .0
    }

    /// What the discipline of the queue says of a packet that arrives.
    #[inline]
    fn judge(&mut self, out: u32, to: usize, packet: &Packet) -> Verdict {
        let wire = &self.wires[out as usize];
        let queue = &mut self.queues[to];
        let view = View {
            now: self.now,
            packets: queue.packets,
            bytes: queue.bytes,
            arriving: u64::from(packet.bytes) + wire.overhead,
            is_ecn_capable: packet.flags & flag::CAPABLE != 0,
            idle_since: queue.idle_since,
            packet_time: wire.packet_time,
        };
        let verdict = self.discipline.admit(&mut queue.discipline, &view);
        // A lossless class drops nothing: a queue beyond what the discipline would hold is congested at any rate.
        let is_lossless = self.pfc.is_lossless(u64::from(packet.class));
        match (verdict, &self.discipline) {
            (Verdict::Drop, Queue::DropTail(_)) if is_lossless => Verdict::Enqueue,
            (Verdict::Drop, _) if is_lossless && view.is_ecn_capable => Verdict::Mark,
            (Verdict::Drop, _) if is_lossless => Verdict::Enqueue,
            _ => verdict,
        }
    }

    /// Puts a packet at the end of a queue.
    pub(super) fn enqueue(&mut self, out: u32, queue: usize, packet: Packet, from: u32) {
        let entry = Waiting {
            packet,
            from,
            next: NONE,
        };
        let place = if self.vacant == NONE {
            self.waiting.push(entry);
            self.waiting.len() as u32 - 1
        } else {
            let place = self.vacant;
            self.vacant = self.waiting[place as usize].next;
            self.waiting[place as usize] = entry;
            place
        };
        let queue = &mut self.queues[queue];
        if queue.head == NONE {
            queue.head = place;
            self.ports[out as usize].filled |= 1 << packet.class;
        } else {
            self.waiting[queue.tail as usize].next = place;
        }
        queue.tail = place;
    }

    /// Takes the first packet of a queue, and the link that it came by.
    pub(super) fn dequeue(&mut self, out: u32, class: u8) -> (Packet, u32) {
        let at = self.queue_of(out, class);
        let place = self.queues[at].head;
        let entry = self.waiting[place as usize];
        self.queues[at].head = entry.next;
        match self.waiting.get(entry.next as usize) {
            // A long queue has left the cache since it was filled.
            Some(next) => prefetch(next),
            None => self.ports[out as usize].filled &= !(1 << class),
        }
        self.waiting[place as usize].next = self.vacant;
        self.vacant = place;
        (entry.packet, entry.from)
    }

    /// A port looks whether it can send.
    #[inline]
    pub(super) fn serve(&mut self, link: u32) {
        if self.ports[link as usize].sending.is_some() {
            return;
        }
        if let Some(pause) = self.ports[link as usize].control.pop_front() {
            return self.transmit(link, pause, NONE);
        }
        if self.wires[link as usize].starts_at_host {
            return self.serve_card(link);
        }
        let port = &mut self.ports[link as usize];
        let ready = port.filled & !port.paused;
        if ready == 0 {
            return;
        }
        let class = self.choose_class(link, ready);
        let (packet, from) = self.dequeue(link, class);
        let at = self.queue_of(link, class);
        self.queues[at].waited = self.queues[at].waited.wrapping_add(self.now);
        self.transmit(link, packet, from);
    }

    /// Whose turn it is among classes with a packet at the head of their queue.
    #[inline]
    pub(super) fn choose_class(&mut self, link: u32, ready: u8) -> u8 {
        let classes = self.pfc.classes as usize;
        let (queues, waiting) = (&self.queues, &self.waiting);
        let (overhead, largest) = (self.wires[link as usize].overhead, self.largest);
        // At a host, a class without anything in its queue has flows, whose packets are full ones.
        let head = |class: usize| {
            let place = queues[link as usize * classes + class].head;
            let bytes = waiting
                .get(place as usize)
                .map_or(largest, |w| u64::from(w.packet.bytes));
            (bytes + overhead) as i64
        };
        self.ports[link as usize].choose(&self.turns, ready, head) as u8
    }

    /// The first bit of a packet leaves.
    pub(super) fn transmit(&mut self, link: u32, packet: Packet, from: u32) {
        let wire = self.wires[link as usize];
        let time = wire.transmit(u64::from(packet.bytes));
        let bytes = u64::from(packet.bytes) + wire.overhead;
        let now = self.now;
        if packet.telemetry != NONE && packet.kind == Kind::Data && !wire.starts_at_host {
            self.write_telemetry(link, &packet);
        }
        let port = &mut self.ports[link as usize];
        port.sending = Some(Sending {
            from,
            bytes: packet.bytes,
            class: packet.class,
            is_pause: packet.kind == Kind::Pause,
        });
        port.free_at = now + time;
        port.busy += time;
        port.bytes += bytes;
        port.packets += 1;
        port.moved = now;
        self.hops += 1;
        let what = u64::from(link) << 32 ^ u64::from(packet.flow);
        let hash = mix(now ^ mix(what ^ mix(u64::from(packet.seq) << 8 ^ packet.kind as u64)));
        let node = &mut self.fingerprints[wire.src as usize];
        *node = node.wrapping_add(hash);
        let there = now + time + wire.delay;
        self.calendar
            .push(Event::new(there, wire.dst, class::ARRIVE, link, packet));
        self.calendar
            .push_own(now + time, wire.src, class::PORT, link);
    }

    /// A port may go on: its packet has left, or its host wanted to be woken.
    #[inline]
    pub(super) fn on_port(&mut self, link: u32) {
        let now = self.now;
        let port = &mut self.ports[link as usize];
        if port.wake <= now {
            port.wake = NEVER;
        }
        if port.free_at <= now
            && let Some(sent) = port.sending.take()
            && !sent.is_pause
        {
            let bytes = u64::from(sent.bytes) + self.wires[link as usize].overhead;
            let at = self.queue_of(link, sent.class);
            self.queues[at].leave(now, bytes);
            if sent.from != NONE {
                self.release(sent.from, sent.class, u64::from(sent.bytes));
            }
        }
        self.serve(link);
    }

    /// The buffer of the switch behind `link` no longer holds a packet that came by it.
    pub(super) fn release(&mut self, link: u32, class: u8, bytes: u64) {
        let at = self.queue_of(link, class);
        let node = self.wires[link as usize].dst as usize;
        let shared = self.shared[node].as_mut().expect("a switch has a buffer");
        shared.release(&mut self.ingress[at], bytes);
        self.signal(link, class);
    }

    /// A packet is gone.
    pub(super) fn lose(&mut self, packet: &Packet) {
        self.lost[packet.flow as usize] += 1;
        self.forget(packet);
    }

    fn write_telemetry(&mut self, link: u32, packet: &Packet) {
        let port = &self.ports[link as usize];
        let at = self.queue_of(link, packet.class);
        let telemetry = &mut self.telemetry[packet.telemetry as usize];
        let hop = usize::from(telemetry.count);
        telemetry.hops[hop].time = self.now;
        telemetry.hops[hop].sent = port.bytes;
        telemetry.hops[hop].queue =
            self.queues[at].bytes - u64::from(packet.bytes) - self.wires[link as usize].overhead;
        telemetry.hops[hop].rate = self.wires[link as usize].rate as f64;
        telemetry.count += 1;
    }
}
