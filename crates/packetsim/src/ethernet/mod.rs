//! Ethernet with classes: switches that share their buffer among ports, pause who fills it, and hosts with queue pairs.
//!
//! A switch stores a packet and forwards it: it is counted against the ingress port that it came by, waits in a queue of its egress port and
//! class, and is uncounted when its last bit has left. So a hop is two events: it arrives, and the port is free again. Pause
//! frames are packets that go before all others. Sources: IEEE 802.1Qbb; Guo et al., SIGCOMM 2016; Zhu et al., SIGCOMM 2015.
//!
//! The map: `setup` reads the experiment; `switch` forwards; `port` has queues and turns, `buffer` the shared memory; `pause` stops and
//! starts ports and watches them; `host` is a network card, `queue_pair` what a flow has sent and received, `reaction` how fast it
//! may; `deadlock` looks for rings; `tally` checks conservation and counts for the tables.
//!
//! The order of events is (time, then what the event is), and state belongs to a node.

mod buffer;
mod deadlock;
mod host;
mod packet;
mod pause;
mod port;
mod queue_pair;
mod reaction;
mod setup;
mod switch;
mod tally;

use std::sync::Arc;

use weft_net::load_balance::SwitchState;
use weft_net::results::{Progress, Table};
use weft_net::scenario::Scenario;

use crate::congestion::hpcc::Telemetry;
use crate::flow_control::pfc::Pfc;
use crate::outcome::Outcome;
use crate::prefetch::{prefetch, prefetch_lines};
use crate::probe::{Observed, Probe};
use crate::queue::Queue;
use crate::record::{Record, UNKNOWN};
use crate::schedule::Schedule;
use crate::simulation::{End, Engine};
use crate::wheel::{Calendar, Event};

use buffer::{Ingress, Shared};
use host::{Card, Profile, Sink, Source};
use packet::Packet;
use port::{Class, Port, Turns, Waiting};

/// How often the run looks for deadlocks, ps of simulated time.
const DEADLOCK_CHECK: u64 = 1_000_000_000;

/// How many events ahead the next link of a packet is fetched, and the port there.
const PATHS_AHEAD: usize = 12;
const PORTS_AHEAD: usize = 6;

/// What happens, in the order in which it does at one time.
mod class {
    /// A packet is whole at the end of a link. Id: the link.
    pub(super) const ARRIVE: u8 = 0;
    /// A port obeys a pause frame. Id: see `pause::order`.
    pub(super) const OBEY: u8 = 1;
    /// A flow starts. Id: the flow.
    pub(super) const START: u8 = 2;
    /// A storm begins (even) or ends (odd). Id: twice its place in the list.
    pub(super) const STORM: u8 = 3;
    /// The watchdog looks at a queue. Id: the queue.
    pub(super) const WATCH: u8 = 4;
    /// A queue pair has waited for an answer. Id: the flow.
    pub(super) const TIMER: u8 = 5;
    /// A port may go on. Id: the link.
    pub(super) const PORT: u8 = 6;
}

/// What does not change of a link.
#[derive(Clone, Copy, Debug)]
struct Wire {
    src: u32,
    dst: u32,
    /// Bits per second.
    rate: u64,
    /// Ps.
    delay: u64,
    overhead: u64,
    starts_at_host: bool,
    ends_at_host: bool,
    /// The link in the other direction.
    reverse: u32,
    /// Ps of a byte, where that is a whole number; 0 where it is not.
    byte_time: u64,
    /// Time of a packet of 1500 bytes.
    packet_time: u64,
}

/// Ps in a second, times the bits of a byte.
const BYTE_AT_1_BPS: u64 = 8_000_000_000_000;

impl Wire {
    /// Time of a packet on the wire, ps.
    #[inline]
    fn transmit(&self, bytes: u64) -> u64 {
        let bytes = bytes + self.overhead;
        if self.byte_time > 0 {
            return bytes * self.byte_time;
        }
        let time = u128::from(bytes) * u128::from(BYTE_AT_1_BPS);
        time.div_ceil(u128::from(self.rate)) as u64
    }
}

/// One run.
#[derive(Debug)]
pub(crate) struct Ethernet {
    scenario: Arc<Scenario>,
    schedule: Schedule,
    pfc: Pfc,
    discipline: Queue,
    calendar: Calendar<Packet>,
    /// Nodes before this one are hosts.
    hosts: u32,
    /// By link.
    wires: Vec<Wire>,
    ports: Vec<Port>,
    /// Queues: by link and class; so are `ingress`.
    queues: Vec<Class>,
    ingress: Vec<Ingress>,
    /// Packets in queues, and the first entry that is free.
    waiting: Vec<Waiting>,
    vacant: u32,
    /// By node: the buffer of a switch.
    shared: Vec<Option<Shared>>,
    /// By node: how it balances packets one by one.
    balance: Vec<SwitchState>,
    /// By flow: the hash of its packets, and of those that come back.
    entropy: Vec<[u32; 2]>,
    /// Whole paths, one behind the other.
    paths: Vec<u32>,
    turns: Turns,
    /// Bytes of the largest packet.
    largest: u64,
    /// By link: the card at its start, where that is a host.
    cards: Vec<Option<Box<Card>>>,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    profiles: Vec<Profile>,
    telemetry: Vec<Telemetry>,
    free_telemetry: Vec<u32>,
    records: Vec<Record>,
    marked: Vec<u32>,
    lost: Vec<u32>,
    done: u64,
    probe: Probe,
    next_check: u64,
    end: End,
    now: u64,
    latest: u64,
    events: u64,
    hops: u64,
    unroutable: u64,
    storms_found: u64,
    fingerprints: Vec<u64>,
    warnings: Vec<String>,
}

impl Ethernet {
    #[inline]
    fn handle(&mut self, event: &Event<Packet>) {
        self.fetch();
        self.now = event.time;
        match event.class() {
            class::ARRIVE => self.on_arrival(event.id(), event.packet),
            class::PORT => self.on_port(event.id()),
            class::OBEY => self.obey(event.id()),
            class::START => self.start_flow(event.id()),
            class::STORM => self.storm(event.id()),
            class::WATCH => self.watch(event.id()),
            _ => self.on_timer(event.id()),
        }
    }

    /// Has the memory fetched that the next arrivals will need.
    #[inline]
    fn fetch(&self) {
        if let Some(event) = self.calendar.ahead(PATHS_AHEAD)
            && let Some(link) = self.paths.get(event.packet.place as usize)
        {
            prefetch(link);
        }
        let Some(event) = self.calendar.ahead(PORTS_AHEAD) else {
            return;
        };
        let flow = event.packet.flow as usize;
        if event.node() < self.hosts {
            if event.class() == class::ARRIVE && event.packet.kind != packet::Kind::Pause {
                prefetch_lines(&self.records[flow], 4);
                match event.packet.kind {
                    packet::Kind::Data => prefetch_lines(&self.sinks[flow], 2),
                    _ => prefetch_lines(&self.sources[flow], 4),
                }
            }
        } else if let Some(&out) = self.paths.get(event.packet.place as usize) {
            prefetch_lines(&self.ports[out as usize], 2);
            let classes = self.pfc.classes as usize;
            let at = out as usize * classes + usize::from(event.packet.class);
            prefetch_lines(&self.queues[at], 3);
            let from = event.id() as usize * classes + usize::from(event.packet.class);
            if let Some(ingress) = self.ingress.get(from) {
                prefetch(ingress);
            }
        }
    }

    /// The queue of a class of a port.
    #[inline]
    fn queue_of(&self, link: u32, class: u8) -> usize {
        link as usize * self.pfc.classes as usize + usize::from(class)
    }

    /// A packet is whole at the end of a link.
    #[inline]
    fn on_arrival(&mut self, link: u32, packet: Packet) {
        if packet.kind == packet::Kind::Pause {
            let response = self.pfc.response_time.0;
            let order = pause::order(link, &packet);
            if response > 0 {
                let node = self.wires[link as usize].dst;
                self.calendar
                    .push_own(self.now + response, node, class::OBEY, order);
            } else {
                self.obey(order);
            }
        } else if self.wires[link as usize].ends_at_host {
            self.receive(packet);
        } else {
            self.forward(link, packet);
        }
    }

    fn cross(&mut self, boundary: u64) {
        self.now = boundary;
        self.latest = boundary;
        if boundary == self.next_check {
            self.next_check += DEADLOCK_CHECK;
            if self.find_deadlock() {
                self.end = End::Stuck;
                return;
            }
        }
        if boundary == self.probe.next_boundary() {
            let mut probe = std::mem::take(&mut self.probe);
            probe.cross(boundary, self, self.ports.len());
            self.probe = probe;
            if boundary >= self.schedule.until.unwrap_or(u64::MAX) {
                self.end = End::Done;
            } else if boundary >= self.schedule.limit {
                self.end = End::Limit;
            }
        }
    }

    fn all_flows_done(&self) -> bool {
        self.done == self.scenario.flows.len() as u64
    }

    /// Gives back the telemetry of a packet that is gone.
    #[inline]
    fn forget(&mut self, packet: &Packet) {
        if packet.telemetry != packet::NONE {
            self.free_telemetry.push(packet.telemetry);
        }
    }
}

impl Engine for Ethernet {
    fn advance(&mut self, events: u64) -> Progress {
        let mut work = 0;
        while self.end == End::Running && work < events {
            let boundary = self.probe.next_boundary().min(self.next_check);
            let rows = self.probe.rows();
            if let Some(event) = self.calendar.pop(boundary) {
                self.handle(&event);
                self.events += 1;
                work += 1;
                self.latest = self.latest.max(self.now);
                if self.schedule.until.is_none()
                    && self.all_flows_done()
                    && self.calendar.is_at_rest()
                {
                    self.end = End::Done;
                    self.now = self.latest;
                }
            } else if self.calendar.is_empty() && self.schedule.until.is_none() {
                self.now = self.latest;
                self.find_deadlock();
                self.end = if self.all_flows_done() {
                    End::Done
                } else {
                    End::Stuck
                };
            } else {
                self.cross(boundary);
                work += (self.probe.rows() - rows) as u64 + 1;
            }
        }
        Progress {
            now_ps: self.latest,
            end_ps: self.schedule.until,
            events: self.events,
            packet_hops: self.hops,
            flows_done: self.done,
            flows_total: self.scenario.flows.len() as u64,
            finished: self.end != End::Running,
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn sample_rows(&self) -> usize {
        self.probe.rows()
    }

    fn samples(&mut self) -> Option<Table> {
        self.probe.take(&self.scenario)
    }

    fn finish(&mut self) -> Outcome {
        tally::finish(self)
    }
}

impl Observed for Ethernet {
    fn busy_before(&self, link: u32, now: u64) -> u64 {
        self.ports[link as usize].busy_before(now)
    }
    fn queued_bytes(&self, link: u32, _now: u64) -> u64 {
        let classes = self.pfc.classes as usize;
        let first = link as usize * classes;
        self.queues[first..first + classes]
            .iter()
            .map(|q| q.bytes)
            .sum()
    }
    fn delivered(&self, flow: usize) -> u64 {
        self.records[flow].delivered
    }
    fn sent(&self, flow: usize) -> u64 {
        self.records[flow].wire_bytes
    }
    fn lanes(&self) -> u32 {
        self.pfc.classes as u32
    }
    fn paused_before(&self, lane: u32, now: u64) -> u64 {
        self.queues[lane as usize].paused_before(now)
    }
    fn buffered_bytes(&self, lane: u32, _now: u64) -> u64 {
        self.ingress[lane as usize].held()
    }
    fn is_open(&self, flow: usize) -> bool {
        self.records[flow].started != UNKNOWN && !self.records[flow].source_is_over
    }
    fn windows(&self) -> Vec<(usize, f64, u64)> {
        let open = self
            .sources
            .iter()
            .enumerate()
            .filter(|(f, _)| self.is_open(*f));
        open.filter_map(|(flow, source)| {
            let window = source.reaction.window(source.payload);
            window
                .is_finite()
                .then_some((flow, window, source.round_trip))
        })
        .collect()
    }
}
