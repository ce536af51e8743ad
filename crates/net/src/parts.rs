//! The parts of a scenario as the experiment's document has them, each read and checked alone.

use serde_json::{Map, Value};

use crate::error::Fault;
use crate::kinds::Describe;
use crate::load_balance::LoadBalance;
use crate::routing::{Routing, Share};
use crate::topology::Topology;
use crate::transport::Transport;
use crate::workload::Workload;
use crate::workload_plan::{WorkloadKeys, WorkloadPlan};

type Spec = Map<String, Value>;

/// The parts of a spec, each read and checked alone.
pub(crate) struct Parts {
    pub(crate) seed: u64,
    pub(crate) topology: Topology,
    pub(crate) routing: Routing,
    pub(crate) load_balance: LoadBalance,
    pub(crate) workloads: Vec<WorkloadPlan>,
}

impl Parts {
    pub(crate) fn read(spec: &Spec) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let seed = match spec.get("seed") {
            None => Some(1),
            Some(value) => value.as_u64().or_else(|| {
                faults.push(Fault::new(
                    "seed",
                    format!("{value} is not a whole number, at least 0"),
                ));
                None
            }),
        };
        let topology = match spec.get("topology").and_then(Value::as_object) {
            Some(table) => keep(&mut faults, Topology::from_table(table)),
            None => keep(
                &mut faults,
                Err(Fault::new("topology", "is required: a table with a kind")),
            ),
        };
        if let Some(Err(fault)) = topology.as_ref().map(Topology::size) {
            faults.push(fault);
        }
        let routing = keep(
            &mut faults,
            Routing::from_table(&room(spec, "routing", "shortest")),
        );
        let load_balance = LoadBalance::from_table(&room(spec, "load_balance", "ecmp"));
        let load_balance = keep(
            &mut faults,
            load_balance.and_then(|l| l.check().map(|()| l)),
        );
        if let (Some(routing), Some(balance)) = (&routing, &load_balance) {
            faults.extend(whole_paths(routing, balance));
        }
        let workloads = workloads(spec, &mut faults);
        match (seed, topology, routing, load_balance) {
            (Some(seed), Some(topology), Some(routing), Some(load_balance))
                if faults.is_empty() =>
            {
                Ok(Self {
                    seed,
                    topology,
                    routing,
                    load_balance,
                    workloads,
                })
            }
            _ => Err(faults),
        }
    }
}

/// What does not go together with whole paths.
fn whole_paths(routing: &Routing, balance: &LoadBalance) -> Option<Fault> {
    let share = routing.share()?;
    if balance.needs_queues() {
        let message = "drill chooses link by link, and this routing gives whole paths; take load_balance ecmp, spray or flowlet, or routing shortest";
        return Some(Fault::new("load_balance.kind", message));
    }
    (share == Share::RoundRobin && !balance.is_per_flow()).then(|| {
        let message = "round_robin gives each connection one path, and this load_balance changes it with every packet or burst; take load_balance ecmp, or share = \"hash\"";
        Fault::new("routing.share", message)
    })
}

fn keep<T>(faults: &mut Vec<Fault>, result: Result<T, Fault>) -> Option<T> {
    result.map_err(|f| faults.push(f)).ok()
}

/// The table of a room, or of its default kind.
fn room(spec: &Spec, name: &str, default: &str) -> Spec {
    let mut table = spec
        .get(name)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    table.entry("kind").or_insert_with(|| default.into());
    table
}

fn workloads(spec: &Spec, faults: &mut Vec<Fault>) -> Vec<WorkloadPlan> {
    let shared = |name: &str| {
        spec.get(name)
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    };
    let transport = Transport::from_table(&room(spec, "transport", "tcp"));
    let transport = keep(faults, transport.and_then(|t| t.check().map(|()| t)));
    let common: Vec<_> = WorkloadKeys::describe()
        .parameters
        .iter()
        .map(|p| p.name)
        .collect();
    let mut plans: Vec<WorkloadPlan> = Vec::new();
    for (i, table) in spec
        .get("workload")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let section = format!("workload[{i}]");
        let Some(table) = table.as_object() else {
            faults.push(Fault::new(section, "is not a table"));
            continue;
        };
        let (keys, own): (Spec, Spec) = table
            .clone()
            .into_iter()
            .partition(|(key, _)| common.contains(&key.as_str()));
        let keys = keep(
            faults,
            WorkloadKeys::from_table(&keys).map_err(|f| f.in_section(&section)),
        );
        let kind = keep(
            faults,
            Workload::from_table(&own).map_err(|f| f.in_section(&section)),
        );
        let (Some(keys), Some(kind)) = (keys, kind) else {
            continue;
        };
        let name = keys
            .name
            .unwrap_or_else(|| own["kind"].as_str().unwrap_or_default().to_owned());
        if let Some(stop) = keys.stop.filter(|&stop| stop <= keys.start) {
            faults.push(Fault::new(
                format!("{section}.stop"),
                format!("{stop} is not after its start at {}", keys.start),
            ));
        }
        if let Some(other) = plans.iter().position(|p| p.name == name) {
            let message = format!(
                "{name:?} is the name of workload[{other}], too; names give the random streams: choose another"
            );
            faults.push(Fault::new(format!("{section}.name"), message));
        }
        if let Some(Err(fault)) = keys.transport.as_ref().map(Transport::check) {
            faults.push(fault.under(&format!("{section}.")));
        }
        let Some(transport) = keys.transport.or_else(|| transport.clone()) else {
            continue;
        };
        plans.push(WorkloadPlan {
            name,
            kind,
            transport,
            congestion: keys
                .congestion
                .map_or_else(|| shared("congestion"), |t| t.0),
            receive: keys.receive.map_or_else(|| shared("receive"), |t| t.0),
            start: keys.start,
            stop: keys.stop,
            first_flow: 0,
            flows: 0,
        });
    }
    plans
}
