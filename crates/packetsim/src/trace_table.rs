//! What applications did, in the columns of `[[workload]] kind = "trace"`: see crates/net/src/workload/trace.rs.
//!
//! Flows that were begun first, by number, then the messages of connections that stay open, as they were sent.

use weft_net::ids::FlowId;
use weft_net::results::{Column, Table};
use weft_net::workload::{Flow, Opener};

use crate::app::Message;
use crate::engine::Lossy;
use crate::record::UNKNOWN;

const KINDS: [&str; 4] = ["flow", "fetch", "get", "set"];

/// The trace, if it is asked for.
pub(crate) fn trace(simulation: &Lossy) -> Option<Table> {
    let (scenario, hosts) = (&simulation.scenario, &simulation.hosts);
    let log = hosts.apps.log.as_ref()?;
    let begun = (0..scenario.flows.len() as u32)
        .filter(|&flow| !hosts.apps.has(flow) && hosts.records[flow as usize].started != UNKNOWN);
    let rows: Vec<(u32, Option<&Message>)> = (begun.map(|flow| (flow, None)))
        .chain(log.iter().map(|message| (message.flow, Some(message))))
        .collect();
    let plan = |flow: u32| -> &Flow { &scenario.flows[flow as usize] };
    let words = scenario.network.nodes[..scenario.network.hosts].iter();
    let words: Vec<String> = words.map(|n| n.name.clone()).collect();
    let host = |of: &dyn Fn(&Flow) -> u32| {
        let codes = rows.iter().map(|row| Some(of(plan(row.0)))).collect();
        Column::Word(codes, words.clone())
    };
    let integer = |of: &dyn Fn(u32, Option<&Message>) -> u64| {
        Column::Integer(rows.iter().map(|row| of(row.0, row.1) as i64).collect())
    };
    let optional = |of: &dyn Fn(u32, Option<&Message>) -> Option<u64>| {
        let values = rows.iter().map(|row| of(row.0, row.1).map(|v| v as i64));
        Column::OptionalInteger(values.collect())
    };
    let kind = |row: &(u32, Option<&Message>)| {
        let is_fetch = plan(row.0).opener == Opener::Destination;
        Some(match (row.1.is_some(), is_fetch) {
            (false, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (true, false) => 3,
        })
    };
    let ports = |flow: u32| scenario.subflow_ports(FlowId(flow), 0);
    Some(Table {
        name: "trace",
        columns: vec![
            (
                "kind",
                Column::Word(
                    rows.iter().map(kind).collect(),
                    KINDS.map(str::to_owned).to_vec(),
                ),
            ),
            ("src", host(&|f| f.src.0)),
            ("dst", host(&|f| f.dst.0)),
            (
                "size_bytes",
                optional(&|flow, m| m.map_or(plan(flow).size, |m| Some(m.size))),
            ),
            (
                "start_ps",
                integer(&|flow, m| m.map_or(hosts.records[flow as usize].started, |m| m.at)),
            ),
            ("flow", integer(&|flow, _| u64::from(flow))),
            ("query", optional(&|_, m| m.map(|m| m.query))),
            ("think_ps", optional(&|_, m| m.and_then(|m| m.think))),
            (
                "request_bytes",
                optional(&|flow, _| Some(u64::from(plan(flow).request)).filter(|&r| r > 0)),
            ),
            ("src_port", integer(&|flow, _| u64::from(ports(flow).0))),
            ("dst_port", integer(&|flow, _| u64::from(ports(flow).1))),
        ],
    })
}
