//! Ports: every flow gets the free port that its opener would choose.
//!
//! Source: RFC 6056, algorithm 3: a hash of the pair of hosts and the server's port says where to begin, then ports count up,
//! in Linux's range. The hash contains the experiment's seed, so that repeats differ even under a hash without a seed.

use std::collections::{BTreeMap, BTreeSet};

use crate::random::{mix, stream_key};
use crate::workload::{Flow, Opener};

/// First of the ports that Linux gives to clients.
const FIRST: u16 = 32_768;
/// How many there are (to 60,999).
const COUNT: u64 = 28_232;

/// Replaces every port 0, so that no two flows of a host pair share both ports (before 28,232 flows to one port have passed).
pub(crate) fn choose(flows: &mut [Flow], seed: u64) {
    let key = stream_key(seed, "ports");
    let taken: BTreeSet<_> = flows
        .iter()
        .filter(|f| f.src_port != 0 && f.dst_port != 0)
        .map(tuple)
        .collect();
    let mut used = BTreeMap::new();
    for flow in flows {
        let (client, server, port) = match flow.opener {
            Opener::Source => (flow.src, flow.dst, flow.dst_port),
            Opener::Destination => (flow.dst, flow.src, flow.src_port),
        };
        let pair = mix(key ^ (u64::from(client.0) << 32 | u64::from(server.0)));
        let begin = mix(pair ^ u64::from(port)) % COUNT;
        let next: &mut u64 = used.entry((client, server, port)).or_default();
        while flow.src_port == 0 || flow.dst_port == 0 {
            let free = FIRST + ((begin + *next) % COUNT) as u16;
            *next += 1;
            let mut with = flow.clone();
            match flow.opener {
                Opener::Source => with.src_port = free,
                Opener::Destination => with.dst_port = free,
            }
            // All ports of a pair written down: then one is shared rather than none found.
            if *next > COUNT || !taken.contains(&tuple(&with)) {
                *flow = with;
            }
        }
    }
}

fn tuple(flow: &Flow) -> (u32, u32, u16, u16) {
    (flow.src.0, flow.dst.0, flow.src_port, flow.dst_port)
}

#[cfg(test)]
mod tests {
    use crate::scenario::tests::build;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn flows_of_one_pair_differ_in_their_ports() {
        let pairs = vec!["h000>h001"; 300];
        let scenario = build(json!({
            "topology": { "kind": "fat_tree" },
            "workload": [
                { "name": "a", "kind": "pairs", "pairs": pairs, "size": 1 },
                { "name": "b", "kind": "pairs", "pairs": pairs, "size": 1 },
                { "name": "c", "kind": "incast", "degree": 15, "receiver": "h001", "fetch": true, "size": 1 },
                { "name": "d", "kind": "incast", "degree": 15, "receiver": "h001", "fetch": true, "size": 1 },
            ],
        }))
        .unwrap();
        let tuples: BTreeSet<_> = scenario.flows.iter().map(super::tuple).collect();
        assert_eq!(tuples.len(), 630);
        assert!(
            scenario.flows[..600]
                .iter()
                .all(|f| f.dst_port == 5201 && (32_768..61_000).contains(&f.src_port))
        );
        assert!(
            scenario.flows[600..]
                .iter()
                .all(|f| f.src_port == 80 && (32_768..61_000).contains(&f.dst_port))
        );
    }
}
