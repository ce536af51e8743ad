//! When a run ends and what of it is measured: the sections `[backend]` and `[measure]`, the same for every engine.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weft_net::error::Fault;

/// What `samples` records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Payload received per flow, bits per second over the interval.
    Goodput,
    /// Congestion window per flow, bytes.
    Cwnd,
    /// Smoothed round-trip time per flow, ns.
    Srtt,
    /// Queue of each switch port, bytes.
    Queue,
    /// Share of the interval that each link was busy.
    Utilization,
    /// Payload received over each subflow of a multipath flow, bits per second over the interval.
    SubflowGoodput,
    /// Bytes that each flow's source put on the wire, bits per second over the interval.
    Sent,
    /// Share of the interval in which each lane of each link could not send for lack of room behind it.
    Paused,
    /// Bytes in the buffer behind each lane of each link.
    Buffer,
}

/// When a run ends, and what is looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// When the run ends, ps; `None`: when all flows are done.
    pub until: Option<u64>,
    /// When a run that is not done is stopped, ps.
    pub limit: u64,
    /// Start of the measurement window, ps.
    pub warmup: u64,
    /// How long before `until` the measurement window ends, ps.
    pub cooldown: u64,
    /// Interval of `samples`, ps; 0 is off.
    pub every: u64,
    /// What is sampled.
    pub metrics: Vec<Metric>,
    /// Per-packet balancing: count bytes per turning switch.
    pub paths: bool,
    /// Write down what applications did, so that it can be done again.
    pub trace: bool,
}

impl Schedule {
    /// From the spec, in base units.
    ///
    /// # Errors
    /// A fault at `measure.metrics` for a metric that there is not.
    pub fn from_spec(spec: &Map<String, Value>) -> Result<Self, Fault> {
        let empty = Map::new();
        let section = |key: &str| spec.get(key).and_then(Value::as_object).unwrap_or(&empty);
        let (backend, measure) = (section("backend"), section("measure"));
        let time = |table: &Map<String, Value>, key: &str| table.get(key).and_then(Value::as_u64);
        let flag = |key: &str| measure.get(key).and_then(Value::as_bool).unwrap_or(false);
        let metrics = match measure.get("metrics") {
            None | Some(Value::Null) => vec![
                Metric::Goodput,
                Metric::Cwnd,
                Metric::Srtt,
                Metric::Queue,
                Metric::Utilization,
                Metric::Sent,
            ],
            Some(list) => serde_json::from_value(list.clone())
                .map_err(|e| Fault::new("measure.metrics", e.to_string()))?,
        };
        Ok(Self {
            until: time(backend, "until"),
            limit: time(backend, "limit").unwrap_or(u64::MAX),
            warmup: time(measure, "warmup").unwrap_or(0),
            cooldown: time(measure, "cooldown").unwrap_or(0),
            every: time(measure, "every").unwrap_or(0),
            metrics,
            paths: flag("paths"),
            trace: flag("trace"),
        })
    }

    /// Length of the measurement window of a run that ended at `now`, ps; `is_cut` if it reached the cool-down.
    pub(crate) fn window(&self, now: u64, is_cut: bool) -> u64 {
        let end = now - if is_cut { self.cooldown } else { 0 };
        end.saturating_sub(self.warmup)
    }
}
