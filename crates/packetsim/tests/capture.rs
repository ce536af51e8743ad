//! A tap on ports: it sees every packet, and changes nothing.

mod common;

use common::{integers, scenario, spec};
use serde_json::json;
use weft_packetsim::Simulation;

#[test]
fn a_tapped_run_is_the_same_run_and_the_tap_sees_all_of_it() {
    // Losses by queues and by wires, and packets that are on their way when the run ends.
    let spec = spec(json!({
        "seed": 5,
        "topology": {
            "kind": "fat_tree",
            "link": { "rate": 100_000_000, "delay": 20_000_000 },
            "overrides": [{ "links": "sc*", "loss": { "kind": "random", "p": 0.01 } }],
        },
        "queue": { "kind": "drop_tail", "capacity": { "packets": 8 } },
        "transport": { "kind": "mptcp", "subflows": 3 },
        "workload": [{ "kind": "permutation" }],
        "backend": { "until": 60_000_000_000_u64 },
    }));
    let run = |taps: bool, events: u64| {
        let mut simulation = Simulation::new(scenario(&spec), &spec).unwrap();
        let links = simulation.links();
        if taps {
            let all: Vec<u32> = (0..links as u32).collect();
            assert!(simulation.capture(&all, 96, "test", ""));
        }
        let mut bytes = Vec::new();
        while !simulation.advance(events).finished {
            bytes.extend(simulation.captured());
        }
        bytes.extend(simulation.captured());
        (simulation.captured_frames(), bytes, simulation.finish())
    };
    let (none, nothing, plain) = run(false, 1000);
    let (frames, bytes, tapped) = run(true, 1000);
    assert_eq!((none.len(), nothing.len()), (0, 0));
    assert_eq!(plain.summary.fingerprint, tapped.summary.fingerprint);
    let sent = integers(&plain, "links", "tx_packets");
    assert!(sent.iter().sum::<i64>() > 10_000);
    assert_eq!(frames.iter().map(|&n| n as i64).collect::<Vec<_>>(), sent);
    // The file does not depend on how often what is ready was taken.
    assert!(run(true, 37).1 == bytes);
}
