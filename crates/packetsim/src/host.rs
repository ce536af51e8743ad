//! Hosts: they give arriving packets to the ends of flows, and share their network card among those who want to send.
//!
//! A card never drops its own host's packets. It holds a few packets; a flow that finds it full waits in the card's
//! list and is served in turn, one packet a round, when half of that has left (as byte queue limits with fair queueing
//! do in Linux).

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_net::ids::{FlowId, NodeId};
use weft_net::load_balance::FiveTuple;
use weft_net::random::stream;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::transport::tcp::Tcp;
use weft_net::workload::Opener;

use crate::config::Config;
use crate::congestion::Control;
use crate::datagram;
use crate::packet::{Kind, LOCAL, Packet, flag};
use crate::prefetch::{prefetch, prefetch_lines};
use crate::receiver::{self, Receiver, Stage};
use crate::record::{Reason, Record, UNKNOWN};
use crate::sender::{self, Address, Phase, Sender, Sent};
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

/// All hosts with the ends of all flows; indexed by flow, the cards by link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hosts {
    pub(crate) sources: Vec<SourceEnd>,
    pub(crate) sinks: Vec<SinkEnd>,
    pub(crate) records: Vec<Record>,
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
        let flows = scenario.flows.len();
        let mut followers: Vec<(u32, u32)> = scenario
            .flows
            .iter()
            .enumerate()
            .filter_map(|(i, f)| f.after.map(|a| (a.0, i as u32)))
            .collect();
        followers.sort_unstable();
        Self {
            sources: vec![SourceEnd::None; flows],
            sinks: vec![SinkEnd::None; flows],
            records: vec![Record::new(); flows],
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
            Kind::Data => {
                if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow]
                    && receiver.on_data(packet, wire)
                {
                    self.records[flow].finished = wire.now;
                }
            }
            Kind::Ack => self.on_ack(packet, wire, scenario),
            Kind::Datagram => self.on_datagram(packet, wire),
            Kind::SourceTimer => self.on_source_timer(packet.flow, wire, scenario),
            Kind::SinkTimer => {
                if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow] {
                    receiver.on_timer(wire);
                    if receiver.stage == Stage::Failed {
                        self.fail(packet.flow, Reason::BackOff, wire, scenario);
                    }
                }
            }
            Kind::CardReady => self.serve_card(packet.flow, node, wire),
            Kind::Start => self.start(packet.flow, wire, scenario, config),
            Kind::Syn => self.on_syn(packet, wire, scenario, config),
            Kind::SynAck if packet.flags & flag::BACKWARD == 0 => {
                if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow] {
                    receiver.ask(wire);
                }
            }
            Kind::SynAck | Kind::Request => {
                if let SourceEnd::Tcp(sender) = &mut self.sources[flow] {
                    sender.established(wire, packet.window);
                    self.pump(packet.flow, wire);
                }
            }
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
            Transport::Tcp(_) => match plan.opener {
                Opener::Source => {
                    let mut sender = self.sender(flow, there, wire, scenario, config);
                    sender.open(wire);
                    self.sources[flow as usize] = SourceEnd::Tcp(Box::new(sender));
                }
                Opener::Destination => {
                    let mut receiver = self.receiver(flow, wire, scenario, config);
                    receiver.open(wire);
                    self.sinks[flow as usize] = SinkEnd::Tcp(Box::new(receiver));
                }
            },
        }
    }

    /// Whether packets may still make ends of this flow: not once it is over.
    fn is_alive(&self, flow: u32) -> bool {
        let record = &self.records[flow as usize];
        record.reason == Reason::None && record.closed == UNKNOWN
    }

    fn on_syn(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let flow = packet.flow;
        if !self.is_alive(flow) {
            return;
        }
        if packet.flags & flag::BACKWARD == 0 {
            if matches!(self.sinks[flow as usize], SinkEnd::None)
                && self.records[flow as usize].finished == u64::MAX
            {
                let receiver = self.receiver(flow, wire, scenario, config);
                self.sinks[flow as usize] = SinkEnd::Tcp(Box::new(receiver));
            }
            if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow as usize] {
                receiver.answer(wire);
            }
        } else {
            if matches!(self.sources[flow as usize], SourceEnd::None) {
                let there = self
                    .address(flow, wire, scenario, false)
                    .expect("checked at the start of the flow");
                let sender = self.sender(flow, there, wire, scenario, config);
                self.sources[flow as usize] = SourceEnd::Tcp(Box::new(sender));
            }
            if let SourceEnd::Tcp(sender) = &mut self.sources[flow as usize] {
                sender.answer(wire);
            }
        }
    }

    /// How an end's packets are addressed; `None` if there is no way.
    fn address(
        &self,
        flow: u32,
        wire: &mut Wire,
        scenario: &Scenario,
        is_backward: bool,
    ) -> Option<Address> {
        let plan = &scenario.flows[flow as usize];
        let (mut src, mut dst) = ((plan.src, plan.src_port), (plan.dst, plan.dst_port));
        if is_backward {
            std::mem::swap(&mut src, &mut dst);
        }
        let network = &scenario.network;
        let protocol = match scenario.workloads[plan.workload as usize].transport {
            Transport::Tcp(_) => 6,
            Transport::Udp(_) => 17,
        };
        let entropy = scenario.entropy(&FiveTuple {
            src: network.nodes[src.0.index()].address,
            dst: network.nodes[dst.0.index()].address,
            src_port: src.1,
            dst_port: dst.1,
            protocol,
        });
        let link = wire.card(scenario, src.0.0, dst.0.0, entropy)?;
        Some(Address {
            flow,
            node: src.0.0,
            link,
            dst: dst.0.0,
            entropy,
            direction: if is_backward { flag::BACKWARD } else { 0 },
        })
    }

    fn card_room(&self, link: u32, wire: &Wire) -> u64 {
        let class = wire.ports.class(link);
        CARD_PACKETS * class.transmit_time(u64::from(self.mtu) + class.overhead)
    }

    fn mss(&self, tcp: &Tcp) -> u16 {
        segment_bytes(self.mtu, tcp)
    }

    fn sender(
        &self,
        flow: u32,
        address: Address,
        wire: &Wire,
        scenario: &Scenario,
        config: &Config,
    ) -> Sender {
        let plan = &scenario.flows[flow as usize];
        let Transport::Tcp(tcp) = &scenario.workloads[plan.workload as usize].transport else {
            unreachable!("a sender is TCP")
        };
        let control = config.congestion[plan.workload as usize].controller();
        Sender::new(sender::Setup {
            tcp,
            card_room: self.card_room(address.link, wire),
            address,
            size: plan.size,
            stop: plan.stop.map_or(u64::MAX, |t| t.0),
            mss: self.mss(tcp),
            is_ecn_capable: tcp.ecn || control.needs_precise_marks(),
            control,
        })
    }

    fn receiver(
        &self,
        flow: u32,
        wire: &mut Wire,
        scenario: &Scenario,
        config: &Config,
    ) -> Receiver {
        let plan = &scenario.flows[flow as usize];
        let Transport::Tcp(tcp) = &scenario.workloads[plan.workload as usize].transport else {
            unreachable!("a receiver is TCP")
        };
        Receiver::new(receiver::Setup {
            tcp,
            address: self
                .address(flow, wire, scenario, true)
                .expect("checked at the start of the flow"),
            size: plan.size,
            mss: self.mss(tcp),
            is_dctcp: config.congestion[plan.workload as usize]
                .controller()
                .needs_precise_marks(),
            request: plan.request,
        })
    }

    // ---- arrivals ----

    #[inline]
    fn on_ack(&mut self, packet: &Packet, wire: &mut Wire, scenario: &Arc<Scenario>) {
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
        if sender.phase != Phase::Open {
            return;
        }
        sender.on_ack(packet, wire);
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
        if let SinkEnd::Udp(sink) = &mut self.sinks[flow] {
            let is_measured = (self.measured.0..self.measured.1).contains(&wire.now);
            sink.on_datagram(packet, wire.now, is_measured);
        }
    }

    fn on_source_timer(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        match &mut self.sources[flow as usize] {
            SourceEnd::None => {}
            SourceEnd::Udp(_) => self.pump(flow, wire),
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
    fn pump(&mut self, flow: u32, wire: &mut Wire) {
        let mut is_full = false;
        match &mut self.sources[flow as usize] {
            SourceEnd::None => {}
            SourceEnd::Tcp(sender) => {
                // Whoever waits is served in turn, not before the others.
                if !sender.waits_for_card {
                    is_full = loop {
                        match sender.send_next(wire) {
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
                    let sent = sender.send_next(wire);
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

    fn fail(&mut self, flow: u32, reason: Reason, wire: &mut Wire, scenario: &Arc<Scenario>) {
        if self.records[flow as usize].reason == Reason::None {
            self.records[flow as usize].reason = reason;
            self.retire_source(flow);
            self.finish(flow, wire, scenario);
        }
    }

    /// Counts the flow as done and starts those that waited for it.
    fn finish(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
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
    fn retire_source(&mut self, flow: u32) {
        let record = &mut self.records[flow as usize];
        match std::mem::replace(&mut self.sources[flow as usize], SourceEnd::None) {
            SourceEnd::None => {}
            SourceEnd::Tcp(sender) => {
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

    fn retire_sink(&mut self, flow: u32) {
        let size_known = self.records[flow as usize].finished;
        let record = &mut self.records[flow as usize];
        match std::mem::replace(&mut self.sinks[flow as usize], SinkEnd::None) {
            SinkEnd::None => {}
            SinkEnd::Tcp(receiver) => {
                record.delivered += receiver.delivered;
                record.reordered += receiver.reordered;
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
        self.records[flow].delivered
            + match &self.sinks[flow] {
                SinkEnd::None => 0,
                SinkEnd::Tcp(receiver) => receiver.delivered,
                SinkEnd::Udp(sink) => sink.delivered,
            }
    }

    /// The run is over: moves what is left into the records.
    pub(crate) fn retire_all(&mut self, scenario: &Scenario) {
        for flow in 0..self.records.len() {
            self.retire_source(flow as u32);
            self.retire_sink(flow as u32);
            // The last datagram may arrive although others do not, and an endless flow has no last one.
            let record = &mut self.records[flow];
            if scenario.flows[flow].size != Some(record.delivered) {
                record.finished = u64::MAX;
            }
        }
    }

    /// The flow is open but its receiver offers no window.
    pub(crate) fn is_stuck(&self, flow: usize) -> bool {
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
    matches!(packet.kind, Kind::Data | Kind::Datagram | Kind::SinkTimer)
}

/// Payload of a full segment; a window smaller than that makes the segments smaller.
pub(crate) fn segment_bytes(mtu: u32, tcp: &Tcp) -> u16 {
    let most = u64::from(mtu - tcp.header_bytes());
    if tcp.receive_window.0 > 0 {
        most.min(tcp.receive_window.0) as u16
    } else {
        most as u16
    }
}
