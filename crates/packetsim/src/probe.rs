//! Measurement: the window in which things count, and samples at an interval.
//!
//! A sample sees the network between two events: everything before its time has happened, nothing after.

use serde::{Deserialize, Serialize};
use weft_net::network::NodeKind;
use weft_net::results::{Column, Table};
use weft_net::scenario::Scenario;
use weft_net::units::Time;

use crate::schedule::{Metric, Schedule};

/// Names in the `metric` column, in the order of [`Metric`].
const METRICS: [&str; 9] = [
    "goodput_bps",
    "cwnd_bytes",
    "srtt_ns",
    "queue_bytes",
    "utilization",
    "subflow_goodput_bps",
    "sent_bps",
    "paused",
    "buffer_bytes",
];

/// What a probe may ask of a network, between two events.
pub(crate) trait Observed {
    /// Ps that a link has been sending before `now`.
    fn busy_before(&self, link: u32, now: u64) -> u64;
    /// Bytes that wait for a link.
    fn queued_bytes(&self, link: u32, now: u64) -> u64;
    /// Payload bytes of a flow that have arrived.
    fn delivered(&self, flow: usize) -> u64;
    /// Bytes that its source has put on the wire.
    fn sent(&self, flow: usize) -> u64;
    /// Whether the flow has begun and its source is not done.
    fn is_open(&self, flow: usize) -> bool;
    /// Virtual lanes, or classes, of each link that may have to wait for the buffer behind it; 0 where none ever waits.
    fn lanes(&self) -> u32 {
        0
    }
    /// Ps before `now` that a lane (link x lanes + lane) could not send for lack of room behind the link.
    fn paused_before(&self, _lane: u32, _now: u64) -> u64 {
        0
    }
    /// Bytes that the buffer behind a link holds of a lane, with those on their way there.
    fn buffered_bytes(&self, _lane: u32, _now: u64) -> u64 {
        0
    }
    /// Payload that has arrived over a subflow of a multipath flow, as long as its receiver exists.
    fn subflow_delivered(&self, _id: usize) -> Option<u64> {
        None
    }
    /// The windows that there are: flow (a subflow stands beyond all flows), cwnd in bytes, smoothed round trip in ps or 0.
    fn windows(&self) -> Vec<(usize, f64, u64)> {
        Vec::new()
    }
}

/// When to look, what was seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Probe {
    every: u64,
    metrics: Vec<Metric>,
    next_sample: u64,
    /// Start and end of the measurement window, until they are crossed; `u64::MAX` after.
    begin: u64,
    end: u64,
    /// When the run stops at the latest.
    stop: u64,
    /// Busy time of each link at the start and at the end of the measurement window.
    pub(crate) busy_before: Vec<u64>,
    pub(crate) busy_until: Vec<u64>,
    /// Delivered bytes per flow at those times.
    pub(crate) delivered_before: Vec<u64>,
    pub(crate) delivered_until: Vec<u64>,
    flows: usize,
    subflows: usize,
    last_delivered: Vec<u64>,
    last_sent: Vec<u64>,
    last_busy: Vec<u64>,
    /// By subflow of a multipath flow: payload received; empty unless it is sampled.
    last_received: Vec<u64>,
    /// By link and lane: time without room behind it.
    last_paused: Vec<u64>,
    /// Lanes of a link, once something of them has been seen.
    lanes: u32,
    switch_ports: Vec<u32>,
    rows: Rows,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Rows {
    time: Vec<i64>,
    metric: Vec<Option<u32>>,
    entity: Vec<Option<u32>>,
    value: Vec<f64>,
}

impl Rows {
    fn add(&mut self, time: u64, metric: Metric, entity: usize, value: f64) {
        self.time.push(Time(time).as_ns() as i64);
        self.metric.push(Some(metric as u32));
        self.entity.push(Some(entity as u32));
        self.value.push(value);
    }
}

impl Probe {
    pub(crate) fn new(scenario: &Scenario, schedule: &Schedule) -> Self {
        let network = &scenario.network;
        let is_switch =
            |i: usize| network.nodes[network.links[i].src.index()].kind == NodeKind::Switch;
        let samples = schedule.every > 0;
        let sized = |is_on: bool, n: usize| if is_on { vec![0; n] } else { Vec::new() };
        Self {
            every: schedule.every,
            metrics: schedule.metrics.clone(),
            next_sample: if samples { schedule.every } else { u64::MAX },
            begin: if schedule.warmup > 0 {
                schedule.warmup
            } else {
                u64::MAX
            },
            end: match schedule.until {
                Some(until) if schedule.cooldown > 0 => until - schedule.cooldown,
                _ => u64::MAX,
            },
            stop: schedule.until.unwrap_or(u64::MAX).min(schedule.limit),
            busy_before: Vec::new(),
            busy_until: Vec::new(),
            delivered_before: Vec::new(),
            delivered_until: Vec::new(),
            flows: scenario.flows.len(),
            subflows: scenario.subflows_total(),
            last_delivered: sized(samples, scenario.flows.len()),
            last_sent: sized(samples, scenario.flows.len()),
            last_busy: sized(samples, network.links.len()),
            last_received: sized(
                samples && schedule.metrics.contains(&Metric::SubflowGoodput),
                scenario.subflows_total(),
            ),
            last_paused: Vec::new(),
            lanes: 1,
            switch_ports: (0..network.links.len())
                .filter(|&i| is_switch(i))
                .map(|i| i as u32)
                .collect(),
            rows: Rows::default(),
        }
    }

    /// The next time at which something must be looked at.
    pub(crate) fn next_boundary(&self) -> u64 {
        self.next_sample
            .min(self.begin)
            .min(self.end)
            .min(self.stop)
    }

    /// Looks at the network at `now`, which is [`Self::next_boundary`].
    pub(crate) fn cross(&mut self, now: u64, network: &impl Observed, links: usize) {
        let busy = || {
            let links = 0..links as u32;
            links
                .map(|link| network.busy_before(link, now))
                .collect::<Vec<_>>()
        };
        let delivered = || {
            (0..self.flows)
                .map(|f| network.delivered(f))
                .collect::<Vec<_>>()
        };
        if now >= self.begin {
            self.begin = u64::MAX;
            self.busy_before = busy();
            self.delivered_before = delivered();
        }
        if now >= self.end {
            self.end = u64::MAX;
            self.busy_until = busy();
            self.delivered_until = delivered();
        }
        if now >= self.next_sample {
            self.next_sample += self.every;
            self.sample(now, network, links);
        }
    }

    fn sample(&mut self, now: u64, network: &impl Observed, links: usize) {
        let seconds = self.every as f64 * 1e-12;
        for &metric in &self.metrics {
            match metric {
                Metric::Goodput | Metric::Sent => {
                    let (last, count): (_, fn(&_, usize) -> u64) = match metric {
                        Metric::Goodput => (&mut self.last_delivered, Observed::delivered),
                        _ => (&mut self.last_sent, Observed::sent),
                    };
                    for (flow, last) in last.iter_mut().enumerate() {
                        let bytes = count(network, flow);
                        if network.is_open(flow) || bytes > *last {
                            let bits = 8.0 * (bytes - *last) as f64;
                            self.rows.add(now, metric, links + flow, bits / seconds);
                        }
                        *last = bytes;
                    }
                }
                Metric::Cwnd | Metric::Srtt => {
                    for (flow, cwnd, srtt) in network.windows() {
                        let value = if metric == Metric::Cwnd {
                            cwnd
                        } else {
                            srtt as f64 / 1e3
                        };
                        if metric == Metric::Cwnd || srtt > 0 {
                            self.rows.add(now, metric, links + flow, value);
                        }
                    }
                }
                Metric::SubflowGoodput => {
                    // A subflow stands beyond all flows: it is written FLOW/SUBFLOW.
                    let beyond = links + self.last_received.len();
                    for (id, last) in self.last_received.iter_mut().enumerate() {
                        if let Some(received) = network.subflow_delivered(id) {
                            let bits = 8.0 * (received - *last) as f64;
                            self.rows.add(now, metric, beyond + id, bits / seconds);
                            *last = received;
                        }
                    }
                }
                Metric::Queue => {
                    for &link in &self.switch_ports {
                        let bytes = network.queued_bytes(link, now) as f64;
                        self.rows.add(now, metric, link as usize, bytes);
                    }
                }
                Metric::Paused | Metric::Buffer => {
                    // A lane stands beyond all subflows: it is written LINK, and LINK/LANE where there are several.
                    let lanes = network.lanes();
                    self.lanes = lanes.max(1);
                    self.last_paused.resize(links * lanes as usize, 0);
                    for lane in 0..links as u32 * lanes {
                        let entity = self.beyond_subflows(links) + lane as usize;
                        let value = if metric == Metric::Buffer {
                            network.buffered_bytes(lane, now) as f64
                        } else {
                            let paused = network.paused_before(lane, now);
                            let before =
                                std::mem::replace(&mut self.last_paused[lane as usize], paused);
                            (paused - before) as f64 / self.every as f64
                        };
                        self.rows.add(now, metric, entity, value);
                    }
                }
                Metric::Utilization => {
                    for (link, last) in self.last_busy.iter_mut().enumerate() {
                        let busy = network.busy_before(link as u32, now);
                        self.rows
                            .add(now, metric, link, (busy - *last) as f64 / self.every as f64);
                        *last = busy;
                    }
                }
            }
        }
    }

    /// Where entities that are no links, flows or subflows begin.
    fn beyond_subflows(&self, links: usize) -> usize {
        links + 2 * self.subflows
    }

    /// Rows that wait to be taken.
    pub(crate) fn rows(&self) -> usize {
        self.rows.time.len()
    }

    /// What an entity is called: links by name, flows by number, subflows FLOW/SUBFLOW, lanes LINK/LANE.
    fn word(&self, scenario: &Scenario, entity: usize) -> String {
        let links = scenario.network.links.len();
        let named = |link: usize| {
            scenario
                .network
                .link_name(weft_net::ids::LinkId::from(link))
        };
        if entity < links {
            named(entity)
        } else if entity < links + self.subflows {
            (entity - links).to_string()
        } else if entity < self.beyond_subflows(links) {
            let id = entity - links - self.subflows;
            let (flow, number) = scenario.subflow(id as u32);
            format!("{}/{number}", flow.0)
        } else {
            let lane = entity - self.beyond_subflows(links);
            let lanes = self.lanes as usize;
            let name = named(lane / lanes);
            if lanes == 1 {
                name
            } else {
                format!("{name}/{}", lane % lanes)
            }
        }
    }

    /// The rows since the last call as a piece of the `samples` table.
    pub(crate) fn take(&mut self, scenario: &Scenario) -> Option<Table> {
        if self.rows.time.is_empty() {
            return None;
        }
        let rows = std::mem::take(&mut self.rows);
        // The dictionary holds only what this piece names: links by name, flows by number.
        let mut used: Vec<u32> = rows.entity.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let words = used
            .iter()
            .map(|&e| self.word(scenario, e as usize))
            .collect();
        let code =
            |e: &Option<u32>| e.map(|e| used.binary_search(&e).expect("collected above") as u32);
        let count = rows.time.len();
        Some(Table {
            name: "samples",
            columns: vec![
                ("time_ns", Column::Integer(rows.time)),
                (
                    "metric",
                    Column::Word(rows.metric, METRICS.map(str::to_owned).to_vec()),
                ),
                (
                    "entity",
                    Column::Word(rows.entity.iter().map(code).collect(), words),
                ),
                ("value", Column::Real(rows.value)),
                ("error", Column::OptionalReal(vec![None; count])),
            ],
        })
    }
}
