//! The congestion control of a queue pair: a rate, a window, or both.

use crate::congestion::dcqcn::{self, Dcqcn};
use crate::congestion::hpcc::{self, Hpcc, Telemetry};
use crate::congestion::swift::{self, Swift};

/// What a workload asks for.
#[derive(Clone, Debug)]
pub(super) enum Control {
    None,
    Dcqcn(Dcqcn),
    Hpcc(Hpcc),
    Swift(Swift),
}

/// What one flow makes of it.
#[derive(Clone, Debug)]
pub(super) enum Reaction {
    None,
    Dcqcn(Box<dcqcn::State>),
    Hpcc(Box<hpcc::State>),
    Swift(Box<swift::State>),
}

/// What an acknowledgment tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<'a> {
    pub(super) now: u64,
    /// The packet that caused it, and the next that will be sent.
    pub(super) psn: u32,
    pub(super) next: u32,
    /// Packets that it newly acknowledges.
    pub(super) acked: u32,
    /// Since that packet was sent, ps.
    pub(super) round_trip: u64,
    pub(super) telemetry: Option<&'a Telemetry>,
}

impl Control {
    /// At the start of a flow over so many links, with a round trip of `idle` ps, from a card of `line` bits per second, in packets
    /// of `packet` wire bytes.
    pub(super) fn start(&self, line: f64, idle: u64, links: usize, packet: u64) -> Reaction {
        match self {
            Self::None => Reaction::None,
            Self::Dcqcn(_) => Reaction::Dcqcn(Box::new(dcqcn::State::new(line))),
            Self::Hpcc(config) => Reaction::Hpcc(Box::new(hpcc::State::new(config, line, idle))),
            Self::Swift(config) => {
                let full = (line * idle as f64 / 8e12 / packet as f64).max(1.0);
                Reaction::Swift(Box::new(swift::State::new(config, idle, full, links)))
            }
        }
    }

    /// Bytes of telemetry in every packet.
    pub(super) fn telemetry(&self) -> u64 {
        match self {
            Self::Hpcc(config) => config.telemetry.0,
            _ => 0,
        }
    }

    /// Whether each packet must be acknowledged.
    pub(super) fn reads_acks(&self) -> bool {
        matches!(self, Self::Hpcc(_) | Self::Swift(_))
    }

    /// At most one notification in so many ps; `None` if marks are not answered.
    pub(super) fn notification_interval(&self) -> Option<u64> {
        match self {
            Self::Dcqcn(config) => Some(config.cnp_interval.0),
            _ => None,
        }
    }
}

impl Reaction {
    /// From the start of a packet of so many wire bytes to that of the next, ps.
    pub(super) fn gap(&self, bytes: u64, line: f64) -> u64 {
        let rate = match self {
            Self::None => line,
            Self::Dcqcn(state) => state.rate(),
            Self::Hpcc(state) => state.rate(),
            Self::Swift(state) if state.window() < 1.0 => {
                return (state.round_trip() / state.window()) as u64;
            }
            Self::Swift(_) => line,
        };
        (bytes as f64 * 8e12 / rate.min(line)) as u64
    }

    /// Payload bytes that may be unacknowledged; infinite without a window. Packets have `packet` bytes of payload.
    pub(super) fn window(&self, packet: u64) -> f64 {
        match self {
            Self::None | Self::Dcqcn(_) => f64::INFINITY,
            Self::Hpcc(state) => state.window(),
            // Less than a packet is a matter of gaps.
            Self::Swift(state) => state.window().max(1.0) * packet as f64,
        }
    }

    pub(super) fn on_sent(&mut self, control: &Control, now: u64, bytes: u64) {
        if let (Self::Dcqcn(state), Control::Dcqcn(config)) = (self, control) {
            state.on_sent(config, now, bytes);
        }
    }

    pub(super) fn on_notification(&mut self, control: &Control, now: u64) {
        if let (Self::Dcqcn(state), Control::Dcqcn(config)) = (self, control) {
            state.on_notification(config, now);
        }
    }

    pub(super) fn on_ack(&mut self, control: &Control, heard: &Heard<'_>) {
        match (self, control) {
            (Self::Hpcc(state), Control::Hpcc(config)) => {
                if let Some(telemetry) = heard.telemetry {
                    state.on_ack(config, heard.psn, heard.next, telemetry);
                }
            }
            (Self::Swift(state), Control::Swift(config)) => {
                state.on_ack(config, heard.now, heard.round_trip, heard.acked);
            }
            _ => {}
        }
    }

    pub(super) fn on_loss(&mut self, control: &Control, now: u64, is_timeout: bool) {
        if let (Self::Swift(state), Control::Swift(config)) = (self, control) {
            if is_timeout {
                state.on_timeout(config, now);
            } else {
                state.on_loss(config, now);
            }
        }
    }
}
