//! The tables `links` and `paths`: what lies where comes from the scenario, what was carried from the backend.

use crate::ids::{FlowId, LinkId};
use crate::results::{Column, Table};
use crate::scenario::Scenario;
use crate::units::Time;

/// What a link carried.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkRow {
    /// Bytes, overhead included.
    pub tx_bytes: u64,
    /// Packets, if there are any.
    pub tx_packets: Option<u64>,
    /// Time in which it was busy, ps.
    pub busy: u64,
    /// Share of the measurement window in which it was.
    pub utilization: Option<f64>,
    /// Packets lost on the wire.
    pub lost_packets: Option<u64>,
}

/// The names of all links, by their numbers.
pub fn link_names(scenario: &Scenario) -> Vec<String> {
    (0..scenario.network.links.len())
        .map(|i| scenario.network.link_name(LinkId::from(i)))
        .collect()
}

/// A row for every link.
pub fn links(scenario: &Scenario, row: impl Fn(usize) -> LinkRow) -> Table {
    let links = &scenario.network.links;
    let nodes: Vec<String> = (scenario.network.nodes.iter().map(|n| n.name.clone())).collect();
    let rows: Vec<LinkRow> = (0..links.len()).map(row).collect();
    let integer =
        |f: &dyn Fn(&LinkRow) -> u64| Column::Integer(rows.iter().map(|r| f(r) as i64).collect());
    let counted = |f: &dyn Fn(&LinkRow) -> Option<u64>| {
        Column::integer(rows.iter().map(|r| f(r).map(|n| n as i64)).collect())
    };
    Table {
        name: "links",
        columns: vec![
            (
                "link",
                Column::Word(
                    (0..rows.len() as u32).map(Some).collect(),
                    link_names(scenario),
                ),
            ),
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
            ("tx_bytes", integer(&|r| r.tx_bytes)),
            ("tx_packets", counted(&|r| r.tx_packets)),
            ("busy_ns", integer(&|r| Time(r.busy).as_ns())),
            (
                "utilization",
                Column::OptionalReal(rows.iter().map(|r| r.utilization).collect()),
            ),
            ("flows", Column::OptionalInteger(flows_of(scenario))),
            ("lost_packets", counted(&|r| r.lost_packets)),
        ],
    }
}

/// By link, the flows whose path it is on; null where packets of a flow take several.
fn flows_of(scenario: &Scenario) -> Vec<Option<i64>> {
    let count = scenario.network.links.len();
    if !scenario.load_balance.is_per_flow() {
        return vec![None; count];
    }
    let mut flows = vec![Some(0); count];
    for flow in (0..scenario.flows.len()).map(FlowId::from) {
        // Subflows that share a link are one flow there.
        let mut used: Vec<LinkId> = (0..scenario.subflow_count(flow))
            .flat_map(|number| scenario.subflow_path(flow, number).unwrap_or_default())
            .collect();
        used.sort_unstable();
        used.dedup();
        for link in used {
            flows[link.index()] = flows[link.index()].map(|n| n + 1);
        }
    }
    flows
}

/// A row for every subflow that keeps a path, with the bytes that `bytes` says it sent by its number, and one for each of
/// `more`: subflow, path, bytes.
pub fn paths<'a>(
    scenario: &Scenario,
    bytes: impl Fn(u32) -> u64,
    more: impl IntoIterator<Item = (u32, &'a [LinkId], u64)>,
) -> Table {
    let (mut flow, mut subflow, mut src_port, mut dst_port) = (vec![], vec![], vec![], vec![]);
    let (mut sent, mut ends, mut items) = (vec![], vec![], vec![]);
    let mut add = |id: u32, path: &[LinkId], carried: u64| {
        let (owner, number) = scenario.subflow(id);
        let ports = scenario.subflow_ports(owner, number);
        flow.push(i64::from(owner.0));
        subflow.push(i64::from(number));
        src_port.push(i64::from(ports.0));
        dst_port.push(i64::from(ports.1));
        sent.push(carried as i64);
        items.extend(path.iter().map(|l| l.0));
        ends.push(items.len() as u32);
    };
    for owner in (0..scenario.flows.len()).map(FlowId::from) {
        for number in 0..scenario.subflow_count(owner) {
            if let Some(path) = scenario.subflow_path(owner, number) {
                let id = scenario.subflow_id(owner, number);
                add(id, &path, bytes(id));
            }
        }
    }
    for (id, path, carried) in more {
        add(id, path, carried);
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
                    words: link_names(scenario),
                },
            ),
            ("tx_bytes", Column::Integer(sent)),
        ],
    }
}
