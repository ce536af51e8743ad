//! The fabric as the engine sees it: what never changes during a run, by link.

use weft_net::ids::NodeId;
use weft_net::network::{Network, matches};

use crate::flow_control::credit::{CREDIT, Credit, CreditPort, LaneMap};

/// A directed link, with what the nodes at its ends know of it.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) starts_at_host: bool,
    pub(super) ends_at_host: bool,
    /// Time of a credit on the wire, and of a packet's propagation with the latency of the switch at the end, ps.
    pub(super) credit: u64,
    pub(super) delay: u64,
    /// Propagation alone: of what the other end says about credits, ps.
    pub(super) propagation: u64,
    /// Its number among the links that end where it ends.
    pub(super) input: u32,
    /// Where the queues of the port at its start begin: by lane, then by input.
    pub(super) queues: u32,
    /// Where its words of [`super::Lossless::asking`] begin: by lane.
    pub(super) asking: u32,
}

/// Everything that never changes.
#[derive(Clone, Debug)]
pub(super) struct Fabric {
    pub(super) wires: Vec<Wire>,
    /// Lanes of every link.
    pub(super) lanes: u32,
    /// By node: the links that end there, and where they begin in `incoming`.
    pub(super) incoming: Vec<u32>,
    pub(super) incoming_start: Vec<u32>,
    /// By link and service level.
    levels: Vec<u8>,
    /// By link at a switch, input of that switch and service level, where that makes a difference: empty where it makes none. Those of a
    /// link begin at its first queue of lane 0, divided by the lanes.
    pairs: Vec<u8>,
    /// The links of all flows' paths, there and back, one after another.
    pub(super) paths: Vec<u32>,
    /// Time of a credit through the core of a switch, ps.
    pub(super) core_credit: u64,
    pub(super) switch_delay: u64,
    pub(super) output_delay: u64,
    pub(super) credit_delay: u64,
    pub(super) queue_count: usize,
    pub(super) asking_words: usize,
}

/// Service levels.
pub(super) const LEVELS: usize = 16;

impl Fabric {
    pub(super) fn new(network: &Network, credit: &Credit) -> Self {
        let lanes = credit.lanes as u32;
        let mut incoming = vec![Vec::new(); network.nodes.len()];
        let mut wires: Vec<Wire> = Vec::with_capacity(network.links.len());
        for (i, link) in network.links.iter().enumerate() {
            let here = &mut incoming[link.dst.index()];
            wires.push(Wire {
                src: link.src.0,
                dst: link.dst.0,
                starts_at_host: network.is_host(link.src),
                ends_at_host: network.is_host(link.dst),
                credit: link.rate.transmit_time(CREDIT).0,
                delay: link.delay.0,
                propagation: link.propagation().0,
                input: here.len() as u32,
                queues: 0,
                asking: 0,
            });
            here.push(i as u32);
        }
        let (mut queues, mut words) = (0, 0);
        for wire in wires.iter_mut().filter(|w| !w.starts_at_host) {
            let inputs = incoming[wire.src as usize].len() as u32;
            (wire.queues, wire.asking) = (queues, words);
            queues += lanes * inputs;
            words += lanes * inputs.div_ceil(64);
        }
        let mut incoming_start = vec![0];
        for links in &incoming {
            incoming_start.push(incoming_start.last().copied().unwrap_or(0) + links.len() as u32);
        }
        let names = |i: usize| {
            let link = &network.links[i];
            [link.src, link.dst].map(|n: NodeId| network.nodes[n.index()].name.as_str())
        };
        let levels: Vec<u8> = (0..wires.len())
            .flat_map(|i| levels_of(credit, &of_port(credit, names(i))))
            .collect();
        let mut pairs = Vec::new();
        let switched = (0..wires.len()).filter(|&i| !wires[i].starts_at_host);
        for out in switched.filter(|_| !credit.lane_maps.is_empty()) {
            let usual = &levels[out * LEVELS..(out + 1) * LEVELS];
            for &from in &incoming[wires[out].src as usize] {
                let [a, b] = [names(from as usize), names(out)];
                let is_meant =
                    |m: &&LaneMap| hits(&m.from, a[0], a[1]) && hits(&m.links, b[0], b[1]);
                let map = credit.lane_maps.iter().rev().find(is_meant);
                let lane = |level: usize| {
                    let listed = map.and_then(|m| m.sl_to_vl.get(level));
                    listed.map_or(usual[level], |&lane| lane as u8)
                };
                pairs.extend((0..LEVELS).map(lane));
            }
        }
        Self {
            wires,
            lanes,
            incoming: incoming.concat(),
            incoming_start,
            levels,
            pairs,
            paths: Vec::new(),
            core_credit: credit.core_rate.transmit_time(CREDIT).0,
            switch_delay: credit.switch_delay.0,
            output_delay: credit.output_delay.0,
            credit_delay: credit.credit_delay.0,
            queue_count: queues as usize,
            asking_words: words as usize,
        }
    }

    /// The lane of a service level on the first link of a path.
    #[inline]
    pub(super) fn lane(&self, link: u32, level: u8) -> u8 {
        self.levels[link as usize * LEVELS + usize::from(level)]
    }

    /// The lane of a service level on a link, of packets that came by another.
    #[inline]
    pub(super) fn lane_from(&self, from: u32, link: u32, level: u8) -> u8 {
        if self.pairs.is_empty() {
            return self.lane(link, level);
        }
        let first = self.wires[link as usize].queues / self.lanes;
        let pair = (first + self.wires[from as usize].input) as usize;
        self.pairs[pair * LEVELS + usize::from(level)]
    }

    /// All lanes that packets may take on some link.
    pub(super) fn lanes_used(&self) -> impl Iterator<Item = u8> {
        self.levels.iter().chain(&self.pairs).copied()
    }

    /// The lanes of a path for a service level: (link, lane) as numbers.
    pub(super) fn lanes_along(&self, path: &[u32], level: u8) -> impl Iterator<Item = u32> {
        path.iter().enumerate().map(move |(i, &link)| {
            let lane = match i {
                0 => self.lane(link, level),
                _ => self.lane_from(path[i - 1], link, level),
            };
            link * self.lanes + u32::from(lane)
        })
    }

    /// The lanes of a link, as indices.
    pub(super) fn lanes_of(&self, link: u32) -> std::ops::Range<usize> {
        let first = (link * self.lanes) as usize;
        first..first + self.lanes as usize
    }

    /// The links that end at a node.
    #[inline]
    pub(super) fn inputs(&self, node: u32) -> &[u32] {
        let range = self.incoming_start[node as usize]..self.incoming_start[node as usize + 1];
        &self.incoming[range.start as usize..range.end as usize]
    }

    /// How long anything takes at least from one node to another, ps.
    pub(super) fn lookahead(&self) -> u64 {
        let across = self.wires.iter().map(|w| {
            let ahead = if w.starts_at_host {
                0
            } else {
                self.output_delay
            };
            (ahead + w.delay + w.credit).min(self.credit_delay + w.propagation)
        });
        across.min().unwrap_or(1).max(1)
    }
}

/// What `ports` say of a link, the last word on each key; `links` of the result has no meaning.
pub(super) fn of_port(credit: &Credit, [src, dst]: [&str; 2]) -> CreditPort {
    let mut found = CreditPort {
        links: String::new(),
        input_buffer: None,
        max_being_sent: None,
        output_buffer: None,
        sl_to_vl: None,
    };
    for port in credit.ports.iter().filter(|p| hits(&p.links, src, dst)) {
        found.input_buffer = port.input_buffer.or(found.input_buffer);
        found.max_being_sent = port.max_being_sent.or(found.max_being_sent);
        found.output_buffer = port.output_buffer.or(found.output_buffer);
        found.sl_to_vl = port.sl_to_vl.clone().or(found.sl_to_vl);
    }
    found
}

/// Whether the link `src>dst` is meant by a pattern.
pub(super) fn hits(pattern: &str, src: &str, dst: &str) -> bool {
    match pattern.split_once('>') {
        Some((a, b)) => matches(a.trim(), src) && matches(b.trim(), dst),
        None => matches(pattern, src) || matches(pattern, dst),
    }
}

fn levels_of(credit: &Credit, port: &CreditPort) -> [u8; LEVELS] {
    let table = port.sl_to_vl.as_ref().unwrap_or(&credit.sl_to_vl);
    std::array::from_fn(|level| {
        let listed = table.get(level).copied();
        listed.unwrap_or(level as u64 % credit.lanes) as u8
    })
}
