//! The end of a run: the tables. What a fluid cannot know is null: packets, queues, losses, marks, timers.

use serde::Serialize;
use weft_net::ids::{FlowId, LinkId};
use weft_net::results::{Column, Table, nodes};
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
const UNKNOWABLE: [&str; 23] = [
    "flows.acked_ns",
    "flows.closed_ns",
    "flows.retransmitted_bytes",
    "flows.lost_packets",
    "flows.marked_packets",
    "flows.reordered_packets",
    "flows.reordering_extent_mean",
    "flows.reordering_extent_max",
    "flows.spurious_retransmits",
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
    let (flows, reasons) = flows(simulation);
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

fn known(time: u64, since: u64) -> Option<i64> {
    (time != UNKNOWN && since != UNKNOWN).then(|| ns(time - since))
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

fn flows(simulation: &Simulation) -> (Table, Vec<(String, u64)>) {
    let Simulation {
        scenario,
        records,
        config,
        probe,
        ..
    } = simulation;
    let plan = &scenario.flows;
    let names: Vec<String> = scenario
        .network
        .host_ids()
        .map(|h| scenario.network.nodes[h.index()].name.clone())
        .collect();
    let workloads = scenario.workloads.iter().map(|w| w.name.clone()).collect();
    let mut reasons: Vec<(String, u64)> = Vec::new();
    let mut reason_of = Vec::with_capacity(records.len());
    for (flow, record) in plan.iter().zip(records) {
        let is_fine = record.finished != UNKNOWN || (flow.size.is_none() && !record.has_no_way);
        let text = match record {
            _ if is_fine => {
                reason_of.push(None);
                continue;
            }
            r if r.has_no_way => "path down: no route to the destination",
            r if r.started == UNKNOWN && flow.after.is_some() => {
                "not started: an earlier flow did not finish"
            }
            r if r.started == UNKNOWN => "not started before the end of the run",
            _ => "not finished before the end of the run",
        };
        let at = reasons.iter().position(|r| r.0 == text).unwrap_or_else(|| {
            reasons.push((text.to_owned(), 0));
            reasons.len() - 1
        });
        reasons[at].1 += 1;
        reason_of.push(Some(at as u32));
    }
    let count = records.len();
    let optional =
        |f: &dyn Fn(usize) -> Option<i64>| Column::OptionalInteger((0..count).map(f).collect());
    let nothing = || Column::OptionalInteger(vec![None; count]);
    let goodput = |i: usize| {
        let record = &records[i];
        if let (0, 0, Some(fct), Some(size)) = (
            config.warmup,
            config.cooldown,
            known(record.finished, record.started),
            plan[i].size,
        ) {
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
    };
    let subflows = |i: usize| i64::from(scenario.subflow_count(FlowId::from(i)));
    let columns = vec![
        ("flow", Column::Integer((0..count as i64).collect())),
        (
            "workload",
            Column::Word(plan.iter().map(|f| Some(f.workload)).collect(), workloads),
        ),
        (
            "src",
            Column::Word(plan.iter().map(|f| Some(f.src.0)).collect(), names.clone()),
        ),
        (
            "dst",
            Column::Word(plan.iter().map(|f| Some(f.dst.0)).collect(), names),
        ),
        ("size_bytes", optional(&|i| plan[i].size.map(|s| s as i64))),
        ("start_ns", optional(&|i| known(records[i].started, 0))),
        (
            "fct_ns",
            optional(&|i| known(records[i].finished, records[i].started)),
        ),
        ("acked_ns", nothing()),
        ("closed_ns", nothing()),
        (
            "ideal_fct_ns",
            optional(&|i| {
                scenario
                    .ideal_fct(FlowId::from(i))
                    .map(|t| t.as_ns() as i64)
            }),
        ),
        (
            "delivered_bytes",
            Column::Integer(records.iter().map(|r| r.sent as i64).collect()),
        ),
        (
            "goodput_bps",
            Column::OptionalReal((0..count).map(goodput).collect()),
        ),
        (
            "wire_bytes",
            Column::Integer(
                (0..count)
                    .map(|i| (records[i].sent * wire_weight(simulation, i)) as i64)
                    .collect(),
            ),
        ),
        ("retransmitted_bytes", nothing()),
        ("lost_packets", nothing()),
        ("marked_packets", nothing()),
        ("reordered_packets", nothing()),
        (
            "reordering_extent_mean",
            Column::OptionalReal(vec![None; count]),
        ),
        ("reordering_extent_max", nothing()),
        ("spurious_retransmits", nothing()),
        (
            "subflows",
            Column::Integer((0..count).map(subflows).collect()),
        ),
        (
            "reason",
            Column::Word(reason_of, reasons.iter().map(|r| r.0.clone()).collect()),
        ),
        ("latency_p50_ns", nothing()),
        ("latency_p99_ns", nothing()),
    ];
    (
        Table {
            name: "flows",
            columns,
        },
        reasons,
    )
}

fn link_names(simulation: &Simulation) -> (Vec<Option<u32>>, Vec<String>) {
    let network = &simulation.scenario.network;
    let links = 0..network.links.len();
    (
        links.clone().map(|i| Some(i as u32)).collect(),
        links.map(|i| network.link_name(LinkId::from(i))).collect(),
    )
}

fn links(simulation: &Simulation) -> Table {
    let Simulation {
        scenario,
        probe,
        carried,
        ..
    } = simulation;
    let links = &scenario.network.links;
    let nodes: Vec<String> = scenario
        .network
        .nodes
        .iter()
        .map(|n| n.name.clone())
        .collect();
    let (codes, names) = link_names(simulation);
    let count = links.len();
    let window = window(simulation) as f64 * 1e-12;
    let busy = |i: usize, bytes: f64| bytes * 8.0 / links[i].rate.0 as f64;
    let utilization = |i: usize| {
        let until = probe.carried_until.get(i).copied().unwrap_or(carried[i]);
        let before = probe.carried_before.get(i).copied().unwrap_or(0.0);
        (window > 0.0).then(|| busy(i, until - before) / window)
    };
    let is_per_flow = scenario.load_balance.is_per_flow();
    let mut flows = vec![0_i64; count];
    for flow in (0..scenario.flows.len())
        .filter(|_| is_per_flow)
        .map(FlowId::from)
    {
        let mut used: Vec<LinkId> = (0..scenario.subflow_count(flow))
            .flat_map(|number| scenario.subflow_path(flow, number).unwrap_or_default())
            .collect();
        used.sort_unstable();
        used.dedup();
        used.into_iter().for_each(|link| flows[link.index()] += 1);
    }
    let known_flows = |n: i64| is_per_flow.then_some(n);
    Table {
        name: "links",
        columns: vec![
            ("link", Column::Word(codes, names)),
            (
                "src",
                Column::Word(links.iter().map(|l| Some(l.src.0)).collect(), nodes.clone()),
            ),
            (
                "dst",
                Column::Word(links.iter().map(|l| Some(l.dst.0)).collect(), nodes),
            ),
            (
                "rate_bps",
                Column::Integer(links.iter().map(|l| l.rate.0 as i64).collect()),
            ),
            (
                "tx_bytes",
                Column::Integer(carried.iter().map(|&b| b as i64).collect()),
            ),
            ("tx_packets", Column::OptionalInteger(vec![None; count])),
            (
                "busy_ns",
                Column::Integer(
                    (0..count)
                        .map(|i| (busy(i, carried[i]) * 1e9) as i64)
                        .collect(),
                ),
            ),
            (
                "utilization",
                Column::OptionalReal((0..count).map(utilization).collect()),
            ),
            (
                "flows",
                Column::OptionalInteger(flows.into_iter().map(known_flows).collect()),
            ),
            ("lost_packets", Column::OptionalInteger(vec![None; count])),
        ],
    }
}

fn queues(simulation: &Simulation) -> Table {
    let (codes, names) = link_names(simulation);
    let count = codes.len();
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
    let scenario = &simulation.scenario;
    let (_, names) = link_names(simulation);
    let (mut flow, mut subflow, mut src_port, mut dst_port) = (vec![], vec![], vec![], vec![]);
    let (mut bytes, mut ends, mut items) = (vec![], vec![], vec![]);
    for owner in (0..scenario.flows.len()).map(FlowId::from) {
        let weight = wire_weight(simulation, owner.index());
        for number in 0..scenario.subflow_count(owner) {
            let Some(path) = scenario.subflow_path(owner, number) else {
                continue;
            };
            let ports = scenario.subflow_ports(owner, number);
            flow.push(i64::from(owner.0));
            subflow.push(i64::from(number));
            src_port.push(i64::from(ports.0));
            dst_port.push(i64::from(ports.1));
            let id = scenario.subflow_id(owner, number);
            bytes.push((simulation.sent[id as usize] * weight) as i64);
            items.extend(path.iter().map(|l| l.0));
            ends.push(items.len() as u32);
        }
    }
    Table {
        name: "paths",
        columns: vec![
            ("flow", Column::Integer(flow)),
            ("subflow", Column::Integer(subflow)),
            ("src_port", Column::Integer(src_port)),
            ("dst_port", Column::Integer(dst_port)),
            (
                "path",
                Column::Words {
                    ends,
                    items,
                    words: names,
                },
            ),
            ("tx_bytes", Column::Integer(bytes)),
        ],
    }
}
