//! Pauses: told to the port on the other side of a link, obeyed, watched.
//!
//! A pause frame stops a class until another lets it go on: what quanta and their refreshing come to while both sides live. The
//! watchdog of a switch takes a pause that is too long for a storm (Guo et al., SIGCOMM 2016, section 4.3): packets of that queue are
//! dropped, or sent in spite of it, until the pause ends.

use crate::flow_control::pfc::{PAUSE_WIRE_BYTES, WatchdogAction};

use super::packet::{Kind, NONE, Packet};
use super::{Ethernet, class};

/// A pause frame that came by `link`, as a number.
pub(super) fn order(link: u32, frame: &Packet) -> u32 {
    link << 4 | u32::from(frame.class) << 1 | frame.seq
}

impl Ethernet {
    /// Tells the other side of `link` to stop or go on, if the buffer says so.
    #[inline]
    pub(super) fn signal(&mut self, link: u32, class: u8) {
        let at = self.queue_of(link, class);
        let node = self.wires[link as usize].dst as usize;
        let shared = self.shared[node].as_ref().expect("a switch has a buffer");
        if let Some(stops) = shared.signal(&mut self.ingress[at]) {
            let back = self.wires[link as usize].reverse;
            self.send_pause(back, class, stops);
        }
    }

    /// Sends a pause frame over `link`, ahead of all that waits.
    pub(super) fn send_pause(&mut self, link: u32, class: u8, stops: bool) {
        let overhead = self.wires[link as usize].overhead;
        let frame = Packet {
            kind: Kind::Pause,
            flow: u32::from(class),
            seq: u32::from(stops),
            bytes: PAUSE_WIRE_BYTES.saturating_sub(overhead).max(1) as u16,
            place: NONE,
            telemetry: NONE,
            class,
            ..Packet::default()
        };
        self.ports[link as usize].control.push_back(frame);
        self.serve(link);
    }

    /// The port in the other direction of `link` obeys a pause frame.
    pub(super) fn obey(&mut self, order: u32) {
        let port = self.wires[(order >> 4) as usize].reverse;
        let (class, stops) = ((order >> 1 & 7) as u8, order & 1 == 1);
        let at = self.queue_of(port, class);
        if !self.queues[at].pause(self.now, stops) {
            return;
        }
        let paused = &mut self.ports[port as usize].paused;
        if !stops {
            *paused &= !(1 << class);
            return self.serve(port);
        }
        *paused |= 1 << class;
        let is_watched = !self.wires[port as usize].starts_at_host;
        if let Some(patience) = self.pfc.watchdog.filter(|_| is_watched) {
            let node = self.wires[port as usize].src;
            self.calendar
                .push_own(self.now + patience.0, node, class::WATCH, at as u32);
        }
    }

    /// The watchdog looks at a queue that was paused some time ago.
    pub(super) fn watch(&mut self, queue: u32) {
        let patience = self.pfc.watchdog.map_or(0, |t| t.0);
        let since = self.queues[queue as usize].paused_since;
        if since > self.now || self.now - since < patience {
            return;
        }
        let classes = self.pfc.classes as u32;
        let (link, class) = (queue / classes, (queue % classes) as u8);
        if self.queues[queue as usize].head == NONE {
            // Nothing suffers from it yet.
            let node = self.wires[link as usize].src;
            return self
                .calendar
                .push_own(self.now + patience, node, class::WATCH, queue);
        }
        self.storms_found += 1;
        self.queues[queue as usize].is_stormed = true;
        match self.pfc.watchdog_action {
            WatchdogAction::Forward => {
                self.ports[link as usize].paused &= !(1 << class);
                self.serve(link);
            }
            WatchdogAction::Drop => {
                let overhead = self.wires[link as usize].overhead;
                while self.queues[queue as usize].head != NONE {
                    let (packet, from) = self.dequeue(link, class);
                    let state = &mut self.queues[queue as usize];
                    state.leave(self.now, u64::from(packet.bytes) + overhead);
                    state.waited = state.waited.wrapping_add(self.now);
                    state.dropped += 1;
                    self.lose(&packet);
                    self.release(from, class, u64::from(packet.bytes));
                }
            }
        }
    }

    /// A storm of the experiment begins or ends.
    pub(super) fn storm(&mut self, id: u32) {
        let storm = &self.pfc.storms[id as usize / 2];
        let class = storm.priority as u8;
        let host = self
            .scenario
            .network
            .host_ids()
            .find(|h| self.scenario.network.nodes[h.index()].name == storm.host);
        let links = self
            .scenario
            .network
            .out(host.expect("checked at the start"))
            .to_vec();
        for link in links {
            self.send_pause(link.0, class, id.is_multiple_of(2));
        }
    }
}
