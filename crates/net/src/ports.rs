//! Ports: every flow gets the free port that its opener would choose.
//!
//! Source: RFC 6056, algorithm 3: a hash of the pair of hosts and the server's port says where to begin, then ports count up,
//! in Linux's range. The hash contains the experiment's seed, so that repeats differ even under a hash without a seed.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;
use crate::random::{mix, stream_key};
use crate::subflows::Subflows;
use crate::workload::{Flow, Opener};

/// First of the ports that Linux gives to clients.
const FIRST: u16 = 32_768;
/// How many there are (to 60,999).
const COUNT: u64 = 28_232;

/// Replaces every port 0, so that no two flows of a host pair share both ports (before 28,232 flows to one port have
/// passed), and gives a port to each subflow beyond the first of a flow: `counts` says how many subflows each flow has.
///
/// # Errors
/// The first flow whose subflows find no free port, and how many would be needed between its hosts.
pub(crate) fn choose(flows: &mut [Flow], counts: &[u32], seed: u64) -> Result<Subflows, NoPorts> {
    let key = stream_key(seed, "ports");
    let begin = |(client, server, port): Peers| {
        let pair = mix(key ^ (u64::from(client.0) << 32 | u64::from(server.0)));
        mix(pair ^ u64::from(port)) % COUNT
    };
    let mut taken: BTreeSet<_> = flows
        .iter()
        .filter(|f| f.src_port != 0 && f.dst_port != 0)
        .map(tuple)
        .collect();
    let mut used: BTreeMap<Peers, u64> = BTreeMap::new();
    for flow in flows.iter_mut() {
        let next = used.entry(peers(flow)).or_default();
        while flow.src_port == 0 || flow.dst_port == 0 {
            let with = with_port(flow, begin(peers(flow)) + *next);
            *next += 1;
            // All ports of a pair written down: then one is shared rather than none found.
            if *next > COUNT || !taken.contains(&tuple(&with)) {
                *flow = with;
            }
        }
    }
    if counts.iter().any(|&n| n > 1) {
        // The ports of all flows are settled now; those chosen above are below the counter, unless it was given.
        taken.extend(flows.iter().map(tuple));
    }
    Subflows::new(counts, |i| {
        let flow = &flows[i];
        let next = used.entry(peers(flow)).or_default();
        loop {
            if *next >= COUNT {
                let same = |f: &&Flow| peers(f) == peers(flow);
                let needed = (flows.iter().zip(counts).filter(|(f, _)| same(f)))
                    .map(|(_, &n)| u64::from(n))
                    .sum();
                return Err(NoPorts { flow: i, needed });
            }
            let with = with_port(flow, begin(peers(flow)) + *next);
            *next += 1;
            if taken.insert(tuple(&with)) {
                return Ok(match flow.opener {
                    Opener::Source => with.src_port,
                    Opener::Destination => with.dst_port,
                });
            }
        }
    })
}

/// Subflows for which no port is left.
#[derive(Debug)]
pub(crate) struct NoPorts {
    /// The flow whose subflow found none.
    pub(crate) flow: usize,
    /// Ports that all flows between these hosts and to this port need.
    pub(crate) needed: u64,
}

impl NoPorts {
    /// At the workload's `transport.subflows`.
    pub(crate) fn fault(&self, flows: &[Flow], network: &Network) -> Fault {
        let (client, server, port) = peers(&flows[self.flow]);
        let name = |n: NodeId| &network.nodes[n.index()].name;
        Fault::new(
            format!("workload[{}].transport.subflows", flows[self.flow].workload),
            format!(
                "more subflows than ports: {} has {COUNT} ports for its connections to port {port} of {}, and its flows need {}; \
                 take fewer subflows or fewer flows",
                name(client),
                name(server),
                self.needed
            ),
        )
    }
}

/// Client, server, and the server's port.
type Peers = (NodeId, NodeId, u16);

fn peers(flow: &Flow) -> Peers {
    match flow.opener {
        Opener::Source => (flow.src, flow.dst, flow.dst_port),
        Opener::Destination => (flow.dst, flow.src, flow.src_port),
    }
}

/// The flow with the client's port that is `index` places after the first.
fn with_port(flow: &Flow, index: u64) -> Flow {
    let port = FIRST + (index % COUNT) as u16;
    match flow.opener {
        Opener::Source => Flow {
            src_port: port,
            ..flow.clone()
        },
        Opener::Destination => Flow {
            dst_port: port,
            ..flow.clone()
        },
    }
}

/// What no two connections share, whichever way their payload goes: client, server, and their ports.
fn tuple(flow: &Flow) -> (Peers, u16) {
    let port = match flow.opener {
        Opener::Source => flow.src_port,
        Opener::Destination => flow.dst_port,
    };
    (peers(flow), port)
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
