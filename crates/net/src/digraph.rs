//! The network as a search sees it: states and the links between them.
//!
//! A state is a node, or for routing that remembers what came before (up*/down*) a node and that memory. Links that are
//! down are not there. Hosts forward nothing: a path may begin or end at one.

use crate::ids::NodeId;
use crate::network::Network;
use crate::random::Stream;

/// Out of reach.
pub(crate) const FAR: u32 = u32::MAX;

/// One step: to a state, over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arc {
    pub(crate) to: u32,
    pub(crate) link: u32,
}

/// States `0..len` and the steps from each.
#[derive(Clone, Debug)]
pub(crate) struct Digraph {
    first: Vec<u32>,
    arcs: Vec<Arc>,
    back_first: Vec<u32>,
    back: Vec<u32>,
    /// States that may lie inside a path.
    forwards: Vec<bool>,
}

impl Digraph {
    /// The network itself: a state is a node.
    pub(crate) fn of(network: &Network) -> Self {
        let nodes = network.nodes.len();
        let steps = (0..nodes as u32).map(|node| {
            let up = network
                .out(NodeId(node))
                .iter()
                .filter(|l| network.links[l.index()].is_up);
            up.map(|l| Arc {
                to: network.links[l.index()].dst.0,
                link: l.0,
            })
            .collect()
        });
        let forwards = (0..nodes)
            .map(|n| !network.is_host(NodeId::from(n)))
            .collect();
        Self::new(steps.collect(), forwards)
    }

    /// From the steps of every state and whether it forwards.
    pub(crate) fn new(steps: Vec<Vec<Arc>>, forwards: Vec<bool>) -> Self {
        let mut first = vec![0];
        let mut arcs = Vec::new();
        let mut back = vec![Vec::new(); steps.len()];
        for (state, steps) in steps.into_iter().enumerate() {
            for arc in &steps {
                back[arc.to as usize].push(state as u32);
            }
            arcs.extend(steps);
            first.push(arcs.len() as u32);
        }
        let mut back_first = vec![0];
        for states in &back {
            back_first.push(back_first.last().expect("begins with 0") + states.len() as u32);
        }
        Self {
            first,
            arcs,
            back_first,
            back: back.concat(),
            forwards,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.forwards.len()
    }

    /// The steps from `state`.
    #[inline]
    pub(crate) fn steps(&self, state: u32) -> &[Arc] {
        &self.arcs[self.first[state as usize] as usize..self.first[state as usize + 1] as usize]
    }

    /// The states from which a step leads to `state`.
    #[inline]
    pub(crate) fn steps_to(&self, state: u32) -> &[u32] {
        &self.back
            [self.back_first[state as usize] as usize..self.back_first[state as usize + 1] as usize]
    }

    /// Whether a path may go on from `state`.
    #[inline]
    pub(crate) fn forwards(&self, state: u32) -> bool {
        self.forwards[state as usize]
    }

    /// Steps from every state to the nearest of `targets`, [`FAR`] where there is no way.
    pub(crate) fn distances(&self, targets: &[u32]) -> Vec<u32> {
        let mut distance = vec![FAR; self.len()];
        let mut queue = targets.to_vec();
        for &target in targets {
            distance[target as usize] = 0;
        }
        let mut at = 0;
        while let Some(&state) = queue.get(at) {
            at += 1;
            let further = distance[state as usize] + 1;
            for &from in self.steps_to(state) {
                if distance[from as usize] == FAR {
                    distance[from as usize] = further;
                    // A host may begin a path, but no path goes through it.
                    if self.forwards(from) {
                        queue.push(from);
                    }
                }
            }
        }
        distance
    }

    /// All shortest paths from `start` to where `distance` is 0, as links; or, of more than `most`, so many of them,
    /// each equally likely. Returns how many there are beside them (at most 2^64 - 1).
    pub(crate) fn shortest(
        &self,
        start: u32,
        distance: &[u32],
        most: u64,
        random: &mut Stream,
    ) -> (Vec<Vec<u32>>, u64) {
        if distance[start as usize] == FAR {
            return (Vec::new(), 0);
        }
        let counts = self.counts(start, distance);
        let all = counts[&start];
        if all <= most {
            let mut paths = Vec::with_capacity(all as usize);
            self.list(start, distance, &mut Vec::new(), &mut paths);
            return (paths, all);
        }
        let mut chosen = std::collections::BTreeSet::new();
        while (chosen.len() as u64) < most {
            let mut state = start;
            let mut path = Vec::new();
            while distance[state as usize] > 0 {
                let mut left = random.below(counts[&state]);
                let arc = self
                    .closer(state, distance)
                    .find(|arc| {
                        let here = counts[&arc.to];
                        let is_it = left < here;
                        left = left.saturating_sub(here);
                        is_it
                    })
                    .expect("the counts add up");
                path.push(arc.link);
                state = arc.to;
            }
            chosen.insert(path);
        }
        (chosen.into_iter().collect(), all)
    }

    fn closer<'a>(&'a self, state: u32, distance: &'a [u32]) -> impl Iterator<Item = Arc> + 'a {
        let here = distance[state as usize];
        self.steps(state).iter().copied().filter(move |arc| {
            let there = distance[arc.to as usize];
            there != FAR && there + 1 == here && (there == 0 || self.forwards(arc.to))
        })
    }

    /// Number of shortest paths from every state on the way.
    fn counts(&self, start: u32, distance: &[u32]) -> std::collections::BTreeMap<u32, u64> {
        let mut layers = vec![std::collections::BTreeSet::from([start])];
        while distance[*layers.last().and_then(|l| l.first()).expect("a layer") as usize] > 0 {
            let last = layers.last().expect("a layer");
            layers.push(
                last.iter()
                    .flat_map(|&s| self.closer(s, distance))
                    .map(|a| a.to)
                    .collect(),
            );
        }
        let mut counts = std::collections::BTreeMap::new();
        for &state in layers.iter().rev().flatten() {
            let ways = match distance[state as usize] {
                0 => 1,
                _ => self
                    .closer(state, distance)
                    .fold(0_u64, |sum, arc| sum.saturating_add(counts[&arc.to])),
            };
            counts.insert(state, ways);
        }
        counts
    }

    fn list(&self, state: u32, distance: &[u32], path: &mut Vec<u32>, paths: &mut Vec<Vec<u32>>) {
        if distance[state as usize] == 0 {
            paths.push(path.clone());
            return;
        }
        for arc in self.closer(state, distance) {
            path.push(arc.link);
            self.list(arc.to, distance, path, paths);
            path.pop();
        }
    }
}
