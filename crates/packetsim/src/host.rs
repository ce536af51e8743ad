//! Hosts: they give arriving packets to the ends of flows, and share their network card among those who want to send.
//!
//! A card never drops its own host's packets. It holds a few packets; a flow that finds it full waits in the card's
//! list and is served in turn, one packet a round, when half of that has left (as byte queue limits with fair queueing
//! do in Linux).

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_net::ids::{FlowId, NodeId};
use weft_net::random::stream;
use weft_net::scenario::Scenario;
use weft_net::transport::{Transport, mptcp};
use weft_net::workload::Opener;

use crate::app::Apps;
use crate::config::Config;
use crate::congestion::Control;
use crate::datagram;
use crate::inbox::Inbox;
use crate::multipath;
use crate::packet::{Kind, LOCAL, Packet, flag};
use crate::prefetch::{prefetch, prefetch_lines};
use crate::receive::juggler::Table;
use crate::receiver::{self, Receiver, Stage};
use crate::record::{Reason, Record, UNKNOWN};
use crate::sender::{self, Address, Mapping, Phase, Sender, Sent};
use crate::stream::Stream;
use crate::wire::Wire;

/// Full packets that a card holds before senders have to wait.
const CARD_PACKETS: u64 = 16;

/// The end of a flow that has the payload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SourceEnd {
    None,
    Tcp(Box<Sender>),
    Udp(Box<datagram::Source>),
}

/// The end that wants it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SinkEnd {
    None,
    Tcp(Box<Receiver>),
    Udp(Box<datagram::Sink>),
}

/// Who waits for room in a card.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Card {
    waiting: VecDeque<u32>,
    is_armed: bool,
}

/// All hosts with the ends of all subflows, indexed by those; multipath connections by flow, the cards by link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hosts {
    pub(crate) sources: Vec<SourceEnd>,
    pub(crate) sinks: Vec<SinkEnd>,
    /// The record of a flow with several paths is that of its first subflow; only counts are in the others.
    pub(crate) records: Vec<Record>,
    /// Multipath connections where the payload is; empty if there are none.
    pub(crate) streams: Vec<Option<Box<Stream>>>,
    /// Multipath connections where it is wanted.
    pub(crate) inboxes: Vec<Option<Box<Inbox>>>,
    /// Applications that decide during the run what their connections carry.
    pub(crate) apps: Apps,
    /// Tables of the receive side by host; empty if all packets go to TCP at once.
    tables: Vec<Table>,
    cards: Vec<Card>,
    /// Flows that wait for another: `(that one, waiting one)`, sorted.
    followers: Vec<(u32, u32)>,
    /// Flows that are closed, given up, or (UDP) sent.
    pub(crate) done: u64,
    /// Smallest MTU of the network.
    mtu: u32,
    /// Measured time, ps: delays of datagrams outside are not recorded.
    measured: (u64, u64),
}

impl Hosts {
    pub(crate) fn new(scenario: &Scenario, config: &Config) -> Self {
        let subflows = scenario.subflows_total();
        let connections = if multipath::is_used(scenario) {
            scenario.flows.len()
        } else {
            0
        };
        let mut followers: Vec<(u32, u32)> = scenario
            .flows
            .iter()
            .enumerate()
            .filter_map(|(i, f)| f.after.map(|a| (a.0, i as u32)))
            .collect();
        followers.sort_unstable();
        Self {
            sources: vec![SourceEnd::None; subflows],
            sinks: vec![SinkEnd::None; subflows],
            records: vec![Record::new(); subflows],
            streams: vec![None; connections],
            inboxes: vec![None; connections],
            apps: Apps::new(scenario),
            tables: if config.receive.iter().any(|r| r.juggler().is_some()) {
                vec![Table::default(); scenario.network.hosts]
            } else {
                Vec::new()
            },
            cards: vec![Card::default(); scenario.network.links.len()],
            followers,
            done: 0,
            mtu: scenario
                .network
                .links
                .iter()
                .map(|l| l.mtu)
                .min()
                .unwrap_or(1500),
            measured: (
                config.warmup,
                config.until.map_or(u64::MAX, |u| u - config.cooldown),
            ),
        }
    }

    /// Fetches where the end of the packet's flow is written down.
    #[inline]
    pub(crate) fn prefetch_slot(&self, packet: &Packet) {
        if is_for_sink(packet) {
            prefetch(&self.sinks[packet.flow as usize]);
        } else if packet.kind != Kind::CardReady {
            prefetch(&self.sources[packet.flow as usize]);
        }
    }

    /// Fetches that end and the port that it sends on.
    #[inline]
    pub(crate) fn prefetch_end(&self, packet: &Packet, wire: &Wire) {
        if is_for_sink(packet) {
            if let SinkEnd::Tcp(receiver) = &self.sinks[packet.flow as usize] {
                prefetch_lines(&**receiver, 4);
            }
        } else if packet.kind != Kind::CardReady
            && let SourceEnd::Tcp(sender) = &self.sources[packet.flow as usize]
        {
            prefetch_lines(&**sender, 8);
        }
        if packet.link & LOCAL == 0 {
            // A host with one link answers on the one that the packet came by.
            wire.prefetch_port(packet.link ^ 1);
        }
    }

    /// One packet or local event at host `node`.
    #[inline]
    pub(crate) fn handle(
        &mut self,
        node: u32,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let flow = packet.flow as usize;
        if !packet.kind.is_local() {
            wire.in_flight -= 1;
            self.note_arrival(packet);
        }
        match packet.kind {
            Kind::Data if self.tables.is_empty() => {
                self.on_data(packet, wire, scenario, config);
            }
            Kind::Data | Kind::MergeTimer => self.merge(node, packet, wire, scenario, config),
            Kind::Ack => self.on_ack(packet, wire, scenario, config),
            Kind::Datagram => self.on_datagram(packet, wire),
            Kind::SourceTimer => self.on_source_timer(packet.flow, wire, scenario),
            Kind::SinkTimer => {
                self.share(packet.flow);
                if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow] {
                    receiver.on_timer(wire);
                    if receiver.stage == Stage::Failed {
                        if receiver.address.number == 0 {
                            self.fail(packet.flow, Reason::BackOff, wire, scenario);
                        } else {
                            self.retire_sink(packet.flow);
                        }
                    }
                }
            }
            Kind::CardReady => self.serve_card(packet.flow, node, wire),
            Kind::Start if self.apps.has(packet.flow) => {
                self.start_app(packet.flow, wire, scenario, config);
            }
            Kind::Start => self.start(packet.flow, wire, scenario, config),
            Kind::AppTimer => self.on_app_timer(packet.flow, wire, scenario, config),
            Kind::Syn => self.on_syn(packet, wire, scenario, config),
            Kind::SynAck if packet.flags & flag::BACKWARD == 0 => {
                if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow] {
                    receiver.ask(wire);
                }
            }
            Kind::SynAck | Kind::Request => {
                if let SourceEnd::Tcp(sender) = &mut self.sources[flow] {
                    if sender.mapping.is_some() {
                        return self.on_subflow_established(packet, wire, scenario);
                    }
                    sender.established(wire, packet.window);
                    if packet.kind == Kind::Request && sender.messages.is_some() {
                        sender.on_request(packet.seq, packet.data);
                    }
                    self.pump(packet.flow, wire);
                }
            }
            Kind::Join if packet.flags & flag::BACKWARD != 0 => {
                self.on_subflow_established(packet, wire, scenario);
            }
            Kind::Join | Kind::Fin => {
                self.share(packet.flow);
                if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow] {
                    match packet.kind {
                        Kind::Join => receiver.on_join(wire),
                        _ => receiver.on_fin(wire),
                    }
                }
            }
            Kind::Reset => self.retire_sink(packet.flow),
        }
    }

    /// Data goes to TCP.
    #[inline]
    fn on_data(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let flow = packet.flow as usize;
        if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow] {
            if receiver.shared.is_some() {
                self.on_subflow_data(packet, wire, scenario, config);
            } else if receiver.on_data(packet, wire) {
                self.records[flow].finished = wire.now;
            } else if self.apps.has(packet.flow)
                && scenario.flows[flow].opener == Opener::Destination
            {
                let reached = receiver.next;
                self.on_messages(packet.flow, reached, wire, scenario, config);
            }
        }
    }

    /// Data goes through the receive side of host `node`, or a timer of that goes off.
    fn merge(
        &mut self,
        node: u32,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let owner = scenario.subflow(packet.flow).0.index();
        let workload = scenario.flows[owner].workload as usize;
        let Some(juggler) = config.receive[workload].juggler() else {
            return self.on_data(packet, wire, scenario, config);
        };
        let mut ready = Vec::new();
        let table = &mut self.tables[node as usize];
        let due = if packet.kind == Kind::Data {
            table.arrive(juggler, packet, wire.now, &mut ready)
        } else {
            table.expire(juggler, packet.flow, wire.now, &mut ready)
        };
        if let Some(due) = due {
            wire.schedule(Packet::local(Kind::MergeTimer, node, packet.flow, due));
        }
        for packet in ready {
            self.on_data(&packet, wire, scenario, config);
        }
    }

    /// Counts an arrival at the end that it is for, or in the record if that end does not exist.
    #[inline]
    fn note_arrival(&mut self, packet: &Packet) {
        let flow = packet.flow as usize;
        if packet.flags & flag::BACKWARD == 0 {
            if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow] {
                receiver.arrived += 1;
                return;
            }
        } else if let SourceEnd::Tcp(sender) = &mut self.sources[flow] {
            sender.arrived += 1;
            return;
        }
        self.records[flow].arrived += 1;
    }

    // ---- connections ----

    /// Makes the end of an application's connection that opens it; whether there is a way.
    pub(crate) fn open_connection(
        &mut self,
        flow: u32,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) -> bool {
        self.records[flow as usize].started = wire.now;
        let there = self.address(flow, wire, scenario, false);
        let back = self.address(flow, wire, scenario, true);
        if there.is_none() || back.is_none() {
            self.fail(flow, Reason::PathDown, wire, scenario);
            return false;
        }
        match scenario.flows[flow as usize].opener {
            Opener::Source => self.make_sender(flow, wire, scenario, config),
            Opener::Destination => self.make_receiver(flow, wire, scenario, config),
        }
        true
    }

    /// Whether `now` lies in the measurement window.
    pub(crate) fn is_measured(&self, now: u64) -> bool {
        (self.measured.0..self.measured.1).contains(&now)
    }

    /// A flow starts at the host that opens it.
    fn start(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>, config: &Config) {
        let plan = &scenario.flows[flow as usize];
        self.records[flow as usize].started = wire.now;
        let there = self.address(flow, wire, scenario, false);
        let back = self.address(flow, wire, scenario, true);
        let (Some(there), Some(_)) = (there, back) else {
            return self.fail(flow, Reason::PathDown, wire, scenario);
        };
        match &scenario.workloads[plan.workload as usize].transport {
            Transport::Udp(udp) => {
                let first = &scenario.network.links[there.link as usize];
                let random = stream(scenario.seed, &format!("datagram/{flow}"));
                let setup = datagram::Setup {
                    udp,
                    size: plan.size,
                    stop: plan.stop.map_or(u64::MAX, |t| t.0),
                    mtu: self.mtu,
                    overhead: first.overhead,
                    card_room: self.card_room(there.link, wire),
                    address: there,
                };
                let mut source = datagram::Source::new(setup, random);
                source.open(wire.now);
                self.sources[flow as usize] = SourceEnd::Udp(Box::new(source));
                self.pump(flow, wire);
            }
            Transport::Tcp(_) | Transport::Mptcp(_) => match plan.opener {
                Opener::Source => {
                    self.make_stream(flow, scenario, config);
                    self.make_sender(flow, wire, scenario, config);
                    if let SourceEnd::Tcp(sender) = &mut self.sources[flow as usize] {
                        sender.open(wire);
                    }
                }
                Opener::Destination => {
                    self.make_inbox(flow, scenario);
                    self.make_receiver(flow, wire, scenario, config);
                    if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow as usize] {
                        receiver.open(wire);
                    }
                }
            },
        }
    }

    /// Whether packets may still make ends of this flow: not once it is over.
    fn is_alive(&self, packet: &Packet, scenario: &Scenario) -> bool {
        let id = packet.flow;
        let flow = scenario.subflow(id).0.index();
        let (record, own) = (&self.records[flow], &self.records[id as usize]);
        // What one host knows, the other does not: each looks at its own end.
        let is_over = if packet.flags & flag::BACKWARD == 0 {
            own.sink_is_over
        } else {
            let stream = self.streams.get(flow).and_then(Option::as_ref);
            own.source_is_over || stream.is_some_and(|s| s.is_acknowledged())
        };
        record.reason == Reason::None && record.closed == UNKNOWN && !is_over
    }

    fn on_syn(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let id = packet.flow;
        if !self.is_alive(packet, scenario) {
            return;
        }
        let flow = scenario.subflow(id).0.0;
        if packet.flags & flag::BACKWARD == 0 {
            if matches!(self.sinks[id as usize], SinkEnd::None) {
                self.make_inbox(flow, scenario);
                self.make_receiver(id, wire, scenario, config);
            }
            self.share(id);
            if let SinkEnd::Tcp(receiver) = &mut self.sinks[id as usize] {
                receiver.answer(wire);
            }
        } else {
            if matches!(self.sources[id as usize], SourceEnd::None) {
                self.make_stream(flow, scenario, config);
                self.make_sender(id, wire, scenario, config);
            }
            if let SourceEnd::Tcp(sender) = &mut self.sources[id as usize] {
                sender.answer(wire);
            }
        }
    }

    /// How an end's packets are addressed; `None` if there is no way.
    fn address(
        &self,
        id: u32,
        wire: &mut Wire,
        scenario: &Scenario,
        is_backward: bool,
    ) -> Option<Address> {
        let (flow, number) = scenario.subflow(id);
        let plan = &scenario.flows[flow.index()];
        let mut tuple = scenario.subflow_tuple(flow, number);
        let (mut src, mut dst) = (plan.src, plan.dst);
        if is_backward {
            tuple = tuple.reverse();
            std::mem::swap(&mut src, &mut dst);
        }
        let entropy = scenario.entropy(&tuple);
        let link = match scenario.pinned_card(flow, number, is_backward) {
            Some(card) => card.0,
            None => wire.card(scenario, src.0, dst.0, entropy)?,
        };
        let handshake = match &scenario.workloads[plan.workload as usize].transport {
            Transport::Mptcp(_) if number == 0 => mptcp::CAPABLE_BYTES,
            Transport::Mptcp(_) => mptcp::JOIN_BYTES,
            _ => [0; 3],
        };
        Some(Address {
            flow: id,
            owner: flow.0,
            number,
            node: src.0,
            link,
            dst: dst.0,
            entropy,
            handshake,
            direction: if is_backward { flag::BACKWARD } else { 0 },
        })
    }

    fn card_room(&self, link: u32, wire: &Wire) -> u64 {
        let class = wire.ports.class(link);
        CARD_PACKETS * class.transmit_time(u64::from(self.mtu) + class.overhead)
    }

    pub(crate) fn mss(&self, transport: &Transport) -> u16 {
        segment_bytes(self.mtu, transport)
    }

    /// Makes the end of subflow `id` at the host that has the payload.
    pub(crate) fn make_sender(
        &mut self,
        id: u32,
        wire: &mut Wire,
        scenario: &Scenario,
        config: &Config,
    ) {
        let address = self
            .address(id, wire, scenario, false)
            .expect("checked at the start of the flow");
        let plan = &scenario.flows[address.owner as usize];
        let transport = &scenario.workloads[plan.workload as usize].transport;
        let (Some(tcp), Some(headers)) = (transport.tcp(), transport.headers()) else {
            unreachable!("a sender is TCP")
        };
        let control = config.congestion[plan.workload as usize].controller();
        let mut mapping = None;
        let (mut size, mut stop) = (plan.size, plan.stop.map_or(u64::MAX, |t| t.0));
        if let Some(Some(stream)) = self.streams.get_mut(address.owner as usize) {
            stream.open += 1;
            mapping = Some(Box::new(Mapping::new(stream.last())));
            (size, stop) = (None, u64::MAX);
        }
        let sender = Sender::new(sender::Setup {
            tcp: &tcp,
            headers,
            card_room: self.card_room(address.link, wire),
            address,
            size,
            stop,
            mss: self.mss(transport),
            mapping,
            has_messages: self.apps.has(id),
            is_ecn_capable: tcp.ecn || control.needs_precise_marks(),
            control,
        });
        self.sources[id as usize] = SourceEnd::Tcp(Box::new(sender));
    }

    /// Makes the end of subflow `id` at the host that wants the payload.
    pub(crate) fn make_receiver(
        &mut self,
        id: u32,
        wire: &mut Wire,
        scenario: &Scenario,
        config: &Config,
    ) {
        let address = self
            .address(id, wire, scenario, true)
            .expect("checked at the start of the flow");
        let plan = &scenario.flows[address.owner as usize];
        let transport = &scenario.workloads[plan.workload as usize].transport;
        let (Some(tcp), Some(headers)) = (transport.tcp(), transport.headers()) else {
            unreachable!("a receiver is TCP")
        };
        let shared = self.shared(address.owner);
        let receiver = Receiver::new(receiver::Setup {
            tcp: &tcp,
            headers,
            address,
            size: plan.size.filter(|_| shared.is_none()),
            shared,
            mss: self.mss(transport),
            is_dctcp: config.congestion[plan.workload as usize]
                .controller()
                .needs_precise_marks(),
            request: plan.request,
        });
        self.sinks[id as usize] = SinkEnd::Tcp(Box::new(receiver));
    }

    // ---- arrivals ----

    #[inline]
    fn on_ack(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let flow = packet.flow as usize;
        if packet.flags & flag::BACKWARD == 0 {
            // The sender's last ACK: the receiver is not needed any more.
            if packet.flags & flag::FIN != 0 {
                self.retire_sink(packet.flow);
            }
            return;
        }
        let SourceEnd::Tcp(sender) = &mut self.sources[flow] else {
            return;
        };
        if sender.mapping.is_some() {
            return self.on_subflow_ack(packet, wire, scenario, config);
        }
        if sender.phase != Phase::Open {
            return;
        }
        sender.on_ack(packet, wire);
        if sender.messages.is_some() {
            let reached = sender.board.una;
            self.pump(packet.flow, wire);
            if scenario.flows[flow].opener == Opener::Source {
                self.on_messages(packet.flow, reached, wire, scenario, config);
            }
            return;
        }
        if sender.is_acknowledged() {
            let record = &mut self.records[flow];
            record.acked = record.acked.min(wire.now);
            if packet.flags & flag::FIN != 0 {
                sender.close(wire);
                self.records[flow].closed = wire.now;
                self.retire_source(packet.flow);
                self.finish(packet.flow, wire, scenario);
                return;
            }
        }
        self.pump(packet.flow, wire);
    }

    fn on_datagram(&mut self, packet: &Packet, wire: &mut Wire) {
        let flow = packet.flow as usize;
        if matches!(self.sinks[flow], SinkEnd::None) {
            self.sinks[flow] = SinkEnd::Udp(Box::new(datagram::Sink::new()));
        }
        let is_measured = self.is_measured(wire.now);
        if let SinkEnd::Udp(sink) = &mut self.sinks[flow] {
            sink.on_datagram(packet, wire.now, is_measured);
        }
    }

    fn on_source_timer(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        match &mut self.sources[flow as usize] {
            SourceEnd::None => {}
            SourceEnd::Udp(_) => self.pump(flow, wire),
            SourceEnd::Tcp(sender) if sender.mapping.is_some() => {
                self.on_subflow_timer(flow, wire, scenario);
            }
            SourceEnd::Tcp(sender) => {
                sender.on_timer(wire);
                if sender.phase == Phase::Failed {
                    self.fail(flow, Reason::BackOff, wire, scenario);
                } else {
                    self.pump(flow, wire);
                }
            }
        }
    }

    // ---- the network card ----

    /// Sends what the flow may send; if the card is full, the flow waits for it.
    #[inline]
    pub(crate) fn pump(&mut self, flow: u32, wire: &mut Wire) {
        let mut is_full = false;
        match &mut self.sources[flow as usize] {
            SourceEnd::None => {}
            SourceEnd::Tcp(sender) => {
                // Whoever waits is served in turn, not before the others.
                if !sender.waits_for_card {
                    is_full = loop {
                        match send_one(sender, &mut self.streams, wire) {
                            Sent::One => {}
                            Sent::Nothing => break false,
                            Sent::NoRoom => break true,
                        }
                    };
                    sender.waits_for_card = is_full;
                }
                sender.set_timer(wire);
                if is_full {
                    let (link, node) = (sender.address.link, sender.address.node);
                    self.wait_for_card(flow, link, node, wire);
                }
            }
            SourceEnd::Udp(source) => {
                let was_done = source.is_done;
                if !source.waits_for_card {
                    is_full = loop {
                        match source.send_next(wire) {
                            Sent::One => {}
                            Sent::Nothing => break false,
                            Sent::NoRoom => break true,
                        }
                    };
                    source.waits_for_card = is_full;
                }
                let (is_done, link, node) =
                    (source.is_done, source.address.link, source.address.node);
                self.done += u64::from(is_done && !was_done);
                if is_full {
                    self.wait_for_card(flow, link, node, wire);
                }
            }
        }
    }

    fn wait_for_card(&mut self, flow: u32, link: u32, node: u32, wire: &mut Wire) {
        let card = &mut self.cards[link as usize];
        card.waiting.push_back(flow);
        if !card.is_armed {
            card.is_armed = true;
            self.arm_card(link, node, wire);
        }
    }

    fn arm_card(&self, link: u32, node: u32, wire: &mut Wire) {
        let half = self.card_room(link, wire) / 2;
        let at = (wire.ports.port(link).busy_until - half).max(wire.now + 1);
        wire.schedule(Packet::local(Kind::CardReady, node, link, at));
    }

    /// Half of what the card held has left: one packet for each that waits, in turn.
    fn serve_card(&mut self, link: u32, node: u32, wire: &mut Wire) {
        let card = link as usize;
        self.cards[card].is_armed = false;
        while let Some(flow) = self.cards[card].waiting.pop_front() {
            let sent = match &mut self.sources[flow as usize] {
                SourceEnd::None => Sent::Nothing,
                SourceEnd::Tcp(sender) => {
                    let sent = send_one(sender, &mut self.streams, wire);
                    sender.waits_for_card = sent != Sent::Nothing;
                    sender.set_timer(wire);
                    sent
                }
                SourceEnd::Udp(source) => {
                    let was_done = source.is_done;
                    let sent = source.send_next(wire);
                    source.waits_for_card = sent != Sent::Nothing;
                    self.done += u64::from(source.is_done && !was_done);
                    sent
                }
            };
            match sent {
                Sent::One => self.cards[card].waiting.push_back(flow),
                Sent::Nothing => {}
                Sent::NoRoom => {
                    self.cards[card].waiting.push_front(flow);
                    break;
                }
            }
        }
        if !self.cards[card].waiting.is_empty() {
            self.cards[card].is_armed = true;
            self.arm_card(link, node, wire);
        }
    }

    // ---- the end of a flow ----

    pub(crate) fn fail(
        &mut self,
        flow: u32,
        reason: Reason,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
    ) {
        if self.records[flow as usize].reason == Reason::None {
            self.records[flow as usize].reason = reason;
            self.retire_source(flow);
            self.retire_subflows(flow, scenario);
            self.finish(flow, wire, scenario);
        }
    }

    /// Counts the flow as done and starts those that waited for it.
    pub(crate) fn finish(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        self.done += 1;
        let from = self.followers.partition_point(|&(leader, _)| leader < flow);
        for &(leader, follower) in &self.followers[from..] {
            if leader != flow {
                break;
            }
            let plan = &scenario.flows[follower as usize];
            let node = match plan.opener {
                Opener::Source => plan.src,
                Opener::Destination => plan.dst,
            };
            wire.calendar.push(Packet::local(
                Kind::Start,
                node.0,
                follower,
                wire.now + plan.start.0,
            ));
        }
    }

    /// Moves the counts of the source into the record and frees it.
    pub(crate) fn retire_source(&mut self, flow: u32) {
        let record = &mut self.records[flow as usize];
        match std::mem::replace(&mut self.sources[flow as usize], SourceEnd::None) {
            SourceEnd::None => {}
            SourceEnd::Tcp(sender) => {
                record.source_is_over = true;
                record.wire_bytes += sender.wire_bytes;
                record.resent_bytes += sender.resent_bytes;
                record.sent += sender.packets;
                record.arrived += sender.arrived;
            }
            SourceEnd::Udp(source) => {
                record.wire_bytes += source.wire_bytes;
                record.sent += source.packets;
            }
        }
    }

    pub(crate) fn retire_sink(&mut self, flow: u32) {
        let size_known = self.records[flow as usize].finished;
        let record = &mut self.records[flow as usize];
        match std::mem::replace(&mut self.sinks[flow as usize], SinkEnd::None) {
            SinkEnd::None => {}
            SinkEnd::Tcp(receiver) => {
                record.sink_is_over = true;
                if receiver.shared.is_none() {
                    record.delivered += receiver.delivered;
                }
                record.reordered += receiver.reordered;
                record.duplicates += receiver.duplicates;
                record.extents.add(&receiver.extents);
                record.sent += receiver.packets;
                record.arrived += receiver.arrived;
            }
            SinkEnd::Udp(sink) => {
                record.delivered += sink.delivered;
                record.reordered += sink.reordered;
                record.latency = sink.delays.quantile(0.5).zip(sink.delays.quantile(0.99));
                record.finished = size_known.min(sink.last_arrival);
            }
        }
    }

    /// Payload that the flow has delivered so far, each byte once.
    pub(crate) fn delivered(&self, flow: usize) -> u64 {
        if let Some(Some(inbox)) = self.inboxes.get(flow) {
            return inbox.delivered;
        }
        self.records[flow].delivered
            + match &self.sinks[flow] {
                SinkEnd::None => 0,
                SinkEnd::Tcp(receiver) => receiver.delivered,
                SinkEnd::Udp(sink) => sink.delivered,
            }
    }

    /// Whether the end of the flow that has the payload exists.
    pub(crate) fn is_open(&self, flow: usize) -> bool {
        match self.streams.get(flow) {
            Some(Some(stream)) => stream.open > 0,
            _ => !matches!(self.sources[flow], SourceEnd::None),
        }
    }

    /// The run is over: moves what is left into the records.
    pub(crate) fn retire_all(&mut self, scenario: &Scenario) {
        for flow in 0..self.records.len() {
            self.retire_source(flow as u32);
            self.retire_sink(flow as u32);
            if flow >= scenario.flows.len() {
                continue;
            }
            if let Some(Some(inbox)) = self.inboxes.get(flow) {
                self.records[flow].delivered = inbox.delivered;
            }
            if let Some(latency) = self.apps.latency(flow as u32) {
                self.records[flow].latency = Some(latency);
            }
            // The last datagram may arrive although others do not, and an endless flow has no last one.
            let record = &mut self.records[flow];
            if scenario.flows[flow].size != Some(record.delivered) {
                record.finished = u64::MAX;
            }
        }
    }

    /// The flow is open but its receiver offers no window.
    pub(crate) fn is_stuck(&self, flow: usize) -> bool {
        if let Some(Some(stream)) = self.streams.get(flow) {
            return stream.established > 0 && stream.open > 0 && stream.is_stuck();
        }
        matches!(&self.sources[flow], SourceEnd::Tcp(sender) if sender.is_stuck && sender.phase == Phase::Open)
    }

    /// The host that opens `flow`.
    pub(crate) fn opener(scenario: &Scenario, flow: FlowId) -> NodeId {
        let plan = &scenario.flows[flow.index()];
        match plan.opener {
            Opener::Source => plan.src,
            Opener::Destination => plan.dst,
        }
    }
}

/// Whether a packet concerns the end of its flow that wants the payload.
#[inline(always)]
fn is_for_sink(packet: &Packet) -> bool {
    matches!(
        packet.kind,
        Kind::Data | Kind::Datagram | Kind::SinkTimer | Kind::MergeTimer
    )
}

/// Payload of a full segment; a window smaller than that makes the segments smaller.
pub(crate) fn segment_bytes(mtu: u32, transport: &Transport) -> u16 {
    let most = u64::from(mtu - transport.header_bytes());
    match transport.tcp().map_or(0, |t| t.receive_window.0) {
        0 => most as u16,
        window => most.min(window) as u16,
    }
}

/// One segment of a sender, which may be a subflow of one of `streams`.
#[inline]
fn send_one(sender: &mut Sender, streams: &mut [Option<Box<Stream>>], wire: &mut Wire) -> Sent {
    if sender.mapping.is_none() {
        return sender.send_next(wire);
    }
    let stream = streams[sender.address.owner as usize].as_mut();
    multipath::send_one(sender, stream.expect("a subflow has a connection"), wire)
}
