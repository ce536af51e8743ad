//! The tables `links`, `queues` and `paths`.

use weft_net::ids::{FlowId, LinkId};
use weft_net::results::{Column, Table};
use weft_net::scenario::Scenario;
use weft_net::units::Time;

use crate::outcome::{QueueCount, Tally};

fn link_names(scenario: &Scenario) -> Vec<String> {
    (0..scenario.network.links.len())
        .map(|i| scenario.network.link_name(LinkId::from(i)))
        .collect()
}

pub(crate) fn links(tally: &Tally<'_>) -> Table {
    let Tally {
        scenario, probe, ..
    } = *tally;
    let network = &scenario.network;
    let nodes: Vec<String> = network.nodes.iter().map(|n| n.name.clone()).collect();
    let count = network.links.len();
    let window = tally.window() as f64;
    let utilization = |i: usize| {
        let until = probe.busy_until.get(i).copied();
        let until = until.unwrap_or(tally.links[i].busy);
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
        (
            "link",
            Column::Word((0..count as u32).map(Some).collect(), link_names(scenario)),
        ),
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
        ("tx_bytes", integer(&|i| tally.links[i].tx_bytes)),
        ("tx_packets", integer(&|i| tally.links[i].tx_packets)),
        ("busy_ns", integer(&|i| Time(tally.links[i].busy).as_ns())),
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
        ("lost_packets", integer(&|i| tally.links[i].lost)),
    ];
    Table {
        name: "links",
        columns,
    }
}

pub(crate) fn queues(tally: &Tally<'_>) -> Table {
    let queues = &tally.queues;
    let integer = |f: &dyn Fn(&QueueCount) -> u64| {
        Column::Integer(queues.iter().map(|q| f(q) as i64).collect())
    };
    let columns = vec![
        (
            "link",
            Column::Word(
                queues.iter().map(|q| Some(q.link)).collect(),
                link_names(tally.scenario),
            ),
        ),
        ("priority", integer(&|q| u64::from(q.priority))),
        ("enqueued_packets", integer(&|q| q.enqueued)),
        ("dropped_packets", integer(&|q| q.dropped)),
        ("marked_packets", integer(&|q| q.marked)),
        ("max_bytes", integer(&|q| q.max_bytes)),
        (
            "mean_bytes",
            Column::Real(queues.iter().map(|q| q.mean_bytes).collect()),
        ),
        (
            "mean_wait_ns",
            Column::OptionalReal(queues.iter().map(|q| q.mean_wait_ns).collect()),
        ),
        ("paused_ns", integer(&|q| Time(q.paused).as_ns())),
    ];
    Table {
        name: "queues",
        columns,
    }
}

pub(crate) fn paths(tally: &Tally<'_>) -> Table {
    let scenario = tally.scenario;
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
                add(id, &path, tally.records[id as usize].wire_bytes);
            }
        }
    }
    for (id, path, carried) in &tally.turned {
        add(*id, path, *carried);
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
            ("tx_bytes", Column::Integer(bytes)),
        ],
    }
}
