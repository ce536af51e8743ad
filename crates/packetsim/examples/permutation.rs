//! Permutation traffic on a fat tree: the engine alone, for profiling.
//!
//! `cargo run --release -p weft-packetsim --example permutation -- K GBPS MILLISECONDS [SIZE_BYTES [SUBFLOWS]]`
//!
//! A size of 0 is endless; with subflows, the transport is MPTCP under LIA, and with a name in their place (`dcqcn`, `pfc`,
//! `credit`) the fabric is lossless: RoCEv2 over PFC with DCQCN or without control, or InfiniBand over credits.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use weft_net::scenario::Scenario;
use weft_packetsim::Simulation;

fn main() {
    let (names, numbers): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|a| a.parse::<u64>().is_err());
    let arguments: Vec<u64> = numbers.iter().filter_map(|a| a.parse().ok()).collect();
    let [k, gbps, milliseconds, ref rest @ ..] = arguments[..] else {
        panic!(
            "usage: permutation K GBPS MILLISECONDS [SIZE_BYTES [SUBFLOWS | dcqcn | pfc | credit]]"
        )
    };
    let link = json!({ "rate": gbps * 1_000_000_000, "delay": 1_000_000, "mtu": 1500, "overhead": 38, "loss": null,
        "switch_latency": 0 });
    let mut workload = json!({ "name": "bulk", "kind": "permutation" });
    let mut backend = json!({ "kind": "packet", "limit": 1_000_000_000_000_000_u64 });
    match rest.first().filter(|&&size| size > 0) {
        Some(size) => workload["size"] = json!(size),
        None => backend["until"] = json!(milliseconds * 1_000_000_000),
    }
    let name = names.first().map(String::as_str);
    let mut queue = json!({ "kind": "drop_tail", "capacity": { "packets": 100 } });
    let (flow_control, transport, congestion) = match (name, rest.get(1)) {
        (None, Some(subflows)) => (
            "none",
            json!({ "kind": "mptcp", "subflows": subflows }),
            "lia",
        ),
        (None, None) => ("none", json!({ "kind": "tcp" }), "cubic"),
        (Some("credit"), _) => ("credit", json!({ "kind": "infiniband" }), "none"),
        (Some(control), _) => {
            queue = json!({ "kind": "ecn_ramp" });
            let congestion = if control == "dcqcn" { "dcqcn" } else { "none" };
            ("pfc", json!({ "kind": "rocev2" }), congestion)
        }
    };
    let spec = json!({
        "seed": 1,
        "topology": { "kind": "fat_tree", "k": k, "link": link },
        "routing": { "kind": "shortest" },
        "load_balance": { "kind": "ecmp" },
        "queue": queue,
        "flow_control": { "kind": flow_control },
        "transport": transport,
        "congestion": { "kind": congestion },
        "workload": [workload],
        "backend": backend,
    });
    let spec: Map<String, Value> = spec.as_object().cloned().expect("a table");
    let scenario = Arc::new(Scenario::build(&spec).expect("a valid scenario"));
    let mut simulation = Simulation::new(scenario, &spec).expect("a valid simulation");
    let before = cpu_seconds();
    while !simulation.advance(10_000_000).finished {}
    let outcome = simulation.finish();
    let cpu = cpu_seconds() - before;
    let summary = outcome.summary;
    println!(
        "k={k} {gbps}G: {:.2} M packet-hops/s, {} hops in {cpu:.3} s, fingerprint {}, {} warnings {:?}",
        summary.packet_hops as f64 / cpu / 1e6,
        summary.packet_hops,
        summary.fingerprint,
        summary.warnings.len(),
        summary.warnings,
    );
}

/// User CPU seconds of this process so far, from `/proc/self/stat` (100 ticks a second).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .expect("a command name")
        .split_whitespace()
        .collect();
    fields[11].parse::<f64>().expect("utime") / 100.0
}
