//! The engine: from one arrival or completion to the next. Between them every flow has its rate.
//!
//! All that happens at one time is one change of who sends, after which rates are shared once. Events of one time are
//! handled by (kind, flow), so that nothing depends on when they were inserted. Times are whole picoseconds; what a flow
//! has sent is a real number of bytes, settled when its rate changes, and no more than its size.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::ids::FlowId;
use weft_net::random::mix;
use weft_net::results::{Progress, Table};
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::units::Time;

use crate::active::{Active, Bottleneck};
use crate::config::Config;
use crate::outcome::{self, Outcome};
use crate::probe::Probe;
use crate::sharing::{Change, Sharer};
use crate::startup::Startup;
use crate::ways::Ways;

/// Not known yet, and never.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// What happens, in the order in which it is handled at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The last byte arrives.
    Finished,
    /// The last byte is sent.
    Sent,
    /// An endless flow stops.
    Stop,
    /// The first packet is sent.
    Start,
    /// The first payload byte is sent.
    Data,
    /// A window grows.
    Round,
}

/// (time, kind, flow, stamp): an event whose stamp is not its flow's any more does not happen.
type Event = Reverse<(u64, Kind, u32, u32)>;

/// What is known of a flow; times in ps.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) started: u64,
    pub(crate) finished: u64,
    /// Its place among those under way, if it is.
    under_way: u32,
    pub(crate) is_done: bool,
    pub(crate) has_no_way: bool,
    /// Payload bytes sent; of a flow under way, when it was last settled.
    pub(crate) sent: f64,
}

impl Record {
    /// Whether it sends.
    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way != u32::MAX
    }
}

/// A flow that sends.
#[derive(Clone, Debug)]
struct UnderWay {
    flow: u32,
    stamp: u32,
    /// By subflow: its slot, its rate since `since`, and the bytes not yet added to its links.
    subflows: Vec<(u32, f64, f64)>,
    since: u64,
    tail: u64,
    round_trip: u64,
}

/// Why the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Running,
    Done,
    Limit,
    Stuck,
}

/// One run.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) config: Config,
    pub(crate) records: Vec<Record>,
    /// By link: bytes carried, as far as flows are settled.
    pub(crate) carried: Vec<f64>,
    /// By subflow: payload bytes, as `carried`.
    pub(crate) sent: Vec<f64>,
    pub(crate) probe: Probe,
    pub(crate) end: End,
    pub(crate) now: u64,
    pub(crate) events: u64,
    pub(crate) fingerprint: u64,
    /// UDP flows that were given less than their rate.
    pub(crate) squeezed: Vec<bool>,
    done: u64,
    active: Active,
    sharer: Sharer,
    change: Change,
    ways: Ways,
    under_way: Vec<UnderWay>,
    free: Vec<u32>,
    /// By slot: (place among those under way, number of the subflow).
    owners: Vec<(u32, u32)>,
    queue: BinaryHeap<Event>,
    /// By flow: those that wait for it.
    waiting: Vec<(u32, u32)>,
    next_stamp: u32,
    moved: Vec<u32>,
}

impl Simulation {
    /// The idle network at time 0.
    ///
    /// # Errors
    /// Every fault of the sections that the simulator reads, and what it cannot do.
    pub fn new(scenario: Arc<Scenario>, spec: &Map<String, Value>) -> Result<Self, Vec<Fault>> {
        let config = Config::from_spec(spec, &scenario)?;
        let links = &scenario.network.links;
        let active = Active::new(links.iter().map(|l| l.rate.0 as f64).collect());
        let record = Record {
            started: UNKNOWN,
            finished: UNKNOWN,
            under_way: u32::MAX,
            is_done: false,
            has_no_way: false,
            sent: 0.0,
        };
        let mut waiting: Vec<(u32, u32)> = (scenario.flows.iter().enumerate())
            .filter_map(|(i, f)| Some((f.after?.0, i as u32)))
            .collect();
        waiting.sort_unstable();
        let queue = (scenario.flows.iter().enumerate())
            .filter(|(_, f)| f.after.is_none())
            .map(|(i, f)| Reverse((f.start.0, Kind::Start, i as u32, 0)))
            .collect();
        Ok(Self {
            records: vec![record; scenario.flows.len()],
            carried: vec![0.0; links.len()],
            sent: vec![0.0; scenario.subflows_total()],
            probe: Probe::new(&scenario, &config),
            end: End::Running,
            now: 0,
            events: 0,
            fingerprint: 0,
            squeezed: vec![false; scenario.workloads.len()],
            done: 0,
            sharer: config.sharing.sharer(&active),
            active,
            change: Change::default(),
            ways: Ways::new(&scenario),
            under_way: Vec::new(),
            free: Vec::new(),
            owners: Vec::new(),
            queue,
            waiting,
            next_stamp: 1,
            moved: Vec::new(),
            config,
            scenario,
        })
    }

    /// Handles about `events` events, or until the run is over.
    pub fn advance(&mut self, events: u64) -> Progress {
        let before = self.events;
        let mut looks = 0;
        while self.end == End::Running && self.events - before + looks < events {
            self.step();
            looks += 1;
        }
        Progress {
            now_ps: self.now,
            end_ps: self.config.until,
            events: self.events,
            packet_hops: 0,
            flows_done: self.done,
            flows_total: self.records.len() as u64,
            finished: self.end != End::Running,
        }
    }

    /// How many rows of samples wait to be taken.
    pub fn sample_rows(&self) -> usize {
        self.probe.rows()
    }

    /// The samples collected since the last call, if there are any.
    pub fn samples(&mut self) -> Option<Table> {
        self.probe.take(&self.scenario)
    }

    /// Gives the tables.
    pub fn finish(&mut self) -> Outcome {
        self.settle_all();
        outcome::finish(self)
    }

    /// All events of the next time, or a boundary of the measurement.
    fn step(&mut self) {
        self.drop_stale();
        let next = self.queue.peek().map_or(u64::MAX, |e| e.0.0);
        let is_all_done = self.done == self.records.len() as u64;
        if self.config.until.is_none() && (is_all_done || next == u64::MAX) {
            self.end = if is_all_done { End::Done } else { End::Stuck };
            return;
        }
        let boundary = self.probe.next_boundary();
        if boundary <= next {
            self.now = boundary;
            self.settle_all();
            self.probe
                .cross(boundary, &self.carried, &self.records, &self.active);
            if boundary >= self.config.until.unwrap_or(u64::MAX) {
                self.end = End::Done;
            } else if boundary >= self.config.limit {
                self.end = End::Limit;
            }
            return;
        }
        self.now = next;
        self.change.clear();
        while let Some(&Reverse((time, kind, flow, stamp))) = self.queue.peek()
            && time == next
        {
            self.queue.pop();
            if self.is_stale(kind, flow, stamp) {
                continue;
            }
            self.events += 1;
            match kind {
                Kind::Finished => self.finished(flow),
                Kind::Sent | Kind::Stop => self.leave(flow),
                Kind::Start => self.start(flow),
                Kind::Data => self.send(flow),
                Kind::Round => self.grow(flow),
            }
        }
        if !(self.change.slots.is_empty() && self.change.links.is_empty()) {
            self.share();
        }
    }

    fn is_stale(&self, kind: Kind, flow: u32, stamp: u32) -> bool {
        let place = self.records[flow as usize].under_way;
        match kind {
            Kind::Sent => self
                .under_way
                .get(place as usize)
                .is_none_or(|u| u.stamp != stamp),
            Kind::Round | Kind::Stop => place == u32::MAX,
            _ => false,
        }
    }

    /// Forgets events that will not happen when they are most of the queue, and those at its head.
    fn drop_stale(&mut self) {
        if self.queue.len() > 64 + 8 * self.under_way.len() + self.records.len() {
            let events = std::mem::take(&mut self.queue).into_vec();
            let is_due = |e: &Event| !self.is_stale(e.0.1, e.0.2, e.0.3);
            self.queue = events.into_iter().filter(is_due).collect();
        }
        while let Some(&Reverse((_, kind, flow, stamp))) = self.queue.peek()
            && self.is_stale(kind, flow, stamp)
        {
            self.queue.pop();
        }
    }

    /// The first packet is sent.
    fn start(&mut self, flow: u32) {
        let plan = &self.scenario.flows[flow as usize];
        self.records[flow as usize].started = self.now;
        if !self.scenario.has_way(FlowId(flow)) {
            let record = &mut self.records[flow as usize];
            record.has_no_way = true;
            record.is_done = true;
            self.done += 1;
            return;
        }
        let lead = match self.config.latency {
            true => self
                .scenario
                .idle_times(FlowId(flow))
                .map_or(0, |t| t.handshake.0),
            false => 0,
        };
        let is_over = plan.stop.is_some_and(|stop| stop.0 <= self.now + lead);
        if plan.size == Some(0) || is_over {
            self.queue
                .push(Reverse((self.now + lead, Kind::Finished, flow, 0)));
            return;
        }
        if let Some(stop) = plan.stop {
            self.queue.push(Reverse((stop.0, Kind::Stop, flow, 0)));
        }
        self.queue
            .push(Reverse((self.now + lead, Kind::Data, flow, 0)));
    }

    /// The first payload byte is sent: the flow takes part.
    fn send(&mut self, flow: u32) {
        let id = FlowId(flow);
        let plan = &self.scenario.flows[flow as usize];
        let transport = self.scenario.workloads[plan.workload as usize]
            .transport
            .clone();
        let header = u64::from(transport.header_bytes());
        let mtu = match &transport {
            Transport::Udp(udp) => udp.packet.map_or(u64::MAX, |p| p.0),
            _ => u64::MAX,
        };
        let mss = self.scenario.path_mtu(id).map_or(1500, u64::from).min(mtu) - header;
        let size = plan.size;
        let packet = |overhead: u32| {
            let each = (header + u64::from(overhead)) as f64;
            match size {
                Some(size) => 1.0 + size.div_ceil(mss) as f64 * each / size as f64,
                None => 1.0 + each / mss as f64,
            }
        };
        let mut slots = Vec::new();
        for number in 0..self.scenario.subflow_count(id) {
            let uses = self.ways.uses(&self.scenario, id, number, packet);
            if uses.is_empty() {
                continue;
            }
            let limit = match &transport {
                Transport::Udp(udp) => udp.rate.0 as f64 / uses[0].weight,
                _ => f64::INFINITY,
            };
            slots.push((number, self.active.add(uses, limit)));
        }
        let numbers: Vec<u32> = slots.iter().map(|s| s.1).collect();
        if self.config.is_coupled[plan.workload as usize] {
            self.active.join(&numbers);
        }
        let alone: f64 = (numbers.iter())
            .map(|&slot| {
                let free =
                    |u: &crate::active::Use| self.active.capacities[u.link as usize] / u.weight;
                let subflow = &self.active[slot];
                subflow.uses.iter().map(free).fold(subflow.limit, f64::min)
            })
            .sum();
        let alone_ps = size.map_or(0.0, |s| s as f64 * 8e12 / alone);
        let startup = Startup::of(&self.scenario, id, mss, alone_ps);
        let is_windowed = self.config.slow_start && startup.window > 0.0 && startup.round_trip > 0;
        if is_windowed {
            for &slot in &numbers {
                self.active[slot].limit = startup.window * 8e12 / startup.round_trip as f64;
            }
            self.queue.push(Reverse((
                self.now + startup.round_trip,
                Kind::Round,
                flow,
                0,
            )));
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.under_way.push(UnderWay {
                flow: 0,
                stamp: 0,
                subflows: Vec::new(),
                since: 0,
                tail: 0,
                round_trip: 0,
            });
            self.under_way.len() as u32 - 1
        });
        for &(number, slot) in &slots {
            self.owners.resize(self.active.slots(), (u32::MAX, 0));
            self.owners[slot as usize] = (place, number);
        }
        self.change.slots.extend(&numbers);
        self.under_way[place as usize] = UnderWay {
            flow,
            stamp: 0,
            subflows: numbers.into_iter().map(|slot| (slot, 0.0, 0.0)).collect(),
            since: self.now,
            tail: if self.config.latency { startup.tail } else { 0 },
            round_trip: startup.round_trip,
        };
        self.records[flow as usize].under_way = place;
    }

    /// A round trip has passed: windows that hold their subflows back have doubled, the others are no limit any more.
    fn grow(&mut self, flow: u32) {
        let place = self.records[flow as usize].under_way;
        let under_way = &self.under_way[place as usize];
        let mut is_held = false;
        for &(slot, ..) in &under_way.subflows {
            let subflow = &mut self.active[slot];
            if subflow.limit.is_infinite() {
                continue;
            }
            if subflow.bottleneck == Bottleneck::Limit {
                subflow.limit *= 2.0;
                is_held = true;
                self.change.slots.push(slot);
            } else {
                subflow.limit = f64::INFINITY;
            }
        }
        if is_held {
            self.queue.push(Reverse((
                self.now + under_way.round_trip,
                Kind::Round,
                flow,
                0,
            )));
        }
    }

    /// The last byte is sent, or an endless flow stops: others get what it had.
    fn leave(&mut self, flow: u32) {
        let place = self.records[flow as usize].under_way;
        self.settle(place);
        self.flush(place);
        let tail = self.under_way[place as usize].tail;
        for (slot, ..) in std::mem::take(&mut self.under_way[place as usize].subflows) {
            let gone = self.active.remove(slot);
            self.change.links.extend(gone.uses.iter().map(|u| u.link));
            self.change.slots.retain(|&s| s != slot);
        }
        self.under_way[place as usize].stamp = 0;
        self.free.push(place);
        let record = &mut self.records[flow as usize];
        record.under_way = u32::MAX;
        if let Some(size) = self.scenario.flows[flow as usize].size {
            record.sent = size as f64;
        }
        self.queue
            .push(Reverse((self.now + tail, Kind::Finished, flow, 0)));
    }

    fn finished(&mut self, flow: u32) {
        let record = &mut self.records[flow as usize];
        record.is_done = true;
        if self.scenario.flows[flow as usize].size.is_some() {
            record.finished = self.now;
        }
        self.done += 1;
        let what = mix(u64::from(flow) ^ mix(self.now ^ mix(record.sent.to_bits())));
        self.fingerprint = self.fingerprint.wrapping_add(what);
        let back = match self.config.latency {
            true => self
                .scenario
                .idle_times(FlowId(flow))
                .map_or(0, |t| t.acknowledgment.0),
            false => 0,
        };
        let first = self.waiting.partition_point(|w| w.0 < flow);
        for &(leader, next) in self.waiting[first..].iter().take_while(|w| w.0 == flow) {
            debug_assert_eq!(leader, flow);
            let pause = self.scenario.flows[next as usize].start.0;
            self.queue
                .push(Reverse((self.now + back + pause, Kind::Start, next, 0)));
        }
    }

    /// Rates are shared anew, and with them when flows will have sent all.
    fn share(&mut self) {
        let slots = self.sharer.share(&mut self.active, &self.change);
        self.moved.clear();
        self.moved
            .extend(slots.iter().map(|&slot| self.owners[slot as usize].0));
        self.moved.sort_unstable();
        self.moved.dedup();
        for place in std::mem::take(&mut self.moved) {
            self.settle(place);
            let under_way = &mut self.under_way[place as usize];
            let mut is_new = false;
            let mut total = 0.0;
            for (slot, rate, _) in &mut under_way.subflows {
                let now = self.active[*slot].rate;
                is_new |= *rate != now;
                *rate = now;
                total += now;
            }
            let plan = &self.scenario.flows[under_way.flow as usize];
            if let [(slot, rate, _)] = under_way.subflows[..]
                && rate < self.active[slot].limit * (1.0 - 1e-6)
                && self.scenario.workloads[plan.workload as usize]
                    .transport
                    .tcp()
                    .is_none()
            {
                self.squeezed[plan.workload as usize] = true;
            }
            if !is_new && under_way.stamp != 0 {
                continue;
            }
            under_way.stamp = self.next_stamp;
            self.next_stamp = self.next_stamp.wrapping_add(1).max(1);
            if let Some(size) = plan.size
                && total > 0.0
            {
                let left = (size as f64 - self.records[under_way.flow as usize].sent).max(0.0);
                let after = left * 8e12 / total;
                // Beyond the end of time it does not happen.
                if after < 1e19 {
                    let due = self.now.saturating_add(after.ceil() as u64);
                    self.queue
                        .push(Reverse((due, Kind::Sent, under_way.flow, under_way.stamp)));
                }
            }
        }
    }

    /// Counts what a flow has sent until now.
    fn settle(&mut self, place: u32) {
        let under_way = &mut self.under_way[place as usize];
        let seconds = (self.now - under_way.since) as f64 * 1e-12;
        under_way.since = self.now;
        let record = &mut self.records[under_way.flow as usize];
        let size = self.scenario.flows[under_way.flow as usize].size;
        let left = size
            .map_or(f64::INFINITY, |s| s as f64 - record.sent)
            .max(0.0);
        let total: f64 = under_way.subflows.iter().map(|s| s.1 * seconds / 8.0).sum();
        // The time of completion is rounded up: nothing beyond the last byte is sent.
        let scale = if total > left { left / total } else { 1.0 };
        for (_, rate, unflushed) in &mut under_way.subflows {
            *unflushed += *rate * seconds / 8.0 * scale;
        }
        record.sent += total * scale;
    }

    /// Adds what a flow has sent to its links.
    fn flush(&mut self, place: u32) {
        let under_way = &mut self.under_way[place as usize];
        for (slot, _, unflushed) in &mut under_way.subflows {
            let bytes = std::mem::take(unflushed);
            for u in &self.active[*slot].uses {
                self.carried[u.link as usize] += bytes * u.weight;
            }
            let number = self.owners[*slot as usize].1;
            let id = self.scenario.subflow_id(FlowId(under_way.flow), number);
            self.sent[id as usize] += bytes;
        }
    }

    fn settle_all(&mut self) {
        for place in 0..self.under_way.len() as u32 {
            if !self.under_way[place as usize].subflows.is_empty() {
                self.settle(place);
                self.flush(place);
            }
        }
    }

    /// What does not fit into tables but matters: alpha-fair changes that were not solved as exactly as asked.
    pub(crate) fn rough(&self) -> u64 {
        match &self.sharer {
            Sharer::MaxMin(_) => 0,
            Sharer::AlphaFair(prices) => prices.rough,
        }
    }
}

/// As it is written in tables.
pub(crate) fn ns(time: u64) -> i64 {
    Time(time).as_ns() as i64
}
