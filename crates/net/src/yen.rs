//! The k shortest loopless paths between two nodes, by number of links.
//!
//! Source: Yen, Management Science 17, 1971, with Lawler's rule (Management Science 18, 1972): a path deviates only
//! from where it itself left an earlier one, so that every candidate is the shortest of a set of its own and none
//! comes twice. The search for it knows the distance of every node to the target in the whole graph, which can only be
//! too small in what is left of the graph (A*); in a random graph it looks at little more than the path. Among equally
//! long paths either a random stream chooses, in the search and between candidates, or the numbers of the nodes along
//! them do.

use std::collections::BinaryHeap;

use crate::digraph::{Arc, Digraph, FAR};
use crate::random::Stream;

/// A path and where it came from, ordered so that the shortest comes first out of a heap; of equal ones that with the
/// smallest draw, and without draws that with the smallest nodes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: std::cmp::Reverse<(usize, u64, Vec<u32>)>,
    links: Vec<u32>,
    /// Index of the node at which it left the path that it was derived from.
    deviates: usize,
}

impl Candidate {
    fn nodes(&self) -> &[u32] {
        &self.rank.0.2
    }
}

/// Memory that one search leaves to the next; for one graph.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    graph: &'a Digraph,
    /// By node: the search in which it was closed, reached and forbidden.
    closed: Vec<u32>,
    reached: Vec<u32>,
    forbidden: Vec<u32>,
    number: u32,
    steps: Vec<u32>,
    /// By node: node and link before it.
    before: Vec<(u32, u32)>,
    /// By node: the search in which it was known not to lead to the target in so many steps.
    failed: Vec<(u32, u32)>,
    /// By length of the whole path, beyond the least: nodes to be looked at, last in, first out.
    open: Vec<Vec<u32>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(graph: &'a Digraph) -> Self {
        let nodes = graph.len();
        Self {
            graph,
            closed: vec![0; nodes],
            reached: vec![0; nodes],
            forbidden: vec![0; nodes],
            number: 0,
            steps: vec![0; nodes],
            before: vec![(0, 0); nodes],
            failed: vec![(0, 0); nodes],
            open: Vec::new(),
        }
    }

    /// Up to `k` paths from `src` to `dst` as links, shortest first. `distance` is that of every node to `dst`. Without
    /// `random`, of equally long paths the one whose nodes come first in the order of words.
    pub(crate) fn paths(
        &mut self,
        src: u32,
        dst: u32,
        k: usize,
        distance: &[u32],
        mut random: Option<&mut Stream>,
    ) -> Vec<Vec<u32>> {
        let mut accepted: Vec<Candidate> = Vec::with_capacity(k);
        let mut candidates = BinaryHeap::new();
        self.number += 1;
        candidates.extend(self.detour(&[src], &[], dst, &[], distance, random.as_deref_mut()));
        while let Some(best) = candidates.pop() {
            accepted.push(best);
            if accepted.len() == k {
                break;
            }
            let best = accepted.last().expect("just pushed");
            for at in best.deviates..best.links.len() {
                let root = &best.links[..at];
                let taken: Vec<u32> = accepted
                    .iter()
                    .filter(|p| p.links.len() > at && p.links[..at] == *root)
                    .map(|p| p.links[at])
                    .collect();
                self.number += 1;
                for &node in &best.nodes()[..at] {
                    self.forbidden[node as usize] = self.number;
                }
                candidates.extend(self.detour(
                    &best.nodes()[..=at],
                    root,
                    dst,
                    &taken,
                    distance,
                    random.as_deref_mut(),
                ));
            }
        }
        accepted.into_iter().map(|p| p.links).collect()
    }

    /// The shortest path that begins with the nodes and links of a root, then avoids the links `taken` and what is
    /// forbidden under the present number.
    fn detour(
        &mut self,
        nodes: &[u32],
        links: &[u32],
        dst: u32,
        taken: &[u32],
        distance: &[u32],
        mut random: Option<&mut Stream>,
    ) -> Option<Candidate> {
        let spur = *nodes.last().expect("a root has a node");
        if distance[spur as usize] == FAR {
            return None;
        }
        let mut way = self.shortest(spur, dst, taken, distance, random.as_deref_mut())?;
        if random.is_none() {
            let length = way.len() as u32;
            way.clear();
            // Back at the spur a way could take what is taken.
            self.forbidden[spur as usize] = self.number;
            let is_found = self.smallest(spur, dst, taken, distance, length, &mut way);
            assert!(is_found, "there is a way of that length");
        }
        let (mut nodes, mut links) = (nodes.to_vec(), links.to_vec());
        let deviates = links.len();
        for arc in way {
            nodes.push(arc.to);
            links.push(arc.link);
        }
        let draw = random.map_or(0, |r| r.next_u64());
        Some(Candidate {
            rank: std::cmp::Reverse((links.len(), draw, nodes)),
            links,
            deviates,
        })
    }

    /// A shortest way from `spur` to `dst`; with `random`, any of them.
    fn shortest(
        &mut self,
        spur: u32,
        dst: u32,
        taken: &[u32],
        distance: &[u32],
        mut random: Option<&mut Stream>,
    ) -> Option<Vec<Arc>> {
        let (graph, number) = (self.graph, self.number);
        let least = distance[spur as usize];
        self.open.iter_mut().for_each(Vec::clear);
        self.enter(spur, 0, (spur, 0), 0);
        let mut length = 0;
        loop {
            let Some(node) = self.open.get_mut(length)?.pop() else {
                length += 1;
                continue;
            };
            if node == dst {
                break;
            }
            if std::mem::replace(&mut self.closed[node as usize], number) == number {
                continue;
            }
            let further = self.steps[node as usize] + 1;
            let mark = self.open.get(length).map_or(0, Vec::len);
            for arc in graph.steps(node) {
                let next = arc.to as usize;
                let there = distance[next];
                if there == FAR
                    || self.closed[next] == number
                    || self.forbidden[next] == number
                    || !(graph.forwards(arc.to) || arc.to == dst)
                    || (node == spur && taken.contains(&arc.link))
                    || (self.reached[next] == number && self.steps[next] <= further)
                {
                    continue;
                }
                let beyond = (further + there - least) as usize;
                self.enter(arc.to, further, (node, arc.link), beyond);
            }
            // Of those that lie equally well, any may be the next.
            if let Some(random) = &mut random {
                random.shuffle(&mut self.open[length][mark..]);
            }
        }
        let mut way = Vec::new();
        let mut node = dst;
        while node != spur {
            let (before, link) = self.before[node as usize];
            way.push(Arc { to: node, link });
            node = before;
        }
        way.reverse();
        Some(way)
    }

    /// Adds to `way` the way from `node` to `dst` of at most `left` steps whose nodes come first in the order of
    /// words. Where there is none it is remembered how many steps were too few. `left` is the least for the spur, so
    /// that no way that is found meets a node twice.
    fn smallest(
        &mut self,
        node: u32,
        dst: u32,
        taken: &[u32],
        distance: &[u32],
        left: u32,
        way: &mut Vec<Arc>,
    ) -> bool {
        if node == dst {
            return true;
        }
        let (graph, number) = (self.graph, self.number);
        let is_spur = way.is_empty();
        let mut steps: Vec<Arc> = graph
            .steps(node)
            .iter()
            .filter(|arc| {
                let next = arc.to as usize;
                let (when, too_few) = self.failed[next];
                distance[next] < left
                    && self.forbidden[next] != number
                    && (graph.forwards(arc.to) || arc.to == dst)
                    && !(is_spur && taken.contains(&arc.link))
                    && !(when == number && left - 1 <= too_few)
            })
            .copied()
            .collect();
        steps.sort_unstable();
        for arc in steps {
            way.push(arc);
            if self.smallest(arc.to, dst, taken, distance, left - 1, way) {
                return true;
            }
            way.pop();
        }
        self.failed[node as usize] = (number, left);
        false
    }

    #[inline]
    fn enter(&mut self, node: u32, steps: u32, before: (u32, u32), length: usize) {
        self.reached[node as usize] = self.number;
        self.steps[node as usize] = steps;
        self.before[node as usize] = before;
        if self.open.len() <= length {
            self.open.resize_with(length + 1, Vec::new);
        }
        self.open[length].push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use std::collections::{BTreeMap, BTreeSet};

    /// A random directed graph in which links go both ways or one way.
    fn graph(seed: u64) -> Digraph {
        let mut random = stream(seed, "graph");
        let nodes = 2 + random.below(7);
        let mut steps = vec![Vec::new(); nodes as usize];
        let mut link = 0;
        for a in 0..nodes {
            for b in 0..nodes {
                if a != b && random.below(10) < 4 {
                    steps[a as usize].push(Arc { to: b as u32, link });
                    link += 1;
                }
            }
        }
        Digraph::new(steps, vec![true; nodes as usize])
    }

    /// Lengths of all simple paths, by trying them all.
    fn all_lengths(
        graph: &Digraph,
        at: u32,
        dst: u32,
        seen: &mut Vec<u32>,
        lengths: &mut Vec<usize>,
    ) {
        if at == dst {
            return lengths.push(seen.len());
        }
        seen.push(at);
        for arc in graph.steps(at) {
            if !seen.contains(&arc.to) {
                all_lengths(graph, arc.to, dst, seen, lengths);
            }
        }
        seen.pop();
    }

    #[test]
    fn they_are_as_short_as_any_and_never_come_twice() {
        for seed in 0..3000 {
            let graph = graph(seed);
            let mut search = Search::new(&graph);
            let dst = graph.len() as u32 - 1;
            let distance = graph.distances(&[dst]);
            let mut expected = Vec::new();
            all_lengths(&graph, 0, dst, &mut Vec::new(), &mut expected);
            expected.sort_unstable();
            for k in [1, 3, 8, 10_000] {
                let paths = search.paths(0, dst, k, &distance, Some(&mut stream(seed, "ties")));
                let lengths: Vec<_> = paths.iter().map(Vec::len).collect();
                assert_eq!(
                    lengths,
                    expected[..k.min(expected.len())],
                    "seed {seed}, k {k}"
                );
                assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len());
                for path in &paths {
                    let mut nodes = BTreeSet::from([0]);
                    let mut at = 0;
                    for &link in path {
                        at = graph
                            .steps(at)
                            .iter()
                            .find(|a| a.link == link)
                            .expect("a step")
                            .to;
                        assert!(nodes.insert(at), "seed {seed}: a loop");
                    }
                    assert_eq!(at, dst);
                }
            }
        }
    }

    #[test]
    fn without_draws_the_smallest_nodes_come_first() {
        for seed in 0..3000 {
            let graph = graph(seed);
            let dst = graph.len() as u32 - 1;
            let mut all = Vec::new();
            all_paths(&graph, &mut vec![0], dst, &mut all);
            all.sort_by_key(|p| (p.len(), p.clone()));
            let distance = graph.distances(&[dst]);
            let nodes = |path: Vec<u32>| {
                let step = |at: u32, link: u32| {
                    graph
                        .steps(at)
                        .iter()
                        .find(|a| a.link == link)
                        .expect("a step")
                        .to
                };
                path.iter().fold(vec![0], |mut nodes, &link| {
                    nodes.push(step(nodes[nodes.len() - 1], link));
                    nodes
                })
            };
            let found = Search::new(&graph).paths(0, dst, 10_000, &distance, None);
            assert_eq!(
                found.into_iter().map(nodes).collect::<Vec<_>>(),
                all,
                "seed {seed}"
            );
        }
    }

    fn all_paths(graph: &Digraph, path: &mut Vec<u32>, dst: u32, all: &mut Vec<Vec<u32>>) {
        let at = path[path.len() - 1];
        if at == dst {
            return all.push(path.clone());
        }
        for arc in graph.steps(at) {
            if !path.contains(&arc.to) {
                path.push(arc.to);
                all_paths(graph, path, dst, all);
                path.pop();
            }
        }
    }

    #[test]
    fn of_equal_paths_any_may_come_first() {
        // Six ways of two links: over 6000 seeds each comes first 1000 times, sd sqrt(6000 x 5/36) = 28.9.
        let mut steps = vec![Vec::new(); 8];
        for middle in 1..7 {
            steps[0].push(Arc {
                to: middle,
                link: middle,
            });
            steps[middle as usize].push(Arc {
                to: 7,
                link: 10 + middle,
            });
        }
        let graph = Digraph::new(steps, vec![true; 8]);
        let distance = graph.distances(&[7]);
        let mut first = BTreeMap::new();
        for seed in 0..6000 {
            let paths =
                Search::new(&graph).paths(0, 7, 2, &distance, Some(&mut stream(seed, "ties")));
            *first.entry(paths[0][0]).or_insert(0_i32) += 1;
        }
        assert!(
            first.len() == 6 && first.values().all(|n| (n - 1000).abs() < 150),
            "{first:?}"
        );
    }
}
