//! Custom: a network that is written down cable by cable.
//!
//! Nodes are named by the cables. Those of degree 1 are hosts, unless `hosts` lists them (then hosts may have several
//! links); hosts are numbered as listed or as they first appear, then the switches as they appear. Addresses count from
//! 10.0.0.1 for hosts and 10.128.0.1 for switches; a switch's level is its distance from the nearest host. Two cables between the
//! same nodes are refused, since links are known by `src>dst`.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Loss, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, switch_address};
use crate::units::{Rate, Time};

crate::kind! {
    /// One cable of a custom topology; what it leaves out is as in `link`.
    pub struct Cable: "record" / "cable", source "" {
        /// One end.
        pub a: String;
        /// The other end.
        pub b: String;
        /// Bits per second on the wire.
        pub rate: Option<Rate> = None, at least 1;
        /// Propagation delay, one way.
        pub delay: Option<Time> = None;
        /// Largest IP packet.
        pub mtu: Option<u64> = None, range 256..=65000;
        /// Bytes on the wire beside each IP packet.
        pub overhead: Option<u64> = None, range 0..=500;
        /// Packets lost on the wire.
        pub loss: Option<Loss> = None;
        /// Time that a switch takes before a packet reaches the queue of its egress port.
        pub switch_latency: Option<Time> = None;
    }
}
crate::record_parameter!(Cable);

crate::kind! {
    /// A network written down cable by cable.
    pub struct Custom: "topology" / "custom", source "" {
        /// The cables: `[{ a = "h0", b = "s0" }, ...]`.
        pub links: Vec<Cable>;
        /// The names of the hosts; left out, the nodes with one cable.
        pub hosts: Option<Vec<String>> = None;
        /// What the cables leave out.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

/// The nodes by name, in the order of their ids, and how many of them are hosts.
struct Plan<'a> {
    nodes: Vec<&'a str>,
    hosts: usize,
}

impl Custom {
    fn plan(&self) -> Result<Plan<'_>, Fault> {
        let mut seen = BTreeSet::new();
        let mut order: Vec<&str> = Vec::new();
        let mut degree = BTreeMap::<&str, u32>::new();
        for (i, cable) in self.links.iter().enumerate() {
            let fault = |key: &str, message: String| {
                Err(Fault::new(format!("topology.links[{i}]{key}"), message))
            };
            for (key, end) in [(".a", &cable.a), (".b", &cable.b)] {
                if end.is_empty() || end.contains(['>', '*']) || end.contains(char::is_whitespace) {
                    return fault(
                        key,
                        format!(
                            "{end:?} cannot be a name: no space, no > and no * are allowed in one"
                        ),
                    );
                }
                if !degree.contains_key(end.as_str()) {
                    order.push(end);
                }
                *degree.entry(end).or_default() += 1;
            }
            if cable.a == cable.b {
                return fault("", format!("joins {} with itself", cable.a));
            }
            if !seen.insert((
                cable.a.as_str().min(&cable.b),
                cable.a.as_str().max(&cable.b),
            )) {
                return fault(
                    "",
                    format!(
                        "is a second cable between {} and {}; put a switch into one of them",
                        cable.a, cable.b
                    ),
                );
            }
        }
        if order.is_empty() {
            return Err(Fault::new(
                "topology.links",
                "is empty; a network needs at least one cable",
            ));
        }
        let hosts: Vec<&str> = match &self.hosts {
            None => order.iter().copied().filter(|n| degree[n] == 1).collect(),
            Some(listed) => {
                for (i, name) in listed.iter().enumerate() {
                    let key = format!("topology.hosts[{i}]");
                    if !degree.contains_key(name.as_str()) {
                        return Err(Fault::new(
                            key,
                            format!(
                                "{name:?} is at the end of no cable; the nodes: {}",
                                some_of(&order)
                            ),
                        ));
                    }
                    if listed[..i].contains(name) {
                        return Err(Fault::new(key, format!("{name:?} is listed twice")));
                    }
                }
                listed.iter().map(String::as_str).collect()
            }
        };
        if hosts.is_empty() {
            let message = "is needed: no node has a single cable, so none would be a host";
            return Err(Fault::new("topology.hosts", message));
        }
        let is_host: BTreeSet<_> = hosts.iter().copied().collect();
        let count = hosts.len();
        let switches = order.into_iter().filter(|n| !is_host.contains(n));
        let plan = Plan {
            nodes: hosts.iter().copied().chain(switches).collect(),
            hosts: count,
        };
        match &self.parts(&plan)[..] {
            [_] => Ok(plan),
            parts => {
                let parts: Vec<String> = parts.iter().map(|p| some_of(p)).collect();
                let message = format!(
                    "the network falls into {} parts: {}",
                    parts.len(),
                    parts.join(" | ")
                );
                Err(Fault::new("topology.links", message))
            }
        }
    }

    /// For every node the ends of its cables.
    fn neighbours<'a>(&'a self, plan: &Plan<'a>) -> (BTreeMap<&'a str, usize>, Vec<Vec<usize>>) {
        let index: BTreeMap<_, _> = plan
            .nodes
            .iter()
            .enumerate()
            .map(|(i, &n)| (n, i))
            .collect();
        let mut neighbours = vec![Vec::new(); plan.nodes.len()];
        for cable in &self.links {
            let (a, b) = (index[cable.a.as_str()], index[cable.b.as_str()]);
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        (index, neighbours)
    }

    /// The connected parts, by the names of their nodes.
    fn parts<'a>(&'a self, plan: &Plan<'a>) -> Vec<Vec<&'a str>> {
        let (_, neighbours) = self.neighbours(plan);
        let mut parts = Vec::new();
        let mut is_seen = vec![false; plan.nodes.len()];
        for first in 0..plan.nodes.len() {
            if std::mem::replace(&mut is_seen[first], true) {
                continue;
            }
            let mut part = vec![first];
            let mut at = 0;
            while let Some(&node) = part.get(at) {
                at += 1;
                for &next in &neighbours[node] {
                    if !std::mem::replace(&mut is_seen[next], true) {
                        part.push(next);
                    }
                }
            }
            parts.push(part.into_iter().map(|n| plan.nodes[n]).collect());
        }
        parts
    }

    /// Distance of every node from the nearest host.
    fn levels(&self, plan: &Plan<'_>) -> Vec<u32> {
        let (_, neighbours) = self.neighbours(plan);
        let mut level = vec![u32::MAX; plan.nodes.len()];
        level[..plan.hosts].fill(0);
        let mut queue: Vec<usize> = (0..plan.hosts).collect();
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            for &next in &neighbours[node] {
                if level[next] == u32::MAX {
                    level[next] = level[node] + 1;
                    queue.push(next);
                }
            }
        }
        level
    }

    fn config(&self, cable: &Cable) -> LinkConfig {
        LinkConfig {
            rate: cable.rate.unwrap_or(self.link.rate),
            delay: cable.delay.unwrap_or(self.link.delay),
            mtu: cable.mtu.unwrap_or(self.link.mtu),
            overhead: cable.overhead.unwrap_or(self.link.overhead),
            loss: cable.loss.clone().or_else(|| self.link.loss.clone()),
            switch_latency: cable.switch_latency.unwrap_or(self.link.switch_latency),
            ..self.link.clone()
        }
    }
}

/// A list of names, cut off where it gets long.
fn some_of(names: &[&str]) -> String {
    let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 8 {
        format!("{shown} and {} more", names.len() - 8)
    } else {
        shown
    }
}

impl Shape for Custom {
    fn size(&self) -> Result<Size, Fault> {
        let plan = self.plan()?;
        let is_host: BTreeSet<_> = plan.nodes[..plan.hosts].iter().copied().collect();
        let ends = self.links.iter().flat_map(|c| [(&c.a, c), (&c.b, c)]);
        let rates = ends
            .filter(|(end, _)| is_host.contains(end.as_str()))
            .map(|(_, c)| self.config(c).rate.0);
        let total: u128 = rates.map(u128::from).sum();
        Ok(Size {
            hosts: plan.hosts as u64,
            switches: (plan.nodes.len() - plan.hosts) as u64,
            cables: self.links.len() as u64,
            host_rate: Rate((total / plan.hosts as u128) as u64),
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        let plan = self.plan()?;
        let levels = self.levels(&plan);
        let mut b = Builder::new(&self.link);
        let mut ids = BTreeMap::new();
        for (i, &name) in plan.nodes.iter().enumerate() {
            let (kind, address) = if i < plan.hosts {
                (NodeKind::Host, host_address(i as u64))
            } else {
                (NodeKind::Switch, switch_address((i - plan.hosts) as u64))
            };
            ids.insert(name, b.node(name, kind, levels[i], None, address));
        }
        for cable in &self.links {
            b.cable_with(
                ids[cable.a.as_str()],
                ids[cable.b.as_str()],
                &self.config(cable),
            );
        }
        b.build(&self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::{cables, topology};
    use serde_json::{Value, json};

    fn custom(links: &[(&str, &str)], hosts: Value) -> Value {
        let links: Vec<_> = links
            .iter()
            .map(|(a, b)| json!({ "a": a, "b": b }))
            .collect();
        json!({ "kind": "custom", "links": links, "hosts": hosts })
    }

    fn fault(links: &[(&str, &str)], hosts: Value) -> String {
        topology(custom(links, hosts))
            .size()
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn ends_of_one_cable_are_hosts() {
        let network = topology(custom(&[("s", "x"), ("s", "t"), ("t", "y")], Value::Null))
            .build(0)
            .unwrap();
        let names: Vec<_> = network.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!((names, network.hosts), (vec!["x", "y", "s", "t"], 2));
        assert_eq!(cables(&network), ["s>x", "s>t", "t>y"]);
    }

    #[test]
    fn listed_hosts_may_have_several_cables() {
        let network = topology(custom(
            &[("x", "s"), ("x", "t"), ("s", "t"), ("t", "y")],
            json!(["y", "x"]),
        ))
        .build(0)
        .unwrap();
        let names: Vec<_> = network
            .nodes
            .iter()
            .map(|n| (n.name.as_str(), n.level))
            .collect();
        assert_eq!(names, [("y", 0), ("x", 0), ("s", 1), ("t", 1)]);
    }

    #[test]
    fn a_cable_may_differ_from_the_others() {
        let links = json!([{ "a": "x", "b": "s", "rate": 5, "mtu": 9000 }, { "a": "y", "b": "s" }]);
        let table = json!({ "kind": "custom", "links": links, "link": { "rate": 7 } });
        let network = topology(table.clone()).build(0).unwrap();
        let rates: Vec<_> = network.links.iter().map(|l| (l.rate.0, l.mtu)).collect();
        assert_eq!(rates, [(5, 9000), (5, 9000), (7, 1500), (7, 1500)]);
        // Mean of 5 and 7.
        assert_eq!(topology(table).size().unwrap().host_rate.0, 6);
    }

    #[test]
    fn faults_name_the_cable() {
        assert_eq!(
            fault(
                &[("a", "s"), ("b", "s"), ("c", "t"), ("d", "t")],
                Value::Null
            ),
            "topology.links: the network falls into 2 parts: a, s, b | c, t, d"
        );
        assert_eq!(
            fault(&[("a", "s"), ("s", "s")], Value::Null),
            "topology.links[1]: joins s with itself"
        );
        assert_eq!(
            fault(&[("a", "s"), ("s", "a")], Value::Null),
            "topology.links[1]: is a second cable between s and a; put a switch into one of them"
        );
        assert!(
            fault(&[("a>", "s")], Value::Null)
                .starts_with("topology.links[0].a: \"a>\" cannot be a name")
        );
        assert_eq!(
            fault(&[("a", "s")], json!(["b"])),
            "topology.hosts[0]: \"b\" is at the end of no cable; the nodes: a, s"
        );
        assert!(
            fault(&[("a", "b"), ("b", "c"), ("c", "a")], Value::Null)
                .starts_with("topology.hosts: is needed")
        );
        assert!(fault(&[], Value::Null).starts_with("topology.links: is empty"));
    }
}
