//! The table `flows`: one row per flow, and why those that did not finish did not.

use weft_net::ids::FlowId;
use weft_net::paths::path_count;
use weft_net::results::{Column, Table};
use weft_net::transport::Transport;
use weft_net::units::Time;

use crate::outcome::Tally;
use crate::record::{Extents, Reason, UNKNOWN};

/// The table, and what the summary says of it.
pub(crate) struct Flows {
    pub(crate) table: Table,
    /// Flows that did not finish although they should have.
    pub(crate) unfinished: u64,
    /// Of these, flows that could not finish however long the run were.
    pub(crate) given_up: u64,
    /// Why, and how many for each reason.
    pub(crate) reasons: Vec<String>,
}

fn known_ns(time: u64, since: u64) -> Option<i64> {
    (time != UNKNOWN && since != UNKNOWN).then(|| Time(time - since).as_ns() as i64)
}

/// The rows, from what an engine has counted.
pub(crate) fn flows(tally: &Tally<'_>) -> Flows {
    let Tally {
        scenario,
        schedule,
        probe,
        records,
        lost,
        marked,
        stuck,
        changes,
        ..
    } = *tally;
    let seconds = tally.window() as f64 * 1e-12;
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
    let routes = scenario.routes_at(changes);
    let is_cut_off = |flow: &weft_net::workload::Flow| {
        let has_way = |src, dst| routes.has_way(&scenario.network, src, dst);
        changes > 0 && !(has_way(flow.src, flow.dst) && has_way(flow.dst, flow.src))
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
                Reason::None if is_datagram(i) && lost[i] > 0 => "datagrams were lost".to_owned(),
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
        let is_plain = schedule.warmup == 0 && schedule.cooldown == 0;
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
        let end = schedule.warmup + tally.window();
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
        ("timeouts", integer(&|i| sum(i, &|id| records[id].timeouts))),
        (
            "timeout_wait_ns",
            integer(&|i| sum(i, &|id| Time(records[id].timeout_wait).as_ns())),
        ),
        (
            "lost_packets",
            integer(&|i| sum(i, &|id| u64::from(lost[id]))),
        ),
        (
            "marked_packets",
            integer(&|i| sum(i, &|id| u64::from(marked[id]))),
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
            "available_paths",
            integer(&|i| {
                path_count(
                    &scenario.network,
                    &scenario.routes,
                    plan[i].src,
                    plan[i].dst,
                )
            }),
        ),
        (
            "reason",
            Column::Word(reason_of, reasons.iter().map(|r| r.0.clone()).collect()),
        ),
        (
            "latency_mean_ns",
            optional(&|i| records[i].latency.map(|l| Time(l.mean).as_ns() as i64)),
        ),
        (
            "latency_p50_ns",
            optional(&|i| records[i].latency.map(|l| Time(l.p50).as_ns() as i64)),
        ),
        (
            "latency_p99_ns",
            optional(&|i| records[i].latency.map(|l| Time(l.p99).as_ns() as i64)),
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
