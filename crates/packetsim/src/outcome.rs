//! The end of a run: the conservation check and the tables.
//!
//! Sent = delivered + dropped + in flight, per flow and per link, and busy time = the sum of the serialization times.
//! A run that breaks one of these is worth nothing, so it panics with the values.

use serde::Serialize;
use weft_net::ids::{FlowId, LinkId};
use weft_net::results::{Column, Table};
use weft_net::transport::Transport;
use weft_net::units::Time;

use crate::engine::{End, Simulation};
use crate::packet::LOCAL;
use crate::record::{Extents, Reason, UNKNOWN};

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
    /// Packets and local events handled.
    pub events: u64,
    /// Packets that left a port over a link.
    pub packet_hops: u64,
    /// Simulated time.
    pub simulated_ns: u64,
    /// Hash of all departures, the same on any machine.
    pub fingerprint: String,
    /// What to know before the numbers are trusted.
    pub warnings: Vec<String>,
    /// Whether the run came to the end that the experiment asked for, and no flow was given up on the way.
    pub finished: bool,
    /// Flows with a size that did not finish.
    pub unfinished: u64,
    /// Columns that this backend cannot know.
    pub null_columns: Vec<String>,
}

/// Packets that are queued, and on the wire, at the end of the run.
struct InFlight {
    /// By link: packets and bytes that have not left.
    queued: Vec<(u64, u64)>,
    /// By link: what these have been charged for time after the end: bytes x ps in the queue, ps of waiting.
    beyond: Vec<(u128, u64)>,
    /// By link: packets that have left and not arrived.
    flying: Vec<u64>,
    /// By subflow: both.
    by_flow: Vec<u64>,
}

fn in_flight(simulation: &Simulation) -> InFlight {
    let wire = &simulation.wire;
    let mut found = InFlight {
        queued: vec![(0, 0); wire.ports.len()],
        beyond: vec![(0, 0); wire.ports.len()],
        flying: vec![0; wire.ports.len()],
        by_flow: vec![0; simulation.scenario.subflows_total()],
    };
    for packet in wire.calendar.packets().filter(|p| p.link & LOCAL == 0) {
        let link = packet.link as usize;
        found.by_flow[packet.flow as usize] += 1;
        let class = wire.ports.class(packet.link);
        if packet.time - class.delay > simulation.now {
            let bytes = u64::from(packet.bytes) + class.overhead;
            let beyond = packet.time - class.delay - simulation.now;
            found.beyond[link].0 += u128::from(bytes) * u128::from(beyond);
            found.beyond[link].1 += beyond.saturating_sub(class.transmit_time(bytes));
            found.queued[link].0 += 1;
            found.queued[link].1 += bytes;
        } else {
            found.flying[link] += 1;
        }
    }
    found
}

/// Panics unless every packet is accounted for.
fn check_conservation(simulation: &Simulation, found: &InFlight) {
    let (wire, hosts) = (&simulation.wire, &simulation.hosts);
    for link in 0..wire.ports.len() {
        let (port, class) = (wire.ports.port(link as u32), wire.ports.class(link as u32));
        let name = || simulation.scenario.network.link_name(LinkId::from(link));
        let lost = wire
            .wear
            .get(link)
            .and_then(Option::as_ref)
            .map_or(0, |w| w.lost);
        // A packet that the wire loses is counted when it joins the queue: it has no arrival.
        let ahead = port.packets - lost - found.queued[link].0 - found.flying[link];
        assert_eq!(
            ahead as u32,
            wire.arrived[link],
            "link {}: packets accepted - lost - in flight, and arrived",
            name()
        );
        let busy = u128::from(wire.ports.busy_before(link as u32, u64::MAX));
        let least = u128::from(port.bytes) * 8_000_000_000_000 / u128::from(class.rate);
        assert!(
            (least..=least + u128::from(port.packets)).contains(&busy),
            "link {}: busy for {busy} ps with {} bytes at {} bit/s",
            name(),
            port.bytes,
            class.rate
        );
    }
    for (id, record) in hosts.records.iter().enumerate() {
        let accounted = record.arrived + u64::from(wire.lost[id]) + found.by_flow[id];
        let (flow, number) = simulation.scenario.subflow(id as u32);
        assert_eq!(
            record.sent, accounted,
            "flow {}, subflow {number}: packets sent, and arrived + lost + in flight",
            flow.0
        );
    }
}

/// Ends the run.
pub(crate) fn finish(simulation: &mut Simulation) -> Outcome {
    // Which flows offer no window must be asked before their ends are gone.
    let stuck: Vec<bool> = (0..simulation.scenario.flows.len())
        .map(|f| simulation.hosts.is_stuck(f))
        .collect();
    simulation.hosts.retire_all(&simulation.scenario);
    let found = in_flight(simulation);
    check_conservation(simulation, &found);
    let flows = flows(simulation, &stuck);
    let tables = vec![
        flows.table,
        links(simulation, &found),
        queues(simulation, &found),
        paths(simulation),
        weft_net::results::nodes(&simulation.scenario.network),
    ];
    let mut warnings = simulation.scenario.routes.warnings.clone();
    let count = flows.unfinished;
    match simulation.end {
        End::Limit => warnings.push(format!(
            "the limit of {} was reached before all flows were done; raise backend.limit, or see the reasons of the flows",
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
    if count > 0 {
        let total = simulation.scenario.flows.len();
        warnings.push(format!(
            "{count} of {total} flows did not finish: {}",
            flows.reasons.join("; ")
        ));
    }
    if simulation.wire.unroutable > 0 {
        warnings.push(format!(
            "{} packets had no way to their destination",
            simulation.wire.unroutable
        ));
    }
    Outcome {
        tables,
        summary: Summary {
            events: simulation.events,
            packet_hops: simulation.wire.hops,
            simulated_ns: Time(simulation.now).as_ns(),
            fingerprint: format!("{:016x}", simulation.wire.fingerprint()),
            warnings,
            finished: simulation.end == End::Done && flows.given_up == 0,
            unfinished: count,
            null_columns: vec!["samples.error".to_owned()],
        },
    }
}

/// Length of the measurement window, ps.
fn window(simulation: &Simulation) -> u64 {
    let end = simulation.now
        - if simulation.probe.busy_until.is_empty() {
            0
        } else {
            simulation.config.cooldown
        };
    end.saturating_sub(simulation.config.warmup)
}

struct Flows {
    table: Table,
    unfinished: u64,
    /// Of these, flows that could not finish however long the run were.
    given_up: u64,
    reasons: Vec<String>,
}

fn known_ns(time: u64, since: u64) -> Option<i64> {
    (time != UNKNOWN && since != UNKNOWN).then(|| Time(time - since).as_ns() as i64)
}

fn flows(simulation: &Simulation, stuck: &[bool]) -> Flows {
    let Simulation {
        scenario,
        hosts,
        wire,
        config,
        probe,
        ..
    } = simulation;
    let records = &hosts.records;
    let seconds = window(simulation) as f64 * 1e-12;
    let names: Vec<String> = scenario.network.nodes[..scenario.network.hosts]
        .iter()
        .map(|n| n.name.clone())
        .collect();
    let workloads: Vec<String> = scenario.workloads.iter().map(|w| w.name.clone()).collect();
    let mut reasons: Vec<(String, u64)> = Vec::new();
    let mut reason_of: Vec<Option<u32>> = Vec::with_capacity(records.len());
    let is_datagram = |i: usize| {
        matches!(
            scenario.workloads[scenario.flows[i].workload as usize].transport,
            Transport::Udp(_)
        )
    };
    // Once routes have changed, a flow may have lost its way after its start.
    let routes = scenario.routes_at(wire.changes);
    let is_cut_off = |flow: &weft_net::workload::Flow| {
        let has_way = |src, dst| routes.has_way(&scenario.network, src, dst);
        wire.changes > 0 && !(has_way(flow.src, flow.dst) && has_way(flow.dst, flow.src))
    };
    let (mut unfinished, mut given_up) = (0, 0);
    for (i, (flow, record)) in scenario.flows.iter().zip(records).enumerate() {
        let text = if record.finished != UNKNOWN
            || (flow.size.is_none() && record.reason == Reason::None && !stuck[i])
        {
            None
        } else {
            unfinished += 1;
            given_up += u64::from(record.reason != Reason::None || stuck[i]);
            Some(match record.reason {
                _ if is_cut_off(flow) => {
                    "path down: a failure left no route to the destination".to_owned()
                }
                Reason::PathDown => "path down: no route to the destination".to_owned(),
                Reason::BackOff => "timeout back-off: too many timeouts in a row".to_owned(),
                Reason::None if stuck[i] => "zero window: the receiver offers no room".to_owned(),
                Reason::None
                    if record.started == UNKNOWN
                        && flow
                            .after
                            .is_some_and(|a| records[a.index()].closed != UNKNOWN) =>
                {
                    "not started: its workload had stopped".to_owned()
                }
                Reason::None if record.started == UNKNOWN && flow.after.is_some() => {
                    "not started: an earlier flow did not finish".to_owned()
                }
                Reason::None if record.started == UNKNOWN => {
                    "not started before the end of the run".to_owned()
                }
                Reason::None if is_datagram(i) && wire.lost[i] > 0 => {
                    "datagrams were lost".to_owned()
                }
                Reason::None => "not finished before the end of the run".to_owned(),
            })
        };
        reason_of.push(
            text.map(|text| match reasons.iter().position(|r| r.0 == text) {
                Some(at) => {
                    reasons[at].1 += 1;
                    at as u32
                }
                None => {
                    reasons.push((text, 1));
                    reasons.len() as u32 - 1
                }
            }),
        );
    }
    let integer = |f: &dyn Fn(usize) -> u64| {
        Column::Integer((0..scenario.flows.len()).map(|i| f(i) as i64).collect())
    };
    let optional = |f: &dyn Fn(usize) -> Option<i64>| {
        Column::OptionalInteger((0..scenario.flows.len()).map(f).collect())
    };
    // Counts of a flow are those of its subflows together; what is known of it as a whole is in the record of the first.
    let sum = |i: usize, count: &dyn Fn(usize) -> u64| {
        let flow = FlowId::from(i);
        (0..scenario.subflow_count(flow))
            .map(|number| count(scenario.subflow_id(flow, number) as usize))
            .sum()
    };
    let extents = |i: usize| {
        let flow = FlowId::from(i);
        let mut all = Extents::default();
        for number in 0..scenario.subflow_count(flow) {
            all.add(&records[scenario.subflow_id(flow, number) as usize].extents);
        }
        all
    };
    let plan = &scenario.flows;
    let goodput = |i: usize| {
        let record = &records[i];
        let is_plain = config.warmup == 0 && config.cooldown == 0;
        if let (true, Some(fct), Some(size)) = (
            is_plain,
            known_ns(record.finished, record.started),
            plan[i].size,
        ) {
            return (fct > 0).then(|| size as f64 * 8e9 / fct as f64);
        }
        let before = probe.delivered_before.get(i).copied().unwrap_or(0);
        let until = probe
            .delivered_until
            .get(i)
            .copied()
            .unwrap_or(record.delivered);
        // A flow that starts inside the window is judged over its own time.
        let end = config.warmup + window(simulation);
        let own = end.saturating_sub(record.started) as f64 * 1e-12;
        let length = if record.started == UNKNOWN {
            seconds
        } else {
            own.min(seconds)
        };
        (length > 0.0).then(|| (until - before) as f64 * 8.0 / length)
    };
    let columns = vec![
        ("flow", integer(&|i| i as u64)),
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
        ("start_ns", optional(&|i| known_ns(records[i].started, 0))),
        (
            "fct_ns",
            optional(&|i| known_ns(records[i].finished, records[i].started)),
        ),
        (
            "acked_ns",
            optional(&|i| known_ns(records[i].acked, records[i].started)),
        ),
        (
            "closed_ns",
            optional(&|i| known_ns(records[i].closed, records[i].started)),
        ),
        (
            "ideal_fct_ns",
            optional(&|i| {
                scenario
                    .ideal_fct(FlowId::from(i))
                    .map(|t| t.as_ns() as i64)
            }),
        ),
        ("delivered_bytes", integer(&|i| records[i].delivered)),
        (
            "goodput_bps",
            Column::OptionalReal((0..plan.len()).map(goodput).collect()),
        ),
        (
            "wire_bytes",
            integer(&|i| sum(i, &|id| records[id].wire_bytes)),
        ),
        (
            "retransmitted_bytes",
            integer(&|i| sum(i, &|id| records[id].resent_bytes)),
        ),
        (
            "lost_packets",
            integer(&|i| sum(i, &|id| u64::from(wire.lost[id]))),
        ),
        (
            "marked_packets",
            integer(&|i| sum(i, &|id| u64::from(wire.marked[id]))),
        ),
        (
            "reordered_packets",
            integer(&|i| sum(i, &|id| records[id].reordered)),
        ),
        (
            "reordering_extent_mean",
            Column::OptionalReal(
                (0..plan.len())
                    .map(|i| {
                        let all = extents(i);
                        (all.count > 0).then(|| all.sum as f64 / all.count as f64)
                    })
                    .collect(),
            ),
        ),
        ("reordering_extent_max", integer(&|i| extents(i).most)),
        (
            "spurious_retransmits",
            integer(&|i| sum(i, &|id| records[id].duplicates)),
        ),
        ("subflows", integer(&|i| u64::from(records[i].subflows))),
        (
            "reason",
            Column::Word(reason_of, reasons.iter().map(|r| r.0.clone()).collect()),
        ),
        (
            "latency_p50_ns",
            optional(&|i| records[i].latency.map(|l| Time(l.0).as_ns() as i64)),
        ),
        (
            "latency_p99_ns",
            optional(&|i| records[i].latency.map(|l| Time(l.1).as_ns() as i64)),
        ),
    ];
    let reasons = reasons
        .into_iter()
        .map(|(text, n)| format!("{n} x {text}"))
        .collect();
    Flows {
        table: Table {
            name: "flows",
            columns,
        },
        unfinished,
        given_up,
        reasons,
    }
}

fn link_words(simulation: &Simulation) -> (Vec<Option<u32>>, Vec<String>) {
    let network = &simulation.scenario.network;
    let names: Vec<String> = (0..network.links.len())
        .map(|i| network.link_name(LinkId::from(i)))
        .collect();
    ((0..names.len() as u32).map(Some).collect(), names)
}

fn links(simulation: &Simulation, found: &InFlight) -> Table {
    let Simulation {
        scenario,
        wire,
        probe,
        config,
        ..
    } = simulation;
    let network = &scenario.network;
    let nodes: Vec<String> = network.nodes.iter().map(|n| n.name.clone()).collect();
    let (codes, names) = link_words(simulation);
    let count = network.links.len();
    let busy = |i: usize| wire.ports.busy_before(i as u32, simulation.now);
    let window = window(simulation) as f64;
    let utilization = |i: usize| {
        let until = probe.busy_until.get(i).copied().unwrap_or_else(|| busy(i));
        let before = probe.busy_before.get(i).copied().unwrap_or(0);
        (window > 0.0).then(|| until.saturating_sub(before) as f64 / window)
    };
    let mut flows = vec![0_i64; count];
    let is_per_flow = scenario.load_balance.is_per_flow();
    if is_per_flow {
        for i in 0..scenario.flows.len() {
            let flow = FlowId::from(i);
            // Subflows that share a link are one flow there.
            let mut links: Vec<LinkId> = (0..scenario.subflow_count(flow))
                .flat_map(|number| scenario.subflow_path(flow, number).unwrap_or_default())
                .collect();
            links.sort_unstable();
            links.dedup();
            for link in links {
                flows[link.index()] += 1;
            }
        }
    }
    let integer =
        |f: &dyn Fn(usize) -> u64| Column::Integer((0..count).map(|i| f(i) as i64).collect());
    let columns = vec![
        ("link", Column::Word(codes, names)),
        (
            "src",
            Column::Word(
                network.links.iter().map(|l| Some(l.src.0)).collect(),
                nodes.clone(),
            ),
        ),
        (
            "dst",
            Column::Word(network.links.iter().map(|l| Some(l.dst.0)).collect(), nodes),
        ),
        ("rate_bps", integer(&|i| network.links[i].rate.0)),
        (
            "tx_bytes",
            integer(&|i| wire.ports.port(i as u32).bytes - found.queued[i].1),
        ),
        (
            "tx_packets",
            integer(&|i| wire.ports.port(i as u32).packets - found.queued[i].0),
        ),
        ("busy_ns", integer(&|i| Time(busy(i)).as_ns())),
        (
            "utilization",
            Column::OptionalReal((0..count).map(utilization).collect()),
        ),
        (
            "flows",
            Column::OptionalInteger(if is_per_flow {
                flows.into_iter().map(Some).collect()
            } else {
                vec![None; count]
            }),
        ),
        (
            "lost_packets",
            integer(&|i| {
                wire.wear
                    .get(i)
                    .and_then(Option::as_ref)
                    .map_or(0, |w| w.lost)
            }),
        ),
    ];
    let _ = config;
    Table {
        name: "links",
        columns,
    }
}

fn queues(simulation: &Simulation, found: &InFlight) -> Table {
    let wire = &simulation.wire;
    let (codes, names) = link_words(simulation);
    let count = codes.len();
    let now = simulation.now.max(1);
    let integer =
        |f: &dyn Fn(usize) -> u64| Column::Integer((0..count).map(|i| f(i) as i64).collect());
    let port = |i: usize| wire.ports.port(i as u32);
    let columns = vec![
        ("link", Column::Word(codes, names)),
        ("priority", integer(&|_| 0)),
        ("enqueued_packets", integer(&|i| port(i).packets)),
        (
            "dropped_packets",
            integer(&|i| wire.ports.tallies[i].dropped),
        ),
        ("marked_packets", integer(&|i| wire.ports.tallies[i].marked)),
        (
            "max_bytes",
            integer(&|i| wire.ports.class(i as u32).bytes_in(port(i).max_backlog)),
        ),
        (
            "mean_bytes",
            Column::Real(
                (0..count)
                    .map(|i| (port(i).byte_time - found.beyond[i].0) as f64 / now as f64)
                    .collect(),
            ),
        ),
        (
            "mean_wait_ns",
            Column::OptionalReal(
                (0..count)
                    .map(|i| {
                        let port = port(i);
                        (port.packets > 0).then(|| {
                            (port.waited - found.beyond[i].1) as f64 / 1e3 / port.packets as f64
                        })
                    })
                    .collect(),
            ),
        ),
        ("paused_ns", integer(&|_| 0)),
    ];
    Table {
        name: "queues",
        columns,
    }
}

fn paths(simulation: &Simulation) -> Table {
    let scenario = &simulation.scenario;
    let (_, names) = link_words(simulation);
    let (mut flow, mut subflow, mut src_port, mut dst_port) = (vec![], vec![], vec![], vec![]);
    let (mut bytes, mut ends, mut items) = (vec![], vec![], vec![]);
    let mut add = |id: u32, path: &[LinkId], carried: u64| {
        let (owner, number) = scenario.subflow(id);
        let ports = scenario.subflow_ports(owner, number);
        flow.push(i64::from(owner.0));
        subflow.push(i64::from(number));
        src_port.push(i64::from(ports.0));
        dst_port.push(i64::from(ports.1));
        bytes.push(carried as i64);
        items.extend(path.iter().map(|l| l.0));
        ends.push(items.len() as u32);
    };
    for owner in (0..scenario.flows.len()).map(FlowId::from) {
        for number in 0..scenario.subflow_count(owner) {
            if let Some(path) = scenario.subflow_path(owner, number) {
                let id = scenario.subflow_id(owner, number);
                add(id, &path, simulation.hosts.records[id as usize].wire_bytes);
            }
        }
    }
    let turns = simulation.wire.turns.as_ref();
    for (id, path, carried) in turns.map_or_else(Vec::new, |t| t.paths(scenario)) {
        add(id, &path, carried);
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
