//! What the flow-level simulator reads of a spec, and what it cannot do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::ids::LinkId;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::workload::Workload;

use crate::sharing::Sharing;

/// Congestion controls that couple the subflows of a flow.
const COUPLED: [&str; 3] = ["lia", "olia", "balia"];

weft_net::choice! {
    /// What is sampled.
    pub enum Metric {
        /// Payload per time and flow.
        Goodput = "goodput",
        /// Busy share of every link.
        Utilization = "utilization",
    }
}

/// The sections `sharing`, `backend` and `measure`. Times in ps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// How links are shared.
    pub sharing: Sharing,
    /// Whether handshake, propagation and the passage of the last packet count.
    pub latency: bool,
    /// Whether windows begin small.
    pub slow_start: bool,
    /// By workload: whether subflows share as one flow.
    pub is_coupled: Vec<bool>,
    /// When the run ends; `None` when all flows are done.
    pub until: Option<u64>,
    /// When a run that is not done stops.
    pub limit: u64,
    /// Start of the measurement window.
    pub warmup: u64,
    /// How long before `until` it ends.
    pub cooldown: u64,
    /// Interval of `samples`; 0 is off.
    pub every: u64,
    /// What is sampled.
    pub metrics: Vec<Metric>,
    /// What only packets have, and `measure.metrics` asks for.
    pub unsampled: Vec<String>,
}

impl Config {
    /// From the spec, in base units.
    ///
    /// # Errors
    /// Every fault of the sections that are read, and everything that only another backend can do.
    pub fn from_spec(spec: &Map<String, Value>, scenario: &Scenario) -> Result<Self, Vec<Fault>> {
        let mut faults = refusals(scenario);
        let empty = Map::new();
        let section = |key: &str| spec.get(key).and_then(Value::as_object).unwrap_or(&empty);
        let mut table = section("sharing").clone();
        table.entry("kind").or_insert_with(|| "max_min".into());
        let sharing = Sharing::from_table(&table).map_err(|f| faults.push(f)).ok();
        let (backend, measure) = (section("backend"), section("measure"));
        let (metrics, unsampled) = metrics(measure.get("metrics"));
        let time = |table: &Map<String, Value>, key: &str| table.get(key).and_then(Value::as_u64);
        let flag = |key: &str| backend.get(key).and_then(Value::as_bool).unwrap_or(true);
        let is_coupled = |plan: &weft_net::workload_plan::WorkloadPlan| {
            let control = plan.congestion.get("kind").and_then(Value::as_str);
            control.is_some_and(|c| COUPLED.contains(&c))
        };
        match sharing {
            Some(sharing) if faults.is_empty() => Ok(Self {
                sharing,
                latency: flag("latency"),
                slow_start: flag("slow_start"),
                is_coupled: scenario.workloads.iter().map(is_coupled).collect(),
                until: time(backend, "until"),
                limit: time(backend, "limit").unwrap_or(u64::MAX),
                warmup: time(measure, "warmup").unwrap_or(0),
                cooldown: time(measure, "cooldown").unwrap_or(0),
                every: time(measure, "every").unwrap_or(0),
                metrics,
                unsampled,
            }),
            _ => Err(faults),
        }
    }
}

/// What is sampled, and what is asked for that a fluid does not have.
fn metrics(list: Option<&Value>) -> (Vec<Metric>, Vec<String>) {
    let Some(names) = list.and_then(Value::as_array) else {
        return (vec![Metric::Goodput, Metric::Utilization], Vec::new());
    };
    let mut found = (Vec::new(), Vec::new());
    for name in names {
        match serde_json::from_value(name.clone()) {
            Ok(metric) => found.0.push(metric),
            Err(_) => found.1.push(name.as_str().unwrap_or_default().to_owned()),
        }
    }
    found
}

fn refusals(scenario: &Scenario) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (i, plan) in scenario.workloads.iter().enumerate() {
        if matches!(
            plan.transport,
            Transport::Infiniband(_) | Transport::Rocev2(_)
        ) {
            let message = "lossless transports wait for room behind a link, which a fluid does not know; take backend packet";
            faults.push(Fault::new(format!("workload[{i}].transport"), message));
        }
        if matches!(plan.kind, Workload::Rpc(_)) {
            let message = "rpc exchanges messages, whose latency is one of queues; the flow backend has none: take backend packet";
            faults.push(Fault::new(format!("workload[{i}].kind"), message));
        }
    }
    if !scenario.failures.changes.is_empty() || !scenario.failures.outages.is_empty() {
        let message =
            "failures during a run are done by backend packet; the flow backend keeps its paths";
        faults.push(Fault::new("failure", message));
    }
    let links = &scenario.network.links;
    if let Some(lossy) = links.iter().position(|l| l.loss.is_some()) {
        let message = format!(
            "{} loses packets, and a fluid has none to lose; take backend packet",
            scenario.network.link_name(LinkId::from(lossy))
        );
        faults.push(Fault::new("topology.link.loss", message));
    }
    if let Some(shaped) = links.iter().position(|l| l.shaper.is_some()) {
        let message = format!(
            "{} lets bursts pass, and a fluid has none; leave shaper out, or take backend packet",
            scenario.network.link_name(LinkId::from(shaped))
        );
        faults.push(Fault::new("topology.link.shaper", message));
    }
    faults
}
