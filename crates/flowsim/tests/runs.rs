//! Whole runs: what flows of a scenario get, and when they end.

use std::sync::Arc;

use serde_json::{Value, json};
use weft_flowsim::{Outcome, Simulation};
use weft_net::ids::FlowId;
use weft_net::results::Column;
use weft_net::scenario::Scenario;

fn build(spec: &Value) -> (Arc<Scenario>, Simulation) {
    let spec = spec.as_object().unwrap();
    let scenario = Arc::new(Scenario::build(spec).unwrap());
    let simulation = Simulation::new(scenario.clone(), spec).unwrap();
    (scenario, simulation)
}

fn run(spec: &Value) -> (Arc<Scenario>, Outcome) {
    let (scenario, mut simulation) = build(spec);
    while !simulation.advance(1000).finished {}
    (scenario, simulation.finish())
}

fn column<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a Column {
    let table = outcome.tables.iter().find(|t| t.name == table).unwrap();
    &table.columns.iter().find(|c| c.0 == name).unwrap().1
}

fn integers(outcome: &Outcome, table: &str, name: &str) -> Vec<i64> {
    match column(outcome, table, name) {
        Column::Integer(values) => values.clone(),
        Column::OptionalInteger(values) => values.iter().map(|v| v.unwrap()).collect(),
        other => panic!("{other:?}"),
    }
}

fn reals(outcome: &Outcome, table: &str, name: &str) -> Vec<f64> {
    match column(outcome, table, name) {
        Column::OptionalReal(values) => values.iter().map(|v| v.unwrap()).collect(),
        other => panic!("{other:?}"),
    }
}

fn faults(spec: &Value) -> Vec<String> {
    let spec = spec.as_object().unwrap();
    let scenario = Arc::new(Scenario::build(spec).unwrap());
    let faults = Simulation::new(scenario, spec).unwrap_err();
    faults.into_iter().map(|f| f.to_string()).collect()
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    for (transport, balance) in [("tcp", "ecmp"), ("tcp", "spray"), ("udp", "static")] {
        for size in [1, 1448, 1449, 100_000, 12_345_678] {
            let transport = match transport {
                "udp" => json!({ "kind": "udp", "rate": 5_000_000_000_u64 }),
                kind => json!({ "kind": kind }),
            };
            let (scenario, outcome) = run(&json!({
                "topology": { "kind": "fat_tree", "k": 4 },
                "load_balance": { "kind": balance },
                "transport": transport,
                "backend": { "slow_start": false },
                "workload": [{ "kind": "pairs", "pairs": ["h000>h311"], "size": size }],
            }));
            let ideal = scenario.ideal_fct(FlowId(0)).unwrap().as_ns() as i64;
            let fct = integers(&outcome, "flows", "fct_ns")[0];
            assert!(
                (fct - ideal).abs() <= 1,
                "{transport} {balance} {size}: {fct} {ideal}"
            );
        }
    }
}

#[test]
fn a_small_window_costs_round_trips() {
    // 1 Gb/s x 2 ms is far more than 10 segments: 2, 4, 8 ... round trips are waited for.
    let spec = |slow: bool| {
        json!({
            "topology": { "kind": "star", "hosts": 2, "link": { "rate": 1_000_000_000, "delay": 500_000_000_u64 } },
            "backend": { "slow_start": slow },
            "workload": [{ "kind": "pairs", "pairs": ["h0>h1"], "size": 100_000 }],
        })
    };
    let fct = |slow| integers(&run(&spec(slow)).1, "flows", "fct_ns")[0];
    // 70 segments: 10 in the first round trip, 20 in the second, 40 in the third: two round trips of 2 ms more.
    let more = fct(true) - fct(false);
    assert!((3_800_000..=5_900_000).contains(&more), "{more}");
}

#[test]
fn flows_share_and_the_one_left_speeds_up() {
    // 10 and 30 MB over one link of 1 Gb/s, no headers and no latency: both at half until 10 MB are sent at 160 ms; the
    // other's last 20 MB at full rate: 160 + 160 ms.
    let (_, outcome) = run(&json!({
        "topology": { "kind": "dumbbell", "left": 2, "right": 2, "link": { "rate": 10_000_000_000_u64, "overhead": 0 },
            "bottleneck": { "rate": 1_000_000_000, "overhead": 0 } },
        "backend": { "slow_start": false, "latency": false },
        "workload": [
            { "name": "a", "kind": "pairs", "pairs": ["l0>r0"], "size": 14_480_000 },
            { "name": "b", "kind": "pairs", "pairs": ["l1>r1"], "size": 43_440_000 },
        ],
    }));
    // 10,000 and 30,000 packets of 1500 bytes.
    assert_eq!(
        integers(&outcome, "flows", "fct_ns"),
        [240_000_000, 480_000_000]
    );
    let rates = reals(&outcome, "flows", "goodput_bps");
    assert!(
        (rates[0] / (0.5e9 * 1448.0 / 1500.0) - 1.0).abs() < 1e-9,
        "{rates:?}"
    );
    let utilization = reals(&outcome, "links", "utilization");
    let (scenario, _) =
        build(&json!({ "topology": { "kind": "dumbbell", "left": 2, "right": 2 } }));
    let bottleneck = (0..utilization.len()).find(|&i| {
        let link = &scenario.network.links[i];
        !scenario.network.is_host(link.src)
            && !scenario.network.is_host(link.dst)
            && utilization[i] > 0.0
    });
    assert!((utilization[bottleneck.unwrap()] - 1.0).abs() < 1e-9);
    assert!(outcome.summary.finished && outcome.summary.warnings.is_empty());
}

#[test]
fn spraying_a_permutation_gives_everybody_the_line_rate() {
    // Oracle 9: on a fat tree of equal links ideal spraying leaves no bottleneck but the hosts' own.
    let (_, outcome) = run(&json!({
        "topology": { "kind": "fat_tree", "k": 8 },
        "load_balance": { "kind": "spray" },
        "backend": { "slow_start": false, "until": 1_000_000_000 },
        "measure": { "warmup": 500_000_000 },
        "workload": [{ "kind": "permutation" }],
    }));
    for rate in reals(&outcome, "flows", "goodput_bps") {
        assert!(
            (rate / (10e9 * 1448.0 / 1538.0) - 1.0).abs() < 1e-9,
            "{rate}"
        );
    }
}

#[test]
fn bisection_of_the_trees_is_four_to_one() {
    // Oracle 42: 8 against 2 Mb/s, with ideal spraying exactly 4 : 1.
    let total = |topology: Value| {
        let (_, outcome) = run(&json!({
            "topology": topology,
            "load_balance": { "kind": "spray" },
            "transport": { "kind": "udp", "rate": 1_000_000 },
            "backend": { "until": 1_000_000_000_000_u64 },
            "workload": [{ "kind": "bisection" }],
        }));
        reals(&outcome, "flows", "goodput_bps").iter().sum::<f64>()
    };
    let link = json!({ "rate": 1_000_000, "delay": 0 });
    let fat = total(json!({ "kind": "fat_tree", "k": 4, "link": link }));
    let tree = total(
        json!({ "kind": "binary_tree", "link": link, "trunk": { "rate": 2_000_000, "delay": 0 } }),
    );
    assert!((fat / tree - 4.0).abs() < 1e-9, "{fat} {tree}");
}

#[test]
fn coupled_subflows_share_as_one_flow_and_the_others_do_not() {
    // Oracle 16 at the flow level.
    let ratio = |control: &str| {
        let (_, outcome) = run(&json!({
            "topology": { "kind": "dumbbell", "left": 2, "right": 2 },
            "congestion": { "kind": control },
            "backend": { "until": 1_000_000_000_u64, "slow_start": false, "latency": false },
            "workload": [
                { "name": "multi", "kind": "pairs", "pairs": ["l0>r0"], "transport": { "kind": "mptcp", "subflows": 2 } },
                { "name": "single", "kind": "pairs", "pairs": ["l1>r1"] },
            ],
        }));
        let rates = reals(&outcome, "flows", "goodput_bps");
        rates[0] / rates[1]
    };
    assert!((ratio("lia") - 1.0).abs() < 0.03, "{}", ratio("lia"));
    assert!((ratio("cubic") - 2.0).abs() < 0.06, "{}", ratio("cubic"));
}

#[test]
fn what_only_packets_can_do_is_refused_by_name() {
    let star = json!({ "kind": "star", "hosts": 2 });
    let rpc = json!({ "topology": star, "workload": [{ "kind": "rpc", "requests": 1, "value": { "kind": "fixed", "bytes": 1 } }] });
    assert!(
        faults(&rpc)[0].contains("backend packet"),
        "{:?}",
        faults(&rpc)
    );
}

#[test]
fn samples_that_a_fluid_does_not_have_are_told() {
    let outcome = run(&json!({
        "topology": { "kind": "star", "hosts": 2 },
        "workload": [{ "kind": "permutation", "size": 1_000_000 }],
        "measure": { "every": 1_000_000_000, "metrics": ["cwnd", "goodput"] },
    }))
    .1;
    let told = &outcome.summary.warnings;
    assert!(
        told.len() == 1 && told[0].starts_with("not sampled: cwnd; "),
        "{told:?}"
    );
}

#[test]
fn the_same_run_twice_is_the_same() {
    let spec = json!({
        "topology": { "kind": "fat_tree", "k": 4 },
        "workload": [{ "kind": "poisson", "load": 0.6, "size": { "kind": "websearch" }, "flows": 500 }],
    });
    let (first, second) = (run(&spec).1, run(&spec).1);
    assert_eq!(first.tables, second.tables);
    assert_eq!(first.summary.fingerprint, second.summary.fingerprint);
    assert_eq!(first.summary.unfinished, 0);
    // What links carry is what flows sent.
    let total: i64 = integers(&first, "flows", "wire_bytes").iter().sum();
    let carried: i64 = integers(&first, "links", "tx_bytes").iter().sum();
    assert!(carried > 2 * total && carried < 6 * total);
}
