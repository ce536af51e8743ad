//! Links behind token buckets, judged by arithmetic.

mod common;

use common::{integers, reals, run, scenario, spec};
use serde_json::{Map, Value, json};
use weft_net::ids::FlowId;

/// A star of 1 Mb/s links of 10 us with buckets, no overhead; `link` changes them.
fn star(link: Value, workload: Value) -> Map<String, Value> {
    let mut all = json!({
        "rate": 1_000_000, "delay": 10_000_000, "overhead": 0, "shaper": "token_bucket", "burst": 15_360,
    });
    for (key, value) in link.as_object().expect("a table") {
        all[key] = value.clone();
    }
    spec(json!({ "topology": { "kind": "star", "hosts": 3, "link": all }, "workload": [workload] }))
}

#[test]
fn a_small_request_takes_no_longer_than_the_wire() {
    // 100 B take 0.8 ms a hop at 1 Mb/s; out of full buckets they take none. Open loop, one query a second, so that they
    // fill up again: two links of 10 us there and two back.
    let value = json!({ "kind": "fixed", "bytes": 100 });
    let place = json!({ "kind": "list", "hosts": ["h0", "h1"] });
    let workload = json!({ "kind": "rpc", "place": place, "value": value, "gets": 1.0, "think": 10_u64.pow(12), "requests": 10 });
    let outcome = run(&star(json!({}), workload), 10_000);
    // The first query opens the connection: one more round trip.
    let median = integers(&outcome, "flows", "latency_p50_ns")[0];
    assert!(
        (39_600..=40_400).contains(&median),
        "{median}: classes of 1 %"
    );
    assert_eq!(integers(&outcome, "queues", "max_bytes"), [0; 6]);
}

#[test]
fn a_flow_alone_is_ideal_packet_by_packet() {
    for link in [
        json!({}),
        json!({ "peak_rate": 10_000_000 }),
        json!({ "burst": 1_500 }),
    ] {
        for size in [1, 1_448, 9_000, 14_480] {
            let pairs = json!({ "kind": "pairs", "pairs": ["h0>h1"], "size": size });
            let spec = star(link.clone(), pairs);
            let ideal = scenario(&spec).ideal_fct(FlowId(0)).expect("a finite flow");
            let outcome = run(&spec, 10_000);
            let fct = integers(&outcome, "flows", "fct_ns");
            assert_eq!(fct, [ideal.as_ns() as i64], "{link} {size}");
        }
    }
}

#[test]
fn a_long_flow_gets_the_rate_and_the_burst_above_it() {
    // 10 s of datagrams of 1500 B at 2 Mb/s: what passes are 15,360 B and 10 s of 1 Mb/s, the last packet not whole.
    let udp = json!({ "kind": "udp", "rate": 2_000_000 });
    let pairs = json!({ "kind": "pairs", "pairs": ["h0>h1"], "transport": udp });
    let mut spec = star(json!({}), pairs);
    spec.insert("backend".into(), json!({ "until": 10_u64.pow(13) }));
    spec.insert(
        "measure".into(),
        json!({ "every": 10_u64.pow(11), "metrics": ["utilization"] }),
    );
    let outcome = run(&spec, 100_000);
    let packets = (1_250_000 + 15_360) / 1_500;
    assert_eq!(integers(&outcome, "links", "tx_packets")[0], packets);
    assert_eq!(
        integers(&outcome, "links", "busy_ns")[0],
        packets * 12_000_000
    );
    let utilization = reals(&outcome, "links", "utilization")[0].unwrap();
    assert!((utilization - 1.0116).abs() < 1e-9, "{utilization}");
}

#[test]
fn one_link_may_be_shaped_and_lossy_while_others_are_not() {
    let overrides = json!([{ "links": "h0>s", "loss": { "kind": "periodic", "p": 0.01 } }, { "links": "s>h1", "shaper": "none" }]);
    let pairs = json!({ "kind": "pairs", "pairs": ["h0>h1", "h2>h1"], "size": 200_000 });
    let mut spec = star(json!({}), pairs);
    spec["topology"]["overrides"] = overrides;
    let outcome = run(&spec, 100_000);
    assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
    assert!(integers(&outcome, "links", "lost_packets")[0] >= 1);
    // Two bursts meet before the link without a bucket: they queue there.
    assert!(integers(&outcome, "queues", "max_bytes")[3] > 1_500);
}
