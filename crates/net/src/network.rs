//! The network: nodes and directed links, as plain arrays.
//!
//! Properties that [`Network::new`] checks: hosts come before switches; links `2i` and `2i + 1` are
//! the two directions of one cable; names are unique; every rate is positive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::ids::{LinkId, NodeId};
use crate::shaper::{self, Burst, Shaper};
use crate::units::{Bytes, Rate, Time};

crate::choice! {
    /// How a lossy link chooses its victims.
    pub enum LossKind {
        /// Every (1/p)-th packet.
        Periodic = "periodic",
        /// Each packet with probability p, independently.
        Random = "random",
    }
}

crate::kind! {
    /// Packets lost on the wire, after they left the port.
    pub struct Loss: "record" / "loss", source "" {
        /// How the lost packets are chosen.
        pub kind: LossKind;
        /// Share of packets lost.
        pub p: f64, range 0.0..=1.0;
    }
}

crate::kind! {
    /// What every link of a topology is, unless an override says otherwise.
    pub struct LinkConfig: "record" / "link", source "" {
        /// Bits per second on the wire.
        pub rate: Rate = Rate::from_gbps(10), at least 1;
        /// Propagation delay, one way.
        pub delay: Time = Time::from_us(1);
        /// Largest IP packet.
        pub mtu: u64 = 1500, range 256..=65000;
        /// Bytes on the wire beside each IP packet: 38 for Ethernet with preamble and gap, 14 to match a Linux
        /// shaper, 0 for textbook queues.
        pub overhead: u64 = 38, range 0..=500;
        /// Packets lost on the wire.
        pub loss: Option<Loss> = None;
        /// Time that a switch takes before a packet reaches the queue of its egress port.
        pub switch_latency: Time = Time::ZERO;
        /// What limits the link to its rate: the wire, or a token bucket, which lets bursts pass as Linux's tbf does.
        pub shaper: Shaper = Shaper::None;
        /// Bytes that the token bucket holds; left out, 15 KiB, what Mininet gives its links.
        pub burst: Option<Bytes> = None;
        /// Speed of the wire beneath the token bucket; left out, bursts take no time.
        pub peak_rate: Option<Rate> = None, at least 1;
    }
}

crate::kind! {
    /// Links that differ: a slow, lossy or failed one.
    pub struct Override: "record" / "override", source "" {
        /// Directed links, by name `src>dst`; `*` stands for any text. A pattern without `>` means both directions
        /// of all links at the nodes it matches.
        pub links: String;
        /// Bits per second.
        pub rate: Option<Rate> = None, at least 1;
        /// Propagation delay, one way.
        pub delay: Option<Time> = None;
        /// Packets lost on the wire.
        pub loss: Option<Loss> = None;
        /// The link is down for the whole run; routes avoid it.
        pub failed: bool = false;
        /// What limits the link to its rate.
        pub shaper: Option<Shaper> = None;
        /// Bytes that the token bucket holds.
        pub burst: Option<Bytes> = None;
        /// Speed of the wire beneath the token bucket.
        pub peak_rate: Option<Rate> = None, at least 1;
    }
}

crate::record_parameter!(Loss, LinkConfig, Override);

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Sends and receives; never forwards.
    Host,
    /// Forwards; never sends.
    Switch,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Unique, after the topology's convention (`h000`, `se00`).
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Distance from the hosts in a layered fabric: host 0, edge 1, aggregation 2, core 3.
    pub level: u32,
    /// The pod (or leaf) it belongs to, if the topology has such a thing.
    pub pod: Option<u32>,
    /// IPv4 address.
    pub address: [u8; 4],
}

/// One direction of a cable, which is also the egress port at `src`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Where packets enter.
    pub src: NodeId,
    /// Where they arrive.
    pub dst: NodeId,
    /// Bits per second.
    pub rate: Rate,
    /// Propagation delay plus the latency of the switch at `dst`.
    pub delay: Time,
    /// The latency alone.
    pub latency: Time,
    /// Largest IP packet.
    pub mtu: u32,
    /// Bytes on the wire beside the IP packet.
    pub overhead: u32,
    /// Packets lost on the wire.
    pub loss: Option<Loss>,
    /// False for a failed link: routes avoid it.
    pub is_up: bool,
    /// The token bucket that limits it to its rate, if it has one.
    pub shaper: Option<Burst>,
}

impl Link {
    /// What a bit takes over the wire, without the switch at its end.
    pub fn propagation(&self) -> Time {
        Time(self.delay.0 - self.latency.0)
    }

    /// Whether a packet takes as long over this as over `other`.
    fn is_like(&self, other: &Self) -> bool {
        (self.rate, self.delay, self.overhead, self.shaper)
            == (other.rate, other.delay, other.overhead, other.shaper)
    }
}

/// Nodes and links; immutable once built.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Network {
    /// Hosts first, then switches.
    pub nodes: Vec<Node>,
    /// Directed links, in pairs.
    pub links: Vec<Link>,
    /// How many of the nodes are hosts.
    pub hosts: usize,
    /// Outgoing links of all nodes, node by node.
    out: Vec<LinkId>,
    /// Where the links of node `i` begin in `out`; one entry more than nodes.
    out_start: Vec<u32>,
    /// See [`Network::has_equal_inner_links`].
    has_equal_inner_links: bool,
}

impl Network {
    /// Checks the properties of the head comment and indexes the links.
    ///
    /// # Errors
    /// A fault at `topology` that names the node or link.
    pub fn new(nodes: Vec<Node>, links: Vec<Link>) -> Result<Self, Fault> {
        let hosts = nodes
            .iter()
            .take_while(|n| n.kind == NodeKind::Host)
            .count();
        assert!(
            nodes[hosts..].iter().all(|n| n.kind == NodeKind::Switch),
            "hosts come before switches"
        );
        assert!(
            links
                .chunks(2)
                .all(|p| p.len() == 2 && p[0].src == p[1].dst && p[0].dst == p[1].src),
            "links come in pairs of opposite directions"
        );
        assert!(links.iter().all(|l| l.rate.0 > 0), "every rate is positive");
        let mut seen = BTreeMap::new();
        for (i, node) in nodes.iter().enumerate() {
            if seen.insert(node.name.as_str(), i).is_some() {
                return Err(Fault::new(
                    "topology",
                    format!("two nodes are called {:?}", node.name),
                ));
            }
        }
        let mut degree = vec![0_u32; nodes.len() + 1];
        for link in &links {
            degree[link.src.index() + 1] += 1;
        }
        for i in 1..degree.len() {
            degree[i] += degree[i - 1];
        }
        let out_start = degree.clone();
        let mut out = vec![LinkId(0); links.len()];
        for (i, link) in links.iter().enumerate() {
            let slot = &mut degree[link.src.index()];
            out[*slot as usize] = LinkId::from(i);
            *slot += 1;
        }
        let mut inner = links
            .iter()
            .filter(|l| !(l.src.index() < hosts || l.dst.index() < hosts));
        let first = inner.next();
        let has_equal_inner_links = inner.all(|l| first.is_some_and(|f| l.is_like(f)));
        Ok(Self {
            nodes,
            links,
            hosts,
            out,
            out_start,
            has_equal_inner_links,
        })
    }

    /// The links that leave `node`, in the order of their ids.
    pub fn out(&self, node: NodeId) -> &[LinkId] {
        &self.out[self.out_start[node.index()] as usize..self.out_start[node.index() + 1] as usize]
    }

    /// Whether all links between switches take the same time for a packet, so that of paths of equally many links none is
    /// faster.
    pub fn has_equal_inner_links(&self) -> bool {
        self.has_equal_inner_links
    }

    /// `src>dst`.
    pub fn link_name(&self, link: LinkId) -> String {
        let link = &self.links[link.index()];
        format!(
            "{}>{}",
            self.nodes[link.src.index()].name,
            self.nodes[link.dst.index()].name
        )
    }

    /// All host ids, in order.
    pub fn host_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.hosts).map(NodeId::from)
    }

    /// Whether `node` is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        node.index() < self.hosts
    }
}

/// Collects nodes and cables, then gives a [`Network`]: what every topology builds with.
#[derive(Debug)]
pub struct Builder {
    nodes: Vec<Node>,
    links: Vec<Link>,
    config: LinkConfig,
}

impl Builder {
    /// A builder whose cables are all as `config` says.
    pub fn new(config: &LinkConfig) -> Self {
        Self {
            nodes: Vec::new(),
            links: Vec::new(),
            config: config.clone(),
        }
    }

    /// Adds a node. Hosts must be added before switches.
    pub fn node(
        &mut self,
        name: impl Into<String>,
        kind: NodeKind,
        level: u32,
        pod: Option<u32>,
        address: [u8; 4],
    ) -> NodeId {
        self.nodes.push(Node {
            name: name.into(),
            kind,
            level,
            pod,
            address,
        });
        NodeId::from(self.nodes.len() - 1)
    }

    /// Adds a cable: two directed links, `a>b` first. Returns the id of `a>b`.
    pub fn cable(&mut self, a: NodeId, b: NodeId) -> LinkId {
        let config = self.config.clone();
        self.cable_with(a, b, &config)
    }

    /// Adds a cable that differs from the others.
    pub fn cable_with(&mut self, a: NodeId, b: NodeId, config: &LinkConfig) -> LinkId {
        let id = LinkId::from(self.links.len());
        for (src, dst) in [(a, b), (b, a)] {
            let latency = match self.nodes[dst.index()].kind {
                NodeKind::Switch => config.switch_latency,
                NodeKind::Host => Time::ZERO,
            };
            self.links.push(Link {
                src,
                dst,
                rate: config.rate,
                delay: config.delay + latency,
                latency,
                mtu: config.mtu as u32,
                overhead: config.overhead as u32,
                loss: config.loss.clone(),
                is_up: true,
                shaper: config.bucket(),
            });
        }
        id
    }

    /// The links with their names.
    fn named(&self) -> impl Iterator<Item = (&Link, String)> {
        let name = |link: &Link| {
            let [src, dst] = [link.src, link.dst].map(|n| &self.nodes[n.index()].name);
            format!("{src}>{dst}")
        };
        self.links.iter().map(move |link| (link, name(link)))
    }

    /// The network, with `overrides` applied in order.
    ///
    /// # Errors
    /// A fault at `topology.overrides` for a pattern that matches no link.
    pub fn build(mut self, overrides: &[Override]) -> Result<Network, Fault> {
        let is_shaped = self.config.shaper == Shaper::TokenBucket;
        for (key, is_given) in [
            ("burst", self.config.burst.is_some()),
            ("peak_rate", self.config.peak_rate.is_some()),
        ] {
            if is_given && !is_shaped {
                return Err(Fault::new(
                    format!("topology.link.{key}"),
                    "has no meaning without shaper = \"token_bucket\"",
                ));
            }
        }
        for (link, name) in self.named() {
            shaper::check(link, &name).map_err(|f| f.under("topology.link."))?;
        }
        for (i, change) in overrides.iter().enumerate() {
            let mut matched = false;
            for link in &mut self.links {
                let (src, dst) = (
                    &self.nodes[link.src.index()].name,
                    &self.nodes[link.dst.index()].name,
                );
                let hit = match change.links.split_once('>') {
                    Some((a, b)) => matches(a.trim(), src) && matches(b.trim(), dst),
                    None => matches(&change.links, src) || matches(&change.links, dst),
                };
                if !hit {
                    continue;
                }
                matched = true;
                link.rate = change.rate.unwrap_or(link.rate);
                if let Some(delay) = change.delay {
                    link.delay = delay + link.latency;
                }
                link.loss = change.loss.clone().or(link.loss.take());
                link.is_up &= !change.failed;
                change
                    .shape(link, &format!("{src}>{dst}"))
                    .map_err(|f| f.under(&format!("topology.overrides[{i}].")))?;
            }
            if !matched {
                let example = self.links.first().map_or_else(String::new, |l| {
                    format!(
                        "; a link is called {}>{}",
                        self.nodes[l.src.index()].name,
                        self.nodes[l.dst.index()].name
                    )
                });
                return Err(Fault::new(
                    format!("topology.overrides[{i}].links"),
                    format!("{:?} matches no link{example}", change.links),
                ));
            }
        }
        Network::new(self.nodes, self.links)
    }
}

impl Override {
    /// Gives the link called `name` the shaper that this says.
    fn shape(&self, link: &mut Link, name: &str) -> Result<(), Fault> {
        link.shaper = match self.shaper {
            None => link.shaper,
            Some(Shaper::None) => None,
            Some(Shaper::TokenBucket) => link.shaper.or(Some(Burst::DEFAULT)),
        };
        for (key, is_given) in [
            ("burst", self.burst.is_some()),
            ("peak_rate", self.peak_rate.is_some()),
        ] {
            if is_given && link.shaper.is_none() {
                let message =
                    format!("has no meaning without shaper = \"token_bucket\"; {name} has none");
                return Err(Fault::new(key, message));
            }
        }
        if let Some(burst) = &mut link.shaper {
            burst.bytes = self.burst.unwrap_or(burst.bytes);
            burst.peak = self.peak_rate.or(burst.peak);
        }
        shaper::check(link, name)
    }
}

/// Whether `text` matches `pattern`, where `*` stands for any text, also none.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        assert!(matches("sa*", "sa01"));
        assert!(matches("*", ""));
        assert!(matches("s*0*1", "se0x1"));
        assert!(!matches("sa", "sa01"));
        assert!(!matches("s*2", "se01"));
    }
}
