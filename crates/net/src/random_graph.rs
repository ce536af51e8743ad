//! Random graphs of given degrees, as Jellyfish draws them: simple, connected, every port used that can be.
//!
//! Source: Singla, Hong, Popa, Godfrey, NSDI 2012, section 3: join two nodes that have free ports and are not yet
//! neighbours, each such pair equally likely, until there is none. Ports that are left then lie on one node, or on nodes
//! that are all neighbours; a random edge is taken out and its ends joined to them, which adds an edge for two ports. A
//! single port can be left over, where the sum of the degrees is odd. A graph in parts is drawn again.

use std::collections::BTreeSet;

use crate::random::Stream;

/// How often a draw that fell into parts, or got stuck, is repeated.
const DRAWS: u32 = 200;
/// Rejected pairs after which those that are left are listed.
const TRIES: u32 = 64;

/// An undirected graph in the making: edges in the order in which they came, and the neighbours of every node.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) edges: Vec<(u32, u32)>,
    pub(crate) neighbours: Vec<BTreeSet<u32>>,
}

/// Why no simple connected graph has these degrees, as a half sentence; `None` if one has.
///
/// Simple: the condition of Erdős and Gallai (1960), one port left free where the sum is odd. Connected: besides, every
/// node has an edge and there are at least as many as a tree has; then edges can be swapped until the parts are one.
pub(crate) fn impossible(degrees: &[u64]) -> Option<String> {
    let nodes = degrees.len() as u64;
    if nodes <= 1 {
        return None;
    }
    if let Some(alone) = degrees.iter().position(|&d| d == 0) {
        return Some(format!(
            "switch {alone} has no port left for another switch"
        ));
    }
    let sum: u64 = degrees.iter().sum();
    if sum / 2 < nodes - 1 {
        return Some(format!(
            "{sum} ports between switches make {} cables, and {nodes} switches need {} to be connected",
            sum / 2,
            nodes - 1
        ));
    }
    if let Some(&most) = degrees.iter().max().filter(|&&d| d >= nodes) {
        return Some(format!(
            "a switch has {most} ports for other switches, and there are only {} others",
            nodes - 1
        ));
    }
    let mut sorted = degrees.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    if sum % 2 == 1 {
        *sorted.last_mut().expect("nodes") -= 1;
    }
    let mut left = 0;
    for (k, &degree) in (1_u64..).zip(&sorted) {
        left += degree;
        let right: u64 = sorted[k as usize..].iter().map(|&d| d.min(k)).sum();
        if left > k * (k - 1) + right {
            return Some(format!(
                "the {k} switches with most ports have {left} for others; {} can be cabled without a second cable between two",
                k * (k - 1) + right
            ));
        }
    }
    None
}

/// A connected simple graph with these degrees (one less at one node where their sum is odd).
///
/// # Errors
/// A half sentence: why there is none, or that too many draws fell into parts.
pub(crate) fn connected(degrees: &[u64], random: &mut Stream) -> Result<Graph, String> {
    if let Some(reason) = impossible(degrees) {
        return Err(reason);
    }
    let mut parts = 0;
    for _ in 0..DRAWS {
        if let Some(graph) = draw(degrees, random) {
            parts = graph.parts();
            if parts <= 1 {
                return Ok(graph);
            }
        }
    }
    Err(format!(
        "{DRAWS} graphs were drawn and none was connected (the last one: {parts} parts); give the switches more ports"
    ))
}

fn draw(degrees: &[u64], random: &mut Stream) -> Option<Graph> {
    let mut graph = Graph {
        edges: Vec::new(),
        neighbours: vec![BTreeSet::new(); degrees.len()],
    };
    let mut free = degrees.to_vec();
    let mut open: Vec<u32> = (0..degrees.len() as u32)
        .filter(|&n| free[n as usize] > 0)
        .collect();
    while let Some((a, b)) = graph.pair(&open, random) {
        graph.join(a, b);
        for node in [a, b] {
            free[node as usize] -= 1;
        }
        open.retain(|&n| free[n as usize] > 0);
    }
    // What is left is a clique: its ports go two by two into edges that are there.
    loop {
        let mut ports = open
            .iter()
            .flat_map(|&n| [n, n].into_iter().take(free[n as usize].min(2) as usize));
        let (Some(a), Some(b)) = (ports.next(), ports.next()) else {
            return Some(graph);
        };
        let at = graph.edge_between_strangers(a, b, random)?;
        graph.insert(at, a, b);
        for node in [a, b] {
            free[node as usize] -= 1;
        }
        open.retain(|&n| free[n as usize] > 0);
    }
}

impl Graph {
    /// A graph with these edges.
    pub(crate) fn new(nodes: usize, edges: Vec<(u32, u32)>) -> Self {
        let mut neighbours = vec![BTreeSet::new(); nodes];
        for &(a, b) in &edges {
            neighbours[a as usize].insert(b);
            neighbours[b as usize].insert(a);
        }
        Self { edges, neighbours }
    }

    /// Adds a node with up to `ports` edges: for every two of them a random edge is taken out and both its ends are
    /// joined to the node. A last odd port stays free, and so do those for which no edge is left whose ends are both
    /// strangers.
    pub(crate) fn expand(&mut self, ports: u64, random: &mut Stream) {
        let node = self.neighbours.len() as u32;
        self.neighbours.push(BTreeSet::new());
        for _ in 0..ports / 2 {
            if let Some(at) = self.edge_between_strangers(node, node, random) {
                self.insert(at, node, node);
            }
        }
    }

    /// Number of connected parts.
    pub(crate) fn parts(&self) -> usize {
        let mut seen = vec![false; self.neighbours.len()];
        let mut parts = 0;
        for start in 0..self.neighbours.len() {
            if seen[start] {
                continue;
            }
            parts += 1;
            seen[start] = true;
            let mut stack = vec![start];
            while let Some(node) = stack.pop() {
                for &next in &self.neighbours[node] {
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        stack.push(next as usize);
                    }
                }
            }
        }
        parts
    }

    fn join(&mut self, a: u32, b: u32) {
        self.edges.push((a, b));
        self.neighbours[a as usize].insert(b);
        self.neighbours[b as usize].insert(a);
    }

    /// Two of `open` that are not neighbours, every such pair equally likely.
    fn pair(&self, open: &[u32], random: &mut Stream) -> Option<(u32, u32)> {
        let are_strangers = |a: u32, b: u32| a != b && !self.neighbours[a as usize].contains(&b);
        let mut any = || open[random.below(open.len() as u64) as usize];
        if open.len() < 2 {
            return None;
        }
        for _ in 0..TRIES {
            let (a, b) = (any(), any());
            if are_strangers(a, b) {
                return Some((a, b));
            }
        }
        let pairs: Vec<_> = open
            .iter()
            .enumerate()
            .flat_map(|(i, &a)| open[..i].iter().map(move |&b| (a, b)))
            .filter(|&(a, b)| are_strangers(a, b))
            .collect();
        (!pairs.is_empty()).then(|| pairs[random.below(pairs.len() as u64) as usize])
    }

    /// A random edge u-v such that a-u and b-v may be added: its number, and it is turned so that u comes first.
    fn edge_between_strangers(&mut self, a: u32, b: u32, random: &mut Stream) -> Option<usize> {
        let fits = |&(u, v): &(u32, u32)| {
            let may = |x: u32, y: u32| x != y && !self.neighbours[x as usize].contains(&y);
            may(a, u) && may(b, v)
        };
        let turned = |&(u, v): &(u32, u32)| (v, u);
        let found: Vec<(usize, bool)> = self
            .edges
            .iter()
            .enumerate()
            .flat_map(|(at, edge)| {
                [(fits(edge), false), (a != b && fits(&turned(edge)), true)]
                    .into_iter()
                    .filter(|f| f.0)
                    .map(move |f| (at, f.1))
            })
            .collect();
        if found.is_empty() {
            return None;
        }
        let (at, is_turned) = found[random.below(found.len() as u64) as usize];
        if is_turned {
            self.edges[at] = turned(&self.edges[at]);
        }
        Some(at)
    }

    /// Takes out edge `at`, u-v, and adds a-u and b-v. The other edges keep their order.
    fn insert(&mut self, at: usize, a: u32, b: u32) {
        let (u, v) = self.edges.remove(at);
        self.neighbours[u as usize].remove(&v);
        self.neighbours[v as usize].remove(&u);
        self.join(u, a);
        self.join(v, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn degrees_of(graph: &Graph) -> Vec<u64> {
        graph.neighbours.iter().map(|n| n.len() as u64).collect()
    }

    #[test]
    fn every_port_is_used_and_no_pair_is_cabled_twice() {
        // Dense ones nearly always end with ports on neighbours only, which the swap has to resolve.
        for (seed, degrees) in [
            vec![3; 6],
            vec![4; 6],
            vec![5; 6],
            vec![3, 3, 2, 2, 2],
            vec![2; 40],
            vec![11; 24],
        ]
        .into_iter()
        .cycle()
        .take(300)
        .enumerate()
        {
            let graph = connected(&degrees, &mut stream(seed as u64, "graph")).unwrap();
            assert_eq!(degrees_of(&graph), degrees);
            let cables: BTreeSet<_> = graph
                .edges
                .iter()
                .map(|&(a, b)| (a.min(b), a.max(b)))
                .collect();
            assert_eq!(cables.len() as u64, degrees.iter().sum::<u64>() / 2);
            assert!(graph.edges.iter().all(|&(a, b)| a != b));
        }
    }

    #[test]
    fn an_odd_sum_leaves_one_port_free() {
        for seed in 0..50 {
            let graph = connected(&[3; 7], &mut stream(seed, "graph")).unwrap();
            assert_eq!((graph.edges.len(), graph.parts()), (10, 1));
        }
    }

    #[test]
    fn degrees_that_no_graph_has_are_refused_with_the_reason() {
        for (degrees, reason) in [
            (
                vec![2, 0, 2],
                "switch 1 has no port left for another switch",
            ),
            (
                vec![1, 1, 1, 1],
                "4 ports between switches make 2 cables, and 4 switches need 3 to be connected",
            ),
            (
                vec![4, 1, 1, 2],
                "a switch has 4 ports for other switches, and there are only 3 others",
            ),
            // The two with 3 can reach only each other and, once each, the two with 1.
            (
                vec![3, 3, 1, 1],
                "the 2 switches with most ports have 6 for others; 4 can be cabled without a second cable between two",
            ),
        ] {
            assert_eq!(impossible(&degrees).as_deref(), Some(reason));
        }
        assert_eq!(impossible(&[0]), None);
    }

    #[test]
    fn a_new_node_takes_out_edges_and_changes_no_other() {
        let mut random = stream(5, "graph");
        let mut graph = connected(&[4; 20], &mut random).unwrap();
        let before: BTreeSet<_> = graph.edges.iter().copied().collect();
        graph.expand(4, &mut random);
        let after: BTreeSet<_> = graph.edges.iter().copied().collect();
        assert_eq!(
            (
                before.difference(&after).count(),
                after.difference(&before).count()
            ),
            (2, 4)
        );
        assert_eq!(degrees_of(&graph), vec![4; 21]);
        assert_eq!(graph.parts(), 1);
    }

    #[test]
    fn neighbours_are_drawn_evenly() {
        // 4000 graphs of 8 nodes with 3 ports: each of 28 pairs is joined with probability 12/28, sd sqrt(n p q) = 31.3.
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..4000 {
            for (a, b) in connected(&[3; 8], &mut stream(seed, "graph"))
                .unwrap()
                .edges
            {
                *counts.entry((a.min(b), a.max(b))).or_insert(0_i32) += 1;
            }
        }
        assert_eq!(counts.len(), 28);
        assert!(
            counts.values().all(|c| (c - 1714).abs() < 5 * 32),
            "{counts:?}"
        );
    }
}
