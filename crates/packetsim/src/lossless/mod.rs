//! The lossless engine: packets wait at the input of a switch until there is room behind the link that they want.
//!
//! Packets, not flits: the 64-byte credits of a packet follow each other at a known pace, so that a packet and a hop are one event (its
//! head may leave the input buffer) and, where it must wait, a second one (the port may go on). What its credits do in between
//! are straight lines, evaluated where somebody asks. Source: sections 3 to 5 of the InfiniBand congestion control thesis's model
//! (experiments/studies), packet by packet instead of credit by credit.
//!
//! The map: `calendar` holds what will happen; `setup` reads the experiment and lays the fabric out, `checks` says what cannot be; `switch` moves packets from
//! input to output, `arbiter` chooses the lane, `lane` counts credits, `buffer` the room in an output buffer; `adapter` is a host's
//! source and sink; `marking` and `reaction` are congestion control at a port and at a source; `deadlock` looks for rings;
//! `tally` checks conservation and counts for the tables.
//!
//! The order of events is (time, then what the event is), and state belongs to a node: a packet reaches the next node after at
//! least the delay of an output port, credits come back after at least `credit_delay`, and nothing else crosses.

mod adapter;
mod arbiter;
mod buffer;
mod calendar;
mod checks;
pub(crate) mod deadlock;
mod fabric;
mod lane;
mod marking;
mod reaction;
mod setup;
mod switch;
mod tally;

use std::sync::Arc;

use weft_net::results::{Progress, Table};
use weft_net::scenario::Scenario;

use crate::flow_control::credit::CREDIT;
use crate::outcome::Outcome;
use crate::prefetch::{prefetch, prefetch_lines};
use crate::probe::{Observed, Probe};
use crate::record::{Record, UNKNOWN};
use crate::schedule::Schedule;
use crate::simulation::{End, Engine};

use adapter::{Adapter, Profile, Source};
use arbiter::Tables;
use calendar::{Calendar, Class, Event, class_of};
use fabric::Fabric;
use lane::Lane;
use marking::Marking;
use reaction::{Control, Reaction};
use switch::{Input, Output, Waiting};

/// How often the run looks for deadlocks, ps of simulated time.
const DEADLOCK_CHECK: u64 = 1_000_000_000;

/// How many events ahead the next link of a packet is fetched, the port there, and what lies behind that.
const PATHS_AHEAD: usize = 14;
const PORTS_AHEAD: usize = 8;
const RINGS_AHEAD: usize = 3;

/// A packet, by value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet {
    /// When its last bit is in the buffer of the node that it goes to, ps.
    tail: u64,
    flow: u32,
    seq: u32,
    /// Where the rest of its path begins in [`Fabric::paths`].
    place: u32,
    credits: u16,
    /// Service level, and lane of the link that it is on or came by.
    level: u8,
    lane: u8,
    flags: u8,
}

/// Bits of [`Packet::flags`].
mod flag {
    /// Forward explicit congestion notification: a switch has marked the packet.
    pub(super) const FECN: u8 = 1;
    /// It is a backward notification.
    pub(super) const BECN: u8 = 2;
}

/// One run.
#[derive(Debug)]
pub(crate) struct Lossless {
    scenario: Arc<Scenario>,
    schedule: Schedule,
    fabric: Fabric,
    calendar: Calendar,
    /// By link: the port at its start.
    outputs: Vec<Output>,
    /// By link: the buffer at its end.
    inputs: Vec<Input>,
    /// By link and lane.
    lanes: Vec<Lane>,
    /// Heads and tails of the virtual output queues: see `switch.rs`.
    queues: Vec<(u32, u32)>,
    /// The packets in them, and the first of those that are free.
    waiting: Vec<Waiting>,
    vacant: u32,
    /// By lane: which inputs have something for it, in words of 64.
    asking: Vec<u64>,
    /// By lane: congestion control at the ports of switches.
    marking: Vec<Option<Marking>>,
    tables: Tables,
    /// By link: the host at its start, where there is one.
    adapters: Vec<Option<Box<Adapter>>>,
    /// By flow.
    sources: Vec<Source>,
    /// By workload.
    profiles: Vec<Profile>,
    controls: Vec<Control>,
    reactions: Vec<Reaction>,
    records: Vec<Record>,
    marked: Vec<u32>,
    lost: Vec<u32>,
    done: u64,
    probe: Probe,
    next_check: u64,
    end: End,
    /// Time of the last event, ps; at the end, the end of the run.
    now: u64,
    /// Time of the latest event, ps: nodes have their turns one after another.
    latest: u64,
    events: u64,
    hops: u64,
    /// By node: sum of the hashes of its departures.
    fingerprints: Vec<u64>,
    warnings: Vec<String>,
}

impl Lossless {
    /// Handles one event.
    #[inline]
    fn handle(&mut self, event: &Event) {
        self.fetch();
        self.now = event.time;
        match class_of(event) {
            Class::Head => self.on_head(event.id(), event.packet),
            Class::Tail => self.on_tail(event.id(), event.packet),
            Class::Port => self.on_port(event.id()),
            Class::Start => self.start_flow(event.id()),
            Class::Drained => self.on_drained(event.id()),
        }
    }

    /// Has the memory fetched that the next packets at switches will need: in three steps, since each says where the next one looks.
    #[inline]
    fn fetch(&self) {
        let Some(event) = self.calendar.ahead(RINGS_AHEAD) else {
            return;
        };
        let lanes = self.fabric.lanes as usize;
        if let Some(out) = self.next_link(event) {
            self.lanes[out * lanes].fetch_releases();
            self.outputs[out].fetch_buffer();
            let wire = &self.fabric.wires[out];
            if !wire.starts_at_host {
                prefetch(&self.asking[wire.asking as usize]);
                let input = self.fabric.wires[event.id() as usize].input;
                if let Some(queue) = self.queues.get((wire.queues + input) as usize) {
                    prefetch(queue);
                }
            }
        }
        let Some(event) = self.calendar.ahead(PORTS_AHEAD) else {
            return;
        };
        if let Some(out) = self.next_link(event) {
            prefetch_lines(&self.outputs[out], 3);
            prefetch_lines(&self.lanes[out * lanes], 3);
            prefetch(&self.fabric.wires[out]);
            let link = event.id() as usize;
            prefetch(&self.fabric.wires[link]);
            prefetch(&self.inputs[link]);
            prefetch_lines(&self.lanes[link * lanes], 3);
        }
        if let Some(event) = self.calendar.ahead(PATHS_AHEAD)
            && let Some(link) = self.fabric.paths.get(event.packet.place as usize)
        {
            prefetch(link);
        }
    }

    /// The port of a switch that an event is about: where a packet wants to go, or that goes on.
    #[inline]
    fn next_link(&self, event: &Event) -> Option<usize> {
        match class_of(event) {
            Class::Head => Some(self.fabric.paths[event.packet.place as usize] as usize),
            Class::Port => Some(event.id() as usize),
            _ => None,
        }
    }

    /// When something must be looked at, whatever happens.
    fn boundary(&self) -> u64 {
        self.probe.next_boundary().min(self.next_check)
    }

    /// Takes a sample, looks for a deadlock, or ends the run.
    fn cross(&mut self, boundary: u64) {
        self.now = boundary;
        self.latest = boundary;
        if boundary == self.next_check {
            self.next_check += DEADLOCK_CHECK;
            if self.find_deadlock() {
                self.end = End::Stuck;
            }
        }
        if boundary == self.probe.next_boundary() {
            let mut probe = std::mem::take(&mut self.probe);
            probe.cross(boundary, self, self.outputs.len());
            self.probe = probe;
            if self.end != End::Running {
                return;
            }
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
}

impl Engine for Lossless {
    fn advance(&mut self, events: u64) -> Progress {
        let mut work = 0;
        while self.end == End::Running && work < events {
            let boundary = self.boundary();
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

impl Observed for Lossless {
    fn busy_before(&self, link: u32, now: u64) -> u64 {
        self.outputs[link as usize].busy_before(now)
    }
    fn queued_bytes(&self, link: u32, _now: u64) -> u64 {
        let lanes = self.fabric.lanes_of(link);
        lanes.map(|lane| self.lanes[lane].queued_bytes()).sum()
    }
    fn delivered(&self, flow: usize) -> u64 {
        self.records[flow].delivered
    }
    fn sent(&self, flow: usize) -> u64 {
        self.records[flow].wire_bytes
    }
    fn lanes(&self) -> u32 {
        self.fabric.lanes
    }
    fn paused_before(&self, lane: u32, now: u64) -> u64 {
        self.lanes[lane as usize].paused_before(now)
    }
    fn buffered_bytes(&self, lane: u32, now: u64) -> u64 {
        self.lanes[lane as usize].held_credits(now) * CREDIT
    }
    fn is_open(&self, flow: usize) -> bool {
        self.records[flow].started != UNKNOWN && !self.records[flow].source_is_over
    }
}
