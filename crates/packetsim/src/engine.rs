//! The engine: opens one window of time after another and lets every node handle what arrives in it.
//!
//! The order of events at a node is (time, ingress link); local events come after arrivals of the same time, by
//! (flow, kind). It depends on what an event is, never on when it was inserted; nodes only meet through packets that
//! arrive in a later window. So the result would be the same for any split of the nodes over threads.

use std::sync::Arc;

use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::ids::{FlowId, LinkId};
use weft_net::results::{Progress, Table};
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::units::Capacity;

use crate::capture::Capture;
use crate::config::Config;
use crate::ending;
use crate::host::{Hosts, SourceEnd};
use crate::outcome::Outcome;
use crate::packet::{Kind, Packet};
use crate::probe::{Observed, Probe};
use crate::segments::segment_bytes;
use crate::simulation::{End, Engine};
use crate::turns::Turns;
use crate::window::Window;
use crate::wire::Wire;

/// Smallest packet on any wire without its overhead: a bare IP and UDP header.
const SMALLEST_PACKET: u64 = 28;

/// One run; plain data but for the scratch memory.
#[derive(Debug)]
pub(crate) struct Lossy {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) config: Config,
    pub(crate) wire: Wire,
    pub(crate) hosts: Hosts,
    pub(crate) probe: Probe,
    pub(crate) capture: Option<Capture>,
    pub(crate) end: End,
    /// Flows without a leader, by start time; those before `next_start` are in the calendar or beyond.
    starts: Vec<(u64, u32)>,
    next_start: usize,
    /// Time of the last start that is in the calendar.
    fed_until: u64,
    pub(crate) events: u64,
    /// Time of the last event, ps; at the end, the end of the run.
    pub(crate) now: u64,
    window: Window,
}

impl Lossy {
    /// The idle network at time 0.
    ///
    /// # Errors
    /// Every fault of the sections that the simulator reads.
    pub(crate) fn new(
        scenario: Arc<Scenario>,
        spec: &Map<String, Value>,
    ) -> Result<Self, Vec<Fault>> {
        let config = Config::from_spec(spec, &scenario)?;
        check(&scenario, &config)?;
        let turns = (config.schedule.paths && !scenario.load_balance.is_per_flow())
            .then(|| Turns::new(&scenario));
        let wire = Wire::new(
            &scenario,
            config.queue.clone(),
            window_shift(&scenario),
            turns,
        );
        let hosts = Hosts::new(&scenario, &config);
        let probe = Probe::new(&scenario, &config.schedule);
        let mut starts: Vec<(u64, u32)> = scenario
            .flows
            .iter()
            .enumerate()
            .filter(|(_, f)| f.after.is_none())
            .map(|(i, f)| (f.start.0, i as u32))
            .collect();
        starts.sort_unstable();
        let nodes = scenario.network.nodes.len();
        let mut simulation = Self {
            scenario,
            config,
            wire,
            hosts,
            probe,
            capture: None,
            end: End::Running,
            starts,
            next_start: 0,
            fed_until: 0,
            events: 0,
            now: 0,
            window: Window::new(nodes),
        };
        simulation.feed_starts(1);
        Ok(simulation)
    }

    /// Puts all starts before `time` and the one after them into the calendar: so it always knows when the next flow
    /// begins.
    fn feed_starts(&mut self, time: u64) {
        while self.fed_until < time
            && let Some(&(start, flow)) = self.starts.get(self.next_start)
        {
            let node = Hosts::opener(&self.scenario, FlowId(flow));
            self.wire
                .calendar
                .push(Packet::local(Kind::Start, node.0, flow, start));
            self.next_start += 1;
            self.fed_until = start;
        }
    }

    /// One window, or one boundary of the measurement.
    fn step(&mut self) {
        let change = self.next_change();
        let boundary = self.probe.next_boundary().min(change);
        let window = self.wire.calendar.next_window();
        let start = window.map_or(u64::MAX, |w| w * self.wire.calendar.width());
        if self.config.schedule.until.is_none() && (window.is_none() || self.all_flows_done()) {
            self.end = if self.all_flows_done() {
                End::Done
            } else {
                End::Stuck
            };
            return;
        }
        if start < boundary {
            let window = window.expect("a window begins before the boundary");
            let is_cut = self.open(window, boundary);
            let begin = window * self.wire.calendar.width();
            let Self {
                window,
                wire,
                hosts,
                scenario,
                config,
                ..
            } = self;
            let handled = window.handle(begin, wire, hosts, scenario, config);
            self.events += handled.events;
            self.now = self.now.max(handled.last);
            if !is_cut {
                return;
            }
        }
        self.now = boundary;
        if boundary == change {
            self.wire.changes += 1;
        } else {
            self.cross(boundary);
        }
    }

    /// When routes change next, ps.
    fn next_change(&self) -> u64 {
        let next = self.scenario.failures.changes.get(self.wire.changes);
        next.map_or(u64::MAX, |c| c.0.0)
    }

    fn all_flows_done(&self) -> bool {
        self.hosts.done == self.scenario.flows.len() as u64 && self.wire.in_flight == 0
    }

    /// Takes a sample, or ends the run.
    fn cross(&mut self, boundary: u64) {
        let is_end = boundary >= self.config.schedule.until.unwrap_or(u64::MAX);
        let seen = Seen {
            scenario: &self.scenario,
            wire: &self.wire,
            hosts: &self.hosts,
        };
        self.probe.cross(boundary, &seen, self.wire.ports.len());
        if is_end {
            self.end = End::Done;
        } else if boundary >= self.config.schedule.limit {
            self.end = End::Limit;
        }
    }

    /// Collects what happens in `window` before `boundary`; returns whether the boundary lies inside.
    fn open(&mut self, window: u64, boundary: u64) -> bool {
        let end = (window + 1).saturating_mul(self.wire.calendar.width());
        self.feed_starts(end);
        self.wire.open_until = end.min(boundary);
        self.wire.calendar.open(window, &mut self.window.pieces);
        end > boundary
    }
}

impl Engine for Lossy {
    fn advance(&mut self, events: u64) -> Progress {
        // A sample is work too: over an idle network there may be nothing else, and its rows want to be taken.
        let mut work = 0;
        while self.end == End::Running && work < events {
            let before = (self.events, self.probe.rows());
            self.step();
            work += self.events - before.0 + (self.probe.rows() - before.1) as u64 + 1;
        }
        Progress {
            now_ps: self.now,
            end_ps: self.config.schedule.until,
            events: self.events,
            packet_hops: self.wire.hops,
            flows_done: self.hosts.done,
            flows_total: self.scenario.flows.len() as u64,
            finished: self.end != End::Running,
        }
    }

    fn sample_rows(&self) -> usize {
        self.probe.rows()
    }

    fn samples(&mut self) -> Option<Table> {
        self.probe.take(&self.scenario)
    }

    fn finish(&mut self) -> Outcome {
        ending::finish(self)
    }

    fn capture(&mut self, links: &[u32], snaplen: u32, application: &str, comment: &str) -> bool {
        self.capture_ports(links, snaplen, application, comment);
        true
    }

    fn captured(&mut self) -> Vec<u8> {
        self.take_captured()
    }

    fn captured_frames(&self) -> Vec<u64> {
        self.count_captured()
    }
}

/// What a probe sees.
struct Seen<'a> {
    scenario: &'a Scenario,
    wire: &'a Wire,
    hosts: &'a Hosts,
}

impl Observed for Seen<'_> {
    fn busy_before(&self, link: u32, now: u64) -> u64 {
        self.wire.ports.busy_before(link, now)
    }
    fn queued_bytes(&self, link: u32, now: u64) -> u64 {
        self.wire.ports.queued_bytes(link, now)
    }
    fn delivered(&self, flow: usize) -> u64 {
        self.hosts.delivered(flow)
    }
    fn sent(&self, flow: usize) -> u64 {
        let owner = FlowId::from(flow);
        (0..self.scenario.subflow_count(owner))
            .map(|number| {
                let id = self.scenario.subflow_id(owner, number);
                self.hosts.wire_bytes(id as usize)
            })
            .sum()
    }
    fn is_open(&self, flow: usize) -> bool {
        self.hosts.is_open(flow)
    }
    fn subflow_delivered(&self, id: usize) -> Option<u64> {
        self.hosts.subflow_delivered(id)
    }
    fn windows(&self) -> Vec<(usize, f64, u64)> {
        let sources = self.hosts.sources.iter().enumerate();
        sources
            .filter_map(|(flow, source)| match source {
                SourceEnd::Tcp(sender) => {
                    // A subflow stands beyond all flows: it is written FLOW/SUBFLOW.
                    let beyond = if sender.mapping.is_some() {
                        self.hosts.sources.len()
                    } else {
                        0
                    };
                    Some((beyond + flow, sender.cwnd_bytes(), sender.rtt.srtt))
                }
                _ => None,
            })
            .collect()
    }
}

/// What the counters could not hold: flows of more than 2^32 segments, queues that would drain beyond the end of time.
fn check(scenario: &Scenario, config: &Config) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    let mtu = scenario
        .network
        .links
        .iter()
        .map(|l| l.mtu)
        .min()
        .unwrap_or(1500);
    for (i, flow) in scenario.flows.iter().enumerate() {
        let transport = &scenario.workloads[flow.workload as usize].transport;
        if matches!(transport, Transport::Udp(_)) {
            continue;
        }
        let segments = flow.size.unwrap_or(0) / u64::from(segment_bytes(mtu, transport));
        if segments >= u64::from(u32::MAX) {
            faults.push(Fault::new(
                format!("workload[{}].size", flow.workload),
                format!("flow {i} has {segments} segments; the simulator counts to 2^32: make it smaller"),
            ));
            break;
        }
    }
    for (i, link) in scenario.network.links.iter().enumerate() {
        let full = u128::from(
            link.rate
                .transmit_time(u64::from(link.mtu + link.overhead))
                .0,
        );
        let drain = match config.queue.capacity() {
            Capacity::Packets(most) => full * u128::from(most),
            Capacity::Bytes(most) => u128::from(most) * 8_000_000_000_000 / u128::from(link.rate.0),
        };
        if drain + full * 64 + u128::from(link.delay.0) > u128::from(u64::MAX / 4) {
            faults.push(Fault::new(
                "queue.capacity",
                format!(
                    "a full queue at {} ({}) would take longer than the simulator can count (53 days); make it smaller, or the link faster",
                    scenario.network.link_name(LinkId::from(i)),
                    link.rate
                ),
            ));
            break;
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// Windows of `2^shift` ps: at most the shortest time in which anything gets from one node to another.
fn window_shift(scenario: &Scenario) -> u32 {
    let links = scenario.network.links.iter();
    let across = links
        .map(|l| {
            let bytes = SMALLEST_PACKET + u64::from(l.overhead);
            let on_wire = match l.shaper {
                None => l.rate.transmit_time(bytes).0,
                Some(burst) => burst.peak.map_or(0, |peak| peak.transmit_time(bytes).0),
            };
            l.delay.0 + on_wire
        })
        .min();
    let pauses = scenario
        .flows
        .iter()
        .filter(|f| f.after.is_some())
        .map(|f| f.start.0)
        .min();
    let lookahead = across.unwrap_or(1).min(pauses.unwrap_or(u64::MAX)).max(1);
    lookahead.ilog2().min(31)
}
