//! Hosts: they give arriving packets to the ends of flows.
//!
//! Those ends are made in `opening.rs`; what they may send is decided in `network_card.rs`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_net::ids::{FlowId, NodeId};
use weft_net::scenario::Scenario;
use weft_net::workload::Opener;

use crate::app::Apps;
use crate::config::Config;
use crate::datagram;
use crate::inbox::Inbox;
use crate::multipath;
use crate::network_card::Card;
use crate::packet::{Kind, LOCAL, Packet, flag};
use crate::prefetch::{prefetch, prefetch_lines};
use crate::receive::juggler::Table;
use crate::receiver::{Receiver, Stage};
use crate::record::{Reason, Record};
use crate::sender::{Phase, Sender};
use crate::stream::Stream;
use crate::wire::Wire;

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
    pub(crate) cards: Vec<Card>,
    /// Flows that wait for another: `(that one, waiting one)`, sorted.
    pub(crate) followers: Vec<(u32, u32)>,
    /// Flows that are closed, given up, or (UDP) sent.
    pub(crate) done: u64,
    /// Smallest MTU of the network.
    pub(crate) mtu: u32,
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
            apps: Apps::new(scenario, config.schedule.trace),
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
                config.schedule.warmup,
                config
                    .schedule
                    .until
                    .map_or(u64::MAX, |u| u - config.schedule.cooldown),
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
                self.on_sink_timer(packet.flow, wire, scenario);
                if let SinkEnd::Tcp(receiver) = &self.sinks[flow]
                    && receiver.stage == Stage::Failed
                {
                    if receiver.address.number == 0 {
                        self.fail(packet.flow, Reason::BackOff, wire, scenario);
                    } else {
                        self.retire_sink(packet.flow);
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
                        self.on_subflow_established(packet, wire, scenario);
                        if packet.kind == Kind::Request {
                            self.on_subflow_request(packet, wire, scenario);
                        }
                        return;
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

    /// Whether `now` lies in the measurement window.
    pub(crate) fn is_measured(&self, now: u64) -> bool {
        (self.measured.0..self.measured.1).contains(&now)
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
