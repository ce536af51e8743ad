//! The tables `links`, `queues` and `paths`.

use weft_net::ids::{FlowId, LinkId};
use weft_net::results::{Column, Table};
use weft_net::units::Time;

use crate::conservation::InFlight;
use crate::engine::Simulation;
use crate::outcome::window;

fn link_words(simulation: &Simulation) -> (Vec<Option<u32>>, Vec<String>) {
    let network = &simulation.scenario.network;
    let names: Vec<String> = (0..network.links.len())
        .map(|i| network.link_name(LinkId::from(i)))
        .collect();
    ((0..names.len() as u32).map(Some).collect(), names)
}

pub(crate) fn links(simulation: &Simulation, found: &InFlight) -> Table {
    let Simulation {
        scenario,
        wire,
        probe,
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
    Table {
        name: "links",
        columns,
    }
}

pub(crate) fn queues(simulation: &Simulation, found: &InFlight) -> Table {
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
        ("max_bytes", integer(&|i| wire.ports.max_bytes(i as u32))),
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

pub(crate) fn paths(simulation: &Simulation) -> Table {
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
