//! What a flow waits for beside its share of the links: handshake, propagation, the passage of its last packet, and the
//! window that begins small.
//!
//! Alone on the network a flow takes its ideal completion time (crates/net, `ideal_fct.rs`): the handshake, then its
//! bytes at the rate of its narrowest link, then what is left. That rest is propagation and store and forward, and it is
//! added to every flow, alone or not.

use weft_net::ids::FlowId;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;

/// Times of a flow, ps, and its first window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Startup {
    /// From the first packet to the first payload byte sent.
    pub(crate) lead: u64,
    /// From the last payload byte sent to its arrival.
    pub(crate) tail: u64,
    /// Round trip on an idle network.
    pub(crate) round_trip: u64,
    /// Payload bytes that may be under way at first; 0 where there is no window.
    pub(crate) window: f64,
}

impl Startup {
    /// Of `flow`, which would take `alone` ps for its bytes on an idle network.
    pub(crate) fn of(scenario: &Scenario, flow: FlowId, mss: u64, alone: f64) -> Self {
        let plan = &scenario.flows[flow.index()];
        let transport = &scenario.workloads[plan.workload as usize].transport;
        let Some(idle) = scenario.idle_times(flow) else {
            return Self::default();
        };
        let lead = idle.handshake.0;
        let tail = match (scenario.ideal_fct(flow), scenario.subflow_count(flow)) {
            (Some(ideal), 1) => (ideal.0.saturating_sub(lead)).saturating_sub(alone as u64),
            _ => idle.last_packet.0,
        };
        let tcp = match transport {
            Transport::Udp(_) => None,
            _ => transport.tcp(),
        };
        Self {
            lead,
            tail,
            round_trip: idle.round_trip.0,
            window: tcp.map_or(0.0, |t| (t.initial_window * mss) as f64),
        }
    }
}
