//! Laws of routes on random fabrics with failed links: whatever hop is chosen, packets arrive and never loop.

use proptest::prelude::*;
use serde_json::{Value, json};
use weft_net::ids::{FlowId, LinkId, NodeId};
use weft_net::paths::{hops, path_count};
use weft_net::random::mix;
use weft_net::scenario::Scenario;

/// Hosts that packets from `src` can reach, over links that are up and through switches only.
fn reachable(scenario: &Scenario, src: NodeId) -> Vec<bool> {
    let network = &scenario.network;
    let mut is_seen = vec![false; network.nodes.len()];
    is_seen[src.index()] = true;
    let mut queue = vec![src];
    while let Some(node) = queue.pop() {
        for link in network
            .out(node)
            .iter()
            .map(|l| &network.links[l.index()])
            .filter(|l| l.is_up)
        {
            if !is_seen[link.dst.index()] {
                is_seen[link.dst.index()] = true;
                if !network.is_host(link.dst) {
                    queue.push(link.dst);
                }
            }
        }
    }
    is_seen
}

/// All pairs of hosts reach each other exactly where a way exists, in as many hops as promised, whatever is chosen.
fn routes_hold(spec: &Value, seed: u64) -> Result<(), TestCaseError> {
    let scenario = Scenario::build(spec.as_object().unwrap())
        .map_err(|f| TestCaseError::fail(format!("{f:?}")))?;
    let (network, routes) = (&scenario.network, &scenario.routes);
    for src in network.host_ids() {
        let reachable = reachable(&scenario, src);
        for dst in network.host_ids().filter(|&d| d != src) {
            let distance = hops(network, routes, src, dst);
            prop_assert_eq!(
                distance.is_some(),
                reachable[dst.index()],
                "{:?} to {:?}",
                src,
                dst
            );
            prop_assert_eq!(
                path_count(network, routes, src, dst) > 0,
                distance.is_some()
            );
            let (mut node, mut left) = (src, distance.unwrap_or(0));
            while distance.is_some() && node != dst {
                prop_assert!(
                    left > 0,
                    "{:?} to {:?} takes longer than {:?}",
                    src,
                    dst,
                    distance
                );
                prop_assert!(node == src || !network.is_host(node), "a host forwards");
                let hops = routes.next_hops(node, dst);
                let choice =
                    mix(seed ^ u64::from(node.0) << 32 ^ u64::from(left)) % hops.len() as u64;
                let link = &network.links[hops[choice as usize].index()];
                prop_assert!(link.is_up);
                (node, left) = (link.dst, left - 1);
            }
        }
    }
    for (i, flow) in scenario.flows.iter().enumerate() {
        let path = scenario
            .flow_path(FlowId::from(i))
            .expect("ecmp is per flow");
        let ends = |l: &LinkId| (network.links[l.index()].src, network.links[l.index()].dst);
        prop_assert!(path.windows(2).all(|w| ends(&w[0]).1 == ends(&w[1]).0));
        prop_assert!(
            path.is_empty()
                || (ends(&path[0]).0, ends(path.last().unwrap()).1) == (flow.src, flow.dst)
        );
    }
    Ok(())
}

/// Cables of a connected graph: each switch hangs on an earlier one, then some more, then hosts.
fn custom(
    parents: &[prop::sample::Index],
    extra: &[(prop::sample::Index, prop::sample::Index)],
    hosts: &[prop::sample::Index],
) -> Value {
    let switches = parents.len() + 1;
    let mut cables = std::collections::BTreeSet::new();
    for (i, parent) in parents.iter().enumerate() {
        cables.insert((parent.index(i + 1), i + 1));
    }
    for (a, b) in extra {
        let (a, b) = (a.index(switches), b.index(switches));
        if a != b {
            cables.insert((a.min(b), a.max(b)));
        }
    }
    let mut links: Vec<Value> = cables
        .iter()
        .map(|(a, b)| json!({ "a": format!("s{a}"), "b": format!("s{b}") }))
        .collect();
    let names: Vec<String> = (0..hosts.len()).map(|h| format!("h{h}")).collect();
    links.extend(
        hosts
            .iter()
            .zip(&names)
            .map(|(s, h)| json!({ "a": h, "b": format!("s{}", s.index(switches)) })),
    );
    json!({ "kind": "custom", "links": links, "hosts": names })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn routes_reach_and_never_loop_on_random_graphs(
        parents in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        extra in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..12),
        hosts in prop::collection::vec(any::<prop::sample::Index>(), 2..12),
        failed in prop::collection::vec(any::<(prop::sample::Index, bool)>(), 0..5),
        seed in any::<u64>(),
    ) {
        let mut topology = custom(&parents, &extra, &hosts);
        let links = topology["links"].as_array().unwrap().clone();
        let failed = failed.iter().map(|(i, is_reverse)| {
            let link = &links[i.index(links.len())];
            let (a, b) = (link["a"].as_str().unwrap(), link["b"].as_str().unwrap());
            let name = if *is_reverse { format!("{b}>{a}") } else { format!("{a}>{b}") };
            json!({ "links": name, "failed": true })
        });
        topology["overrides"] = failed.collect();
        routes_hold(&json!({ "seed": seed, "topology": topology, "workload": [{ "kind": "permutation" }] }), seed)?;
    }

    #[test]
    fn routes_reach_and_never_loop_on_fat_trees_with_failures(
        half in 1_u64..4,
        failed in prop::collection::vec((0_u64..6, 0_u64..3, 0_u64..3, 0_u64..3), 0..8),
        seed in any::<u64>(),
    ) {
        let overrides: Vec<Value> = failed.iter().map(|&(pod, i, j, kind)| {
            let (pod, i, j) = (pod % (2 * half), i % half, j % half);
            let links = match kind {
                0 => format!("se{pod}{i}>sa{pod}{j}"),
                1 => format!("sa{pod}{i}>sc{i}{j}"),
                _ => format!("sc{i}{j}>sa{pod}{i}"),
            };
            json!({ "links": links, "failed": true })
        }).collect();
        let topology = json!({ "kind": "fat_tree", "k": 2 * half, "overrides": overrides });
        routes_hold(&json!({ "seed": seed, "topology": topology, "workload": [{ "kind": "permutation" }] }), seed)?;
    }
}
