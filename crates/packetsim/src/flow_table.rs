//! The table `flows`: one row per flow, and why those that did not finish did not.

use weft_net::ids::FlowId;
use weft_net::results::{self, FlowRow, PacketCounts, Table};
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

/// The rows, from what an engine has counted.
pub(crate) fn flows(tally: &Tally<'_>) -> Flows {
    let Tally {
        scenario, records, ..
    } = *tally;
    let (mut unfinished, mut given_up) = (0, 0);
    // Once routes have changed, a flow may have lost its way after its start.
    let routes = scenario.routes_at(tally.changes);
    let is_cut_off = |flow: &weft_net::workload::Flow| {
        let has_way = |src, dst| routes.has_way(&scenario.network, src, dst);
        tally.changes > 0 && !(has_way(flow.src, flow.dst) && has_way(flow.dst, flow.src))
    };
    let found = results::flows(scenario, |i| {
        let record = &records[i];
        let reason = unfinished_reason(tally, i, &is_cut_off);
        if reason.is_some() {
            unfinished += 1;
            given_up += u64::from(record.reason != Reason::None || tally.stuck[i]);
        }
        FlowRow {
            started: span(record.started, 0),
            fct: span(record.finished, record.started),
            acked: span(record.acked, record.started),
            closed: span(record.closed, record.started),
            delivered_bytes: record.delivered,
            goodput: goodput(tally, i),
            wire_bytes: sum(tally, i, &|id| records[id].wire_bytes),
            subflows: record.subflows,
            packets: Some(packets(tally, i)),
            latency: record.latency,
            reason,
        }
    });
    Flows {
        table: found.table,
        unfinished,
        given_up,
        reasons: (found.reasons.iter())
            .map(|(text, n)| format!("{n} x {text}"))
            .collect(),
    }
}

fn span(time: u64, since: u64) -> Option<u64> {
    (time != UNKNOWN && since != UNKNOWN).then(|| time - since)
}

/// Why a flow did not finish although it should have.
fn unfinished_reason(
    tally: &Tally<'_>,
    i: usize,
    is_cut_off: &dyn Fn(&weft_net::workload::Flow) -> bool,
) -> Option<&'static str> {
    let Tally {
        scenario,
        records,
        stuck,
        ..
    } = *tally;
    let (flow, record) = (&scenario.flows[i], &records[i]);
    let is_fine = record.finished != UNKNOWN
        || (flow.size.is_none() && record.reason == Reason::None && !stuck[i]);
    if is_fine {
        return None;
    }
    let is_datagram = || {
        matches!(
            scenario.workloads[flow.workload as usize].transport,
            Transport::Udp(_)
        )
    };
    let has_leader_closed = || {
        flow.after
            .is_some_and(|a| records[a.index()].closed != UNKNOWN)
    };
    Some(match record.reason {
        _ if is_cut_off(flow) => "path down: a failure left no route to the destination",
        Reason::PathDown => "path down: no route to the destination",
        Reason::BackOff => "timeout back-off: too many timeouts in a row",
        Reason::None if stuck[i] => "zero window: the receiver offers no room",
        Reason::None if record.started == UNKNOWN && has_leader_closed() => {
            "not started: its workload had stopped"
        }
        Reason::None if record.started == UNKNOWN && flow.after.is_some() => {
            "not started: an earlier flow did not finish"
        }
        Reason::None if record.started == UNKNOWN => "not started before the end of the run",
        Reason::None if is_datagram() && tally.lost[i] > 0 => "datagrams were lost",
        Reason::None => "not finished before the end of the run",
    })
}

/// Payload per time, bit/s: of a whole transfer, or in the measurement window.
fn goodput(tally: &Tally<'_>, i: usize) -> Option<f64> {
    let Tally {
        scenario,
        schedule,
        probe,
        records,
        ..
    } = *tally;
    let record = &records[i];
    let is_plain = schedule.warmup == 0 && schedule.cooldown == 0;
    let fct = span(record.finished, record.started).map(|t| Time(t).as_ns());
    if let (true, Some(fct), Some(size)) = (is_plain, fct, scenario.flows[i].size) {
        return (fct > 0).then(|| size as f64 * 8e9 / fct as f64);
    }
    let before = probe.delivered_before.get(i).copied().unwrap_or(0);
    let until = (probe.delivered_until.get(i).copied()).unwrap_or(record.delivered);
    // A flow that starts inside the window is judged over its own time.
    let end = schedule.warmup + tally.window();
    let seconds = tally.window() as f64 * 1e-12;
    let own = end.saturating_sub(record.started) as f64 * 1e-12;
    let length = if record.started == UNKNOWN {
        seconds
    } else {
        own.min(seconds)
    };
    (length > 0.0).then(|| (until - before) as f64 * 8.0 / length)
}

/// Counts of a flow are those of its subflows together; what is known of it as a whole is in the record of the first.
fn sum(tally: &Tally<'_>, i: usize, count: &dyn Fn(usize) -> u64) -> u64 {
    let flow = FlowId::from(i);
    (0..tally.scenario.subflow_count(flow))
        .map(|number| count(tally.scenario.subflow_id(flow, number) as usize))
        .sum()
}

fn packets(tally: &Tally<'_>, i: usize) -> PacketCounts {
    let records = tally.records;
    let flow = FlowId::from(i);
    let mut extents = Extents::default();
    for number in 0..tally.scenario.subflow_count(flow) {
        extents.add(&records[tally.scenario.subflow_id(flow, number) as usize].extents);
    }
    let total = |count: &dyn Fn(usize) -> u64| sum(tally, i, count);
    PacketCounts {
        retransmitted_bytes: total(&|id| records[id].resent_bytes),
        timeouts: total(&|id| records[id].timeouts),
        timeout_wait: total(&|id| records[id].timeout_wait),
        lost: total(&|id| u64::from(tally.lost[id])),
        marked: total(&|id| u64::from(tally.marked[id])),
        reordered: total(&|id| records[id].reordered),
        extent_mean: (extents.count > 0).then(|| extents.sum as f64 / extents.count as f64),
        extent_max: extents.most,
        spurious: total(&|id| records[id].duplicates),
    }
}
