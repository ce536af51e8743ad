//! Turns: at which switch the packets of a flow turn from the way up to the way down.
//!
//! In a layered fabric that switch names the path. Recorded on request (`measure.paths`) where packets of one flow take
//! several paths; it costs a look-up in a tree for every packet that turns. Where packets carry their whole path, it is
//! noted at the first switch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weft_net::ids::{LinkId, NodeId};
use weft_net::scenario::Scenario;
use weft_net::source_routes::END;

use crate::packet::{Packet, flag};

/// Bytes by flow and turning point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// By link: whether it leads away from the hosts.
    rises: Vec<bool>,
    /// By link: whether it is a host's.
    from_host: Vec<bool>,
    /// By (subflow, link into the turning switch, link out of it, place of the next link of a whole path): wire bytes.
    bytes: BTreeMap<(u32, u32, u32, u32), u64>,
}

impl Turns {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let network = &scenario.network;
        let level = |node: NodeId| network.nodes[node.index()].level;
        Self {
            rises: network
                .links
                .iter()
                .map(|l| level(l.dst) > level(l.src))
                .collect(),
            from_host: network
                .links
                .iter()
                .map(|l| network.is_host(l.src))
                .collect(),
            bytes: BTreeMap::new(),
        }
    }

    /// A packet that carries its path goes on over `link`.
    pub(crate) fn note_path(&mut self, packet: &Packet, link: u32, bytes: u64) {
        if packet.flags & flag::BACKWARD == 0 && self.from_host[packet.link as usize] {
            let key = (packet.flow, packet.link, link, packet.entropy);
            *self.bytes.entry(key).or_insert(0) += bytes;
        }
    }

    /// A packet goes on over `link`.
    pub(crate) fn note(&mut self, packet: &Packet, link: u32, bytes: u64) {
        let is_forward = packet.flags & flag::BACKWARD == 0;
        if is_forward && self.rises[packet.link as usize] && !self.rises[link as usize] {
            *self
                .bytes
                .entry((packet.flow, packet.link, link, 0))
                .or_insert(0) += bytes;
        }
    }

    /// (subflow, path, bytes): the path from source to destination where only one leads over the turning switch, else its
    /// two links there.
    pub(crate) fn paths(&self, scenario: &Scenario) -> Vec<(u32, Vec<LinkId>, u64)> {
        let path = |&(flow, into, out, place): &(u32, u32, u32, u32)| {
            let plan = &scenario.flows[scenario.subflow(flow).0.index()];
            if scenario.routes.source.is_some() {
                return whole_path(scenario, plan.dst, into, out, place);
            }
            let turn = scenario.network.links[out as usize].src;
            let up = only_way(scenario, turn, plan.src)
                .map(|links| links.into_iter().rev().map(LinkId::reverse));
            match (up, only_way(scenario, turn, plan.dst)) {
                (Some(up), Some(down)) => up.chain(down).collect(),
                _ => vec![LinkId(into), LinkId(out)],
            }
        };
        self.bytes
            .iter()
            .map(|(key, &bytes)| (key.0, path(key), bytes))
            .collect()
    }
}

/// The path of packets that came over `into`, went on over `out` and then followed the links from `place` on.
fn whole_path(
    scenario: &Scenario,
    dst: NodeId,
    into: u32,
    out: u32,
    mut place: u32,
) -> Vec<LinkId> {
    let changes = scenario.failures.changes.len();
    let end = |link: LinkId| scenario.network.links[link.index()].dst;
    let mut path = vec![LinkId(into), LinkId(out)];
    while end(path[path.len() - 1]) != dst {
        let node = end(path[path.len() - 1]);
        match scenario.link_at(changes, place) {
            END => match scenario.routes.next_hops(node, dst) {
                [link, ..] => path.push(*link),
                [] => break,
            },
            link => path.push(LinkId(link)),
        }
        place += 1;
    }
    path
}

/// The links from `node` to `host` if there is only one shortest way.
fn only_way(scenario: &Scenario, mut node: NodeId, host: NodeId) -> Option<Vec<LinkId>> {
    let mut links = Vec::new();
    while node != host {
        let [link] = *scenario.routes.next_hops(node, host) else {
            return None;
        };
        links.push(link);
        node = scenario.network.links[link.index()].dst;
    }
    Some(links)
}
