//! Multipath connections at their hosts: what joins the subflows, which are ordinary senders and receivers.
//!
//! Source: RFC 8684. The side that opened the first subflow opens the others when it has received a data ACK (or data):
//! only then is the connection fully established (section 3.1). A subflow that joins sends data after the fourth packet of
//! its handshake (section 3.2). When all data is acknowledged, subflows that answer end with FIN, the others with a reset
//! (section 3.3.3). Scheduling as in Linux: whoever may send is asked in the order of the scheduler; where the network card
//! is full, its turns decide.

use std::sync::Arc;

use weft_net::ids::FlowId;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::transport::mptcp::Scheduler;
use weft_net::workload::Opener;

use crate::config::Config;
use crate::congestion::{Control, Path};
use crate::host::{Hosts, SinkEnd, SourceEnd};
use crate::inbox::Inbox;
use crate::mapping::NO_DATA;
use crate::packet::{Kind, Packet, flag};
use crate::receiver::{Shared, Stage};
use crate::record::{Reason, UNKNOWN};
use crate::sender::{Phase, Sender, Sent};
use crate::stream::Stream;
use crate::wire::Wire;

/// Whether anything of the scenario needs this.
pub(crate) fn is_used(scenario: &Scenario) -> bool {
    let is_mptcp = |t: &Transport| matches!(t, Transport::Mptcp(_));
    scenario.workloads.iter().any(|w| is_mptcp(&w.transport))
}

/// Sends one segment of a subflow: what its connection offers it, unless something was lost.
#[inline]
pub(crate) fn send_one(sender: &mut Sender, stream: &mut Stream, wire: &mut Wire) -> Sent {
    let number = sender.address.number;
    let offer = stream.offer(number, wire.now).unwrap_or(NO_DATA);
    let before = sender.board.nxt;
    sender.offer(offer, stream.end_at(offer));
    let sent = sender.send_next(wire);
    if sender.board.nxt != before {
        stream.take(number, offer);
    } else if sent == Sent::Nothing && offer == NO_DATA && sender.wants_data() {
        stream.is_hungry = true;
    }
    sent
}

/// What coupled control sees of a subflow.
fn path(sender: &Sender, own: f64) -> Path {
    let is_open = sender.phase == Phase::Open;
    Path {
        cwnd: if is_open { sender.window.cwnd } else { 0.0 },
        srtt: sender.rtt.srtt as f64,
        own,
    }
}

impl Hosts {
    /// The connection of a flow at the host that has the payload, made when its first packet comes or goes.
    pub(crate) fn make_stream(&mut self, flow: u32, scenario: &Scenario, config: &Config) {
        let plan = &scenario.flows[flow as usize];
        let workload = &scenario.workloads[plan.workload as usize];
        let Transport::Mptcp(mptcp) = &workload.transport else {
            return;
        };
        if self.streams[flow as usize].is_none() {
            let control = config.congestion[plan.workload as usize].controller();
            self.streams[flow as usize] = Some(Box::new(Stream::new(
                mptcp,
                plan.size,
                plan.stop.map_or(u64::MAX, |t| t.0),
                self.mss(&workload.transport),
                scenario.subflow_count(FlowId(flow)),
                control.is_coupled(),
                self.apps.has(flow),
            )));
        }
    }

    /// The same at the host that wants it.
    pub(crate) fn make_inbox(&mut self, flow: u32, scenario: &Scenario) {
        let plan = &scenario.flows[flow as usize];
        let workload = &scenario.workloads[plan.workload as usize];
        let Transport::Mptcp(mptcp) = &workload.transport else {
            return;
        };
        if self.inboxes[flow as usize].is_none() {
            let mss = self.mss(&workload.transport);
            let inbox = Inbox::new(plan.size, mss, mptcp.receive_window.0, mptcp.autotune);
            self.inboxes[flow as usize] = Some(Box::new(inbox));
        }
    }

    /// How the connection of a subflow stands at its receiver; `None` for a flow with one path.
    pub(crate) fn shared(&self, flow: u32) -> Option<Shared> {
        let inbox = self.inboxes.get(flow as usize)?.as_ref()?;
        Some(Shared {
            data: inbox.next,
            window: inbox.offer(),
        })
    }

    /// Tells the receiver of a subflow how its connection stands, if it is one.
    pub(crate) fn share(&mut self, id: u32) {
        if let SinkEnd::Tcp(receiver) = &mut self.sinks[id as usize]
            && receiver.shared.is_some()
        {
            let owner = receiver.address.owner;
            let shared = self.shared(owner);
            if let SinkEnd::Tcp(receiver) = &mut self.sinks[id as usize] {
                receiver.shared = shared;
            }
        }
    }

    // ---- data and acknowledgments ----

    /// Data arrives on a subflow.
    pub(crate) fn on_subflow_data(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let SinkEnd::Tcp(receiver) = &mut self.sinks[packet.flow as usize] else {
            return;
        };
        let flow = receiver.address.owner;
        let inbox = self.inboxes[flow as usize]
            .as_mut()
            .expect("a subflow has a connection");
        let payload = packet.bytes - receiver.headers.data;
        let is_whole = inbox.arrive(packet.data, payload, packet.flags & flag::FIN != 0);
        inbox.heard = wire.now;
        receiver.shared = Some(Shared {
            data: inbox.next,
            window: inbox.offer(),
        });
        receiver.on_data(packet, wire);
        receiver.note_life();
        if is_whole {
            receiver.acknowledge_now(wire);
        }
        let reached = inbox.next;
        if is_whole && inbox.is_complete() {
            self.records[flow as usize].finished = wire.now;
            return self.abandon_joins(flow, scenario);
        }
        let is_first = !std::mem::replace(&mut inbox.has_joined, true);
        let is_opener = scenario.flows[flow as usize].opener == Opener::Destination;
        if is_first && is_opener {
            self.open_joins(flow, wire, scenario, config);
        }
        if is_whole && is_opener && self.apps.has(flow) {
            self.on_messages(flow, reached, wire, scenario, config);
        }
    }

    /// An ACK arrives at the sender of a subflow.
    pub(crate) fn on_subflow_ack(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let SourceEnd::Tcp(sender) = &mut self.sources[packet.flow as usize] else {
            return;
        };
        let (flow, number) = (sender.address.owner, sender.address.number as usize);
        if sender.phase == Phase::Closing && packet.flags & flag::FIN != 0 {
            sender.close(wire);
            return self.end_subflow(packet.flow, wire, scenario);
        }
        if sender.phase != Phase::Open {
            return;
        }
        let stream = self.streams[flow as usize]
            .as_mut()
            .expect("a subflow has a connection");
        if stream.is_coupled {
            sender.couple(&mut stream.paths);
        }
        sender.on_ack(packet, wire);
        stream.paths[number] = path(sender, stream.paths[number].own);
        stream.acknowledge(packet.data, packet.window);
        if stream.is_acknowledged() {
            let record = &mut self.records[flow as usize];
            record.acked = record.acked.min(wire.now);
            return self.close_stream(flow, wire, scenario);
        }
        let reached = stream.reached();
        if !stream.has_joined && stream.has_data_ack() {
            stream.has_joined = true;
            if scenario.flows[flow as usize].opener == Opener::Source {
                self.open_joins(flow, wire, scenario, config);
            }
        }
        self.pump_around(flow, packet.flow, wire, scenario);
        if self.apps.has(flow) && scenario.flows[flow as usize].opener == Opener::Source {
            self.on_messages(flow, reached, wire, scenario, config);
        }
    }

    /// A timer of a sender has gone off: what it may send for, and what it has given up.
    pub(crate) fn on_subflow_timer(&mut self, id: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        let SourceEnd::Tcp(sender) = &mut self.sources[id as usize] else {
            return;
        };
        let (flow, number) = (sender.address.owner, sender.address.number);
        let stream = self.streams[flow as usize]
            .as_mut()
            .expect("a subflow has a connection");
        if stream.is_coupled {
            sender.couple(&mut stream.paths);
        }
        let offer = stream.offer(number, wire.now).unwrap_or(NO_DATA);
        let before = sender.board.nxt;
        sender.offer(offer, stream.end_at(offer));
        sender.on_timer(wire);
        if sender.board.nxt != before {
            stream.take(number, offer);
        }
        let own = stream.paths[number as usize].own;
        stream.paths[number as usize] = path(sender, own);
        let has_failed = sender.phase == Phase::Failed;
        if has_failed || sender.mapping.as_ref().is_some_and(|m| m.timed_out) {
            sender.give_away(|data| stream.reinject(number, data));
        }
        if has_failed {
            self.end_subflow(id, wire, scenario);
        } else {
            self.pump_around(flow, id, wire, scenario);
        }
    }

    // ---- sending ----

    /// Sends what subflow `id` may send, and what the others may if there is data that they lacked before.
    #[inline]
    pub(crate) fn pump_around(
        &mut self,
        flow: u32,
        id: u32,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
    ) {
        let Some(stream) = &mut self.streams[flow as usize] else {
            return;
        };
        if stream.is_hungry && stream.has_data(wire.now) {
            self.pump_all(flow, wire, scenario);
        } else {
            self.pump(id, wire);
        }
    }

    /// Asks all subflows in the order of the scheduler.
    pub(crate) fn pump_all(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        let Some(stream) = &mut self.streams[flow as usize] else {
            return;
        };
        stream.is_hungry = false;
        let count = stream.paths.len() as u32;
        let mut order: Vec<u32> = (0..count).collect();
        match stream.scheduler {
            Scheduler::LowestRtt => {
                let srtt = |n: u32| stream.paths[n as usize].srtt as u64;
                order.sort_by_key(|&n| (srtt(n), n));
            }
            Scheduler::RoundRobin => {
                order.rotate_left(stream.turn as usize);
                stream.turn = (stream.turn + 1) % count;
                let mut any = true;
                while any {
                    any = false;
                    for &number in &order {
                        any |= self.send_in_turn(flow, number, wire, scenario);
                    }
                }
            }
        }
        for number in order {
            self.pump(scenario.subflow_id(FlowId(flow), number), wire);
        }
    }

    /// One segment of a subflow; whether it was sent.
    fn send_in_turn(
        &mut self,
        flow: u32,
        number: u32,
        wire: &mut Wire,
        scenario: &Scenario,
    ) -> bool {
        let id = scenario.subflow_id(FlowId(flow), number) as usize;
        let (SourceEnd::Tcp(sender), Some(stream)) =
            (&mut self.sources[id], &mut self.streams[flow as usize])
        else {
            return false;
        };
        !sender.waits_for_card && send_one(sender, stream, wire) == Sent::One
    }

    // ---- beginning and end ----

    /// Opens the subflows beyond the first, at the host that opened that.
    fn open_joins(
        &mut self,
        flow: u32,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        for number in 1..scenario.subflow_count(FlowId(flow)) {
            let id = scenario.subflow_id(FlowId(flow), number);
            match scenario.flows[flow as usize].opener {
                Opener::Source => {
                    self.make_sender(id, wire, scenario, config);
                    if let SourceEnd::Tcp(sender) = &mut self.sources[id as usize] {
                        sender.open(wire);
                    }
                }
                Opener::Destination => {
                    self.make_receiver(id, wire, scenario, config);
                    if let SinkEnd::Tcp(receiver) = &mut self.sinks[id as usize] {
                        receiver.open(wire);
                    }
                }
            }
        }
    }

    /// A packet of the handshake arrives at the side that has the payload; `window` is the other side's offer.
    pub(crate) fn on_subflow_established(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
    ) {
        let SourceEnd::Tcp(sender) = &mut self.sources[packet.flow as usize] else {
            return;
        };
        let was_open = sender.phase == Phase::Open;
        match packet.kind {
            Kind::Join => sender.on_join(wire),
            Kind::SynAck if sender.address.number > 0 => sender.join_answered(wire),
            _ => sender.established(wire, packet.window),
        }
        if was_open || sender.phase != Phase::Open {
            return;
        }
        let (flow, number) = (sender.address.owner, sender.address.number as usize);
        let path = path(sender, 0.0);
        if let Some(stream) = &mut self.streams[flow as usize] {
            stream.paths[number] = path;
            stream.established += 1;
            let subflows = &mut self.records[flow as usize].subflows;
            *subflows = stream.established.max(*subflows);
            if number == 0 {
                stream.acknowledge(0, packet.window);
            }
        }
        self.pump_around(flow, packet.flow, wire, scenario);
    }

    /// Everything has arrived: this host no longer wants the subflows that it is still opening. The other side may
    /// already have one whose third packet is under way, and will end it: that one stays to answer.
    fn abandon_joins(&mut self, flow: u32, scenario: &Scenario) {
        for number in 1..scenario.subflow_count(FlowId(flow)) {
            let id = scenario.subflow_id(FlowId(flow), number);
            if let SinkEnd::Tcp(receiver) = &mut self.sinks[id as usize] {
                match receiver.stage {
                    Stage::Opening => self.retire_sink(id),
                    Stage::Joining => receiver.stop_asking(),
                    _ => {}
                }
            }
        }
    }

    /// All data is acknowledged: ends every subflow.
    fn close_stream(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        for number in 0..scenario.subflow_count(FlowId(flow)) {
            let id = scenario.subflow_id(FlowId(flow), number);
            let SourceEnd::Tcp(sender) = &mut self.sources[id as usize] else {
                continue;
            };
            match sender.phase {
                Phase::Closing | Phase::Closed | Phase::Failed => {}
                Phase::Open if sender.rtt.backoff == 0 => sender.finish(wire),
                _ => {
                    sender.reset(wire);
                    self.end_subflow(id, wire, scenario);
                }
            }
        }
    }

    /// A subflow is over at the side that has the payload. With the last one the connection is.
    fn end_subflow(&mut self, id: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        let (flow, number) = scenario.subflow(id);
        let flow = flow.0;
        self.retire_source(id);
        let Some(stream) = &mut self.streams[flow as usize] else {
            return;
        };
        stream.open -= 1;
        stream.paths[number as usize] = Path::default();
        if stream.open > 0 {
            if !stream.is_acknowledged() {
                self.pump_all(flow, wire, scenario);
            }
        } else if stream.is_acknowledged() {
            if self.records[flow as usize].closed == UNKNOWN {
                self.records[flow as usize].closed = wire.now;
                self.finish(flow, wire, scenario);
            }
        } else {
            self.fail(flow, Reason::BackOff, wire, scenario);
        }
    }

    /// Frees the subflows of a flow that is given up.
    pub(crate) fn retire_subflows(&mut self, flow: u32, scenario: &Scenario) {
        for number in 1..scenario.subflow_count(FlowId(flow)) {
            self.retire_source(scenario.subflow_id(FlowId(flow), number));
        }
    }
}
