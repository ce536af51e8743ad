//! Ethernet with priority flow control: what must hold of lossless classes, queue pairs and their controls.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use weft_net::results::Column;
use weft_net::scenario::Scenario;
use weft_packetsim::{Outcome, Simulation};

/// A star of 100 Gb/s and 1 us, with what `extra` says.
fn spec(hosts: u32, workload: Value, extra: Value) -> Map<String, Value> {
    let link = json!({ "rate": 100_000_000_000_u64, "delay": 1_000_000 });
    let mut spec = json!({
        "seed": 3,
        "topology": { "kind": "star", "hosts": hosts, "link": link },
        "transport": { "kind": "rocev2" },
        "congestion": { "kind": "none" },
        "flow_control": { "kind": "pfc" },
        "workload": [workload],
    });
    for (key, value) in extra.as_object().unwrap() {
        spec[key] = value.clone();
    }
    spec.as_object().unwrap().clone()
}

fn run(spec: &Map<String, Value>) -> Outcome {
    let scenario = Arc::new(Scenario::build(spec).unwrap());
    let mut simulation = Simulation::new(scenario, spec).unwrap();
    while !simulation.advance(100_000).finished {}
    simulation.finish()
}

fn column(outcome: &Outcome, table: &str, name: &str) -> Vec<f64> {
    let table = outcome.tables.iter().find(|t| t.name == table).unwrap();
    match &table.columns.iter().find(|c| c.0 == name).unwrap().1 {
        Column::Integer(values) => values.iter().map(|&v| v as f64).collect(),
        Column::OptionalInteger(values) => values.iter().map(|v| v.unwrap_or(-1) as f64).collect(),
        Column::Real(values) => values.clone(),
        Column::OptionalReal(values) => values.iter().map(|v| v.unwrap_or(-1.0)).collect(),
        other => panic!("{other:?}"),
    }
}

fn total(outcome: &Outcome, table: &str, name: &str) -> f64 {
    column(outcome, table, name).iter().sum()
}

fn incast(degree: u32, size: u64) -> Value {
    json!({ "kind": "incast", "degree": degree, "size": size })
}

#[test]
fn lossless_incast_ends_when_the_link_has_carried_it() {
    // Oracle 20: N S (1 + header) / C + RTT at least, and 2 % above at most. 1456 B of payload are 1538 on the wire.
    let outcome = run(&spec(17, incast(16, 1_456_000), json!({})));
    let last = column(&outcome, "flows", "fct_ns")
        .into_iter()
        .fold(0.0, f64::max);
    let least = 16.0 * 1000.0 * 1538.0 * 8.0 / 100.0 + 2_000.0;
    assert!((least..least * 1.02).contains(&last), "{last} {least}");
    assert_eq!(total(&outcome, "queues", "dropped_packets"), 0.0);
    assert!(total(&outcome, "queues", "paused_ns") > 0.0);
    assert!(outcome.summary.finished, "{:?}", outcome.summary);
}

#[test]
fn headroom_is_what_keeps_packets() {
    // Oracle 23: with what the link needs nothing is lost; with a tenth of it something is.
    let small = |headroom: Value| {
        let mut control = json!({ "kind": "pfc", "buffer": 2_000_000, "xoff": 20_000 });
        if !headroom.is_null() {
            control["headroom"] = headroom;
        }
        total(
            &run(&spec(
                17,
                incast(16, 1_000_000),
                json!({ "flow_control": control }),
            )),
            "queues",
            "dropped_packets",
        )
    };
    assert_eq!(small(Value::Null), 0.0);
    // 2 x 1 us x 100 Gb/s + 2 x 1538 B.
    assert_eq!(small(json!(25_000 + 2 * 1538)), 0.0);
    assert!(small(json!(3_000)) > 0.0);
}

#[test]
fn controls_share_a_link_and_keep_it_busy() {
    for (control, queue) in [
        (
            json!({ "kind": "dcqcn", "additive": 400_000_000 }),
            json!({ "kind": "ecn_ramp" }),
        ),
        (json!({ "kind": "hpcc" }), json!({ "kind": "drop_tail" })),
        (json!({ "kind": "swift" }), json!({ "kind": "drop_tail" })),
    ] {
        let outcome = run(&spec(
            5,
            json!({ "kind": "incast", "degree": 4 }),
            json!({
                "congestion": control, "queue": queue,
                "backend": { "until": 20_000_000_000_u64 },
                "measure": { "warmup": 10_000_000_000_u64 },
            }),
        ));
        let rates = column(&outcome, "flows", "goodput_bps");
        let sum: f64 = rates.iter().sum();
        let squares: f64 = rates.iter().map(|r| r * r).sum();
        let jain = sum * sum / squares / 4.0;
        assert!(sum > 70e9, "{control} {rates:?}");
        assert!(jain > 0.8, "{control} {rates:?}");
        assert_eq!(
            total(&outcome, "queues", "dropped_packets"),
            0.0,
            "{control}"
        );
    }
}

#[test]
fn telemetry_keeps_the_queue_short() {
    let queue = |control: &str| {
        let outcome = run(&spec(
            17,
            json!({ "kind": "incast", "degree": 16 }),
            json!({
                "congestion": { "kind": control },
                "flow_control": { "kind": "pfc", "alpha": 8.0 },
                "backend": { "until": 10_000_000_000_u64 },
            }),
        ));
        column(&outcome, "queues", "mean_bytes")
            .into_iter()
            .fold(0.0, f64::max)
    };
    assert!(queue("hpcc") < 0.2 * queue("none"));
}

#[test]
fn lossy_classes_lose_and_queue_pairs_repair() {
    // Two senders at line rate in step: one of them loses nearly everything, however it repairs that.
    let sent_again = |how: &str| {
        let outcome = run(&spec(
            3,
            incast(2, 2_000_000),
            json!({
                "flow_control": { "kind": "pfc", "lossless": [], "buffer": 300_000 },
                "transport": { "kind": "rocev2", "retransmission": how, "timeout": 500_000_000, "retries": 100 },
            }),
        ));
        assert!(total(&outcome, "queues", "dropped_packets") > 0.0);
        let delivered = total(&outcome, "flows", "delivered_bytes");
        assert_eq!(delivered, 4_000_000.0, "{how} {:?}", outcome.summary);
        total(&outcome, "flows", "retransmitted_bytes")
    };
    let (selective, go_back_n) = (sent_again("selective"), sent_again("go_back_n"));
    assert!(selective <= go_back_n, "{selective} {go_back_n}");
}

#[test]
fn a_storm_stops_a_port_until_the_watchdog_looks() {
    let delivered = |watchdog: Value| {
        let mut control = json!({ "kind": "pfc", "storms": [{ "host": "h1", "priority": 0 }] });
        if !watchdog.is_null() {
            control["watchdog"] = watchdog;
            control["watchdog_action"] = json!("forward");
        }
        let outcome = run(&spec(
            3,
            json!({ "kind": "pairs", "pairs": ["h0>h1"], "size": 1_000_000 }),
            json!({ "flow_control": control, "backend": { "until": 5_000_000_000_u64 } }),
        ));
        (
            total(&outcome, "flows", "delivered_bytes"),
            outcome.summary.warnings,
        )
    };
    assert_eq!(delivered(Value::Null).0, 0.0);
    let (bytes, warnings) = delivered(json!(100_000_000));
    assert_eq!(bytes, 1_000_000.0);
    assert!(
        warnings.iter().any(|w| w.contains("watchdog")),
        "{warnings:?}"
    );
}

#[test]
fn strict_priority_goes_first() {
    let flow = |name: &str, pair: &str, priority: u32| json!({ "name": name, "kind": "pairs", "pairs": [pair], "transport": { "kind": "rocev2", "priority": priority, "ack_priority": 1 } });
    let mut spec = spec(
        3,
        Value::Null,
        json!({ "flow_control": { "kind": "pfc", "classes": 2 }, "backend": { "until": 2_000_000_000_u64 } }),
    );
    spec["workload"] = json!([flow("low", "h0>h2", 0), flow("high", "h1>h2", 1)]);
    let rates = column(&run(&spec), "flows", "goodput_bps");
    assert!(rates[1] > 90e9 && rates[0] < 3e9, "{rates:?}");
}

#[test]
fn spraying_over_selective_queue_pairs_uses_all_paths() {
    let rate = |kind: &str| {
        let outcome = run(&spec(
            0,
            json!({ "kind": "permutation" }),
            json!({
                "topology": { "kind": "fat_tree", "k": 4, "link": { "rate": 100_000_000_000_u64 } },
                "load_balance": { "kind": kind },
                "transport": { "kind": "rocev2", "retransmission": "selective", "reordering": 200, "window": 200_000 },
                "backend": { "until": 1_000_000_000 },
            }),
        ));
        assert_eq!(total(&outcome, "queues", "dropped_packets"), 0.0);
        total(&outcome, "flows", "goodput_bps") / 16.0
    };
    assert!(rate("spray") > 1.2 * rate("ecmp"));
}

#[test]
fn the_same_run_has_the_same_fingerprint() {
    let spec = spec(
        9,
        incast(8, 300_000),
        json!({ "congestion": { "kind": "dcqcn" }, "queue": { "kind": "ecn_ramp" } }),
    );
    assert_eq!(
        run(&spec).summary.fingerprint,
        run(&spec).summary.fingerprint
    );
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let fault = |extra: Value| {
        let spec = spec(3, incast(2, 1000), extra);
        let scenario = Arc::new(Scenario::build(&spec).unwrap());
        Simulation::new(scenario, &spec).unwrap_err()[0].to_string()
    };
    for (extra, start) in [
        (
            json!({ "transport": { "kind": "tcp" } }),
            "transport.kind: tcp (incast) does not run over flow_control pfc",
        ),
        (
            json!({ "flow_control": { "kind": "none" } }),
            "transport.kind: rocev2 (incast) runs over flow control",
        ),
        (
            json!({ "transport": { "kind": "rocev2", "priority": 3 } }),
            "transport.priority: 3 (incast) is no class; there are 1",
        ),
        (
            json!({ "flow_control": { "kind": "pfc", "buffer": 20_000 } }),
            "flow_control.buffer: 20000 B: the headroom of",
        ),
        (
            json!({ "congestion": { "kind": "cubic" } }),
            "congestion.kind: cubic (incast) is no control of transport rocev2",
        ),
        (
            json!({ "flow_control": { "kind": "pfc", "weights": [1] } }),
            "flow_control.weights: strict serves",
        ),
        (
            json!({ "flow_control": { "kind": "pfc", "storms": [{ "host": "x" }] } }),
            "flow_control.storms[0].host: there is no host",
        ),
    ] {
        let found = fault(extra);
        assert!(found.starts_with(start), "{found}");
    }
}
