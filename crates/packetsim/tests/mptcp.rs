//! Whole runs with MPTCP, judged by arithmetic and by what its RFCs promise.

mod common;

use common::{column, integers, reals, run, scenario, spec};
use serde_json::{Map, Value, json};
use weft_net::ids::FlowId;
use weft_net::results::Column;
use weft_packetsim::{Outcome, Simulation};

const MS: u64 = 1_000_000_000;

/// A link of these bits per second and picoseconds, without overhead.
fn link(rate: u64, delay: u64) -> Value {
    json!({ "rate": rate, "delay": delay, "mtu": 1500, "overhead": 0 })
}

/// One flow from h0 to h1 over a star with this link.
fn star(link: Value, transport: Value, workload: Value) -> Map<String, Value> {
    let mut workload = workload;
    workload["name"] = json!("one");
    spec(json!({
        "seed": 1,
        "topology": { "kind": "star", "hosts": 2, "link": link },
        "transport": transport,
        "workload": [workload],
    }))
}

/// Hosts a and b with two cards each, on two paths over the switches p and q, 100 Mb/s; `q` overrides keys of the latter.
fn two_paths(
    transport: Value,
    congestion: &str,
    size: Option<u64>,
    q: Value,
) -> Map<String, Value> {
    let cable = |a: &str, b: &str| {
        let mut cable = json!({ "a": a, "b": b });
        if b == "q" {
            let keys = q.as_object().expect("a table").clone();
            cable.as_object_mut().expect("a table").extend(keys);
        }
        cable
    };
    let mut transport = transport;
    transport["kind"] = json!("mptcp");
    transport["path_manager"] = json!("fullmesh");
    let mut workload = json!({ "name": "one", "kind": "pairs", "pairs": ["a>b"] });
    if let Some(size) = size {
        workload["size"] = json!(size);
    }
    spec(json!({
        "seed": 1,
        "topology": {
            "kind": "custom",
            "hosts": ["a", "b"],
            "links": [cable("a", "p"), cable("b", "p"), cable("a", "q"), cable("b", "q")],
            "link": link(100_000_000, MS),
        },
        "transport": transport,
        "congestion": { "kind": congestion },
        "workload": [workload],
    }))
}

fn until(mut spec: Map<String, Value>, time: u64, warmup: u64) -> Map<String, Value> {
    spec.insert("backend".into(), json!({ "kind": "packet", "until": time }));
    spec.insert("measure".into(), json!({ "warmup": warmup }));
    spec
}

/// Wire bytes that the source sent, by subflow.
fn sent(outcome: &Outcome) -> Vec<i64> {
    integers(outcome, "paths", "tx_bytes")
}

#[test]
fn a_short_flow_has_the_bytes_and_times_of_rfc_8684() {
    // 1000 B of payload. Options: MP_CAPABLE 4 in the SYN, 12 in the SYN-ACK, 20 in the third packet; DSS 28 with the data,
    // 12 in an ACK. So SYN 64, SYN-ACK 72, ACK 52 + 20, data 52 + 28 + 1000; then FIN and the last ACK, 52 + 12 each.
    let transport = json!({ "kind": "mptcp", "subflows": 4 });
    let workload = json!({ "kind": "pairs", "pairs": ["h0>h1"], "size": 1000 });
    let spec = star(link(10_000_000_000, 1_000_000), transport, workload);
    let outcome = run(&spec, 1_000);
    assert_eq!(
        integers(&outcome, "flows", "wire_bytes"),
        [64 + 72 + 1080 + 64 + 64]
    );
    // Nothing was left to send when the other subflows could have begun.
    assert_eq!(integers(&outcome, "flows", "subflows"), [1]);
    assert_eq!(sent(&outcome), [1344, 0, 0, 0]);
    // 0.8 ns a byte on each of two links, 2 us of propagation. The data leaves behind the third packet.
    let across = |bytes: f64| 2.0 * 0.8 * bytes + 2_000.0;
    let fct = across(64.0) + across(72.0) + 0.8 * 72.0 + across(1080.0);
    assert_eq!(integers(&outcome, "flows", "fct_ns"), [fct.round() as i64]);
    let ideal = scenario(&spec).ideal_fct(FlowId(0)).expect("finite");
    assert_eq!(ideal.0, (fct * 1e3).round() as u64);
    // Data ACK, FIN, and the FIN of the receiver: 64 B each.
    let closed = fct + 3.0 * across(64.0);
    assert_eq!(
        integers(&outcome, "flows", "closed_ns"),
        [closed.round() as i64]
    );
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [1000]);
}

#[test]
fn a_subflow_that_joins_sends_data_after_the_fourth_packet() {
    // One way takes 2 ms, serialization next to nothing. Upload: SYN-ACK at 4, first data ACK at 8, then MP_JOIN: SYN-ACK at
    // 12, fourth packet at 16 ms. Before that the subflow has sent SYN (72) and third packet (76) at most.
    let endless = |fetch: bool| match fetch {
        false => json!({ "kind": "pairs", "pairs": ["h0>h1"] }),
        true => json!({ "kind": "incast", "degree": 1, "receiver": "h1", "fetch": true }),
    };
    let transport = json!({ "kind": "mptcp", "subflows": 2 });
    let at = |fetch: bool, time: u64| {
        let spec = star(link(10_000_000_000, MS), transport.clone(), endless(fetch));
        sent(&run(&until(spec, time, 0), 10_000))[1]
    };
    let tenth = MS / 10;
    assert_eq!(at(false, 8 * MS - tenth), 0);
    assert_eq!(at(false, 8 * MS + tenth), 72);
    assert_eq!(at(false, 12 * MS + tenth), 72 + 76);
    assert_eq!(at(false, 16 * MS - tenth), 72 + 76);
    // Ten segments of 1420 B: the initial window of a TCP of its own.
    assert_eq!(at(false, 16 * MS + tenth), 72 + 76 + 10 * 1500);
    // Fetch: SYN-ACK at 4, request at 6, data at 8 ms; the client joins: SYN at 10, third packet at 14 ms, which the server
    // answers. It sends SYN-ACK (76) and the fourth packet, an ACK with a DSS (64).
    assert_eq!(at(true, 10 * MS - tenth), 0);
    assert_eq!(at(true, 10 * MS + tenth), 76);
    assert_eq!(at(true, 14 * MS - tenth), 76);
    assert_eq!(at(true, 14 * MS + tenth), 76 + 64 + 10 * 1500);
}

#[test]
fn a_flow_that_ends_while_a_subflow_joins_is_closed_at_once() {
    // One way takes 2 ms and a little. Of 30 segments ten arrive from 8 ms on, when the client opens the second subflow; its
    // SYN-ACK comes at 12 ms, the third packet leaves, and at 14.4 ms the last of the 30 arrives, before the fourth. The
    // server has the subflow by then. It hears of the end 2 ms later and sends a FIN on both, which are answered: 6 ms.
    let transport = json!({ "kind": "mptcp", "subflows": 2 });
    let size = 30 * 1420;
    let fetch =
        json!({ "kind": "incast", "degree": 1, "receiver": "h1", "fetch": true, "size": size });
    let outcome = run(&star(link(100_000_000, MS), transport, fetch), 10_000);
    let ns = |name| integers(&outcome, "flows", name)[0];
    assert!((14_000_000..15_000_000).contains(&ns("fct_ns")));
    let end = ns("closed_ns") - ns("fct_ns");
    assert!((6_000_000..6_200_000).contains(&end), "{end} ns");
}

#[test]
fn every_subflow_has_its_own_sequence_and_all_bytes_arrive_once() {
    // Random loss on every link: repairs and reinjections happen, and the conservation check of each run is per subflow.
    let lossy = json!({ "rate": 1_000_000_000, "delay": 100_000_000, "loss": { "kind": "random", "p": 0.01 } });
    for congestion in ["reno", "cubic", "lia", "olia", "balia", "dctcp"] {
        for fetch in [false, true] {
            let transport =
                json!({ "kind": "mptcp", "subflows": 4, "rto_min": 5 * MS, "rto_initial": 5 * MS });
            let workload = json!({ "kind": "incast", "degree": 1, "receiver": "h1", "fetch": fetch, "size": 2_000_001 });
            let mut spec = star(lossy.clone(), transport, workload);
            spec.insert("congestion".into(), json!({ "kind": congestion }));
            let outcome = run(&spec, 100_000);
            assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [2_000_001]);
            assert_eq!(integers(&outcome, "flows", "subflows"), [4]);
            let sent: i64 = sent(&outcome).iter().sum();
            assert_eq!(integers(&outcome, "flows", "wire_bytes"), [sent]);
            assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
        }
    }
}

#[test]
fn two_disjoint_paths_give_the_sum() {
    // 1420 of 1500 bytes are payload: 94.67 Mb/s a path.
    for congestion in ["lia", "olia", "balia", "cubic", "reno"] {
        let spec = two_paths(json!({ "autotune": false }), congestion, None, json!({}));
        let outcome = run(&until(spec, 4_000 * MS, 1_000 * MS), 10_000_000);
        let goodput = reals(&outcome, "flows", "goodput_bps")[0].expect("measured");
        let share = goodput / (2.0 * 100e6 * 1420.0 / 1500.0);
        assert!((0.95..=1.001).contains(&share), "{congestion}: {share}");
        assert_eq!(integers(&outcome, "flows", "subflows"), [4]);
    }
}

#[test]
fn the_default_path_manager_keeps_one_path() {
    let mut spec = two_paths(json!({}), "lia", Some(1_000_000), json!({}));
    spec["transport"]["path_manager"] = json!("default");
    let outcome = run(&spec, 100_000);
    assert_eq!(integers(&outcome, "flows", "subflows"), [1]);
    assert_eq!(sent(&outcome).len(), 1);
    // 705 segments and the handshake on one link of 100 Mb/s.
    let fct = integers(&outcome, "flows", "fct_ns")[0];
    assert!(fct > 1_000_000 * 8 * 10, "{fct} ns: faster than one path");
}

#[test]
fn traffic_leaves_a_path_that_loses_packets() {
    // RFC 6356, goal 3: with 2 % of loss the second path carries little, and the first is still full.
    let lossy = json!({ "loss": { "kind": "random", "p": 0.02 } });
    for congestion in ["lia", "olia", "balia"] {
        let spec = two_paths(
            json!({ "autotune": false }),
            congestion,
            None,
            lossy.clone(),
        );
        let outcome = run(&until(spec, 4_000 * MS, 1_000 * MS), 10_000_000);
        let bytes = sent(&outcome);
        // Subflows 0 and 1 leave by p, 2 and 3 by q.
        let (p, q) = (bytes[0] + bytes[1], bytes[2] + bytes[3]);
        assert!(q * 3 < p, "{congestion}: {p} and {q} bytes");
        let goodput = reals(&outcome, "flows", "goodput_bps")[0].expect("measured");
        assert!(
            goodput > 0.93 * 100e6 * 1420.0 / 1500.0,
            "{congestion}: {goodput}"
        );
    }
}

#[test]
fn data_on_a_subflow_that_stalls_is_sent_on_the_others() {
    // Half of what goes from q to b is lost: subflows there are established by and by, and wait for their timers. What is
    // stuck goes over p after one timeout; without reinjection it must get through where it was sent.
    let fct = |reinjection: bool| {
        let keys =
            json!({ "reinjection": reinjection, "rto_initial": 10 * MS, "rto_min": 200 * MS });
        let mut spec = two_paths(keys, "reno", Some(20_000_000), json!({}));
        let hole = json!({ "links": "q>b", "loss": { "kind": "random", "p": 0.5 } });
        spec["topology"]["overrides"] = json!([hole]);
        let outcome = run(&spec, 10_000_000);
        assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [20_000_000]);
        assert_eq!(integers(&outcome, "flows", "subflows"), [4]);
        integers(&outcome, "flows", "fct_ns")[0]
    };
    // Over p alone: 20 MB in segments of 1420 at 100 Mb/s take 1.69 s.
    let (with, without) = (fct(true), fct(false));
    assert!(with < 2_500_000_000, "{with}");
    assert!(
        without > with + 500_000_000,
        "{without} without, {with} with"
    );
}

#[test]
fn a_flow_survives_a_path_that_fails_under_it() {
    // The path over q goes down at 0.3 s and no route changes. What was on it goes over p after one retransmission timeout
    // (0.2 s): 20 MB at 100 Mb/s on both paths for 0.3 s and on one for the rest would take 1.4 s. Without reinjection the
    // receiver waits for the rest until the path is back, at 20 s.
    let fct = |reinjection: bool| {
        let keys = json!({ "reinjection": reinjection });
        let mut spec = two_paths(keys, "lia", Some(20_000_000), json!({}));
        let failure = json!({ "what": "b<>q", "when": 300 * MS, "until": 20_000 * MS, "reconvergence": 100_000 * MS });
        spec.insert("failure".into(), json!([failure]));
        let outcome = run(&spec, 10_000_000);
        assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [20_000_000]);
        integers(&outcome, "flows", "fct_ns")[0]
    };
    let (with, without) = (fct(true), fct(false));
    assert!((1_300_000_000..1_900_000_000).contains(&with), "{with}");
    assert!(without > 20_000_000_000, "{without}");
}

#[test]
fn the_scheduler_decides_when_the_receive_window_limits() {
    // Path q has ten times the delay. Ten segments of window: either path could carry them all.
    let bytes = |scheduler: &str| {
        let keys = json!({ "scheduler": scheduler, "receive_window": 14_200, "autotune": false });
        let spec = two_paths(keys, "lia", None, json!({ "delay": 10 * MS }));
        let bytes = sent(&run(&until(spec, 2_000 * MS, 0), 1_000_000));
        (bytes[0] + bytes[1], bytes[2] + bytes[3])
    };
    let (fast, slow) = bytes("lowest_rtt");
    assert!(fast > 20 * slow, "lowest_rtt: {fast} and {slow}");
    let (fast, slow) = bytes("round_robin");
    assert!(fast < 3 * slow, "round_robin: {fast} and {slow}");
}

#[test]
fn without_a_path_manager_that_adds_any_a_coupled_control_is_reno() {
    // One subflow, and plain TCP: the same windows at the same times.
    let run_with = |transport: Value, congestion: &str| {
        let lossy = json!({ "rate": 1_000_000_000, "delay": MS, "loss": { "kind": "periodic", "p": 0.001 } });
        let workload = json!({ "kind": "pairs", "pairs": ["h0>h1"], "size": 20_000_000 });
        let mut spec = star(lossy, transport, workload);
        spec.insert("congestion".into(), json!({ "kind": congestion }));
        integers(&run(&spec, 1_000_000), "flows", "fct_ns")[0]
    };
    for transport in [
        json!({ "kind": "tcp" }),
        json!({ "kind": "mptcp", "path_manager": "default" }),
    ] {
        let reno = run_with(transport.clone(), "reno");
        for congestion in ["lia", "olia", "balia"] {
            let coupled = run_with(transport.clone(), congestion);
            let ratio = coupled as f64 / reno as f64;
            assert!(
                (0.999..1.001).contains(&ratio),
                "{congestion} under {transport}: {ratio}"
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let permutation = |balance: &str| {
        spec(json!({
            "seed": 3,
            "topology": { "kind": "fat_tree", "link": { "rate": 1_000_000_000 } },
            "load_balance": { "kind": balance },
            "transport": { "kind": "mptcp", "subflows": 8 },
            "congestion": { "kind": "lia" },
            "measure": { "every": MS, "paths": true },
            "workload": [{ "kind": "permutation", "size": 1_000_000 }],
        }))
    };
    for balance in ["ecmp", "spray"] {
        let spec = permutation(balance);
        let once = run(&spec, 10_000_000);
        assert!(once.summary.finished);
        let mut simulation = Simulation::new(scenario(&spec), &spec).expect("valid");
        while !simulation.advance(777).finished {}
        let samples = simulation.samples().expect("sampled");
        let again = simulation.finish();
        assert_eq!(again.summary.fingerprint, once.summary.fingerprint);
        // Windows are sampled by subflow, goodput by flow.
        let Some((_, Column::Word(_, names))) = samples.columns.iter().find(|c| c.0 == "entity")
        else {
            panic!("entities are words")
        };
        assert!(
            names.contains(&"5/7".to_owned()) && names.contains(&"5".to_owned()),
            "{names:?}"
        );
        let Column::Integer(subflows) = column(&once, "paths", "subflow") else {
            panic!("numbers")
        };
        assert!((0..8).all(|n| subflows.contains(&n)));
    }
}
