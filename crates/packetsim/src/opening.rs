//! How flows begin: their ends are made at the hosts.
//!
//! The end that opens is made when the flow starts, the other when the first packet arrives there.

use std::sync::Arc;

use weft_net::random::stream;
use weft_net::scenario::Scenario;
use weft_net::transport::{Transport, mptcp};
use weft_net::workload::Opener;

use crate::address::Address;
use crate::config::Config;
use crate::congestion::Control;
use crate::datagram;
use crate::entropy::Entropy;
use crate::host::{Hosts, SinkEnd, SourceEnd};
use crate::mapping::Mapping;
use crate::packet::{Packet, flag};
use crate::receiver::{self, Receiver};
use crate::record::{Reason, UNKNOWN};
use crate::segments::segment_bytes;
use crate::sender::{self, Sender};
use crate::wire::Wire;

impl Hosts {
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
            Opener::Source => {
                self.make_stream(flow, scenario, config);
                self.make_sender(flow, wire, scenario, config);
            }
            Opener::Destination => {
                self.make_inbox(flow, scenario);
                self.make_receiver(flow, wire, scenario, config);
            }
        }
        true
    }

    /// A flow starts at the host that opens it.
    pub(crate) fn start(
        &mut self,
        flow: u32,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
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
                    entropies: crate::entropy::recycled(scenario, flow),
                };
                let mut source = datagram::Source::new(setup, random);
                source.open(wire.now);
                self.sources[flow as usize] = SourceEnd::Udp(Box::new(source));
                self.pump(flow, wire);
            }
            Transport::Infiniband(_) | Transport::Rocev2(_) => {
                unreachable!("refused when the experiment was read")
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

    pub(crate) fn on_syn(
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
            mapping = Some(Box::new(Mapping::new()));
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
            has_messages: self.apps.has(id) && mapping.is_none(),
            mapping,
            entropy: Entropy::of(scenario, id, self.mss(transport)),
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
            asks: self.apps.has(address.owner) && plan.opener == Opener::Destination,
            address,
            size: plan.size.filter(|_| shared.is_none()),
            shared,
            mss: self.mss(transport),
            is_dctcp: config.congestion[plan.workload as usize]
                .controller()
                .needs_precise_marks(),
            request: plan.request,
            echoes_entropy: scenario.load_balance.reps().is_some(),
        });
        self.sinks[id as usize] = SinkEnd::Tcp(Box::new(receiver));
    }
}
