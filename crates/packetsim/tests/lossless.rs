//! Runs of the lossless engine: rates on the graph of the InfiniBand congestion control thesis, and what must hold of any fabric.

mod common;

use std::sync::OnceLock;

use common::{integers, run, scenario, spec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use weft_packetsim::Simulation;

/// Forwarding tables of the thesis: switch, destination, next hop.
const TABLES: &str = "
    SW1 H2 SW2
    SW1 H3 SW3
    SW1 H4 SW3
    SW2 H1 SW1
    SW2 H5 SW1
    SW2 H3 SW4
    SW2 H4 SW4
    SW3 H1 SW1
    SW3 H2 SW1
    SW3 H5 SW1
    SW3 H4 SW4
    SW4 * SW2
    SW4 H3 SW3
    SW4 H4 H4
";

/// Written once: a test that writes it again would do so while another reads.
fn tables() -> String {
    static FILE: OnceLock<String> = OnceLock::new();
    let write = || {
        let file = std::env::temp_dir().join(format!("weft-lossless-{}.txt", std::process::id()));
        std::fs::write(&file, TABLES).unwrap();
        file.to_str().unwrap().to_owned()
    };
    FILE.get_or_init(write).clone()
}

/// Two hosts at SW1, one at each other switch of the square; `pairs` send for `ms` milliseconds. Rates are of data: 16 Gb/s of the
/// links, 32 of the fast ones.
fn thesis(pairs: &[&str], ms: u64, host_rate: u64, congestion: Value) -> Map<String, Value> {
    let link = |rate: u64| json!({ "rate": rate, "delay": 5_000 });
    let slow = if host_rate == 16_000_000_000 {
        host_rate
    } else {
        32_000_000_000
    };
    let workload: Vec<Value> = pairs
        .iter()
        .enumerate()
        .map(|(i, pair)| {
            let start = [0, 13_000, 26_000, 52_000][i];
            json!({ "kind": "pairs", "name": pair, "pairs": [pair], "start": start })
        })
        .collect();
    spec(json!({
        "seed": 1,
        "topology": { "kind": "mesh5", "link": link(host_rate), "fast": link(32_000_000_000), "slow": link(slow) },
        "routing": { "kind": "static_table", "file": tables() },
        "flow_control": { "kind": "credit" },
        "transport": { "kind": "infiniband" },
        "congestion": congestion,
        "backend": { "until": ms * 1_000_000_000 },
        "workload": workload,
    }))
}

/// MB/s of each flow.
fn rates(spec: &Map<String, Value>) -> Vec<f64> {
    let outcome = run(spec, 50_000_000);
    let seconds = spec["backend"]["until"].as_f64().unwrap() * 1e-12;
    integers(&outcome, "flows", "delivered_bytes")
        .iter()
        .map(|&b| b as f64 / seconds / 1e6)
        .collect()
}

fn close(got: &[f64], expected: &[f64], share: f64) {
    let is_close = got
        .iter()
        .zip(expected)
        .all(|(g, e)| (g - e).abs() <= share * e);
    assert!(
        got.len() == expected.len() && is_close,
        "{got:.1?}, expected {expected:?}"
    );
}

const ALL: [&str; 4] = ["H1>H4", "H2>H4", "H3>H4", "H5>H3"];

#[test]
fn without_congestion_control_round_robin_decides_and_the_victim_suffers() {
    let none = || json!({ "kind": "none" });
    let slow = 16_000_000_000;
    // One packet every 1331 ns; two senders halve the link of H4, 2000 MB/s; of three, SW4 gives half to SW2's and half to SW3's.
    close(
        &rates(&thesis(&ALL[..1], 10, slow, none())),
        &[1635.0],
        0.002,
    );
    close(
        &rates(&thesis(&ALL[..2], 10, slow, none())),
        &[1000.0, 1000.0],
        0.01,
    );
    close(
        &rates(&thesis(&ALL, 10, slow, none())),
        &[500.0, 1000.0, 500.0, 500.0],
        0.02,
    );
    // Everything twice as fast: the bus of H4 is the bottleneck, 2176 B in 642.6 ns.
    let fast = 32_000_000_000;
    close(
        &rates(&thesis(&ALL[..1], 10, fast, none())),
        &[2673.0],
        0.002,
    );
    close(
        &rates(&thesis(&ALL, 10, fast, none())),
        &[846.6, 1693.1, 846.6, 846.6],
        0.02,
    );
}

#[test]
fn congestion_control_frees_the_victim_and_keeps_the_root_busy() {
    let control = |packet_size: u64| json!({ "kind": "infiniband", "threshold": 2, "ccti_timer": 20_000_000, "packet_size": packet_size });
    let slow = 16_000_000_000;
    // The thesis: 2000 MB/s into H4, 1650 for H5; 1635 is what H5 has alone. The transient at the start is in these 40 ms.
    let small = rates(&thesis(&ALL, 40, slow, control(1)));
    assert!(
        (1800.0..=2000.0).contains(&small[..3].iter().sum()),
        "{small:.1?}"
    );
    assert!(small[3] > 0.93 * 1635.0, "{small:.1?}");
    // A packet has 2176 bytes: up to there its size makes no difference, and beyond nothing is marked.
    assert_eq!(rates(&thesis(&ALL, 40, slow, control(2176))), small);
    let none = rates(&thesis(&ALL, 40, slow, json!({ "kind": "none" })));
    assert_eq!(rates(&thesis(&ALL, 40, slow, control(2177))), none);
}

fn fingerprint(spec: &Map<String, Value>, slice: u64) -> String {
    let mut simulation = Simulation::new(scenario(spec), spec).expect("valid");
    while !simulation.advance(slice).finished {}
    simulation.finish().summary.fingerprint
}

#[test]
fn the_same_seed_gives_the_same_run_in_any_slices() {
    let control = json!({ "kind": "infiniband" });
    let spec = thesis(&ALL, 3, 16_000_000_000, control);
    let whole = fingerprint(&spec, u64::MAX);
    assert_eq!(fingerprint(&spec, 1), whole);
    let mut other = spec.clone();
    other["seed"] = json!(2);
    assert_ne!(fingerprint(&other, u64::MAX), whole);
    // Samples look, and change nothing.
    let mut sampled = spec;
    sampled.insert(
        "measure".to_owned(),
        json!({ "every": 7_000_000, "warmup": 1_000_000 }),
    );
    assert_eq!(fingerprint(&sampled, 1000), whole);
}

/// A ring of six switches with a host at each, which sends to the host three further on.
fn ring(routing: Value, lanes: Value) -> Map<String, Value> {
    let pairs: Vec<String> = (0..6)
        .map(|i| format!("h{i}_0>h{}_0", (i + 3) % 6))
        .collect();
    let mut credit = json!({ "kind": "credit", "input_buffer": 40, "max_being_sent": 1 });
    if let Some(more) = lanes.as_object() {
        credit.as_object_mut().unwrap().extend(more.clone());
    }
    spec(json!({
        "topology": { "kind": "ring", "switches": 6, "link": { "rate": 16_000_000_000_u64, "delay": 5_000 } },
        "routing": routing,
        "flow_control": credit,
        "transport": { "kind": "infiniband" },
        "workload": [{ "kind": "pairs", "pairs": pairs, "size": 2_176_000 }],
    }))
}

#[test]
fn packets_that_wait_for_each_other_in_a_ring_end_the_run_with_its_name() {
    let outcome = run(
        &ring(
            json!({ "kind": "dimension_order", "dimensions": [6] }),
            Value::Null,
        ),
        10_000_000,
    );
    let warnings = &outcome.summary.warnings;
    assert!(!outcome.summary.finished);
    let said = |text: &str| warnings.iter().any(|w| w.contains(text));
    assert!(
        said("the routes of this run can deadlock: s0>s1 waits for s1>s2"),
        "{warnings:?}"
    );
    assert!(
        said("deadlock: s0>s1 waits for s1>s2 waits for s2>s3"),
        "{warnings:?}"
    );
}

#[test]
fn without_a_ring_in_the_lanes_everything_arrives() {
    // Up*/down* cuts the ring.
    let cut = ring(json!({ "kind": "up_down" }), Value::Null);
    let outcome = run(&cut, 10_000_000);
    assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
    assert!(
        outcome.summary.warnings.is_empty(),
        "{:?}",
        outcome.summary.warnings
    );
}

#[test]
fn lanes_share_a_link_by_their_weights() {
    let flow = |name: &str, level: u64| {
        let transport = json!({ "kind": "infiniband", "service_level": level });
        json!({ "name": name, "kind": "pairs", "pairs": [format!("{name}>h2")], "transport": transport })
    };
    let shares = |credit: Value| {
        rates(&spec(json!({
            "topology": { "kind": "star", "hosts": 3, "link": { "rate": 16_000_000_000_u64, "delay": 5_000 } },
            "flow_control": credit,
            "workload": [flow("h0", 0), flow("h1", 1)],
            "backend": { "until": 5_000_000_000_u64 },
        })))
    };
    let weight = |vl: u64, weight: u64| json!({ "vl": vl, "weight": weight });
    // 34 credits a packet: weights of 34 and 102 are one packet and three. What h1 cannot fill (it sends 1635 at most) h0 takes.
    let low = json!({ "kind": "credit", "lanes": 2, "vl_low": [weight(0, 34), weight(1, 102)] });
    close(&shares(low), &[500.0, 1500.0], 0.02);
    let strict = json!({ "kind": "credit", "lanes": 2, "vl_low": [weight(0, 34)], "vl_high": [weight(1, 34)] });
    close(&shares(strict), &[365.0, 1635.0], 0.02);
}

#[test]
fn a_switch_chooses_the_lane_by_both_ports() {
    // Both flows have service level 0; what comes by h1's link goes on lane 1, whose weight is three times that of lane 0. The bottleneck
    // carries 2000 MB/s, and h1 alone would send 1635: 500 and 1500.
    let pair = |from: &str, lane: u64| json!({ "from": from, "links": "*>h2", "sl_to_vl": [lane] });
    let rates_with = |maps: Value| {
        let weight = |vl: u64, weight: u64| json!({ "vl": vl, "weight": weight });
        rates(&spec(json!({
            "topology": { "kind": "star", "hosts": 3, "link": { "rate": 16_000_000_000_u64, "delay": 5_000 } },
            "flow_control": { "kind": "credit", "lanes": 2, "vl_low": [weight(0, 34), weight(1, 102)], "lane_maps": maps },
            "transport": { "kind": "infiniband" },
            "workload": [
                { "name": "a", "kind": "pairs", "pairs": ["h0>h2"] },
                { "name": "b", "kind": "pairs", "pairs": ["h1>h2"] },
            ],
            "backend": { "until": 5_000_000_000_u64 },
        })))
    };
    close(&rates_with(json!([])), &[1000.0, 1000.0], 0.02);
    close(
        &rates_with(json!([pair("h1>*", 1)])),
        &[500.0, 1500.0],
        0.02,
    );
    // The last that fits counts.
    close(
        &rates_with(json!([pair("h0>*", 1), pair("*", 0)])),
        &[1000.0, 1000.0],
        0.02,
    );
}

#[test]
fn another_lane_behind_the_seam_of_a_ring_makes_it_safe() {
    // Flows that cross s5>s0 have service level 1 and go on lane 1 from there on: no ring of lanes is left (Dally and Seitz, 1987).
    let mut spec = ring(
        json!({ "kind": "dimension_order", "dimensions": [6] }),
        json!({ "lanes": 2, "sl_to_vl": [0, 0], "lane_maps": [
            { "from": "s5>s0", "links": "s0>*", "sl_to_vl": [0, 1] },
            { "from": "s0>s1", "links": "s1>*", "sl_to_vl": [0, 1] },
            { "from": "s1>s2", "links": "s2>*", "sl_to_vl": [0, 1] },
        ] }),
    );
    spec["workload"] = (0..6)
        .map(|i| {
            let pair = format!("h{i}_0>h{}_0", (i + 3) % 6);
            let level = u64::from(i >= 3);
            json!({ "name": format!("w{i}"), "kind": "pairs", "pairs": [pair], "size": 2_176_000,
                "transport": { "kind": "infiniband", "service_level": level } })
        })
        .collect();
    let outcome = run(&spec, 10_000_000);
    assert!(outcome.summary.finished, "{:?}", outcome.summary.warnings);
    let warnings = &outcome.summary.warnings;
    assert!(warnings.is_empty(), "{warnings:?}");
    // With one lane for all the same flows are warned of, before the first step.
    spec["flow_control"]["lane_maps"] = json!([]);
    let idle = Simulation::new(scenario(&spec), &spec).expect("valid");
    assert!(idle.warnings()[0].starts_with("the routes of this run can deadlock: s0>s1"));
}

#[test]
fn what_the_engine_cannot_do_is_refused_by_name() {
    let faults = |changes: Value| {
        let mut table = thesis(&ALL[..1], 1, 16_000_000_000, json!({ "kind": "none" }));
        for (key, value) in changes.as_object().unwrap() {
            table.insert(key.clone(), value.clone());
        }
        let found = Simulation::new(scenario(&table), &table).expect_err("a fault");
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let starts = |changes: Value, text: &str| {
        let found = faults(changes);
        assert!(found[0].starts_with(text), "{found:?}");
    };
    let tcp = json!({ "transport": { "kind": "tcp" } });
    starts(
        tcp,
        "transport.kind: tcp (H1>H4) does not run over flow_control credit",
    );
    starts(
        json!({ "flow_control": { "kind": "none" } }),
        "transport.kind: infiniband (H1>H4) has no retransmission",
    );
    starts(
        json!({ "load_balance": { "kind": "spray" } }),
        "load_balance.kind: balances packet by packet",
    );
    starts(
        json!({ "congestion": { "kind": "cubic" } }),
        "congestion.kind: cubic sets the window of TCP",
    );
    starts(
        json!({ "congestion": { "kind": "dcqcn" } }),
        "congestion.kind: dcqcn sets the rate of RoCE queue pairs",
    );
    let control = |key: &str, value: Value| {
        let mut control = spec(json!({ "kind": "infiniband" }));
        control.insert(key.to_owned(), value);
        json!({ "congestion": control, "flow_control": { "kind": "credit", "input_buffer": 40 } })
    };
    starts(
        control("becn_size", json!(4096)),
        "flow_control.input_buffer: 40 credits hold no packet of 64 credits; make it larger, or congestion.becn_size smaller",
    );
    starts(
        control("ccti_min", json!(200)),
        "congestion.ccti_min: 200 is not below ccti_limit, 128",
    );
    starts(
        control("cct", json!([0.0, -1.0])),
        "congestion.cct: -1 is no delay",
    );
    starts(
        control("cct", json!([3.0, 2.0])),
        "congestion.cct: falls from 3 to 2",
    );
    starts(
        json!({ "failure": [{ "what": "SW1>SW3", "when": 5, "reconvergence": 5 }] }),
        "failure: links of flow_control credit cannot fail",
    );
    let small = json!({ "flow_control": { "kind": "credit", "input_buffer": 20 } });
    starts(
        small,
        "flow_control.input_buffer: 20 credits hold no packet of 34 credits",
    );
    let lanes = json!({ "flow_control": { "kind": "credit", "lanes": 2, "sl_to_vl": [2] } });
    starts(lanes, "flow_control.sl_to_vl: 2 is no lane; there are 2");
    let nowhere = json!({ "flow_control": { "kind": "credit", "lane_maps": [{ "from": "H9>*", "links": "*", "sl_to_vl": [0] }] } });
    starts(
        nowhere,
        "flow_control.lane_maps[0].from: \"H9>*\" matches no link",
    );
    let unserved =
        json!({ "flow_control": { "kind": "credit", "lanes": 2, "vl_low": [{ "vl": 0 }] } });
    starts(
        unserved,
        "flow_control.vl_low: lane 1 stands in no arbitration table",
    );
}

#[test]
fn congestion_control_that_does_nothing_is_said() {
    let warnings = |control: Value| {
        let spec = thesis(&ALL[..1], 1, 16_000_000_000, control);
        run(&spec, 1_000_000).summary.warnings
    };
    let large = warnings(json!({ "kind": "infiniband", "packet_size": 2200 }));
    assert!(
        large[0].contains(
            "no packet is as large as congestion.packet_size, 2200 B (the largest has 2176 B)"
        ),
        "{large:?}"
    );
    let reset = warnings(json!({ "kind": "infiniband", "threshold": 8 }));
    assert!(
        reset[0].contains("reset_threshold 3 (78 credits) lies above threshold 8 (48)"),
        "{reset:?}"
    );
    let still = warnings(json!({ "kind": "infiniband", "ccti_increase": 0 }));
    assert!(still[0].contains("ccti_increase 0"), "{still:?}");
    let short = warnings(json!({ "kind": "infiniband", "cct": [0, 1] }));
    assert!(short[0].contains("cct has 2 entries"), "{short:?}");
    let far = warnings(json!({ "kind": "infiniband", "threshold_offset": 2000 }));
    assert!(
        far[0].contains("more than all input buffers of a switch"),
        "{far:?}"
    );
    let below = warnings(json!({ "kind": "infiniband", "threshold_offset": -200 }));
    assert!(
        below[0].contains("whatever waits is congestion"),
        "{below:?}"
    );
    assert!(warnings(json!({ "kind": "infiniband" })).is_empty());
}

#[test]
fn links_faster_than_what_is_beside_them_are_said() {
    // The bus: 8 lanes of 5 GT/s, 10 bits a byte, 5 % of overhead; the core: 51.2 Gb/s.
    let told = |rate: u64| {
        let spec = spec(json!({
            "topology": { "kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 1,
                "link": { "rate": rate }, "uplink": { "rate": rate } },
            "flow_control": { "kind": "credit" },
            "transport": { "kind": "infiniband" },
            "workload": [{ "kind": "permutation", "size": 2176 }],
        }));
        let idle = Simulation::new(scenario(&spec), &spec).expect("valid");
        idle.warnings().to_vec()
    };
    assert!(told(16_000_000_000).is_empty());
    let [bus] = &told(32_000_000_000)[..] else {
        panic!("one warning")
    };
    assert!(
        bus.contains("carries 30.5 Gb/s, its link 32.0 Gb/s"),
        "{bus}"
    );
    let [_, core] = &told(100_000_000_000)[..] else {
        panic!("two warnings")
    };
    assert!(
        core.contains("at 51.2 Gb/s, links take 100.0 Gb/s"),
        "{core}"
    );
}

/// Hosts h0, h1, ... around a switch, 16 Gb/s of data.
fn star(
    hosts: u64,
    link: Value,
    congestion: Value,
    workload: Value,
    ms: u64,
) -> Map<String, Value> {
    let mut cable = spec(json!({ "rate": 16_000_000_000_u64, "delay": 5_000 }));
    cable.extend(spec(link));
    spec(json!({
        "topology": { "kind": "star", "hosts": hosts, "link": cable },
        "flow_control": { "kind": "credit" },
        "transport": { "kind": "infiniband" },
        "congestion": congestion,
        "backend": { "until": ms * 1_000_000_000 },
        "workload": workload,
    }))
}

#[test]
fn congestion_ends_when_the_queue_is_empty_whatever_the_threshold() {
    // Bursts of two others in the second millisecond; before and after the flow is alone, at 1635 MB/s.
    for threshold in [2, 10, 12, 15] {
        let workload = json!([
            { "name": "lone", "kind": "pairs", "pairs": ["h0>h3"] },
            { "name": "burst", "kind": "pairs", "pairs": ["h1>h3", "h2>h3"], "start": 1_000_000_000, "size": 200_000 },
        ]);
        let control = json!({ "kind": "infiniband", "threshold": threshold });
        let lone = rates(&star(4, json!({}), control, workload, 20))[0];
        assert!(lone > 0.9 * 1635.0, "threshold {threshold}: {lone:.0} MB/s");
    }
}

#[test]
fn what_shares_a_port_shares_its_place_in_the_table_whatever_the_workload() {
    let control = || json!({ "kind": "infiniband", "scope": "port" });
    let one =
        json!([{ "name": "a", "kind": "pairs", "pairs": ["h0>h3", "h1>h3", "h2>h3", "h0>h4"] }]);
    let two = json!([
        { "name": "a", "kind": "pairs", "pairs": ["h0>h3", "h1>h3", "h2>h3"] },
        { "name": "b", "kind": "pairs", "pairs": ["h0>h4"] },
    ]);
    let alone = json!({ "kind": "infiniband" });
    let [one, two, own] = [(one.clone(), control()), (two, control()), (one, alone)]
        .map(|(workload, control)| rates(&star(5, json!({}), control, workload, 10)));
    close(&two, &one, 1e-9);
    // A queue pair of its own is not slowed down for what others of its port do.
    assert!(own[3] > 1.1 * one[3], "{own:?} {one:?}");
}

#[test]
fn credits_come_back_without_the_latency_of_a_switch() {
    // Two packets of 34 credits fit into 96; the third goes when the first begins to leave the switch, one latency later: two packets
    // each 10 us and some.
    let completion = |packets: u64| {
        let workload = json!([{ "kind": "pairs", "pairs": ["h0>h1"], "size": packets * 2176 }]);
        let latency = json!({ "switch_latency": 10_000_000 });
        let outcome = run(
            &star(2, latency, json!({ "kind": "none" }), workload, 10),
            1_000_000,
        );
        integers(&outcome, "flows", "fct_ns")[0] as f64
    };
    let each = (completion(60) - completion(20)) / 40.0 / 1e3;
    assert!((5.0..5.5).contains(&each), "{each} us");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Credits and packets are conserved on any fabric, and where no ring of lanes is found beforehand, everything arrives. The check at the
    /// end of the run panics if they are not.
    #[test]
    fn nothing_is_lost_on_any_fabric(
        shape in 0_usize..5,
        routing in 0_usize..2,
        seed in 0_u64..1000,
        lanes in 1_u64..4,
        buffer in 34_u64..200,
        at_once in 1_u64..4,
        is_controlled in any::<bool>(),
        flows in prop::collection::vec((0_usize..4, 0_usize..4, 1_u64..60_000, 0_u64..20_000_000, 0_u64..16), 1..12),
    ) {
        let rate = [16_000_000_000_u64, 25_000_000_000][shape % 2];
        let link = json!({ "rate": rate, "delay": 5_000 });
        let (topology, hosts) = match shape {
            0 => (json!({ "kind": "star", "hosts": 4 }), ["h0", "h1", "h2", "h3"]),
            1 => (json!({ "kind": "ring", "switches": 4 }), ["h0_0", "h1_0", "h2_0", "h3_0"]),
            2 => (json!({ "kind": "mesh5" }), ["H1", "H2", "H3", "H4"]),
            3 => (json!({ "kind": "fat_tree" }), ["h000", "h011", "h200", "h311"]),
            _ => (json!({ "kind": "torus", "dimensions": [3, 3] }), ["h0_0", "h4_0", "h5_0", "h8_0"]),
        };
        let mut topology = topology;
        topology["link"] = link;
        let congestion = if is_controlled {
            json!({ "kind": "infiniband", "threshold": 15, "marking_rate": 0, "becn_service_level": 1 })
        } else {
            json!({ "kind": "none" })
        };
        let workload: Vec<Value> = flows.iter().enumerate().filter(|(_, f)| f.0 != f.1).map(|(i, f)| json!({
            "name": format!("w{i}"), "kind": "pairs", "pairs": [format!("{}>{}", hosts[f.0], hosts[f.1])],
            "size": f.2, "start": f.3, "transport": { "kind": "infiniband", "service_level": f.4 },
        })).collect();
        prop_assume!(!workload.is_empty());
        let count = workload.len();
        let kind = ["shortest", "up_down"][routing];
        let spec = spec(json!({
            "seed": seed, "topology": topology,
            "routing": { "kind": kind },
            "flow_control": { "kind": "credit", "lanes": lanes, "input_buffer": buffer, "max_being_sent": at_once },
            "congestion": congestion, "workload": workload,
        }));
        let outcome = run(&spec, 5_000_000);
        let can_deadlock = outcome.summary.warnings.iter().any(|w| w.contains("can deadlock"));
        prop_assert!(!(routing == 1 && can_deadlock), "up*/down* has no ring");
        prop_assert!(outcome.summary.finished || can_deadlock, "{:?}", outcome.summary.warnings);
        if outcome.summary.finished {
            let delivered = integers(&outcome, "flows", "delivered_bytes");
            prop_assert_eq!(delivered, integers(&outcome, "flows", "size_bytes"));
        }
        prop_assert_eq!(integers(&outcome, "flows", "flow").len(), count);
    }
}
