//! The messages of an application over several subflows, at both hosts.
//!
//! A message lies in the data sequence (`stream.rs`, `inbox.rs`), whichever subflows carry it. Requests go on the subflow
//! that the scheduler would take, as the client knows it: by the round trips of the handshakes.

use std::sync::Arc;

use weft_net::ids::FlowId;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::transport::mptcp::Scheduler;

use crate::host::{Hosts, SinkEnd, SourceEnd};
use crate::packet::Packet;
use crate::wire::Wire;

impl Hosts {
    /// The client of an application wants an answer: asks for it on the best subflow.
    pub(crate) fn ask_on_subflow(
        &mut self,
        flow: u32,
        bytes: u32,
        segments: u32,
        wire: &mut Wire,
        scenario: &Scenario,
    ) {
        let Some(inbox) = &mut self.inboxes[flow as usize] else {
            return;
        };
        let request = inbox.numbering.next(bytes, segments);
        // While none is open, it waits for the first.
        let id = self.best_to_ask(flow, None, scenario).unwrap_or(flow);
        if let SinkEnd::Tcp(receiver) = &mut self.sinks[id as usize] {
            receiver.ask_for(request, wire);
        }
    }

    /// The open subflow that a client would ask on, `except` aside: by the scheduler, those that answer first.
    fn best_to_ask(&mut self, flow: u32, except: Option<u32>, scenario: &Scenario) -> Option<u32> {
        let workload = &scenario.workloads[scenario.flows[flow as usize].workload as usize];
        let Transport::Mptcp(mptcp) = &workload.transport else {
            return None;
        };
        let by_rtt = mptcp.scheduler == Scheduler::LowestRtt;
        let count = scenario.subflow_count(FlowId(flow));
        let inbox = self.inboxes[flow as usize].as_mut()?;
        let sinks = &self.sinks;
        let best = (0..count)
            .filter_map(|number| {
                let id = scenario.subflow_id(FlowId(flow), number);
                let SinkEnd::Tcp(receiver) = &sinks[id as usize] else {
                    return None;
                };
                let turn = if by_rtt {
                    number
                } else {
                    (number + count - inbox.turn) % count
                };
                let is_able = receiver.can_ask() && except != Some(id);
                is_able.then(|| (receiver.rank(by_rtt), turn, number))
            })
            .min()?;
        inbox.turn = (best.2 + 1) % count;
        Some(scenario.subflow_id(FlowId(flow), best.2))
    }

    /// A timer of a receiver goes off: what has been answered on other subflows counts here, and what is not answered in
    /// time is asked for on another, too.
    pub(crate) fn on_sink_timer(&mut self, id: u32, wire: &mut Wire, scenario: &Scenario) {
        self.share(id);
        let SinkEnd::Tcp(receiver) = &mut self.sinks[id as usize] else {
            return;
        };
        let flow = receiver.address.owner;
        let inbox = self.inboxes.get(flow as usize).and_then(Option::as_ref);
        let Some(inbox) = inbox.filter(|_| receiver.requests.is_waiting()) else {
            return receiver.on_timer(wire);
        };
        receiver.note_answers_elsewhere(inbox.next, inbox.heard);
        receiver.on_timer(wire);
        let transport =
            &scenario.workloads[scenario.flows[flow as usize].workload as usize].transport;
        if !matches!(transport, Transport::Mptcp(m) if m.reinjection) {
            return;
        }
        for request in receiver.give_requests_away() {
            let Some(other) = self.best_to_ask(flow, Some(id), scenario) else {
                return;
            };
            if let SinkEnd::Tcp(receiver) = &mut self.sinks[other as usize] {
                receiver.ask_for(request, wire);
            }
        }
    }

    /// A request arrives on a subflow: its answer is sent on whichever may send.
    pub(crate) fn on_subflow_request(
        &mut self,
        packet: &Packet,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
    ) {
        let SourceEnd::Tcp(sender) = &mut self.sources[packet.flow as usize] else {
            return;
        };
        let flow = sender.address.owner;
        if let Some(mapping) = &mut sender.mapping {
            mapping.requests = mapping.requests.max(packet.seq + 1);
        }
        if let Some(stream) = &mut self.streams[flow as usize] {
            stream.on_request(packet.sack[1], packet.data);
        }
        self.pump_all(flow, wire, scenario);
    }

    /// A message to be sent by the host that has opened the connection.
    pub(crate) fn add_subflow_message(
        &mut self,
        flow: u32,
        bytes: u64,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
    ) {
        if let Some(stream) = &mut self.streams[flow as usize] {
            stream.add_message(bytes);
        }
        self.pump_all(flow, wire, scenario);
    }
}
