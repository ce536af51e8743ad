//! What a flow could get at best over all its paths, alone on an idle network.
//!
//! Source: the max-flow min-cut theorem (Ford and Fulkerson, 1956). All `W` bytes of a flow must cross its narrowest cut.
//! The `m` links of the cut have together the rate `R`; each may have sent one packet of `L` bytes when the first has come
//! to the other side, so that the last arrives no earlier than
//!
//! > handshake + time of one packet over the fastest path + (W - m L) / R
//!
//! That needs a schedule that fills all paths from the first byte on, whereas subflows join after a round trip: a real
//! flow can only be slower. With one path it is the formula of `ideal_fct.rs`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ideal_fct::{Course, one_packet, opening};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::network::Link;
use crate::scenario::Scenario;
use crate::units::{Rate, Time};

/// The narrowest cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    rate: u64,
    links: u64,
}

impl Scenario {
    /// [`Scenario::ideal_fct`] of a flow whose packets take several paths.
    pub(crate) fn over_many_paths(
        &self,
        flow: FlowId,
        course: &Course,
        there: &[&Link],
        back: &[&Link],
    ) -> Option<Time> {
        let plan = &self.flows[flow.index()];
        let (links, paths) = self.ways(flow);
        let of = |id: &LinkId| &self.network.links[id.index()];
        if links
            .iter()
            .map(of)
            .chain(back.iter().copied())
            .any(|l| l.shaper.is_some())
        {
            return None;
        }
        let cut = narrowest(links.iter().map(of), plan.src, plan.dst)?;
        let ip_bytes = course.size.min(course.payload) + course.header;
        let over =
            |path: &Vec<LinkId>| one_packet(&path.iter().map(of).collect::<Vec<_>>(), ip_bytes);
        let chooses_by_packet = paths.is_empty();
        let fastest = if chooses_by_packet {
            self.least_time(plan.src, plan.dst, ip_bytes)?
        } else {
            paths.iter().map(over).min()?
        };
        let packets = course.size.div_ceil(course.payload);
        let overhead = u64::from(there[0].overhead);
        let bytes = course.size + packets * (course.header + overhead);
        let beyond = bytes.saturating_sub(cut.links * (ip_bytes + overhead));
        let sending = Rate(cut.rate).transmit_time(beyond);
        let pacing = Time(((packets - 1) as f64 * course.gap) as u64);
        let opening = if chooses_by_packet {
            let mut time = Time::ZERO;
            for &(is_back, bytes) in &course.opening {
                let (from, to) = if is_back {
                    (plan.dst, plan.src)
                } else {
                    (plan.src, plan.dst)
                };
                time += self.least_time(from, to, bytes)?;
            }
            time
        } else {
            opening(&course.opening, there, back)
        };
        Some(opening + fastest + sending.max(pacing))
    }

    /// Time in which one IP packet gets from one host to another by the fastest of the next hops that routes offer. They
    /// are equally many, but need not be equally fast. `None` where there is no way.
    fn least_time(&self, src: NodeId, dst: NodeId, ip_bytes: u64) -> Option<Time> {
        // Hops lead closer to the destination, so that a first-in-first-out walk meets a node after all that lead to it.
        let mut times = BTreeMap::from([(src, Time::ZERO)]);
        let mut nodes = VecDeque::from([src]);
        while let Some(node) = nodes.pop_front() {
            let here = times[&node];
            for &hop in self.routes.next_hops(node, dst) {
                let link = &self.network.links[hop.index()];
                let there = here + one_packet(&[link], ip_bytes);
                match times.entry(link.dst) {
                    Entry::Vacant(new) => {
                        new.insert(there);
                        nodes.push_back(link.dst);
                    }
                    Entry::Occupied(mut known) => {
                        let least = there.min(*known.get());
                        known.insert(least);
                    }
                }
            }
        }
        times.get(&dst).copied()
    }

    /// The links that packets of a flow may take, and its paths; none where next hops are chosen packet by packet, of which
    /// there may be very many.
    fn ways(&self, flow: FlowId) -> (BTreeSet<LinkId>, Vec<Vec<LinkId>>) {
        let plan = &self.flows[flow.index()];
        let paths: Vec<Vec<LinkId>> = if self.load_balance.is_per_flow() {
            let numbers = 0..self.subflow_count(flow);
            numbers.filter_map(|n| self.subflow_path(flow, n)).collect()
        } else if self.routes.source.is_some() {
            self.routes.paths(&self.network, plan.src, plan.dst)
        } else {
            let mut links = BTreeSet::new();
            let mut nodes = vec![plan.src];
            while let Some(node) = nodes.pop() {
                for &link in self.routes.next_hops(node, plan.dst) {
                    if links.insert(link) {
                        nodes.push(self.network.links[link.index()].dst);
                    }
                }
            }
            return (links, Vec::new());
        };
        (paths.iter().flatten().copied().collect(), paths)
    }
}

/// The narrowest cut between two nodes: augmenting along shortest paths (Edmonds and Karp, 1972). `None` if there is no way.
fn narrowest<'a>(links: impl Iterator<Item = &'a Link>, src: NodeId, dst: NodeId) -> Option<Cut> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::build;
    use serde_json::{Value, json};

    fn ideal(topology: Value, balance: &str, transport: Value) -> Option<Time> {
        build(json!({
            "topology": topology,
            "load_balance": { "kind": balance },
            "transport": transport,
            "workload": [{ "kind": "pairs", "pairs": ["h00>h10"], "size": 1_448_000 }],
        }))
        .unwrap()
        .ideal_fct(FlowId(0))
    }

    /// Two leaves and four spines of 1 Gb/s under hosts of 10 Gb/s; 1 us each, no overhead.
    fn narrow(spines: u64) -> Value {
        json!({
            "kind": "leaf_spine", "leaves": 2, "spines": spines, "hosts_per_leaf": 1,
            "link": { "overhead": 0 },
            "overrides": [{ "links": "s*>l*", "rate": 1_000_000_000 }, { "links": "l*>s*", "rate": 1_000_000_000 }],
        })
    }

    #[test]
    fn of_equally_many_hops_the_fastest_lead() {
        // The links of the first spine take a millisecond: the first packets, and the handshake, are faster over the others.
        let mut slow = narrow(4);
        let overrides = slow["overrides"].as_array_mut().unwrap();
        for links in ["s0>l*", "l*>s0"] {
            overrides.push(json!({ "links": links, "delay": 1_000_000_000 }));
        }
        let tcp = json!({ "kind": "tcp" });
        assert_eq!(
            ideal(slow, "spray", tcp.clone()),
            ideal(narrow(4), "spray", tcp)
        );
    }

    #[test]
    fn spraying_over_narrow_paths_gets_their_sum() {
        // 1000 packets of 1500 B. Handshake: 60 B over 10, 1, 1 and 10 Gb/s, 1.056 us + 4 us, each way. One packet over the
        // path: 1.2 + 12 + 12 + 1.2 + 4 us. The other 996, beside one on each of four uplinks, at 4 Gb/s: 3 us each.
        let tcp = json!({ "kind": "tcp" });
        let expected =
            |paths: u64| Time::from_ns(2 * 5_056 + 30_400 + (1000 - paths) * 12_000 / paths);
        assert_eq!(ideal(narrow(4), "spray", tcp.clone()), Some(expected(4)));
        // With one path the formula is the exact one, but for the ACK ahead of the data.
        let exact = ideal(narrow(1), "ecmp", tcp.clone()).unwrap();
        let bound = ideal(narrow(1), "spray", tcp).unwrap();
        assert_eq!(bound, expected(1));
        assert!(
            exact >= bound && (exact - bound) < Time::from_us(1),
            "{exact} {bound}"
        );
    }

    #[test]
    fn subflows_get_what_their_own_paths_carry() {
        // Sixty-four subflows use all four paths but once in 10^7 seeds; their data has a DSS option more.
        let mptcp = json!({ "kind": "mptcp", "subflows": 64 });
        let all = ideal(narrow(4), "ecmp", mptcp.clone()).unwrap();
        let one = ideal(narrow(1), "ecmp", mptcp).unwrap();
        let ratio = one.0 as f64 / all.0 as f64;
        assert!((3.8..4.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn token_buckets_on_several_paths_have_no_one_rate() {
        let mut topology = narrow(4);
        topology["link"]["shaper"] = "token_bucket".into();
        assert_eq!(ideal(topology, "spray", json!({ "kind": "tcp" })), None);
    }

    #[test]
    fn two_cards_carry_twice_as_much() {
        let cable = |a: &str, b: &str| json!({ "a": a, "b": b });
        let s = |manager: &str| {
            build(json!({
                "topology": { "kind": "custom", "hosts": ["a", "b"],
                    "links": [cable("a", "p"), cable("a", "q"), cable("b", "p"), cable("b", "q")] },
                "transport": { "kind": "mptcp", "path_manager": manager },
                "workload": [{ "kind": "pairs", "pairs": ["a>b"], "size": 14_480_000 }],
            }))
            .unwrap()
            .ideal_fct(FlowId(0))
            .unwrap()
        };
        let ratio = s("default").0 as f64 / s("fullmesh").0 as f64;
        assert!((1.99..2.0).contains(&ratio), "{ratio}");
    }
}
