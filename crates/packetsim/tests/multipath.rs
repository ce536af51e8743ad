//! Whole runs over several paths, and over links that fail.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use weft_net::ids::FlowId;
use weft_net::results::Column;
use weft_net::scenario::Scenario;
use weft_packetsim::{Outcome, Simulation};

fn table(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("a table")
}

fn run(spec: &Value) -> Outcome {
    let spec = table(spec.clone());
    let scenario = Arc::new(Scenario::build(&spec).expect("a valid scenario"));
    let mut simulation = Simulation::new(scenario, &spec).expect("a valid simulation");
    assert!(simulation.advance(5_000_000).finished, "too many events");
    simulation.finish()
}

fn integers(outcome: &Outcome, table: &str, name: &str) -> Vec<i64> {
    let table = outcome
        .tables
        .iter()
        .find(|t| t.name == table)
        .expect("a table");
    match &table
        .columns
        .iter()
        .find(|c| c.0 == name)
        .expect("a column")
        .1
    {
        Column::Integer(values) => values.clone(),
        Column::OptionalInteger(values) => values.iter().map(|v| v.unwrap_or(-1)).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

fn jellyfish(routing: Value, balance: Value, workload: Value) -> Value {
    json!({
        "seed": 3,
        "topology": { "kind": "jellyfish", "link": { "rate": 15_000_000, "delay": 50_000_000 } },
        "routing": routing,
        "load_balance": balance,
        "measure": { "paths": true },
        "workload": [workload],
    })
}

#[test]
fn packets_take_the_path_that_is_chosen_for_their_flow() {
    let pairs = json!({ "name": "one", "kind": "pairs", "pairs": ["h0_0>h9_0"], "size": 300_000 });
    let round = json!({ "kind": "k_shortest", "share": "round_robin" });
    for routing in [
        json!({ "kind": "k_shortest" }),
        round,
        json!({ "kind": "valiant" }),
        json!({ "kind": "up_down" }),
    ] {
        let spec = jellyfish(routing, json!({ "kind": "ecmp" }), pairs.clone());
        let scenario = Scenario::build(&table(spec.clone())).unwrap();
        let outcome = run(&spec);
        let (bytes, names) = (integers(&outcome, "links", "tx_bytes"), |l: usize| {
            scenario.network.link_name(l.into())
        });
        let path = scenario.flow_path(FlowId(0)).unwrap();
        let back = scenario.reverse_path(FlowId(0)).unwrap();
        for (link, &bytes) in bytes.iter().enumerate() {
            let is_on = |p: &[weft_net::ids::LinkId]| p.iter().any(|l| l.index() == link);
            // Data is more than its size, acknowledgments are a small part of it.
            assert_eq!(bytes > 300_000, is_on(&path), "{}: {bytes}", names(link));
            assert_eq!(
                bytes > 0,
                is_on(&path) || is_on(&back),
                "{}: {bytes}",
                names(link)
            );
        }
    }
}

#[test]
fn connections_in_turn_use_every_path() {
    // Eight connections of two hosts over eight paths: one each, there and back.
    let pairs =
        json!({ "name": "eight", "kind": "pairs", "pairs": vec!["h0_0>h9_0"; 8], "size": 1000 });
    let routing = json!({ "kind": "k_shortest", "k": 8, "share": "round_robin" });
    let spec = jellyfish(routing, json!({ "kind": "ecmp" }), pairs);
    let scenario = Scenario::build(&table(spec)).unwrap();
    for path in [Scenario::flow_path, Scenario::reverse_path] {
        let distinct: std::collections::BTreeSet<_> = (0..8)
            .map(|f| path(&scenario, FlowId(f)).unwrap())
            .collect();
        assert_eq!(distinct.len(), 8);
    }
}

#[test]
fn sprayed_packets_use_all_paths_evenly() {
    // 10,000 datagrams over 8 paths: 1250 each, sd sqrt(10000 x 7/64) = 33.
    let transport = json!({ "kind": "udp", "rate": 1_000_000 });
    let pairs = json!({ "name": "one", "kind": "pairs", "pairs": ["h0_0>h9_0"], "size": 14_720_000, "transport": transport });
    let spec = jellyfish(
        json!({ "kind": "k_shortest" }),
        json!({ "kind": "spray" }),
        pairs,
    );
    let scenario = Scenario::build(&table(spec.clone())).unwrap();
    let outcome = run(&spec);
    let bytes = integers(&outcome, "paths", "tx_bytes");
    assert_eq!(bytes.len(), 8);
    for &bytes in &bytes {
        assert_eq!(bytes % 1538, 0);
        assert!((bytes / 1538 - 1250).abs() < 5 * 33, "{bytes}");
    }
    assert_eq!(bytes.iter().sum::<i64>(), 10_000 * 1538);
    // What is recorded are whole paths, from host to host.
    let source = &scenario.network.nodes[0].name;
    assert_eq!(source, "h0_0");
    let Column::Words { ends, items, .. } = &outcome
        .tables
        .iter()
        .find(|t| t.name == "paths")
        .unwrap()
        .columns[4]
        .1
    else {
        panic!()
    };
    let mut begin = 0;
    let mut found: Vec<Vec<u32>> = Vec::new();
    for &end in ends {
        found.push(items[begin..end as usize].to_vec());
        begin = end as usize;
    }
    let flow = &scenario.flows[0];
    let mut offered: Vec<Vec<u32>> = scenario
        .routes
        .paths(&scenario.network, flow.src, flow.dst)
        .iter()
        .map(|p| p.iter().map(|l| l.0).collect())
        .collect();
    found.sort();
    offered.sort();
    assert_eq!(found, offered);
}

#[test]
fn every_balance_runs_over_every_routing_and_gives_the_same_again() {
    let permutation = json!({ "name": "bulk", "kind": "permutation", "size": 100_000 });
    for routing in [
        "shortest",
        "k_shortest",
        "all_shortest",
        "up_down",
        "valiant",
    ] {
        for balance in ["static", "ecmp", "spray", "flowlet", "drill"] {
            let spec = jellyfish(
                json!({ "kind": routing }),
                json!({ "kind": balance }),
                permutation.clone(),
            );
            if balance == "drill" && routing != "shortest" {
                let fault = Scenario::build(&table(spec)).unwrap_err();
                assert!(
                    fault[0].message.starts_with("drill chooses link by link"),
                    "{fault:?}"
                );
                continue;
            }
            let first = run(&spec).summary;
            assert!(first.finished, "{routing} {balance}: {:?}", first.warnings);
            assert_eq!(run(&spec).summary.fingerprint, first.fingerprint);
        }
    }
}

#[test]
fn the_shortest_of_two_queues_is_shorter_than_a_random_one() {
    // Sixteen senders of one leaf at 0.9 of what its four uplinks carry, in datagrams of Poisson arrivals.
    let longest = |balance: &str| -> i64 {
        let transport = json!({ "kind": "udp", "rate": 2_250_000_000_u64, "arrivals": "poisson" });
        let outcome = run(&json!({
            "topology": { "kind": "leaf_spine", "leaves": 2, "spines": 4, "hosts_per_leaf": 16 },
            "load_balance": { "kind": balance },
            "queue": { "kind": "drop_tail", "capacity": { "packets": 10_000 } },
            "backend": { "until": 2_000_000_000 },
            "workload": [{ "kind": "stride", "stride": 16, "transport": transport }],
        }));
        *integers(&outcome, "queues", "max_bytes")
            .iter()
            .max()
            .unwrap()
    };
    let (drill, spray) = (longest("drill"), longest("spray"));
    assert!(2 * drill < spray, "drill {drill}, spray {spray}");
}

/// 1 Mb/s of 1538-byte datagrams over a ring: one every 12.304 ms; the short way is cut from `when` on.
fn cut_ring(failure: Value) -> Outcome {
    let transport = json!({ "kind": "udp", "rate": 1_000_000 });
    run(&json!({
        "topology": { "kind": "ring", "switches": 5 },
        "backend": { "until": 10_000_000_000_000_u64 },
        "failure": [failure],
        "workload": [{ "kind": "pairs", "pairs": ["h0_0>h1_0"], "transport": transport }],
    }))
}

#[test]
fn what_is_sent_into_a_dead_link_until_routes_change_is_lost_and_counted() {
    // From 1 s for 2 s, routes follow after 0.5 s each time: lost is what is sent from 1 s to 1.5 s, 500 / 12.304 =
    // 40.6; what is sent from 3 s on could take the short way again, and does from 3.5 s on.
    let failure = json!({ "what": "s0<>s1", "when": 1e12 as u64, "until": 3e12 as u64, "reconvergence": 5e11 as u64 });
    let outcome = cut_ring(failure);
    let lost = integers(&outcome, "flows", "lost_packets")[0];
    assert!((40..=41).contains(&lost), "{lost}");
    assert_eq!(
        integers(&outcome, "links", "lost_packets")
            .iter()
            .sum::<i64>(),
        lost
    );
    // The long way carries 2 s of them: 2000 / 12.304 = 162.5, over each of its four cables.
    let packets = integers(&outcome, "links", "tx_packets");
    let around: Vec<_> = packets
        .iter()
        .filter(|p| (162..=163).contains(*p))
        .collect();
    assert_eq!(around.len(), 4, "{packets:?}");
}

#[test]
fn a_failure_that_cuts_a_host_off_is_the_reason_why_its_flow_did_not_finish() {
    for (until, is_done) in [(Value::Null, false), (json!(2e12 as u64), true)] {
        for routing in ["shortest", "k_shortest"] {
            let outcome = run(&json!({
                "topology": { "kind": "ring", "switches": 4, "link": { "rate": 10_000_000, "delay": 1_000_000 } },
                "routing": { "kind": routing, },
                "backend": { "limit": 2e13 as u64 },
                "failure": [{ "what": "s2", "when": 5e11 as u64, "until": until, "reconvergence": 1e9 as u64 }],
                "workload": [{ "kind": "pairs", "pairs": ["h0_0>h2_0", "h0_0>h1_0"], "size": 2_000_000 }],
            }));
            let fct = integers(&outcome, "flows", "fct_ns");
            assert_eq!(
                [fct[0] > 0, fct[1] > 0],
                [is_done, true],
                "{routing}: {:?}",
                outcome.summary.warnings
            );
            let text = outcome.summary.warnings.join(" ");
            assert_eq!(
                text.contains("1 x path down: a failure left no route to the destination"),
                !is_done,
                "{text}"
            );
            assert!(integers(&outcome, "flows", "lost_packets")[0] > 0);
        }
    }
}
