//! Deadlocks: found in the routes before the run, and in the buffers during it.
//!
//! Before: packets that hold a lane of one link and wait for the next make a graph of lanes; without a ring in it there can be no deadlock
//! (Dally and Seitz, IEEE Trans. Computers, 1987). During: lanes that wait for credits, of which none is on its way back, and whose
//! buffers hold only packets for other such lanes, will wait forever.

use std::collections::BTreeSet;

use weft_net::ids::LinkId;
use weft_net::network::Network;

use super::Lossless;
use super::fabric::Fabric;
use super::lane::NEVER;
use super::switch::NONE;

/// A ring in a graph: its vertices in order, the first one only once. `next` are the neighbours of each.
pub(crate) fn ring(next: &[Vec<u32>]) -> Option<Vec<u32>> {
    // 0: not seen; 1: on the way that is being followed; 2: leads to no ring.
    let mut state = vec![0_u8; next.len()];
    for start in 0..next.len() {
        let mut way: Vec<(u32, usize)> = vec![(start as u32, 0)];
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        while let Some((at, edge)) = way.last_mut() {
            let Some(&to) = next[*at as usize].get(*edge) else {
                state[*at as usize] = 2;
                way.pop();
                continue;
            };
            *edge += 1;
            match state[to as usize] {
                0 => {
                    state[to as usize] = 1;
                    way.push((to, 0));
                }
                1 => {
                    let from = way.iter().position(|w| w.0 == to)?;
                    return Some(way[from..].iter().map(|w| w.0).collect());
                }
                _ => {}
            }
        }
    }
    None
}

/// Lanes by name, the first again at the end.
pub(crate) fn named(network: &Network, lanes: u32, ring: &[u32]) -> String {
    let name = |&lane: &u32| {
        let link = network.link_name(LinkId(lane / lanes));
        if lanes == 1 {
            link
        } else {
            format!("{link} (lane {})", lane % lanes)
        }
    };
    let names: Vec<String> = ring.iter().chain(ring.first()).map(name).collect();
    names.join(" waits for ")
}

/// What may end in a deadlock: a ring in the lanes that these paths (links, and service level) take one after another.
pub(super) fn warning<'a>(
    network: &Network,
    fabric: &Fabric,
    paths: impl Iterator<Item = (&'a [u32], u8)>,
) -> Option<String> {
    let mut edges = BTreeSet::new();
    for (path, level) in paths {
        let lanes: Vec<u32> = fabric.lanes_along(path, level).collect();
        edges.extend(lanes.windows(2).map(|w| (w[0], w[1])));
    }
    let mut next = vec![Vec::new(); fabric.wires.len() * fabric.lanes as usize];
    for (from, to) in edges {
        next[from as usize].push(to);
    }
    let ring = ring(&next)?;
    Some(format!(
        "the routes of this run can deadlock: {}; take routing.kind = \"up_down\", or put some flows on another lane",
        named(network, fabric.lanes, &ring)
    ))
}

impl Lossless {
    /// Whether packets wait for each other forever; says so in a warning.
    pub(super) fn find_deadlock(&mut self) -> bool {
        let lanes = self.fabric.lanes;
        let count = self.lanes.len();
        // For each lane the credits that wait behind it, and the lanes that they wait for.
        let mut held = vec![0_i64; count];
        let mut next = vec![BTreeSet::new(); count];
        let is_stuck = |lane: usize| self.lanes[lane].starved_since != NEVER;
        if !(0..count).any(is_stuck) {
            return false;
        }
        self.each_waiting(|from, to, packet| {
            held[from as usize] += i64::from(packet.credits);
            next[from as usize].insert(to);
        });
        let mut stuck: Vec<bool> = (0..count)
            .map(|lane| is_stuck(lane) && held[lane] == self.lanes[lane].outstanding())
            .collect();
        // Whoever waits for one that is not stuck will go on.
        loop {
            let frees =
                |lane: usize| stuck[lane] && next[lane].iter().any(|&to: &u32| !stuck[to as usize]);
            let Some(lane) = (0..count).find(|&lane| frees(lane)) else {
                break;
            };
            stuck[lane] = false;
        }
        let graph: Vec<Vec<u32>> = next
            .iter()
            .enumerate()
            .map(|(lane, to)| to.iter().copied().filter(|_| stuck[lane]).collect())
            .collect();
        let Some(ring) = ring(&graph) else {
            return false;
        };
        self.warnings.push(format!(
            "deadlock: {}; no packet on these links will ever move again",
            named(&self.scenario.network, lanes, &ring)
        ));
        true
    }

    /// Every packet in a virtual output queue: the lane that it came by, the one that it waits for, the packet.
    pub(super) fn each_waiting(&self, mut visit: impl FnMut(u32, u32, &super::Packet)) {
        let lanes = self.fabric.lanes;
        for (out, port) in self.fabric.wires.iter().enumerate() {
            if port.starts_at_host {
                continue;
            }
            let links = self.fabric.inputs(port.src);
            for level in 0..lanes {
                for (input, &link) in links.iter().enumerate() {
                    let queue = port.queues + level * links.len() as u32 + input as u32;
                    let mut place = self.queues[queue as usize].0;
                    while place != NONE {
                        let entry = &self.waiting[place as usize];
                        let from = link * lanes + u32::from(entry.packet.lane);
                        visit(from, out as u32 * lanes + level, &entry.packet);
                        place = entry.next;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ring;

    #[test]
    fn a_ring_is_found_where_there_is_one() {
        assert_eq!(ring(&[vec![1, 2], vec![2], vec![]]), None);
        assert_eq!(
            ring(&[vec![1], vec![2], vec![3], vec![1]]),
            Some(vec![1, 2, 3])
        );
        assert_eq!(ring(&[vec![0]]), Some(vec![0]));
    }
}
