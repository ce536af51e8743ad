//! The table `flows`: what is planned comes from the scenario, what happened from the backend, null where it cannot know.

use serde::{Deserialize, Serialize};

use crate::ideal_fct::Ideals;
use crate::ids::FlowId;
use crate::paths::path_count;
use crate::results::{Column, Table};
use crate::scenario::Scenario;
use crate::units::Time;

/// What happened to one flow. Times in ps.
#[derive(Clone, Debug, Default)]
pub struct FlowRow {
    /// The first packet of the flow is sent.
    pub started: Option<u64>,
    /// From then until the last payload byte arrives.
    pub fct: Option<u64>,
    /// From then until the sender knows.
    pub acked: Option<u64>,
    /// From then until the connection is closed.
    pub closed: Option<u64>,
    /// Payload bytes that the application got.
    pub delivered_bytes: u64,
    /// Payload per time in the measurement window, bit/s.
    pub goodput: Option<f64>,
    /// Bytes that its sender put on its links, headers and overhead included.
    pub wire_bytes: u64,
    /// Subflows that were opened.
    pub subflows: u32,
    /// What is known of its packets.
    pub packets: Option<PacketCounts>,
    /// Of its queries.
    pub latency: Option<Latency>,
    /// Why it did not finish although it should have.
    pub reason: Option<&'static str>,
}

/// Counts over all packets of a flow, its subflows together.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketCounts {
    /// Bytes of packets sent again.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Time in which only they could help, ps.
    pub timeout_wait: u64,
    /// Packets dropped by queues or lost on wires.
    pub lost: u64,
    /// Packets marked by queues.
    pub marked: u64,
    /// Packets that came after a later one (RFC 4737).
    pub reordered: u64,
    /// Mean reordering extent; `None` if nothing was reordered.
    pub extent_mean: Option<f64>,
    /// Largest reordering extent.
    pub extent_max: u64,
    /// Packets that had come already.
    pub spurious: u64,
}

/// What is said of delays, ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub mean: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
}

/// The table, and why flows did not finish with how many did not for each reason.
pub struct FlowTable {
    /// `flows`.
    pub table: Table,
    /// In the order in which they are met.
    pub reasons: Vec<(&'static str, u64)>,
}

/// A row for every flow of the scenario; `row` is called once for each, in their order.
pub fn flows(scenario: &Scenario, mut row: impl FnMut(usize) -> FlowRow) -> FlowTable {
    let plan = &scenario.flows;
    let ns = |time: Option<u64>| time.map(|t| Time(t).as_ns() as i64);
    let mut reasons: Vec<(&'static str, u64)> = Vec::new();
    let (mut reason_of, mut goodput, mut extent_mean) = (vec![], vec![], vec![]);
    let mut times: [Vec<Option<i64>>; 4] = Default::default();
    let mut latency: [Vec<Option<i64>>; 3] = Default::default();
    let mut known: [Vec<i64>; 3] = Default::default();
    let mut counted: [Vec<Option<i64>>; 8] = Default::default();
    for flow in 0..plan.len() {
        let row = row(flow);
        for (column, time) in times
            .iter_mut()
            .zip([row.started, row.fct, row.acked, row.closed])
        {
            column.push(ns(time));
        }
        let whole = [row.delivered_bytes, row.wire_bytes, u64::from(row.subflows)];
        for (column, value) in known.iter_mut().zip(whole) {
            column.push(value as i64);
        }
        goodput.push(row.goodput);
        extent_mean.push(row.packets.and_then(|p| p.extent_mean));
        let of_packets = row.packets.map(|p| {
            [
                p.retransmitted_bytes,
                p.timeouts,
                Time(p.timeout_wait).as_ns(),
                p.lost,
                p.marked,
                p.reordered,
                p.extent_max,
                p.spurious,
            ]
        });
        for (i, column) in counted.iter_mut().enumerate() {
            column.push(of_packets.map(|p| p[i] as i64));
        }
        for (i, column) in latency.iter_mut().enumerate() {
            column.push(ns(row.latency.map(|l| [l.mean, l.p50, l.p99][i])));
        }
        reason_of.push(row.reason.map(|text| {
            let at = reasons.iter().position(|r| r.0 == text);
            let at = at.unwrap_or_else(|| {
                reasons.push((text, 0));
                reasons.len() - 1
            });
            reasons[at].1 += 1;
            at as u32
        }));
    }
    let names: Vec<String> = scenario.network.nodes[..scenario.network.hosts]
        .iter()
        .map(|n| n.name.clone())
        .collect();
    let workloads = scenario.workloads.iter().map(|w| w.name.clone()).collect();
    let word = |f: &dyn Fn(usize) -> u32, words: Vec<String>| {
        Column::Word((0..plan.len()).map(|i| Some(f(i))).collect(), words)
    };
    let optional = |f: &dyn Fn(usize) -> Option<i64>| {
        Column::OptionalInteger((0..plan.len()).map(f).collect())
    };
    let [start, fct, acked, closed] = times.map(Column::OptionalInteger);
    let [delivered, wire, subflows] = known.map(Column::Integer);
    let [
        resent,
        timeouts,
        wait,
        lost,
        marked,
        reordered,
        extent_max,
        spurious,
    ] = counted.map(Column::integer);
    let [mean, p50, p99] = latency.map(Column::OptionalInteger);
    let mut ideals = Ideals::new(scenario);
    let ideal = (0..plan.len()).map(|i| ideals.fct(FlowId::from(i)).map(|t| t.as_ns() as i64));
    let ideal = Column::OptionalInteger(ideal.collect());
    let available = Column::Integer(
        plan.iter()
            .map(|f| path_count(&scenario.network, &scenario.routes, f.src, f.dst) as i64)
            .collect(),
    );
    let words = reasons.iter().map(|r| r.0.to_owned()).collect();
    let columns = vec![
        ("flow", Column::Integer((0..plan.len() as i64).collect())),
        ("workload", word(&|i| plan[i].workload, workloads)),
        ("src", word(&|i| plan[i].src.0, names.clone())),
        ("dst", word(&|i| plan[i].dst.0, names)),
        ("size_bytes", optional(&|i| plan[i].size.map(|s| s as i64))),
        ("start_ns", start),
        ("fct_ns", fct),
        ("acked_ns", acked),
        ("closed_ns", closed),
        ("ideal_fct_ns", ideal),
        ("delivered_bytes", delivered),
        ("goodput_bps", Column::OptionalReal(goodput)),
        ("wire_bytes", wire),
        ("retransmitted_bytes", resent),
        ("timeouts", timeouts),
        ("timeout_wait_ns", wait),
        ("lost_packets", lost),
        ("marked_packets", marked),
        ("reordered_packets", reordered),
        ("reordering_extent_mean", Column::OptionalReal(extent_mean)),
        ("reordering_extent_max", extent_max),
        ("spurious_retransmits", spurious),
        ("subflows", subflows),
        ("available_paths", available),
        ("reason", Column::Word(reason_of, words)),
        ("latency_mean_ns", mean),
        ("latency_p50_ns", p50),
        ("latency_p99_ns", p99),
    ];
    FlowTable {
        table: Table {
            name: "flows",
            columns,
        },
        reasons,
    }
}
