//! Measurement: the window in which things count, and samples at an interval. Flows are settled when it looks.

use weft_net::ids::LinkId;
use weft_net::results::{Column, Table};
use weft_net::scenario::Scenario;

use crate::active::Active;
use crate::config::{Config, Metric};
use crate::engine::{Record, ns};

/// Names in the `metric` column, in the order of [`Metric`].
const METRICS: [&str; 2] = ["goodput_bps", "utilization"];

#[derive(Clone, Debug, Default)]
struct Rows {
    time: Vec<i64>,
    metric: Vec<Option<u32>>,
    entity: Vec<Option<u32>>,
    value: Vec<f64>,
}

/// When to look, what was seen.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    every: u64,
    metrics: Vec<Metric>,
    next_sample: u64,
    begin: u64,
    end: u64,
    stop: u64,
    /// By link, bytes carried at the start and at the end of the measurement window; by flow, bytes sent.
    pub(crate) carried_before: Vec<f64>,
    pub(crate) carried_until: Vec<f64>,
    pub(crate) sent_before: Vec<f64>,
    pub(crate) sent_until: Vec<f64>,
    last_carried: Vec<f64>,
    last_sent: Vec<f64>,
    rows: Rows,
}

impl Probe {
    pub(crate) fn new(scenario: &Scenario, config: &Config) -> Self {
        let is_sampled = config.every > 0;
        let sized = |n: usize| if is_sampled { vec![0.0; n] } else { Vec::new() };
        Self {
            every: config.every,
            metrics: config.metrics.clone(),
            next_sample: if is_sampled { config.every } else { u64::MAX },
            begin: if config.warmup > 0 {
                config.warmup
            } else {
                u64::MAX
            },
            end: match config.until {
                Some(until) if config.cooldown > 0 => until - config.cooldown,
                _ => u64::MAX,
            },
            stop: config.until.unwrap_or(u64::MAX).min(config.limit),
            carried_before: Vec::new(),
            carried_until: Vec::new(),
            sent_before: Vec::new(),
            sent_until: Vec::new(),
            last_carried: sized(scenario.network.links.len()),
            last_sent: sized(scenario.flows.len()),
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

    /// Looks at `now`, which is [`Self::next_boundary`].
    pub(crate) fn cross(&mut self, now: u64, carried: &[f64], records: &[Record], active: &Active) {
        let sent = || records.iter().map(|r| r.sent).collect();
        if now >= self.begin {
            self.begin = u64::MAX;
            self.carried_before = carried.to_vec();
            self.sent_before = sent();
        }
        if now >= self.end {
            self.end = u64::MAX;
            self.carried_until = carried.to_vec();
            self.sent_until = sent();
        }
        if now >= self.next_sample {
            self.next_sample += self.every;
            self.sample(now, carried, records, active);
        }
    }

    fn sample(&mut self, now: u64, carried: &[f64], records: &[Record], active: &Active) {
        let seconds = self.every as f64 * 1e-12;
        let links = carried.len();
        for &metric in &self.metrics {
            let mut add = |entity: usize, value: f64| {
                self.rows.time.push(ns(now));
                self.rows.metric.push(Some(metric as u32));
                self.rows.entity.push(Some(entity as u32));
                self.rows.value.push(value);
            };
            match metric {
                Metric::Goodput => {
                    for (flow, (record, last)) in
                        records.iter().zip(&mut self.last_sent).enumerate()
                    {
                        if record.is_under_way() || record.sent > *last {
                            add(links + flow, 8.0 * (record.sent - *last) / seconds);
                        }
                        *last = record.sent;
                    }
                }
                Metric::Utilization => {
                    for (link, (bytes, last)) in
                        carried.iter().zip(&mut self.last_carried).enumerate()
                    {
                        let capacity = active.capacities[link];
                        if capacity > 0.0 {
                            add(link, 8.0 * (bytes - *last) / seconds / capacity);
                        }
                        *last = *bytes;
                    }
                }
            }
        }
    }

    /// Rows that wait to be taken.
    pub(crate) fn rows(&self) -> usize {
        self.rows.time.len()
    }

    /// The rows since the last call as a piece of the `samples` table.
    pub(crate) fn take(&mut self, scenario: &Scenario) -> Option<Table> {
        if self.rows.time.is_empty() {
            return None;
        }
        let rows = std::mem::take(&mut self.rows);
        let links = scenario.network.links.len();
        let mut used: Vec<u32> = rows.entity.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let word = |&e: &u32| match (e as usize).checked_sub(links) {
            None => scenario.network.link_name(LinkId(e)),
            Some(flow) => flow.to_string(),
        };
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
                    Column::Word(
                        rows.entity.iter().map(code).collect(),
                        used.iter().map(word).collect(),
                    ),
                ),
                ("value", Column::Real(rows.value)),
                ("error", Column::OptionalReal(vec![None; count])),
            ],
        })
    }
}
