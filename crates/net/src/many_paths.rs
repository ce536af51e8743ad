//! What a flow could get at best over all its paths, alone on an idle network.
//!
//! Source: the max-flow min-cut theorem (Ford and Fulkerson, 1956). All `W` bytes of a flow must cross its narrowest cut.
//! The `m` links of the cut have together the rate `R`; each may have sent one packet of `L` bytes when the first has come
//! to the other side, so that the last arrives no earlier than
//!
//! > handshake + time of one packet over the fastest path + (W - m L) / R
//!
//! Where a host has one link, that alone is a cut, and more is known of it: the source sends from the start, and what it
//! sends last still has its way to go; the link of the destination gets nothing before the first packet can be there. The
//! last packet may be shorter than the others and overtake them on another path, so that each bound is taken twice: of
//! the full packets alone, and of all. The ideal is the latest of these times.
//!
//! That needs a schedule that fills all paths from the first byte on, whereas subflows join after a round trip: a real
//! flow can only be slower. Where all paths are alike and as wide as the hosts' links, and all packets are full, it is the
//! formula of `ideal_fct.rs`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::cut::{Cut, narrowest};
use crate::ideal_fct::{Course, Ideals, one_packet, opening};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::network::Link;
use crate::scenario::Scenario;
use crate::units::{Rate, Time};

/// What is known of the links between two hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Between {
    /// Where several paths can carry more than one.
    cut: Option<Cut>,
    /// Least overhead of a packet.
    overhead: u64,
    has_shaper: bool,
}

impl Between {
    fn of(links: &[&Link], ends: Option<(NodeId, NodeId)>) -> Self {
        Self {
            cut: ends.and_then(|(src, dst)| narrowest(links.iter().copied(), src, dst)),
            overhead: links
                .iter()
                .map(|l| u64::from(l.overhead))
                .min()
                .unwrap_or(0),
            has_shaper: links.iter().any(|l| l.shaper.is_some()),
        }
    }
}

impl Scenario {
    /// Whether the packets of a flow may take other paths than the idle one, of these links.
    pub(crate) fn has_other_paths(&self, flow: FlowId, path: &[LinkId]) -> bool {
        let plan = &self.flows[flow.index()];
        if self.load_balance.is_per_flow() {
            let others = 1..self.subflow_count(flow);
            return others
                .filter_map(|n| self.subflow_path(flow, n))
                .any(|other| other != path);
        }
        if self.routes.source.is_some() {
            return self.routes.paths(&self.network, plan.src, plan.dst).len() > 1;
        }
        path.iter().any(|link| {
            let node = self.network.links[link.index()].src;
            self.routes.next_hops(node, plan.dst).len() > 1
        })
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

    /// The links of all ways that packets from one host to another may take, where they are balanced one by one.
    fn all_links(&self, src: NodeId, dst: NodeId) -> Vec<&Link> {
        let mut links = BTreeSet::new();
        if self.routes.source.is_some() {
            let paths = self.routes.paths(&self.network, src, dst);
            links.extend(paths.into_iter().flatten());
        } else {
            let mut nodes = vec![src];
            while let Some(node) = nodes.pop() {
                for &link in self.routes.next_hops(node, dst) {
                    if links.insert(link) {
                        nodes.push(self.network.links[link.index()].dst);
                    }
                }
            }
        }
        links
            .iter()
            .map(|l| &self.network.links[l.index()])
            .collect()
    }
}

impl Ideals<'_> {
    /// [`Scenario::ideal_fct`] of a flow whose packets take several paths; `is_wider`: they could carry more than the idle
    /// ones, `there` and `back`.
    pub(crate) fn over_many_paths(
        &mut self,
        flow: FlowId,
        course: &Course,
        (there, back): (&[&Link], &[&Link]),
        is_wider: bool,
    ) -> Option<Time> {
        let scenario = self.scenario;
        let plan = &scenario.flows[flow.index()];
        let (src, dst) = (plan.src, plan.dst);
        let is_per_flow = scenario.load_balance.is_per_flow();
        // Of paths of equally many links that are alike, none is faster.
        let is_alike = !is_wider
            && scenario.routes.source.is_none()
            && scenario.network.has_equal_inner_links();
        let subflows: Vec<Vec<&Link>> = match is_per_flow && !is_alike {
            true => (0..scenario.subflow_count(flow))
                .filter_map(|n| scenario.subflow_path(flow, n))
                .map(|path| scenario.links(&path))
                .collect(),
            false => Vec::new(),
        };
        let between = if is_alike {
            Between::of(there, None)
        } else if is_per_flow {
            let links: BTreeMap<_, _> = (subflows.iter().flatten())
                .map(|&l| ((l.src, l.dst), l))
                .collect();
            let links: Vec<&Link> = links.into_values().collect();
            Between::of(&links, is_wider.then_some((src, dst)))
        } else {
            self.between(src, dst, is_wider)
        };
        if between.has_shaper || back.iter().any(|l| l.shaper.is_some()) {
            return None;
        }
        let mut fastest = |is_back: bool, ip_bytes: u64| -> Option<Time> {
            if is_alike {
                return Some(one_packet(if is_back { back } else { there }, ip_bytes));
            }
            if is_per_flow {
                // Only the first subflow opens the connection, on its own path.
                return subflows.iter().map(|p| one_packet(p, ip_bytes)).min();
            }
            let (from, to) = if is_back { (dst, src) } else { (src, dst) };
            self.least_time(from, to, ip_bytes)
        };
        let handshake = if is_per_flow {
            opening(&course.opening, there, back)
        } else {
            let mut time = Time::ZERO;
            for &(is_back, bytes) in &course.opening {
                time += fastest(is_back, bytes)?;
            }
            time
        };
        let packets = course.size.div_ceil(course.payload);
        let largest = course.size.min(course.payload) + course.header;
        let smallest = course.size - (packets - 1) * course.payload + course.header;
        let (first, last) = (fastest(false, largest)?, fastest(false, smallest)?);
        let payload = course.size + packets * course.header;
        // Of the packets of full size, and of all: how many, their IP bytes, the way of one.
        let full = packets - u64::from(smallest < largest);
        let sets = [(full, full * largest, first), (packets, payload, last)];
        let (cut, overhead) = (between.cut, between.overhead);
        let [first_link, .., last_link] = there else {
            return None;
        };
        let has_one_card = |host| scenario.network.out(host).len() == 1;
        let card = |link: &Link, packets: u64, bytes: u64| {
            let wire = bytes + packets * u64::from(link.overhead);
            link.rate.transmit_time(wire)
        };
        let mut end = Time::ZERO;
        for (packets, bytes, way) in sets.into_iter().filter(|s| s.0 > 0) {
            let of_one = if bytes == payload { smallest } else { largest };
            let paced = Time(((packets - 1) as f64 * course.gap) as u64);
            end = end.max(paced + way);
            if has_one_card(plan.src) {
                let ahead = u64::from(course.ahead > 0);
                let sent = card(first_link, packets + ahead, bytes + course.ahead);
                end = end.max(sent + way - card(first_link, 1, of_one));
            }
            if let Some(Cut { rate, links }) = cut {
                let begun = links * (largest + overhead);
                let beyond = (bytes + packets * overhead).saturating_sub(begun);
                end = end.max(way + Rate(rate).transmit_time(beyond));
            }
        }
        if has_one_card(plan.dst) {
            // A short last packet could be the first there, if the way is long.
            let overtaking = card(first_link, full, full * largest) + last;
            let begin = (first - card(last_link, 1, largest))
                .min(overtaking - card(last_link, 1, smallest));
            end = end.max(begin + card(last_link, packets, payload));
        }
        Some(handshake + end)
    }

    /// The links between two hosts, where packets are balanced one by one.
    fn between(&mut self, src: NodeId, dst: NodeId, is_wider: bool) -> Between {
        let scenario = self.scenario;
        *self.pairs.entry((src, dst)).or_insert_with(|| {
            let links = scenario.all_links(src, dst);
            Between::of(&links, is_wider.then_some((src, dst)))
        })
    }

    /// The time of one packet by the fastest way between two hosts, where packets are balanced one by one.
    fn least_time(&mut self, src: NodeId, dst: NodeId, ip_bytes: u64) -> Option<Time> {
        let scenario = self.scenario;
        *self.times.entry((src, dst, ip_bytes)).or_insert_with(|| {
            if scenario.routes.source.is_none() {
                return scenario.least_time(src, dst, ip_bytes);
            }
            let paths = scenario.routes.paths(&scenario.network, src, dst);
            let over = |path: &[LinkId]| one_packet(&scenario.links(path), ip_bytes);
            paths.iter().map(|path| over(path)).min()
        })
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
