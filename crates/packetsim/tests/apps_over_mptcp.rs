//! Whole runs of applications over MPTCP: round trips that can be derived, and messages that survive what happens to a path.

mod common;

use common::{integers, optional_integers, run, scenario, spec};
use serde_json::{Map, Value, json};
use weft_packetsim::{Outcome, Simulation};

const MS: u64 = 1_000_000_000;

/// Server `a` and client `b` with two cards each at 100 Mb/s: 5 ms a link by way of p, which is the first subflow's, 1 ms by
/// way of q. Of the four subflows the first has p both ways, the last q, the others one each.
fn two_paths(rpc: Value, transport: Value) -> Map<String, Value> {
    let cable = |a: &str, b: &str, ms: u64| json!({ "a": a, "b": b, "delay": ms * MS });
    let (mut rpc, mut transport) = (rpc, transport);
    rpc["kind"] = json!("rpc");
    rpc["place"] = json!({ "kind": "list", "hosts": ["a", "b"] });
    transport["kind"] = json!("mptcp");
    transport["path_manager"] = json!("fullmesh");
    spec(json!({
        "seed": 1,
        "topology": {
            "kind": "custom",
            "hosts": ["a", "b"],
            "links": [cable("a", "p", 5), cable("b", "p", 5), cable("a", "q", 1), cable("b", "q", 1)],
            "link": { "rate": 100_000_000, "overhead": 0 },
        },
        "transport": transport,
        "workload": [rpc],
    }))
}

fn value(bytes: u64) -> Value {
    json!({ "kind": "fixed", "bytes": bytes })
}

/// Time of one IP packet over two links, us.
fn across(bytes: f64, delay: f64) -> f64 {
    2.0 * (0.08 * bytes + delay)
}

const P: f64 = 5_000.0;
const Q: f64 = 1_000.0;

/// Median and 99th percentile of the queries of the first connection, us.
fn latency(outcome: &Outcome) -> (f64, f64) {
    let of = |name| optional_integers(outcome, "flows", name)[0].expect("a latency") as f64 / 1e3;
    (of("latency_p50_ns"), of("latency_p99_ns"))
}

/// A histogram's bucket is at most 1/128 of its value wide.
fn is_near(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1.0 / 128.0,
        "{found} us, by hand {expected}"
    );
}

#[test]
fn a_get_goes_there_and_back_on_the_fast_path() {
    // Headers of 52 B and a DSS of 28. The first of 50 queries, the 99th percentile, has only the first subflow: SYN with 4 and
    // SYN-ACK with 12 B of MP_CAPABLE, request, answer. When the others come, all subflows have joined: request and answer
    // go the short way.
    let rpc = json!({ "value": value(1000), "gets": 1.0, "requests": 50, "think": 200 * MS });
    let outcome = run(&two_paths(rpc, json!({})), 100_000);
    let (p50, p99) = latency(&outcome);
    is_near(p50, across(180.0, Q) + across(1080.0, Q));
    let first = across(64.0, P) + across(72.0, P) + across(180.0, P) + across(1080.0, P);
    is_near(p99, first);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [50_000]);
    assert_eq!(integers(&outcome, "flows", "subflows"), [4]);
    assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
    // What the server sent, by subflow: the first answer on the first, 49 on the last.
    let sent = integers(&outcome, "paths", "tx_bytes");
    assert_eq!(sent[0], 72 + 1080);
    assert!(sent[3] >= 49 * 1080 && sent[3] < 50 * 1080, "{sent:?}");
    // In turn, a request and its answer take the mean way of four each: half of them cross p.
    let rpc = json!({ "value": value(1000), "gets": 1.0, "requests": 400, "think": 200 * MS });
    let spec = two_paths(rpc, json!({ "scheduler": "round_robin" }));
    let sent = integers(&run(&spec, 100_000), "paths", "tx_bytes");
    assert!(sent.iter().all(|&bytes| bytes > 90 * 1080), "{sent:?}");
}

#[test]
fn a_set_takes_its_value_and_a_data_ack() {
    // Segments of 1420, 1420 and 160 B, one behind the other over q; at the second link the last waits for the full one
    // before it. Whoever completes a message is acknowledged at once.
    let rpc = json!({ "value": value(3000), "gets": 0.0, "requests": 50, "think": 200 * MS });
    let outcome = run(&two_paths(rpc, json!({})), 100_000);
    let there = 3.0 * 120.0 + 0.08 * 240.0 + 2.0 * Q;
    let (p50, _) = latency(&outcome);
    is_near(p50, there + across(64.0, Q));
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [150_000]);
}

#[test]
fn an_answer_is_whole_when_its_last_data_is_there_on_whichever_path() {
    // Initial windows of ten: of 20 segments ten go over q, and ten over the subflows that send by p from the server. The last of
    // those decides: two links of 5 ms, after ten full packets at the first.
    let rpc = json!({ "value": value(20 * 1420), "gets": 1.0, "requests": 50, "think": 200 * MS });
    let keys = json!({ "autotune": false });
    let outcome = run(&two_paths(rpc, keys), 100_000);
    let sent = integers(&outcome, "paths", "tx_bytes");
    let (p50, _) = latency(&outcome);
    // With more than ten segments of window the fast path takes all in the end, so that the median lies between the two ways.
    let slow = across(180.0, Q) + 10.0 * 120.0 + 2.0 * P + 120.0;
    let fast = across(180.0, Q) + 20.0 * 120.0 + 2.0 * Q + 120.0;
    assert!(
        p50 > fast * 0.99 && p50 < slow * 1.01,
        "{p50}: {fast}, {slow}"
    );
    assert_eq!(
        integers(&outcome, "flows", "delivered_bytes"),
        [50 * 20 * 1420]
    );
    assert!(sent[3] > sent[0], "{sent:?}");
}

#[test]
fn an_aggregate_waits_for_the_slowest_answer() {
    // As over one path: the answers of eight servers share the client's link, 80 full packets.
    for subflows in [1, 2, 4] {
        let outcome = run(
            &spec(json!({
                "seed": 1,
                "topology": { "kind": "star", "hosts": 9, "link": { "rate": 10_000_000_000_u64, "delay": 1_000_000, "overhead": 0 } },
                "transport": { "kind": "mptcp", "subflows": subflows },
                "workload": [{ "kind": "rpc", "servers": 8, "fan_out": 8, "value": value(14_200), "gets": 1.0, "requests": 30, "think": MS }],
            })),
            200_000,
        );
        let all = 80.0 * 1500.0 * 0.8;
        for p50 in optional_integers(&outcome, "flows", "latency_p50_ns") {
            let p50 = p50.expect("a latency") as f64;
            assert!(
                (all..all + 12_000.0).contains(&p50),
                "{p50}, at least {all}"
            );
        }
        let delivered = integers(&outcome, "flows", "delivered_bytes");
        assert_eq!(delivered, [30 * 14_200; 8]);
    }
}

#[test]
fn an_open_loop_asks_at_its_rate() {
    // 2,000 queries a second for 5 s: 10,000, standard deviation 100.
    let rpc = json!({ "value": value(500), "gets": 1.0, "rate": 2000.0 });
    let mut spec = two_paths(rpc, json!({}));
    spec.insert(
        "backend".into(),
        json!({ "kind": "packet", "until": 5000 * MS }),
    );
    let queries = integers(&run(&spec, 1_000_000), "flows", "delivered_bytes")[0] / 500;
    assert!((9_500..10_500).contains(&queries), "{queries}");
}

#[test]
fn what_is_lost_is_sent_again_and_counts_once() {
    for gets in [1.0, 0.0, 0.5] {
        for loss in [0.02, 0.2] {
            let rpc = json!({ "value": value(5000), "gets": gets, "requests": 200, "think": MS });
            let mut spec = two_paths(rpc, json!({ "profile": "datacenter" }));
            spec["topology"]["link"]["loss"] = json!({ "kind": "random", "p": loss });
            let outcome = run(&spec, 1_000_000);
            assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
            let delivered = integers(&outcome, "flows", "delivered_bytes");
            assert_eq!(delivered.iter().sum::<i64>(), 200 * 5000);
        }
    }
}

#[test]
fn queries_go_on_when_their_path_fails() {
    // The fast path goes down at 1 s for good, and no route changes. A request on a dead subflow is asked again on another one
    // after a timeout of 0.2 s, at most on three in turn; the answer may wait for one more at the server. Then all is on p: 100
    // queries of 20 ms. Without reinjection nothing that was sent there is answered before the path is back, at 30 s.
    for gets in [1.0, 0.0] {
        let end = |reinjection: bool| {
            let rpc =
                json!({ "value": value(1000), "gets": gets, "requests": 200, "think": 10 * MS });
            let mut spec = two_paths(rpc, json!({ "reinjection": reinjection }));
            let failure = json!({ "what": "b<>q", "when": 1000 * MS, "until": 30_000 * MS, "reconvergence": 100_000 * MS });
            spec.insert("failure".into(), json!([failure]));
            let outcome = run(&spec, 1_000_000);
            assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
            assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [200_000]);
            outcome.summary.simulated_ns / 1_000_000
        };
        let (with, without) = (end(true), end(false));
        assert!((3_000..7_500).contains(&with), "{with} ms");
        assert!(without > 30_000, "{without} ms");
    }
}

#[test]
fn a_trace_of_gets_and_sets_runs_over_mptcp() {
    let file = std::env::temp_dir().join(format!("weft-{}-mptcp.csv", std::process::id()));
    let rows = "get,a,b,70000,0,0\nset,b,a,7,0,1\nget,a,b,5,90000000000,2\n";
    std::fs::write(
        &file,
        format!("kind,src,dst,size_bytes,start_ps,query\n{rows}"),
    )
    .expect("a file");
    let mut spec = two_paths(json!({ "value": value(1) }), json!({}));
    spec.insert(
        "workload".into(),
        json!([{ "kind": "trace", "file": file }]),
    );
    let outcome = run(&spec, 10_000);
    assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [70_005, 7]);
    std::fs::remove_file(file).expect("the file");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let spec = spec(json!({
        "seed": 3,
        "topology": { "kind": "fat_tree", "link": { "rate": 1_000_000_000 } },
        "load_balance": { "kind": "spray" },
        "receive": { "kind": "juggler" },
        "transport": { "kind": "mptcp", "subflows": 4 },
        "congestion": { "kind": "lia" },
        "workload": [{ "kind": "rpc", "servers": 4, "fan_out": 3, "value": { "kind": "uniform", "min": 100, "max": 50_000 }, "gets": 0.7, "requests": 30 }],
    }));
    let once = run(&spec, 1_000_000);
    assert!(once.summary.finished);
    let mut simulation = Simulation::new(scenario(&spec), &spec).expect("valid");
    while !simulation.advance(777).finished {}
    assert_eq!(
        simulation.finish().summary.fingerprint,
        once.summary.fingerprint
    );
}
