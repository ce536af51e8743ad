//! The end of a run: the tables. What a fluid cannot know is null: packets, queues, losses, marks, timers.

use serde::Serialize;
use weft_net::ids::FlowId;
use weft_net::results::{self, Column, FlowRow, FlowTable, LinkRow, Table, link_names, nodes};
use weft_net::transport::Transport;
use weft_net::units::Time;

use crate::engine::{End, Simulation, UNKNOWN, ns};

/// Everything that a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// `flows`, `links`, `queues`, `paths`, `nodes`.
    pub tables: Vec<Table>,
    /// What the manifest says of the run.
    pub summary: Summary,
}

/// What the manifest says of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Arrivals, completions and rounds.
    pub events: u64,
    /// There are no packets.
    pub packet_hops: Option<u64>,
    /// Simulated time.
    pub simulated_ns: u64,
    /// Hash of all completions, the same on any machine.
    pub fingerprint: String,
    /// What to know before the numbers are trusted.
    pub warnings: Vec<String>,
    /// Whether the run came to the end that the experiment asked for, and every flow has a way.
    pub finished: bool,
    /// Flows with a size that did not finish.
    pub unfinished: u64,
    /// Columns that this backend cannot know.
    pub null_columns: Vec<String>,
}

/// Columns of whole tables that stay null.
const UNKNOWABLE: [&str; 26] = [
    "flows.acked_ns",
    "flows.closed_ns",
    "flows.retransmitted_bytes",
    "flows.timeouts",
    "flows.timeout_wait_ns",
    "flows.lost_packets",
    "flows.marked_packets",
    "flows.reordered_packets",
    "flows.reordering_extent_mean",
    "flows.reordering_extent_max",
    "flows.spurious_retransmits",
    "flows.latency_mean_ns",
    "flows.latency_p50_ns",
    "flows.latency_p99_ns",
    "links.tx_packets",
    "links.lost_packets",
    "queues.priority",
    "queues.enqueued_packets",
    "queues.dropped_packets",
    "queues.marked_packets",
    "queues.max_bytes",
    "queues.mean_bytes",
    "queues.mean_wait_ns",
    "queues.paused_ns",
    "samples.error",
    "manifest.packet_hops",
];

/// Ends the run; flows are settled.
pub(crate) fn finish(simulation: &Simulation) -> Outcome {
    let network = &simulation.scenario.network;
    let FlowTable {
        table: flows,
        reasons,
    } = flows(simulation);
    let mut warnings = simulation.scenario.routes.warnings.clone();
    match simulation.end {
        End::Limit => warnings.push(format!(
            "the limit of {} was reached before all flows were done; raise backend.limit",
            Time(simulation.config.limit)
        )),
        _ if window(simulation) == 0 && simulation.now > 0 => warnings.push(format!(
            "the run ended at {}, before the warm-up of {} was over: nothing was measured; shorten measure.warmup",
            Time(simulation.now),
            Time(simulation.config.warmup)
        )),
        End::Stuck => warnings.push(format!(
            "the run stopped at {}: nothing more could happen, but flows were left",
            Time(simulation.now)
        )),
        End::Done | End::Running => {}
    }
    let unfinished: u64 = reasons.iter().map(|r| r.1).sum();
    if unfinished > 0 {
        let each: Vec<String> = reasons
            .iter()
            .map(|(text, n)| format!("{n} x {text}"))
            .collect();
        let total = simulation.records.len();
        warnings.push(format!(
            "{unfinished} of {total} flows did not finish: {}",
            each.join("; ")
        ));
    }
    for (plan, _) in (simulation
        .scenario
        .workloads
        .iter()
        .zip(&simulation.squeezed))
    .filter(|s| *s.1)
    {
        warnings.push(format!(
            "workload {:?}: UDP found less room than its rate; it got a fair share here, and would not yield in a network of packets",
            plan.name
        ));
    }
    if simulation.rough() > 0 {
        warnings.push(format!(
            "after {} changes the prices of links did not settle to sharing.precision; raise it",
            simulation.rough()
        ));
    }
    if simulation.config.every > 0 && !simulation.config.unsampled.is_empty() {
        let names = simulation.config.unsampled.join(", ");
        warnings.push(format!(
            "not sampled: {names}; a fluid has goodput and utilization, and no windows, round trips or queues"
        ));
    }
    let has_no_way = simulation.records.iter().any(|r| r.has_no_way);
    Outcome {
        tables: vec![
            flows,
            links(simulation),
            queues(simulation),
            paths(simulation),
            nodes(network),
        ],
        summary: Summary {
            events: simulation.events,
            packet_hops: None,
            simulated_ns: Time(simulation.now).as_ns(),
            fingerprint: format!("{:016x}", simulation.fingerprint),
            warnings,
            finished: simulation.end == End::Done && !has_no_way,
            unfinished,
            null_columns: UNKNOWABLE.map(str::to_owned).to_vec(),
        },
    }
}

/// Length of the measurement window, ps.
fn window(simulation: &Simulation) -> u64 {
    let cooldown = match simulation.probe.carried_until.is_empty() {
        true => 0,
        false => simulation.config.cooldown,
    };
    (simulation.now - cooldown).saturating_sub(simulation.config.warmup)
}

/// Bytes of a flow on its first link for each byte of its payload.
fn wire_weight(simulation: &Simulation, flow: usize) -> f64 {
    let plan = &simulation.scenario.flows[flow];
    let transport = &simulation.scenario.workloads[plan.workload as usize].transport;
    let header = u64::from(transport.header_bytes());
    let overhead = (simulation.scenario.network.out(plan.src).first()).map_or(0, |l| {
        u64::from(simulation.scenario.network.links[l.index()].overhead)
    });
    let mtu = match transport {
        Transport::Udp(udp) => udp.packet.map_or(u64::MAX, |p| p.0),
        _ => u64::MAX,
    };
    let mss = simulation
        .scenario
        .path_mtu(FlowId::from(flow))
        .map_or(1500, u64::from)
        .min(mtu)
        - header;
    let each = (header + overhead) as f64;
    match plan.size {
        Some(0) => 1.0,
        Some(size) => 1.0 + size.div_ceil(mss) as f64 * each / size as f64,
        None => 1.0 + each / mss as f64,
    }
}

fn flows(simulation: &Simulation) -> FlowTable {
    let Simulation {
        scenario, records, ..
    } = simulation;
    let known = |time: u64, since: u64| (time != UNKNOWN && since != UNKNOWN).then(|| time - since);
    results::flows(scenario, |i| {
        let record = &records[i];
        FlowRow {
            started: known(record.started, 0),
            fct: known(record.finished, record.started),
            delivered_bytes: record.sent as u64,
            goodput: goodput(simulation, i),
            wire_bytes: (record.sent * wire_weight(simulation, i)) as u64,
            subflows: scenario.subflow_count(FlowId::from(i)),
            reason: reason(simulation, i),
            ..FlowRow::default()
        }
    })
}

/// Why a flow did not finish although it should have.
fn reason(simulation: &Simulation, i: usize) -> Option<&'static str> {
    let (flow, record) = (&simulation.scenario.flows[i], &simulation.records[i]);
    if record.finished != UNKNOWN || (flow.size.is_none() && !record.has_no_way) {
        return None;
    }
    Some(match record.started {
        _ if record.has_no_way => "path down: no route to the destination",
        UNKNOWN if flow.after.is_some() => "not started: an earlier flow did not finish",
        UNKNOWN => "not started before the end of the run",
        _ => "not finished before the end of the run",
    })
}

/// Payload per time, bit/s: of a whole transfer, or in the measurement window.
fn goodput(simulation: &Simulation, i: usize) -> Option<f64> {
    let Simulation { config, probe, .. } = simulation;
    let record = &simulation.records[i];
    let is_plain = config.warmup == 0 && config.cooldown == 0;
    if let (true, Some(size)) = (is_plain, simulation.scenario.flows[i].size)
        && record.finished != UNKNOWN
    {
        let fct = ns(record.finished - record.started);
        return (fct > 0).then(|| size as f64 * 8e9 / fct as f64);
    }
    let before = probe.sent_before.get(i).copied().unwrap_or(0.0);
    let until = probe.sent_until.get(i).copied().unwrap_or(record.sent);
    let seconds = window(simulation) as f64 * 1e-12;
    let end = config.warmup + window(simulation);
    let length = match record.started {
        UNKNOWN => seconds,
        started => (end.saturating_sub(started) as f64 * 1e-12).min(seconds),
    };
    (length > 0.0).then(|| (until - before) * 8.0 / length)
}

fn links(simulation: &Simulation) -> Table {
    let Simulation {
        scenario,
        probe,
        carried,
        ..
    } = simulation;
    let window = window(simulation) as f64 * 1e-12;
    results::links(scenario, |i| {
        let busy = |bytes: f64| bytes * 8.0 / scenario.network.links[i].rate.0 as f64;
        let until = probe.carried_until.get(i).copied().unwrap_or(carried[i]);
        let before = probe.carried_before.get(i).copied().unwrap_or(0.0);
        LinkRow {
            tx_bytes: carried[i] as u64,
            tx_packets: None,
            busy: (busy(carried[i]) * 1e12) as u64,
            utilization: (window > 0.0).then(|| busy(until - before) / window),
            lost_packets: None,
        }
    })
}

fn queues(simulation: &Simulation) -> Table {
    let names = link_names(&simulation.scenario);
    let count = names.len();
    let codes = (0..count as u32).map(Some).collect();
    let nothing = || Column::OptionalInteger(vec![None; count]);
    Table {
        name: "queues",
        columns: vec![
            ("link", Column::Word(codes, names)),
            ("priority", nothing()),
            ("enqueued_packets", nothing()),
            ("dropped_packets", nothing()),
            ("marked_packets", nothing()),
            ("max_bytes", nothing()),
            ("mean_bytes", Column::OptionalReal(vec![None; count])),
            ("mean_wait_ns", Column::OptionalReal(vec![None; count])),
            ("paused_ns", nothing()),
        ],
    }
}

fn paths(simulation: &Simulation) -> Table {
    let bytes = |id: u32| {
        let (owner, _) = simulation.scenario.subflow(id);
        (simulation.sent[id as usize] * wire_weight(simulation, owner.index())) as u64
    };
    results::paths(&simulation.scenario, bytes, [])
}
