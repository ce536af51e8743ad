//! REPS against spraying where paths are unequal, judged by what the uplinks of a leaf carry.

mod common;

use common::{integers, run, spec};
use serde_json::{Value, json};
use weft_packetsim::Outcome;

/// Four hosts of one leaf send 2 MB each to the other leaf over four spines of 10 Gb/s; `more` changes the spec.
fn leaf(balance: Value, more: Value) -> Outcome {
    let mut spec = spec(json!({
        "seed": 3,
        "topology": { "kind": "leaf_spine", "leaves": 2, "spines": 4, "hosts_per_leaf": 4 },
        "load_balance": balance,
        "queue": { "kind": "ecn_step", "capacity": { "packets": 200 }, "threshold": { "packets": 20 } },
        "congestion": { "kind": "dctcp" },
        "transport": { "kind": "tcp", "profile": "datacenter" },
        "workload": [{ "kind": "pairs", "size": 2_000_000,
            "pairs": ["h00>h10", "h01>h11", "h02>h12", "h03>h13"] }],
    }));
    for (key, value) in more.as_object().expect("a table") {
        if key == "overrides" {
            spec["topology"]["overrides"] = value.clone();
        } else {
            spec.insert(key.clone(), value.clone());
        }
    }
    run(&spec, 5_000_000)
}

/// What each of the four uplinks of the first leaf carried, as a share of all.
fn shares(outcome: &Outcome) -> Vec<f64> {
    let network = weft_net::scenario::Scenario::build(&spec(json!({
        "topology": { "kind": "leaf_spine", "leaves": 2, "spines": 4, "hosts_per_leaf": 4 },
    })))
    .unwrap()
    .network;
    let bytes = integers(outcome, "links", "tx_bytes");
    let of = |name: String| {
        let named = |&i: &usize| network.link_name(weft_net::ids::LinkId::from(i)) == name;
        bytes[(0..bytes.len()).find(named).expect("a link")] as f64
    };
    let carried: Vec<f64> = (0..4).map(|spine| of(format!("l0>s{spine}"))).collect();
    let all: f64 = carried.iter().sum();
    carried.iter().map(|c| c / all).collect()
}

fn slowest(outcome: &Outcome) -> i64 {
    integers(outcome, "flows", "fct_ns")
        .into_iter()
        .max()
        .unwrap()
}

fn reps() -> Value {
    json!({ "kind": "reps" })
}

fn spray() -> Value {
    json!({ "kind": "spray" })
}

fn lost(outcome: &Outcome) -> i64 {
    integers(outcome, "flows", "lost_packets").iter().sum()
}

/// One uplink of 2.5 Gb/s: of all the uplinks carry it could give 2.5 / 32.5 = 7.7 %.
fn slow() -> Value {
    json!({ "overrides": [{ "links": "l0>s1", "rate": 2_500_000_000_u64 }] })
}

#[test]
fn equal_uplinks_carry_the_same() {
    // Without queues an entropy stays where it is, so that chance of the first packets remains: a few points.
    for seed in 1..=3 {
        let outcome = leaf(reps(), json!({ "seed": seed }));
        assert_eq!(outcome.summary.unfinished, 0);
        let shares = shares(&outcome);
        assert!(
            shares.iter().all(|s| (0.19..0.31).contains(s)),
            "{shares:?}"
        );
    }
}

#[test]
fn a_slow_uplink_gets_what_it_can_carry() {
    let (sprayed, recycled) = (leaf(spray(), slow()), leaf(reps(), slow()));
    let (random, learnt) = (shares(&sprayed)[1], shares(&recycled)[1]);
    assert!((0.23..0.27).contains(&random), "{random}");
    assert!((0.05..0.12).contains(&learnt), "{learnt}");
    // Spraying: a quarter of 8.5 MB at 2.5 Gb/s are 6.8 ms. All at 32.5 Gb/s: 2.1 ms.
    assert!(2 * slowest(&recycled) < slowest(&sprayed));
}

#[test]
fn entropies_of_marked_packets_are_not_used_again() {
    let marked = |o: &Outcome| integers(o, "flows", "marked_packets").iter().sum::<i64>();
    assert!(3 * marked(&leaf(reps(), slow())) < marked(&leaf(spray(), slow())));
    // Where every packet is marked none is, and all are random.
    let mut more = slow();
    more["queue"] = json!({ "kind": "ecn_step", "threshold": { "packets": 0 } });
    let share = shares(&leaf(reps(), more))[1];
    assert!((0.22..0.28).contains(&share), "{share}");
}

#[test]
fn a_dead_uplink_is_left_before_routes_change() {
    // Dead from 0.5 ms on, and no switch knows.
    let dead = json!({ "failure": [{ "what": "l0>s1", "when": 500_000_000_u64, "reconvergence": 10_u64.pow(13) }] });
    let of = |balance: Value| leaf(balance, dead.clone());
    let never = lost(&of(json!({ "kind": "reps", "freeze_on": "never" })));
    let at_loss = of(json!({ "kind": "reps", "freeze_on": "loss" }));
    assert!(10 * never < lost(&of(spray())), "{never}");
    // Frozen, it does not try the dead one again.
    assert!(2 * lost(&at_loss) < never, "{} {never}", lost(&at_loss));
    assert_eq!(at_loss.summary.unfinished, 0);
    assert!(slowest(&at_loss) < 5_000_000);
}

#[test]
fn connections_of_every_kind_run_over_it_and_give_the_same_again() {
    let both = |transport: Value, routing: &str, workload: Value| {
        let spec = spec(json!({
            "seed": 5,
            "topology": { "kind": "jellyfish", "hosts": 16 },
            "routing": { "kind": routing },
            "load_balance": reps(),
            "transport": transport,
            "workload": [workload],
        }));
        let [first, second] = [run(&spec, 3_000_000), run(&spec, 3_000_000)];
        assert!(first.summary.finished, "{:?}", first.summary.warnings);
        assert_eq!(first.summary.fingerprint, second.summary.fingerprint);
    };
    for routing in ["shortest", "k_shortest"] {
        let permutation = json!({ "kind": "permutation", "size": 300_000 });
        both(json!({ "kind": "tcp" }), routing, permutation.clone());
        both(
            json!({ "kind": "mptcp", "subflows": 3 }),
            routing,
            permutation.clone(),
        );
        both(
            json!({ "kind": "udp", "rate": 1_000_000_000 }),
            routing,
            permutation,
        );
        let fetch = json!({ "kind": "fetch", "clients": 2, "servers": 3, "size": 50_000 });
        both(json!({ "kind": "tcp" }), routing, fetch);
        let value = json!({ "kind": "fixed", "bytes": 5_000 });
        let rpc = json!({ "kind": "rpc", "value": value, "requests": 20 });
        both(json!({ "kind": "tcp" }), routing, rpc);
    }
}

#[test]
fn datagrams_are_sprayed() {
    let udp = json!({ "transport": { "kind": "udp", "rate": 1_000_000_000 } });
    let shares = shares(&leaf(reps(), udp));
    assert!(
        shares.iter().all(|s| (0.23..0.27).contains(s)),
        "{shares:?}"
    );
}

#[test]
fn the_published_hash_gives_a_flow_new_paths() {
    // 2 MB have 31 upper halves; of 31 random ones of four uplinks an uplink gets less than 10 % once in 50 cases.
    let balance = |hash: &str| json!({ "kind": "ecmp", "hash": hash });
    let one = json!({ "workload": [{ "kind": "pairs", "size": 2_000_000, "pairs": ["h00>h10"] }] });
    let used = |hash: &str| {
        let shares = shares(&leaf(balance(hash), one.clone()));
        shares.iter().filter(|&&s| s > 0.02).count()
    };
    assert_eq!(
        (used("mix"), used("crc16"), used("as_published")),
        (1, 1, 4)
    );
}
