//! Ethernet with priority flow control: what must hold of lossless classes, queue pairs and their controls.

use std::sync::Arc;

use proptest::prelude::*;
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
fn too_little_headroom_is_said_before_the_run_and_seen_in_it() {
    let warnings = |headroom: Value| {
        let control =
            json!({ "kind": "pfc", "buffer": 2_000_000, "xoff": 20_000, "headroom": headroom });
        let spec = spec(
            17,
            incast(16, 1_000_000),
            json!({ "flow_control": control }),
        );
        let scenario = Arc::new(Scenario::build(&spec).unwrap());
        let before = Simulation::new(scenario, &spec).unwrap().warnings();
        (before, run(&spec).summary.warnings)
    };
    // 2 x 1 us x 100 Gb/s = 25,000 B, 2 x 1538 B and a pause frame of 84 B.
    let (before, after) = warnings(json!(3_000));
    let expected = "headroom of 3000 B is less than what may come after a pause at 17 links: h0>s needs 28160 B";
    assert!(before[0].starts_with(expected), "{before:?}");
    assert!(
        after
            .iter()
            .any(|w| w.contains("were lost in lossless classes")),
        "{after:?}"
    );
    assert!(warnings(json!(28_160)).0.is_empty() && warnings(json!(28_160)).1.is_empty());
}

#[test]
fn the_default_headroom_suffices_where_many_ports_share_a_buffer() {
    // Thresholds fall as others fill the buffer: the packet that finds itself above one must not take the place of those behind it.
    let outcome = run(&spec(
        0,
        json!({ "kind": "permutation" }),
        json!({
            "topology": { "kind": "fat_tree", "k": 8, "link": { "rate": 100_000_000_000_u64, "delay": 1_000_000 } },
            "flow_control": { "kind": "pfc", "buffer": 1_000_000 },
            "backend": { "until": 300_000_000 },
        }),
    ));
    assert_eq!(total(&outcome, "queues", "dropped_packets"), 0.0);
    assert!(total(&outcome, "queues", "paused_ns") > 0.0);
}

#[test]
fn a_window_smaller_than_the_acknowledged_number_does_not_wait_for_a_timeout() {
    // 4 packets of 1456 B under way, and an acknowledgment for 16: the last of the window asks for one.
    let outcome = run(&spec(
        2,
        json!({ "kind": "pairs", "pairs": ["h0>h1"], "size": 1_456_000 }),
        json!({ "transport": { "kind": "rocev2", "window": 4 * 1456, "ack_every": 16 } }),
    ));
    let fct = column(&outcome, "flows", "fct_ns")[0];
    // 250 windows of a round trip each: 4 us of links, 4 packets of 123 ns, their way through the switch and that of the answer.
    assert!((250.0 * 4_000.0..250.0 * 5_000.0).contains(&fct), "{fct}");
    assert_eq!(total(&outcome, "flows", "retransmitted_bytes"), 0.0);
}

#[test]
fn a_lossless_queue_beyond_the_discipline_is_marked() {
    // Capacity 10 kB: a lossless class cannot drop what is beyond, and ECN says so.
    let marked = |kind: Value| {
        let outcome = run(&spec(
            9,
            incast(8, 1_000_000),
            json!({ "queue": kind, "flow_control": { "kind": "pfc", "alpha": 8.0 } }),
        ));
        assert_eq!(total(&outcome, "queues", "dropped_packets"), 0.0);
        total(&outcome, "queues", "marked_packets") / total(&outcome, "queues", "enqueued_packets")
    };
    let ramp = json!({ "kind": "ecn_ramp", "capacity": { "bytes": 10_000 }, "min_threshold": { "bytes": 4_000 }, "max_threshold": { "bytes": 9_000 } });
    // Of what joins queues a quarter is data at the switch; the rest is data at hosts, and answers at both.
    assert!((0.2..0.25).contains(&marked(ramp)));
    assert_eq!(
        marked(json!({ "kind": "drop_tail", "capacity": { "packets": 5 } })),
        0.0
    );
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
        (
            json!({ "flow_control": { "kind": "pfc", "xoff": 2000 } }),
            "flow_control.xon_offset: 3000 B is more than flow_control.xoff, 2000 B",
        ),
        (
            json!({ "congestion": { "kind": "swift", "flow_scaling_min": 200.0 } }),
            "congestion.flow_scaling_min: 200 (incast) is not below flow_scaling_max, 100",
        ),
    ] {
        let found = fault(extra);
        assert!(found.starts_with(start), "{found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the fabric, the classes and the sizes: lossless classes lose nothing, everything arrives once or a deadlock is named, and the
    /// same run has the same fingerprint in any slices. Conservation is checked at the end of every run, which panics without it.
    #[test]
    fn nothing_is_lost_on_any_fabric(
        shape in 0_usize..5,
        routing in 0_usize..2,
        seed in 0_u64..1000,
        classes in 1_u64..4,
        is_drr in any::<bool>(),
        is_selective in any::<bool>(),
        buffer in 300_000_u64..1_000_000,
        control in 0_usize..4,
        flows in prop::collection::vec((0_usize..4, 0_usize..4, 1_u64..60_000, 0_u64..20_000_000, 0_u64..4), 1..12),
    ) {
        let (topology, hosts) = match shape {
            0 => (json!({ "kind": "star", "hosts": 4 }), ["h0", "h1", "h2", "h3"]),
            1 => (json!({ "kind": "ring", "switches": 4 }), ["h0_0", "h1_0", "h2_0", "h3_0"]),
            2 => (json!({ "kind": "mesh5" }), ["H1", "H2", "H3", "H4"]),
            3 => (json!({ "kind": "fat_tree" }), ["h000", "h011", "h200", "h311"]),
            _ => (json!({ "kind": "torus", "dimensions": [3, 3] }), ["h0_0", "h4_0", "h5_0", "h8_0"]),
        };
        let mut topology = topology;
        topology["link"] = json!({ "rate": 25_000_000_000_u64, "delay": 500_000 });
        let retransmission = ["go_back_n", "selective"][usize::from(is_selective)];
        let workload: Vec<Value> = flows.iter().enumerate().filter(|(_, f)| f.0 != f.1).map(|(i, f)| json!({
            "name": format!("w{i}"), "kind": "pairs", "pairs": [format!("{}>{}", hosts[f.0], hosts[f.1])],
            "size": f.2, "start": f.3,
            "transport": { "kind": "rocev2", "priority": f.4 % classes, "retransmission": retransmission },
        })).collect();
        prop_assume!(!workload.is_empty());
        let control = ["none", "dcqcn", "hpcc", "swift"][control];
        let scheduler = ["strict", "drr"][usize::from(is_drr)];
        let routing = ["shortest", "up_down"][routing];
        let spec = json!({
            "seed": seed, "topology": topology,
            "routing": { "kind": routing },
            "flow_control": { "kind": "pfc", "classes": classes, "buffer": buffer, "scheduler": scheduler },
            "queue": { "kind": "ecn_ramp" },
            "congestion": { "kind": control }, "workload": workload,
        });
        let spec = spec.as_object().unwrap().clone();
        let outcome = run(&spec);
        let warnings = &outcome.summary.warnings;
        let can_deadlock = warnings.iter().any(|w| w.contains("can deadlock"));
        prop_assert!(outcome.summary.finished || can_deadlock, "{warnings:?}");
        prop_assert_eq!(total(&outcome, "queues", "dropped_packets"), 0.0);
        if outcome.summary.finished {
            prop_assert_eq!(column(&outcome, "flows", "delivered_bytes"), column(&outcome, "flows", "size_bytes"));
        }
        let scenario = Arc::new(Scenario::build(&spec).unwrap());
        let mut sliced = Simulation::new(scenario, &spec).unwrap();
        while !sliced.advance(7).finished {}
        prop_assert_eq!(sliced.finish().summary.fingerprint, outcome.summary.fingerprint);
    }
}
