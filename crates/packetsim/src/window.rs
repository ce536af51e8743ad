//! One window of time: sorts what happens in it by node and time, and lets every node handle its share.
//!
//! Nodes do not meet inside a window, so their order does not matter; it is the order in which their state lies in
//! memory. Ports and connections are fetched into the cache some packets before they are needed.

use std::sync::Arc;

use weft_net::scenario::Scenario;

use crate::calendar::{Calendar, Piece};
use crate::config::Config;
use crate::host::Hosts;
use crate::packet::{LOCAL, Packet};
use crate::prefetch::prefetch;
use crate::wire::{Choice, NO_LINK, Wire};

/// How many packets ahead a port is fetched, and a connection.
const PORTS_AHEAD: usize = 15;
const RINGS_AHEAD: usize = 10;
const SIZES_AHEAD: usize = 5;
const ENDS_AHEAD: usize = 6;

/// One event of the window, to be sorted.
#[derive(Clone, Copy, Debug)]
struct Key {
    /// Time within the window << 32 | link.
    order: u64,
    /// Where the packet is.
    at: u32,
    node: u32,
}

/// Memory that one window leaves to the next.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) pieces: Vec<Piece>,
    keys: Vec<Key>,
    /// By node: events in this window, then where its keys end.
    counts: Vec<u32>,
    /// Nodes with events.
    nodes: Vec<u32>,
    /// By event at a switch: the link that it leaves on.
    links: Vec<u32>,
}

/// What a window did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handled {
    /// Packets and local events.
    pub(crate) events: u64,
    /// Time of the last one, ps.
    pub(crate) last: u64,
}

impl Window {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            pieces: Vec::new(),
            keys: Vec::new(),
            counts: vec![0; nodes],
            nodes: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Handles the open window, which begins at `begin`, as far as `wire.open_until`; what lies beyond goes back into
    /// the calendar.
    pub(crate) fn handle(
        &mut self,
        begin: u64,
        wire: &mut Wire,
        hosts: &mut Hosts,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) -> Handled {
        let host_events = self.sort(begin, wire, scenario.network.hosts as u32);
        let (local, last) = self.handle_hosts(host_events, wire, hosts, scenario, config);
        let at_switches = if wire.needs_queues {
            self.handle_switches_in_turn(host_events, wire, scenario)
        } else if wire.has_whole_paths {
            self.handle_switches::<true>(host_events, wire, scenario)
        } else {
            self.handle_switches::<false>(host_events, wire, scenario)
        };
        let last = at_switches.max(last);
        wire.calendar.release(&mut self.pieces);
        Handled {
            events: self.keys.len() as u64 + local,
            last,
        }
    }

    /// Sorts by node, then (time, link): hosts before switches. Returns how many events are at hosts.
    fn sort(&mut self, begin: u64, wire: &mut Wire, hosts: u32) -> usize {
        let Self {
            pieces,
            keys,
            counts,
            nodes,
            ..
        } = self;
        let until = wire.open_until;
        let is_cut = until < begin + wire.calendar.width();
        nodes.clear();
        let (mut total, mut host_events) = (0, 0);
        for place in pieces.iter().flat_map(|piece| piece.places()) {
            let packet = wire.calendar.packet(place);
            if is_cut && packet.time >= until {
                continue;
            }
            let node = node_of(packet, &wire.ends);
            let count = &mut counts[node as usize];
            if *count == 0 {
                nodes.push(node);
            }
            *count += 1;
            total += 1;
            host_events += usize::from(node < hosts);
        }
        if nodes.len() * 8 > counts.len() {
            nodes.clear();
            nodes.extend((0..counts.len() as u32).filter(|&node| counts[node as usize] > 0));
        } else {
            nodes.sort_unstable();
        }
        // From counts to where each node's keys begin.
        let mut end = 0;
        for &node in nodes.iter() {
            let count = &mut counts[node as usize];
            end += std::mem::replace(count, end);
        }
        keys.clear();
        keys.resize(
            total,
            Key {
                order: 0,
                at: 0,
                node: 0,
            },
        );
        for at in pieces.iter().flat_map(|piece| piece.places()) {
            let packet = wire.calendar.packet(at);
            if is_cut && packet.time >= until {
                let packet = *packet;
                wire.calendar.push(packet);
                continue;
            }
            let node = node_of(packet, &wire.ends);
            let place = &mut counts[node as usize];
            let order = (packet.time - begin) << 32 | u64::from(packet.link);
            keys[*place as usize] = Key { order, at, node };
            *place += 1;
        }
        let mut from = 0;
        for &node in nodes.iter() {
            let to = std::mem::take(&mut counts[node as usize]) as usize;
            sort_keys(&mut keys[from..to], &wire.calendar);
            from = to;
        }
        host_events
    }

    /// Returns how many local events the hosts set and handled inside the window, and the time of the last event.
    fn handle_hosts(
        &mut self,
        host_events: usize,
        wire: &mut Wire,
        hosts: &mut Hosts,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) -> (u64, u64) {
        let keys = &self.keys[..host_events];
        let (mut local, mut last) = (0, 0);
        for (i, key) in keys.iter().enumerate() {
            if let Some(ahead) = keys.get(i + 2 * ENDS_AHEAD) {
                hosts.prefetch_slot(wire.calendar.packet(ahead.at));
            }
            if let Some(ahead) = keys.get(i + ENDS_AHEAD) {
                hosts.prefetch_end(wire.calendar.packet(ahead.at), wire);
            }
            let packet = *wire.calendar.packet(key.at);
            // Local events that the host has set for this window come when they are due.
            while let Some(event) = take_due(&mut wire.soon, &packet) {
                wire.now = event.time;
                local += 1;
                hosts.handle(key.node, &event, wire, scenario, config);
            }
            wire.now = packet.time;
            if packet.link & LOCAL == 0 {
                wire.note_arrival(packet.link);
            }
            hosts.handle(key.node, &packet, wire, scenario, config);
            if keys.get(i + 1).is_none_or(|next| next.node != key.node) {
                while let Some(event) = take_first(&mut wire.soon) {
                    wire.now = event.time;
                    local += 1;
                    hosts.handle(key.node, &event, wire, scenario, config);
                }
                last = last.max(wire.now);
            }
        }
        (local, last)
    }

    /// Forwards what arrived at switches: the way is chosen some packets before the packet joins its queue, so that
    /// the port is there when it is needed. Returns the time of the last event.
    fn handle_switches<const WHOLE_PATHS: bool>(
        &mut self,
        host_events: usize,
        wire: &mut Wire,
        scenario: &Scenario,
    ) -> u64 {
        let routes = scenario.routes_at(wire.changes);
        let Self { keys, links, .. } = self;
        let keys = &keys[host_events..];
        links.clear();
        let mut last = 0;
        for i in 0..keys.len() + PORTS_AHEAD {
            if let Some(ahead) = keys.get(i + PORTS_AHEAD) {
                prefetch(wire.calendar.packet(ahead.at));
            }
            if let Some(key) = keys.get(i) {
                let packet = wire.calendar.packet(key.at);
                let choice = Choice::of(packet);
                let link = if WHOLE_PATHS {
                    let into = packet.link;
                    let (link, place) = wire.follow(scenario, key.node, &choice, into);
                    wire.calendar.packet_mut(key.at).entropy = place;
                    link
                } else {
                    wire.choose(routes, key.node, &choice)
                };
                wire.prefetch_port(link);
                links.push(link);
            }
            for (ahead, is_state) in [(RINGS_AHEAD, true), (SIZES_AHEAD, false)] {
                let link = (i + ahead)
                    .checked_sub(PORTS_AHEAD)
                    .and_then(|at| links.get(at));
                if let Some(&link) = link.filter(|&&link| wire.counts_packets && link != NO_LINK) {
                    if is_state {
                        wire.ports.prefetch_ring(link);
                    } else {
                        wire.ports.prefetch_sizes(link);
                    }
                }
            }
            if let Some(at) = i.checked_sub(PORTS_AHEAD) {
                let key = keys[at];
                let packet = *wire.calendar.packet(key.at);
                wire.now = packet.time;
                last = last.max(packet.time);
                wire.note_arrival(packet.link);
                wire.forward(links[at], key.node, packet);
            }
        }
        last
    }

    /// The same where the queues decide: each packet chooses when those before it have joined theirs.
    fn handle_switches_in_turn(
        &mut self,
        host_events: usize,
        wire: &mut Wire,
        scenario: &Scenario,
    ) -> u64 {
        let routes = scenario.routes_at(wire.changes);
        let mut last = 0;
        for key in &self.keys[host_events..] {
            let packet = *wire.calendar.packet(key.at);
            wire.now = packet.time;
            last = last.max(packet.time);
            wire.note_arrival(packet.link);
            let link = wire.choose(routes, key.node, &Choice::of(&packet));
            wire.forward(link, key.node, packet);
        }
        last
    }
}

/// Where a packet arrives, or whose event it is.
#[inline(always)]
fn node_of(packet: &Packet, ends: &[u32]) -> u32 {
    if packet.link & LOCAL == 0 {
        ends[packet.link as usize]
    } else {
        packet.link & !LOCAL
    }
}

/// Sorts the events of one node: few, and mostly in order already.
#[inline]
fn sort_keys(keys: &mut [Key], calendar: &Calendar) {
    let is_before = |a: &Key, b: &Key| {
        let local = |key: &Key| {
            let packet = calendar.packet(key.at);
            (packet.flow, packet.kind)
        };
        a.order < b.order || (a.order == b.order && local(a) < local(b))
    };
    if keys.len() > 32 {
        keys.sort_unstable_by(|a, b| is_before(b, a).cmp(&is_before(a, b)));
        return;
    }
    for i in 1..keys.len() {
        let key = keys[i];
        let mut j = i;
        while j > 0 && is_before(&key, &keys[j - 1]) {
            keys[j] = keys[j - 1];
            j -= 1;
        }
        keys[j] = key;
    }
}

/// The first of the events in `soon`, if it comes before `packet`.
#[inline]
fn take_due(soon: &mut Vec<Packet>, packet: &Packet) -> Option<Packet> {
    let first = first(soon)?;
    (order(&soon[first]) < order(packet)).then(|| soon.swap_remove(first))
}

#[inline]
fn take_first(soon: &mut Vec<Packet>) -> Option<Packet> {
    first(soon).map(|at| soon.swap_remove(at))
}

#[inline]
fn first(soon: &[Packet]) -> Option<usize> {
    if soon.is_empty() {
        return None;
    }
    (0..soon.len()).min_by_key(|&i| order(&soon[i]))
}

fn order(packet: &Packet) -> impl Ord + use<> {
    (packet.time, packet.link, packet.flow, packet.kind)
}
