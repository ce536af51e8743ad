//! The wire: ports, switches and the calendar, that is everything that moves a packet from node to node.

use serde::{Deserialize, Serialize};
use weft_net::ids::{LinkId, NodeId};
use weft_net::load_balance::{Moment, SwitchState};
use weft_net::network::NodeKind;
use weft_net::random::{mix, stream_key};
use weft_net::routes::Routes;
use weft_net::scenario::Scenario;
use weft_net::source_routes::END;

use crate::calendar::Calendar;
use crate::packet::{Packet, flag};
use crate::port::Ports;
use crate::queue::{Queue, State, Verdict, View};
use crate::tap::Tap;
use crate::turns::Turns;
use crate::wear::Wear;

/// No way to the destination.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// What of a packet decides its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) dst: u32,
    pub(crate) entropy: u32,
    /// When it arrives, ps.
    pub(crate) now: u64,
}

impl Choice {
    #[inline(always)]
    pub(crate) fn of(packet: &Packet) -> Self {
        Self {
            dst: packet.dst,
            entropy: packet.entropy,
            now: packet.time,
        }
    }
}

/// Everything that moves packets. Indexed by link, node or flow as the names say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wire {
    /// Time of the event being handled, ps.
    pub(crate) now: u64,
    /// Local events before this time happen in the window that is open.
    pub(crate) open_until: u64,
    /// Local events that the node being handled has set for the open window.
    pub(crate) soon: Vec<Packet>,
    /// Packets that hosts have sent and that have neither arrived at a host nor been dropped.
    pub(crate) in_flight: u64,
    /// What will arrive.
    pub(crate) calendar: Calendar,
    /// By link.
    pub(crate) ports: Ports,
    /// By link: the node at its end.
    pub(crate) ends: Vec<u32>,
    /// By link: the memory of its queue discipline.
    disciplines: Vec<State>,
    /// By link: what the wire loses, where it does.
    pub(crate) wear: Vec<Option<Wear>>,
    queue: Queue,
    /// By node: the state of load balancing; hosts have one too, for those with several links.
    switches: Vec<SwitchState>,
    /// By node: sum of the hashes of its departures.
    pub(crate) fingerprints: Vec<u64>,
    /// By link: packets that arrived at its end, modulo 2^32.
    pub(crate) arrived: Vec<u32>,
    /// By subflow: packets that a queue or a wire dropped, both directions.
    pub(crate) lost: Vec<u32>,
    /// By subflow: packets that a queue marked.
    pub(crate) marked: Vec<u32>,
    /// Packets that left a port over a link.
    pub(crate) hops: u64,
    /// Packets without a way to their destination (a link is down).
    pub(crate) unroutable: u64,
    /// Where flows turn from up to down, if that is recorded.
    pub(crate) turns: Option<Turns>,
    /// What looks at packets that leave some ports.
    pub(crate) tap: Option<Box<Tap>>,
    /// How often routes have changed, after failures.
    pub(crate) changes: usize,
    /// Packets carry their path: the place of its next link in place of the entropy.
    pub(crate) has_whole_paths: bool,
    /// The choice of a link needs the queues as they are at that moment.
    pub(crate) needs_queues: bool,
    /// The discipline needs the number of packets.
    pub(crate) counts_packets: bool,
    /// Bytes of a full packet on the wire, for averages over idle time.
    full_packet: u64,
}

impl Wire {
    /// The idle network of `scenario`, with windows of `2^shift` ps.
    pub(crate) fn new(scenario: &Scenario, queue: Queue, shift: u32, turns: Option<Turns>) -> Self {
        let network = &scenario.network;
        let key = |what: &str, i: usize| {
            stream_key(
                scenario.seed,
                &format!("{what}/{}", network.link_name(LinkId::from(i))),
            )
        };
        let from_switch =
            |i: usize| network.nodes[network.links[i].src.index()].kind == NodeKind::Switch;
        let links = &network.links;
        let failures = &scenario.failures;
        let outages = |i: usize| -> Vec<(u64, u64)> {
            let of_link = failures.outages.iter().filter(|o| o.0.index() == i);
            of_link.map(|&(_, from, until)| (from.0, until.0)).collect()
        };
        Self {
            now: 0,
            open_until: 0,
            soon: Vec::new(),
            in_flight: 0,
            calendar: Calendar::new(shift),
            ports: Ports::new(
                links,
                |i| queue.counts_packets() && from_switch(i),
                |i| links[i].loss.is_some() || !outages(i).is_empty(),
            ),
            ends: links.iter().map(|l| l.dst.0).collect(),
            disciplines: match queue.state(0) {
                State::Stateless => Vec::new(),
                State::Red(_) | State::EcnRamp(_) => (0..links.len())
                    .map(|i| queue.state(key("queue", i)))
                    .collect(),
            },
            wear: if links.iter().any(|l| l.loss.is_some()) || !failures.outages.is_empty() {
                links
                    .iter()
                    .enumerate()
                    .map(|(i, l)| Wear::new(l, key("loss", i), outages(i)))
                    .collect()
            } else {
                Vec::new()
            },
            counts_packets: queue.counts_packets(),
            queue,
            switches: (0..network.nodes.len())
                .map(|n| {
                    scenario
                        .load_balance
                        .switch(scenario.seed, network, NodeId::from(n))
                })
                .collect(),
            fingerprints: vec![0; network.nodes.len()],
            arrived: vec![0; links.len()],
            lost: vec![0; scenario.subflows_total()],
            marked: vec![0; scenario.subflows_total()],
            hops: 0,
            turns,
            tap: None,
            changes: 0,
            has_whole_paths: scenario.routes.source.is_some(),
            needs_queues: scenario.load_balance.needs_queues(),
            unroutable: 0,
            full_packet: links
                .iter()
                .map(|l| u64::from(l.mtu + l.overhead))
                .max()
                .unwrap_or(1538),
        }
    }

    /// Counts a packet that has come over `link`.
    #[inline(always)]
    pub(crate) fn note_arrival(&mut self, link: u32) {
        let count = &mut self.arrived[link as usize];
        *count = count.wrapping_add(1);
    }

    /// The link on which `node` sends a packet that arrives `now` to host `dst`, or [`NO_LINK`].
    #[inline(always)]
    pub(crate) fn choose(&mut self, routes: &Routes, node: u32, packet: &Choice) -> u32 {
        match routes.next_hops(NodeId(node), NodeId(packet.dst)) {
            [] => NO_LINK,
            [one] => one.0,
            several => {
                let (now, ports) = (packet.now, &self.ports);
                let backlog = |link: LinkId| ports.port(link.0).busy_until.saturating_sub(now);
                let moment = Moment { now, backlog };
                self.switches[node as usize]
                    .choose_at(packet.entropy, NodeId(packet.dst), several, moment)
                    .0
            }
        }
    }

    /// The same where packets carry their path: the link and the place of the one after it. `into` is the link over which
    /// the packet came; one from a host has no place yet.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        scenario: &Scenario,
        node: u32,
        packet: &Choice,
        into: u32,
    ) -> (u32, u32) {
        let src = scenario.network.links[into as usize].src;
        let place = if scenario.network.is_host(src) {
            match self.begin_path(scenario, src, packet, Some(into)) {
                Some((_, place)) => place,
                None => return (NO_LINK, packet.entropy),
            }
        } else {
            packet.entropy
        };
        match scenario.link_at(self.changes, place) {
            END => {
                let routes = scenario.routes_at(self.changes);
                let hops = routes.next_hops(NodeId(node), NodeId(packet.dst));
                (hops.first().map_or(NO_LINK, |l| l.0), place)
            }
            link => (link, place + 1),
        }
    }

    /// The whole path of a packet of host `src`: its first link, if that is the host's own, and the place of the next. A
    /// host with several interfaces that has sent the packet over one of them takes the next path that begins there.
    #[inline]
    fn begin_path(
        &mut self,
        scenario: &Scenario,
        src: NodeId,
        packet: &Choice,
        into: Option<u32>,
    ) -> Option<(Option<u32>, u32)> {
        let source = scenario.routes_at(self.changes).source.as_ref()?;
        let starts = source.starts(src, NodeId(packet.dst));
        if starts.is_empty() {
            return None;
        }
        let end = source.end(src);
        let state = &mut self.switches[end.index()];
        let ends = (src, NodeId(packet.dst));
        let start = scenario.choose_start(state, starts, ends, packet.entropy, packet.now);
        if end != src {
            return Some((None, start));
        }
        let at = starts.iter().position(|&s| s == start)?;
        let mut from_there = starts[at..].iter().chain(&starts[..at]);
        let &start = from_there.find(|&&s| into.is_none_or(|link| source.link(s) == link))?;
        Some((Some(source.link(start)), start + 1))
    }

    /// Fetches the port of a link, if it is one.
    #[inline(always)]
    pub(crate) fn prefetch_port(&self, link: u32) {
        if link != NO_LINK {
            self.ports.prefetch(link);
        }
    }

    /// Switch `node` forwards a packet that has just arrived on the link that it has chosen.
    #[inline]
    pub(crate) fn forward(&mut self, link: u32, node: u32, mut packet: Packet) {
        if link == NO_LINK {
            self.unroutable += 1;
            self.lose(packet.flow);
            return;
        }
        let class = self.ports.class(link);
        let bytes = u64::from(packet.bytes) + class.overhead;
        let packets = if self.counts_packets {
            self.ports.queued_packets(link, self.now)
        } else {
            0
        };
        let view = View {
            now: self.now,
            packets,
            bytes: 0,
            arriving: bytes,
            is_ecn_capable: packet.flags & flag::ECT != 0,
            idle_since: 0,
            packet_time: 1,
        };
        let verdict = match &self.queue {
            // The common case, without the memory of a discipline and without a division.
            Queue::DropTail(q) if self.counts_packets => q.admit(&view),
            queue => {
                let view = View {
                    bytes: self.ports.queued_bytes(link, self.now),
                    idle_since: self.ports.port(link).busy_until,
                    packet_time: self.ports.class(link).transmit_time(self.full_packet),
                    ..view
                };
                match self.disciplines.get_mut(link as usize) {
                    Some(state) => queue.admit(state, &view),
                    None => queue.admit(&mut State::Stateless, &view),
                }
            }
        };
        match verdict {
            Verdict::Enqueue => {}
            Verdict::Mark => {
                packet.flags |= flag::CE;
                self.ports.tallies[link as usize].marked += 1;
                self.marked[packet.flow as usize] += 1;
            }
            Verdict::Drop => {
                self.ports.tallies[link as usize].dropped += 1;
                self.lose(packet.flow);
                return;
            }
        }
        if let Some(turns) = &mut self.turns {
            if self.has_whole_paths {
                turns.note_path(&packet, link, bytes);
            } else {
                turns.note(&packet, link, bytes);
            }
        }
        self.send(link, node, bytes, packet);
    }

    /// A host hands a packet to its network card, which never refuses. Returns the wire bytes.
    #[inline]
    pub(crate) fn emit(&mut self, link: u32, node: u32, packet: Packet) -> u64 {
        let bytes = u64::from(packet.bytes) + self.ports.class(link).overhead;
        self.in_flight += 1;
        self.send(link, node, bytes, packet);
        bytes
    }

    /// Sets a local event of the node being handled.
    #[inline]
    pub(crate) fn schedule(&mut self, event: Packet) {
        if event.time < self.open_until {
            self.soon.push(event);
        } else {
            self.calendar.push(event);
        }
    }

    fn lose(&mut self, flow: u32) {
        self.lost[flow as usize] += 1;
        self.in_flight -= 1;
    }

    /// The link on which `node`, a host, sends to `dst`; `None` if there is no way. After a failure a host does not know
    /// that there is none: it goes on sending, and a switch drops what it cannot forward.
    pub(crate) fn card(
        &mut self,
        scenario: &Scenario,
        node: u32,
        dst: u32,
        entropy: u32,
    ) -> Option<u32> {
        let (src, now) = (NodeId(node), self.now);
        let packet = Choice { dst, entropy, now };
        let routes = scenario.routes_at(self.changes);
        let link = match &routes.source {
            // A switch draws for its hosts; one with several interfaces chooses itself.
            Some(source) if source.is_end(src) => self
                .begin_path(scenario, src, &packet, None)
                .and_then(|(link, _)| link),
            Some(source) if source.starts(src, NodeId(dst)).is_empty() => None,
            _ => Some(self.choose(routes, node, &packet)).filter(|&link| link != NO_LINK),
        };
        let fallback = || scenario.network.out(src).first().map(|l| l.0);
        link.or_else(|| fallback().filter(|_| self.changes > 0))
    }

    #[inline]
    fn send(&mut self, link: u32, node: u32, bytes: u64, mut packet: Packet) {
        let class = self.ports.class(link);
        let delay = class.delay;
        if class.is_special {
            return self.send_specially(link, node, bytes, packet);
        }
        let leaves = self.ports.accept(link, self.now, bytes);
        self.note_departure(link, node, leaves, &packet);
        packet.time = leaves + delay;
        packet.link = link;
        self.calendar.push(packet);
    }

    /// Over a link with a token bucket, one that loses packets, or one that is tapped.
    #[cold]
    fn send_specially(&mut self, link: u32, node: u32, bytes: u64, mut packet: Packet) {
        let leaves = if self.ports.class(link).is_shaped {
            self.ports.shape(link, self.now, bytes)
        } else {
            self.ports.accept(link, self.now, bytes)
        };
        self.note_departure(link, node, leaves, &packet);
        if let Some(tap) = &mut self.tap {
            tap.note(link, leaves, &packet);
        }
        let class = self.ports.class(link);
        packet.time = leaves + class.delay;
        packet.link = link;
        if class.is_lossy {
            let wear = self.wear[link as usize]
                .as_mut()
                .expect("a lossy link has wear");
            let begins = leaves - class.time_on_wire(bytes);
            if wear.takes(bytes, begins, packet.time) {
                self.lose(packet.flow);
                return;
            }
        }
        self.calendar.push(packet);
    }

    #[inline(always)]
    fn note_departure(&mut self, link: u32, node: u32, leaves: u64, packet: &Packet) {
        self.hops += 1;
        let identity = u64::from(link) << 32 | u64::from(packet.flow);
        let departure = mix_pair(
            leaves,
            identity ^ u64::from(packet.seq).rotate_left(40) ^ (packet.kind as u64) << 20,
        );
        // A sum does not depend on the order in which a node's departures are computed.
        let print = &mut self.fingerprints[node as usize];
        *print = print.wrapping_add(departure);
    }

    /// Folds the nodes' fingerprints in node order.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprints
            .iter()
            .fold(0, |hash, &node| mix(hash ^ node))
    }
}

/// Hashes two words into one: the folded product of wyhash's construction.
#[inline(always)]
pub(crate) fn mix_pair(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    (product >> 64) as u64 ^ product as u64
}
