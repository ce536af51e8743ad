//! Deadlocks: found in the routes before the run, and in the buffers during it.
//!
//! Before: a packet that holds the buffer behind one link and waits for the next makes a graph of (link, class); without a ring in it
//! there can be no deadlock (Dally and Seitz, IEEE Trans. Computers, 1987; for PFC: Hu et al., HotNets 2016). During: ports
//! that have been paused for long, and that are paused by packets which all wait for other such ports, will wait forever.

use std::collections::BTreeSet;

use weft_net::network::Network;

use crate::lossless::deadlock::{named, ring};

use super::packet::NONE;
use super::port::NEVER;
use super::{Ethernet, Wire};

/// What may end in a deadlock: a ring in what these paths (card, place in `paths`, class) take one after another.
pub(super) fn warning(
    network: &Network,
    wires: &[Wire],
    paths: &[u32],
    classes: usize,
    flows: impl Iterator<Item = (u32, u32, u8)>,
) -> Option<String> {
    let mut edges = BTreeSet::new();
    for (first, place, class) in flows {
        let lane = |link: u32| link * classes as u32 + u32::from(class);
        let mut link = first;
        let mut rest = &paths[place as usize..];
        while !wires[link as usize].ends_at_host {
            edges.insert((lane(link), lane(rest[0])));
            (link, rest) = (rest[0], &rest[1..]);
        }
    }
    let mut next = vec![Vec::new(); wires.len() * classes];
    for (from, to) in edges {
        next[from as usize].push(to);
    }
    let ring = ring(&next)?;
    Some(format!(
        "the routes of this run can deadlock: {}; take routing.kind = \"up_down\", or put some flows into another class",
        named(network, classes as u32, &ring)
    ))
}

impl Ethernet {
    /// Whether ports wait for each other forever; says so in a warning.
    pub(super) fn find_deadlock(&mut self) -> bool {
        let patience = self.pfc.deadlock_after.0;
        let is_late = |at: usize| {
            let since = self.queues[at].paused_since;
            since != NEVER && self.now.saturating_sub(since) >= patience
        };
        let mut stuck: Vec<bool> = (0..self.queues.len()).map(is_late).collect();
        if !stuck.contains(&true) {
            return false;
        }
        // For each (link, class) those that packets wait for which came by it.
        let mut next = vec![BTreeSet::new(); self.queues.len()];
        for (to, queue) in self.queues.iter().enumerate() {
            let mut place = queue.head;
            while place != NONE {
                let entry = &self.waiting[place as usize];
                if entry.from != NONE {
                    next[self.queue_of(entry.from, entry.packet.class)].insert(to);
                }
                place = entry.next;
            }
        }
        // Whoever waits for one that can go on, or whose packets are all gone, will go on.
        loop {
            let frees = |at: usize| {
                stuck[at] && (next[at].is_empty() || next[at].iter().any(|&to| !stuck[to]))
            };
            let Some(at) = (0..stuck.len()).find(|&at| frees(at)) else {
                break;
            };
            stuck[at] = false;
        }
        let graph: Vec<Vec<u32>> = next
            .iter()
            .enumerate()
            .map(|(at, to)| {
                to.iter()
                    .filter(|_| stuck[at])
                    .map(|&to| to as u32)
                    .collect()
            })
            .collect();
        let Some(ring) = ring(&graph) else {
            return false;
        };
        self.warnings.push(format!(
            "deadlock: {}; no packet on these links will ever move again",
            named(&self.scenario.network, self.pfc.classes as u32, &ring)
        ));
        true
    }
}
