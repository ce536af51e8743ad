//! Whole runs of the simulator, judged by arithmetic.

mod common;

use common::{column, integers, reals, run, scenario, spec};
use serde_json::{Map, Value, json};
use weft_net::ids::FlowId;
use weft_net::results::Column;
use weft_packetsim::Simulation;

/// A star whose links differ: store and forward over links of several rates.
fn uneven(workload: Value) -> Value {
    json!({
        "seed": 1,
        "topology": {
            "kind": "star",
            "hosts": 4,
            "overrides": [
                { "links": "*>h1", "rate": 1_000_000_000, "delay": 5_000_000 },
                { "links": "h2>*", "rate": 3_000_000_001_u64 },
            ],
        },
        "workload": [workload],
    })
}

#[test]
fn a_datagram_takes_its_serializations_and_propagations() {
    // 1000 B payload in 1028 B of IP and 38 B of overhead: 1066 B are 852.8 ns at 10 Gbps and 8528 ns at 1 Gbps;
    // 1 us and 5 us of propagation. Together 15 380.8 ns.
    let pairs = json!({
        "name": "one", "kind": "pairs", "pairs": ["h0>h1"], "size": 1000,
        "transport": { "kind": "udp", "rate": 1_000_000_000 },
    });
    let outcome = run(&spec(uneven(pairs)), 1_000);
    assert_eq!(integers(&outcome, "flows", "fct_ns"), [15_381]);
}

#[test]
fn a_flow_that_fits_into_the_initial_window_is_ideal() {
    // Ten segments of 1448 B leave at once, so nothing but the links holds the flow back.
    for pairs in [["h0>h1"], ["h2>h0"], ["h2>h1"]] {
        for size in [1, 1448, 1449, 5_000, 14_480] {
            let spec = spec(uneven(
                json!({ "name": "one", "kind": "pairs", "pairs": pairs, "size": size }),
            ));
            let ideal = scenario(&spec)
                .ideal_fct(FlowId(0))
                .expect("a finite flow")
                .as_ns() as i64;
            let outcome = run(&spec, 10_000);
            assert_eq!(
                integers(&outcome, "flows", "fct_ns"),
                [ideal],
                "{pairs:?}, {size} bytes"
            );
        }
    }
}

#[test]
fn a_fetch_that_fits_into_the_initial_window_is_ideal() {
    let fetch = json!({ "name": "one", "kind": "incast", "degree": 1, "fetch": true, "size": 10_000, "receiver": "h1" });
    let spec = spec(uneven(fetch));
    let ideal = scenario(&spec)
        .ideal_fct(FlowId(0))
        .expect("a finite flow")
        .as_ns() as i64;
    assert_eq!(integers(&run(&spec, 10_000), "flows", "fct_ns"), [ideal]);
}

/// Permutation at k = 4 over slow links, where queues are much longer than the smallest round trip.
fn slow_permutation(balance: Value, transport: Value) -> Map<String, Value> {
    spec(json!({
        "seed": 7,
        "topology": {
            "kind": "fat_tree", "k": 4,
            "link": { "rate": 20_000_000, "delay": 50_000_000, "mtu": 1500, "overhead": 38 },
        },
        "load_balance": balance,
        "transport": transport,
        "workload": [{ "name": "bulk", "kind": "permutation", "size": 1_048_576 }],
    }))
}

#[test]
fn overtaken_acknowledgments_end_no_run() {
    // Spraying reorders ACKs as well; blocks of an old one once marked segments that had left the scoreboard.
    let outcome = run(
        &slow_permutation(json!({ "kind": "spray" }), json!({ "kind": "tcp" })),
        2_000_000,
    );
    assert_eq!(outcome.summary.unfinished, 0);
    assert!(
        integers(&outcome, "flows", "reordered_packets")
            .iter()
            .sum::<i64>()
            > 1_000
    );
}

#[test]
fn late_originals_do_not_pass_for_retransmissions() {
    // Nothing is lost, so everything that is sent again is sent in vain. With the timestamp rule of RFC 8985 section
    // 6.2 a verdict costs at most the segments that were in flight; without it a third of all bytes was sent twice.
    let outcome = run(
        &slow_permutation(json!({ "kind": "spray" }), json!({ "kind": "tcp" })),
        2_000_000,
    );
    let again = integers(&outcome, "flows", "retransmitted_bytes")
        .iter()
        .sum::<i64>();
    let sent = integers(&outcome, "flows", "wire_bytes")
        .iter()
        .sum::<i64>();
    assert!(again * 4 < sent, "{again} of {sent} bytes were sent again");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let tcp = || json!({ "kind": "tcp" });
    let balances = [
        json!({ "kind": "ecmp" }),
        json!({ "kind": "spray" }),
        json!({ "kind": "static" }),
    ];
    let prints: Vec<String> = balances
        .iter()
        .map(|balance| {
            run(&slow_permutation(balance.clone(), tcp()), 2_000_000)
                .summary
                .fingerprint
        })
        .collect();
    for (balance, print) in balances.iter().zip(&prints) {
        // In slices of another size.
        let spec = slow_permutation(balance.clone(), tcp());
        let mut simulation = Simulation::new(scenario(&spec), &spec).expect("valid");
        while !simulation.advance(777).finished {}
        assert_eq!(simulation.finish().summary.fingerprint, *print);
    }
    assert!(prints[0] != prints[1] && prints[1] != prints[2]);
}

#[test]
fn samples_do_not_change_a_run() {
    let plain = slow_permutation(json!({ "kind": "ecmp" }), json!({ "kind": "tcp" }));
    let mut sampled = plain.clone();
    sampled.insert("measure".into(), json!({ "every": 1_234_567_891_u64 }));
    assert_eq!(
        run(&plain, 2_000_000).summary.fingerprint,
        run(&sampled, 2_000_000).summary.fingerprint
    );
}

#[test]
fn flows_that_cannot_finish_say_why() {
    let cases = [
        (
            json!({ "overrides": [{ "links": "h1", "failed": true }] }),
            json!({}),
            "path down",
        ),
        (json!({}), json!({ "receive_window": 0 }), "zero window"),
        (
            json!({ "overrides": [{ "links": "*>h1", "loss": { "kind": "random", "p": 1.0 } }] }),
            json!({ "retries": 3 }),
            "timeout back-off",
        ),
    ];
    for (topology, transport, expected) in cases {
        let mut spec =
            uneven(json!({ "name": "one", "kind": "pairs", "pairs": ["h0>h1"], "size": 100_000 }));
        let overrides = topology.get("overrides").cloned().unwrap_or(json!([]));
        spec["topology"]["overrides"] = overrides;
        spec["transport"] = transport;
        spec["transport"]["kind"] = json!("tcp");
        let outcome = run(&self::spec(spec), 100_000);
        let Column::Word(codes, words) = column(&outcome, "flows", "reason") else {
            panic!("words")
        };
        let reason = &words[codes[0].expect("a reason") as usize];
        assert!(reason.starts_with(expected), "{reason}");
        assert_eq!(outcome.summary.unfinished, 1);
        assert!(!outcome.summary.finished);
        assert!(!outcome.summary.warnings.is_empty());
    }
}

#[test]
fn a_flow_that_lost_datagrams_is_not_finished() {
    // Two senders at line rate share one link: half of what they send is lost.
    let outcome = run(
        &spec(json!({
            "seed": 1,
            "topology": { "kind": "star", "hosts": 3 },
            "queue": { "kind": "drop_tail", "capacity": { "packets": 5 } },
            "transport": { "kind": "udp", "rate": 10_000_000_000_u64 },
            "workload": [{ "kind": "incast", "degree": 2, "receiver": "h0", "size": 147_200 }],
        })),
        100_000,
    );
    let lost = integers(&outcome, "flows", "lost_packets");
    let delivered = integers(&outcome, "flows", "delivered_bytes");
    let Column::OptionalInteger(fct) = column(&outcome, "flows", "fct_ns") else {
        panic!("fct_ns may be unknown")
    };
    for flow in 0..2 {
        assert_eq!(delivered[flow], (100 - lost[flow]) * 1472);
        assert_eq!(fct[flow].is_some(), lost[flow] == 0, "flow {flow}");
    }
    assert!(lost.iter().sum::<i64>() > 50);
    assert!(
        outcome.summary.warnings[0].contains("datagrams were lost"),
        "{:?}",
        outcome.summary.warnings
    );
}

/// One UDP flow over the star, with the measurement and the times that are given.
fn timed(workload: Value, measure: Value, until: u64) -> Map<String, Value> {
    let mut spec = spec(uneven(workload));
    spec.insert("measure".into(), measure);
    spec.insert(
        "backend".into(),
        json!({ "kind": "packet", "until": until }),
    );
    spec
}

fn udp(rate: u64, pairs: Value, start: u64) -> Value {
    let transport = json!({ "kind": "udp", "rate": rate });
    json!({ "name": "u", "kind": "pairs", "pairs": pairs, "start": start, "transport": transport })
}

#[test]
fn samples_of_an_idle_network_come_in_pieces() {
    // 100 s of nothing, sampled every microsecond: the rows must be handed over before they fill the memory.
    let idle = udp(1_000_000, json!(["h0>h3"]), 100_000_000_000_000);
    let spec = timed(idle, json!({ "every": 1_000_000 }), 101_000_000_000_000);
    let mut simulation = Simulation::new(scenario(&spec), &spec).expect("valid");
    assert!(!simulation.advance(10_000).finished);
    assert!(
        simulation.sample_rows() < 20_000,
        "{}",
        simulation.sample_rows()
    );
}

#[test]
fn a_flow_that_starts_inside_the_window_is_judged_by_its_share_of_it() {
    // 5 Gbps on the wire carry 1472/1538 of that as payload, from 4 ms to the end of the window at 5 ms.
    let late = udp(5_000_000_000, json!(["h0>h3"]), 4_000_000_000);
    let outcome = run(
        &timed(
            late,
            json!({ "cooldown": 5_000_000_000_u64 }),
            10_000_000_000,
        ),
        1_000_000,
    );
    let goodput = reals(&outcome, "flows", "goodput_bps")[0].expect("a value");
    assert!(
        (goodput / (5e9 * 1472.0 / 1538.0) - 1.0).abs() < 0.01,
        "{goodput}"
    );
}

#[test]
fn a_backlog_at_the_end_is_not_charged_beyond_it() {
    // 10 Gbps towards a link of 1 Gbps: the queue is full at the end, and its mean cannot exceed its maximum.
    let outcome = run(
        &timed(
            udp(9_000_000_000, json!(["h0>h1"]), 0),
            json!({}),
            1_000_000_000,
        ),
        1_000_000,
    );
    let most = integers(&outcome, "queues", "max_bytes");
    let mean = reals(&outcome, "queues", "mean_bytes");
    assert!(most.iter().any(|&m| m > 100_000));
    for (most, mean) in most.iter().zip(mean) {
        assert!(mean.expect("a value") <= *most as f64);
    }
}

#[test]
fn a_warm_up_that_outlasts_the_run_is_said() {
    let pairs = json!({ "name": "one", "kind": "pairs", "pairs": ["h0>h3"], "size": 100_000 });
    let mut spec = spec(uneven(pairs));
    spec.insert(
        "measure".into(),
        json!({ "warmup": 10_000_000_000_000_u64 }),
    );
    let outcome = run(&spec, 100_000);
    assert!(
        outcome.summary.warnings[0].contains("nothing was measured"),
        "{:?}",
        outcome.summary.warnings
    );
    assert_eq!(reals(&outcome, "links", "utilization")[0], None);
}

#[test]
fn what_the_counters_cannot_hold_is_refused() {
    let huge =
        json!({ "name": "one", "kind": "pairs", "pairs": ["h0>h3"], "size": 5_000_000_000_u64 });
    let mut small_window = spec(uneven(huge.clone()));
    small_window.insert(
        "transport".into(),
        json!({ "kind": "tcp", "receive_window": 1 }),
    );
    let mut slow = spec(uneven(huge));
    slow["topology"]["overrides"] = json!([{ "links": "*>h0", "rate": 1 }]);
    slow.insert(
        "queue".into(),
        json!({ "kind": "drop_tail", "capacity": { "packets": 2_000 } }),
    );
    for (spec, key) in [(small_window, "workload[0].size"), (slow, "queue.capacity")] {
        let faults = Simulation::new(scenario(&spec), &spec).expect_err("a fault");
        assert_eq!(faults[0].key, key);
    }
}
