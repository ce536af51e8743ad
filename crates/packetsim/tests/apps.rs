//! Whole runs with applications: latencies and counts that can be derived.

mod common;

use common::{integers, optional_integers, run, scenario, spec};
use serde_json::{Map, Value, json};
use weft_packetsim::Simulation;

const MS: u64 = 1_000_000_000;

/// An application over a star of 10 Gb/s links with 1 us of delay and no overhead.
fn star(hosts: u64, rpc: Value) -> Map<String, Value> {
    let mut rpc = rpc;
    rpc["kind"] = json!("rpc");
    spec(json!({
        "seed": 1,
        "topology": { "kind": "star", "hosts": hosts, "link": { "rate": 10_000_000_000_u64, "delay": 1_000_000, "overhead": 0 } },
        "workload": [rpc],
    }))
}

fn values(bytes: u64) -> Value {
    json!({ "kind": "fixed", "bytes": bytes })
}

/// Time of one IP packet over two links, ns.
fn across(bytes: f64) -> f64 {
    2.0 * (0.8 * bytes + 1_000.0)
}

/// A histogram's bucket is at most 1/128 of its value wide.
fn is_near(value: Option<i64>, expected: f64) -> bool {
    (value.expect("a latency") as f64 / expected - 1.0).abs() < 1.0 / 128.0
}

#[test]
fn a_get_takes_a_request_and_an_answer() {
    // 100 B of request and 1000 B of value under 52 B of headers. The first query pays for SYN and SYN-ACK of 60 B; of 50
    // queries it is the slowest: the 99th percentile.
    let outcome = run(
        &star(
            2,
            json!({ "value": values(1000), "gets": 1.0, "requests": 50, "think": MS }),
        ),
        100_000,
    );
    let latency = across(152.0) + across(1052.0);
    let (p50, p99) = (
        optional_integers(&outcome, "flows", "latency_p50_ns"),
        optional_integers(&outcome, "flows", "latency_p99_ns"),
    );
    assert!(is_near(p50[0], latency), "{p50:?}, by hand {latency}");
    let first = latency + 2.0 * across(60.0);
    assert!(is_near(p99[0], first), "{p99:?}, by hand {first}");
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [50_000]);
    // The server sent a SYN-ACK and 50 answers.
    assert_eq!(integers(&outcome, "flows", "wire_bytes"), [60 + 50 * 1052]);
    assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
    // Fifty queries with 49 ms of thinking between them.
    let end = outcome.summary.simulated_ns as f64;
    assert!((49e6..49.5e6).contains(&end), "{end}");
}

#[test]
fn a_set_takes_its_value_and_an_acknowledgment() {
    let outcome = run(
        &star(
            2,
            json!({ "value": values(3000), "gets": 0.0, "requests": 20, "think": MS }),
        ),
        100_000,
    );
    // Segments of 1448, 1448 and 104 B, one behind the other: the last waits for two full packets at the first link and
    // then goes its way; the ACK of the end of a message is not delayed.
    let latency = 2.0 * 1500.0 * 0.8 + 0.8 * 156.0 + 1_000.0 + 0.8 * 156.0 + 1_000.0 + across(52.0);
    // At the second link it queues behind the full packet before it.
    let latency = latency + 0.8 * (1500.0 - 156.0);
    let p50 = optional_integers(&outcome, "flows", "latency_p50_ns");
    assert!(is_near(p50[0], latency), "{p50:?}, by hand {latency}");
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [60_000]);
}

#[test]
fn an_aggregate_waits_for_the_slowest_answer() {
    // One client asks eight servers at once: their answers of 10 segments share its link, so the last byte arrives after 80
    // segments at 1500 B, whatever the order. All connections took part, so all have that latency.
    let fan = json!({ "servers": 8, "fan_out": 8, "value": values(14_480), "gets": 1.0, "requests": 30, "think": MS });
    let outcome = run(&star(9, fan), 200_000);
    let all = 80.0 * 1500.0 * 0.8;
    for p50 in optional_integers(&outcome, "flows", "latency_p50_ns") {
        let p50 = p50.expect("a latency") as f64;
        assert!(
            (all..all + 12_000.0).contains(&p50),
            "{p50}, at least {all}"
        );
    }
    assert_eq!(
        integers(&outcome, "flows", "delivered_bytes"),
        [30 * 14_480; 8]
    );
}

#[test]
fn an_open_loop_asks_at_its_rate() {
    // 20,000 queries a second for 0.5 s: 10,000, standard deviation 100.
    let open = json!({ "value": values(500), "gets": 1.0, "rate": 20_000.0 });
    let mut spec = star(2, open);
    spec.insert(
        "backend".into(),
        json!({ "kind": "packet", "until": 500 * MS }),
    );
    let outcome = run(&spec, 1_000_000);
    let queries = integers(&outcome, "flows", "delivered_bytes")[0] / 500;
    assert!((9_500..10_500).contains(&queries), "{queries}");
}

#[test]
fn lost_requests_and_answers_are_sent_again() {
    for gets in [1.0, 0.0, 0.5] {
        let mut spec = star(
            3,
            json!({ "value": values(5000), "gets": gets, "requests": 300, "servers": 1 }),
        );
        spec["topology"]["link"]["loss"] = json!({ "kind": "random", "p": 0.02 });
        spec.insert(
            "transport".into(),
            json!({ "kind": "tcp", "profile": "datacenter" }),
        );
        let outcome = run(&spec, 1_000_000);
        assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
        assert_eq!(
            integers(&outcome, "flows", "delivered_bytes")
                .iter()
                .sum::<i64>(),
            2 * 300 * 5000
        );
    }
}

#[test]
fn requests_that_overtake_each_other_are_answered_in_turn() {
    // Four paths, packets sprayed, queries in an open loop: nothing is lost and nobody waits for a timer.
    let spec = spec(json!({
        "seed": 1,
        "topology": { "kind": "fat_tree" },
        "load_balance": { "kind": "spray" },
        "workload": [
            { "name": "noise", "kind": "permutation", "size": 2_000_000 },
            { "name": "rpc", "kind": "rpc", "value": values(3000), "gets": 1.0, "rate": 50_000.0, "requests": 500,
              "place": { "kind": "list", "hosts": ["h000", "h311"] } },
        ],
    }));
    let outcome = run(&spec, 2_000_000);
    assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
    assert_eq!(
        integers(&outcome, "flows", "delivered_bytes")[16],
        500 * 3000
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let spec = star(
        6,
        json!({ "value": { "kind": "uniform", "min": 100, "max": 20_000 }, "servers": 3, "fan_out": 2, "requests": 200 }),
    );
    let once = run(&spec, 1_000_000);
    let mut simulation = Simulation::new(scenario(&spec), &spec).expect("valid");
    while !simulation.advance(777).finished {}
    assert_eq!(
        simulation.finish().summary.fingerprint,
        once.summary.fingerprint
    );
}
