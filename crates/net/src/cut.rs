//! The narrowest cut of some links between two nodes.
//!
//! Sources: Ford and Fulkerson, "Maximal flow through a network" (Canadian Journal of Mathematics 8, 1956): it carries as much as
//! all paths together; Edmonds and Karp (Journal of the ACM 19, 1972): augmenting along shortest paths.

use std::collections::BTreeMap;

use crate::ids::NodeId;
use crate::network::Link;

/// The narrowest cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bits per second of its links together.
    pub(crate) rate: u64,
    /// How many these are.
    pub(crate) links: u64,
}

/// That between two nodes. `None` if there is no way.
pub(crate) fn narrowest<'a>(
    links: impl Iterator<Item = &'a Link>,
    src: NodeId,
    dst: NodeId,
) -> Option<Cut> {
    // Arc 2i is a link, 2i + 1 what can be taken back of it.
    let (mut arcs, mut left, mut out) = (Vec::new(), Vec::new(), BTreeMap::new());
    for link in links {
        for (from, to, room) in [(link.src, link.dst, link.rate.0), (link.dst, link.src, 0)] {
            out.entry(from).or_insert_with(Vec::new).push(arcs.len());
            arcs.push((from, to));
            left.push(room);
        }
    }
    let mut rate = 0;
    loop {
        let mut came = BTreeMap::from([(src, usize::MAX)]);
        let mut queue = vec![src];
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            for &arc in out.get(&node).into_iter().flatten() {
                let to = arcs[arc].1;
                if left[arc] > 0 && !came.contains_key(&to) {
                    came.insert(to, arc);
                    queue.push(to);
                }
            }
        }
        if !came.contains_key(&dst) {
            let crosses = |&&(from, to): &&(NodeId, NodeId)| {
                came.contains_key(&from) && !came.contains_key(&to)
            };
            let links = arcs.iter().step_by(2).filter(crosses).count() as u64;
            return (rate > 0).then_some(Cut { rate, links });
        }
        let mut path = Vec::new();
        let mut node = dst;
        while node != src {
            let arc = came[&node];
            path.push(arc);
            node = arcs[arc].0;
        }
        let room = path.iter().map(|&arc| left[arc]).min().unwrap_or(0);
        for arc in path {
            left[arc] -= room;
            left[arc ^ 1] += room;
        }
        rate += room;
    }
}
