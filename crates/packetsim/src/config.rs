//! What the simulator reads of an experiment: its own rooms, when to stop, what to measure.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;

use crate::congestion::Congestion;
use crate::queue::Queue;
use crate::receive::Receive;

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
}

/// Everything but the scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// Discipline of all switch ports.
    pub queue: Queue,
    /// Congestion control of each workload.
    pub congestion: Vec<Congestion>,
    /// Receive side of the hosts, for the flows of each workload.
    pub receive: Vec<Receive>,
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

impl Config {
    /// From the spec, in base units.
    ///
    /// # Errors
    /// Every fault of `queue`, `congestion`, `receive`, `backend` and `measure`.
    pub fn from_spec(spec: &Map<String, Value>, scenario: &Scenario) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let empty = Map::new();
        let section = |key: &str| spec.get(key).and_then(Value::as_object).unwrap_or(&empty);
        let with_kind = |table: &Map<String, Value>, kind: &str| {
            let mut table = table.clone();
            table.entry("kind").or_insert_with(|| kind.into());
            table
        };
        let queue = Queue::from_table(&with_kind(section("queue"), "drop_tail"));
        let congestion: Vec<_> = scenario
            .workloads
            .iter()
            .map(|w| match &w.transport {
                Transport::Tcp(_) | Transport::Mptcp(_) => {
                    Congestion::from_table(&with_kind(&w.congestion, "cubic"))
                }
                // UDP has none; the default stands in and is never asked.
                Transport::Udp(_) => Congestion::from_table(&with_kind(&empty, "reno")),
            })
            .collect();
        let receive: Vec<_> = scenario
            .workloads
            .iter()
            .map(|w| Receive::from_table(&with_kind(&w.receive, "in_order")))
            .collect();
        let (backend, measure) = (section("backend"), section("measure"));
        let time = |table: &Map<String, Value>, key: &str| table.get(key).and_then(Value::as_u64);
        let flag = |key: &str| measure.get(key).and_then(Value::as_bool).unwrap_or(false);
        let metrics = match measure.get("metrics") {
            None | Some(Value::Null) => Ok(vec![
                Metric::Goodput,
                Metric::Cwnd,
                Metric::Srtt,
                Metric::Queue,
                Metric::Utilization,
            ]),
            Some(list) => serde_json::from_value(list.clone())
                .map_err(|e| Fault::new("measure.metrics", e.to_string())),
        };
        let mut keep = |fault: Fault| faults.push(fault);
        let queue = queue.map_err(&mut keep).ok();
        let metrics = metrics.map_err(&mut keep).ok();
        let congestion: Option<Vec<_>> = congestion
            .into_iter()
            .map(|c| c.map_err(&mut keep).ok())
            .collect();
        let receive: Option<Vec<_>> = receive
            .into_iter()
            .map(|r| r.map_err(&mut keep).ok())
            .collect();
        match (queue, metrics, congestion, receive) {
            (Some(queue), Some(metrics), Some(congestion), Some(receive)) => Ok(Self {
                queue,
                congestion,
                receive,
                until: time(backend, "until"),
                limit: time(backend, "limit").unwrap_or(u64::MAX),
                warmup: time(measure, "warmup").unwrap_or(0),
                cooldown: time(measure, "cooldown").unwrap_or(0),
                every: time(measure, "every").unwrap_or(0),
                metrics,
                paths: flag("paths"),
                trace: flag("trace"),
            }),
            _ => Err(faults),
        }
    }
}
