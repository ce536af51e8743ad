//! Times of a flow on an idle network beside that of its bytes: handshake, one packet, a round trip.

use crate::ideal_fct::{one_packet, opening, transmit};
use crate::ids::{FlowId, LinkId};
use crate::network::Link;
use crate::scenario::Scenario;
use crate::units::Time;

/// What takes how long if nobody else sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTimes {
    /// From the first packet (the SYN) until the payload may be sent: 0 for UDP.
    pub handshake: Time,
    /// The way of the last packet of payload, but for its serialization on the slowest link.
    pub last_packet: Time,
    /// The way back of an acknowledgment.
    pub acknowledgment: Time,
    /// A full packet there and its acknowledgment back.
    pub round_trip: Time,
}

impl Scenario {
    /// The links that payload of `flow` takes, and its acknowledgments: of its first subflow, or of one of the shortest
    /// paths where packets are balanced one by one. Empty where there is no way.
    pub fn idle_paths(&self, flow: FlowId) -> (Vec<LinkId>, Vec<LinkId>) {
        let plan = &self.flows[flow.index()];
        let there = self
            .flow_path(flow)
            .unwrap_or_else(|| self.first_path(plan.src, plan.dst));
        let back = self
            .reverse_path(flow)
            .unwrap_or_else(|| self.first_path(plan.dst, plan.src));
        (there, back)
    }

    /// Whether payload of `flow` can arrive, and be acknowledged.
    pub fn has_way(&self, flow: FlowId) -> bool {
        let (there, back) = self.idle_paths(flow);
        !there.is_empty() && !back.is_empty()
    }

    /// Largest IP packet on the way of `flow`; `None` where there is no way.
    pub fn path_mtu(&self, flow: FlowId) -> Option<u32> {
        let (there, _) = self.idle_paths(flow);
        there
            .iter()
            .map(|l| self.network.links[l.index()].mtu)
            .min()
    }

    /// `None` where there is no way.
    pub fn idle_times(&self, flow: FlowId) -> Option<IdleTimes> {
        let plan = &self.flows[flow.index()];
        let transport = &self.workloads[plan.workload as usize].transport;
        let (there, back) = self.idle_paths(flow);
        if there.is_empty() || back.is_empty() {
            return None;
        }
        let links = |path: &[LinkId]| -> Vec<&Link> {
            path.iter()
                .map(|l| &self.network.links[l.index()])
                .collect()
        };
        let (there, back) = (links(&there), links(&back));
        let mtu = there.iter().map(|l| u64::from(l.mtu)).min()?;
        let header = u64::from(transport.header_bytes());
        let last = match plan.size {
            Some(size) if size % (mtu - header) > 0 => size % (mtu - header) + header,
            _ => mtu,
        };
        let slowest = there.iter().map(|l| transmit(l, last)).max()?;
        let headers = transport.headers();
        let acknowledgment = one_packet(&back, headers.map_or(header, |h| u64::from(h.ack)));
        Some(IdleTimes {
            handshake: opening(&self.opening_packets(flow), &there, &back),
            last_packet: Time(one_packet(&there, last).0 - slowest.0),
            acknowledgment,
            round_trip: one_packet(&there, mtu) + acknowledgment,
        })
    }
}
