//! What the window engine reads of an experiment: its own rooms, when to stop, what to measure.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::workload_plan::WorkloadPlan;

use crate::congestion::Congestion;
use crate::queue::Queue;
use crate::receive::Receive;
use crate::schedule::Schedule;

/// Everything but the scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// Discipline of all switch ports.
    pub queue: Queue,
    /// Congestion control of each workload.
    pub congestion: Vec<Congestion>,
    /// Receive side of the hosts, for the flows of each workload.
    pub receive: Vec<Receive>,
    /// When the run ends, and what is looked at.
    pub schedule: Schedule,
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
                Transport::Udp(_) | Transport::Infiniband(_) | Transport::Rocev2(_) => {
                    Congestion::from_table(&with_kind(&empty, "reno"))
                }
            })
            .collect();
        let receive: Vec<_> = scenario
            .workloads
            .iter()
            .map(|w| Receive::from_table(&with_kind(&w.receive, "in_order")))
            .collect();
        let schedule = Schedule::from_spec(spec);
        for (workload, control) in scenario.workloads.iter().zip(&congestion) {
            faults.extend(refused(workload, control));
        }
        let mut keep = |fault: Fault| faults.push(fault);
        let queue = queue.map_err(&mut keep).ok();
        let schedule = schedule.map_err(&mut keep).ok();
        let congestion: Option<Vec<_>> = congestion
            .into_iter()
            .map(|c| c.map_err(&mut keep).ok())
            .collect();
        let receive: Option<Vec<_>> = receive
            .into_iter()
            .map(|r| r.map_err(&mut keep).ok())
            .collect();
        match (queue, schedule, congestion, receive) {
            (Some(queue), Some(schedule), Some(congestion), Some(receive)) if faults.is_empty() => {
                Ok(Self {
                    queue,
                    congestion,
                    receive,
                    schedule,
                })
            }
            _ => Err(faults),
        }
    }
}

/// What queues that drop cannot carry.
fn refused(workload: &WorkloadPlan, control: &Result<Congestion, Fault>) -> Option<Fault> {
    let name = &workload.name;
    if let Transport::Infiniband(_) = workload.transport {
        let message = format!(
            "infiniband ({name}) has no retransmission and needs lossless links; write [flow_control] kind = \"credit\""
        );
        return Some(Fault::new("transport.kind", message));
    }
    if let Transport::Rocev2(_) = workload.transport {
        let message = format!(
            "rocev2 ({name}) runs over flow control; write [flow_control] kind = \"pfc\" (with lossless = [] its classes drop)"
        );
        return Some(Fault::new("transport.kind", message));
    }
    let control = control.as_ref().ok().filter(|c| !c.is_for_tcp())?;
    let (kind, why) = match control {
        Congestion::None(_) => ("none", "would fill every queue without end"),
        Congestion::Infiniband(_) => ("infiniband", "has no CCT"),
        Congestion::Dcqcn(_) => ("dcqcn", "has no rate"),
        Congestion::Hpcc(_) => ("hpcc", "carries no telemetry"),
        _ => ("swift", "has no time stamps of a card"),
    };
    let message = format!(
        "{kind} is no control of TCP, which {why} ({name}); take cubic, or transport infiniband or rocev2"
    );
    Some(Fault::new("congestion.kind", message))
}
