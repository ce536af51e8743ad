//! Queue disciplines: what an egress port does with a packet that arrives while others wait.
//!
//! A discipline looks and returns a [`Verdict`]; the port carries it out. The packet in transmission counts as queued
//! until its last bit has left, as in a shared-memory switch.

use serde::{Deserialize, Serialize};
use weft_net::error::Fault;
use weft_net::units::Capacity;

pub mod drop_tail;
pub mod ecn_ramp;
pub mod ecn_step;
pub mod red;

weft_net::room! {
    /// The discipline of every switch port: `[queue]`.
    pub enum Queue {
        DropTail(drop_tail::DropTail),
        EcnStep(ecn_step::EcnStep),
        EcnRamp(ecn_ramp::EcnRamp),
        Red(red::Red),
    }
}

/// What happens to the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It joins the queue.
    Enqueue,
    /// It joins the queue with congestion experienced.
    Mark,
    /// It is gone.
    Drop,
}

/// The queue as an arriving packet finds it.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Time, ps.
    pub now: u64,
    /// Packets in the queue, the one in transmission included.
    pub packets: u64,
    /// Bytes in the queue, wire overhead included; of the packet in transmission, what has not left.
    pub bytes: u64,
    /// Bytes of the arriving packet on the wire.
    pub arriving: u64,
    /// Whether the arriving packet can be marked.
    pub is_ecn_capable: bool,
    /// Since when the queue is empty, ps; only meaningful if `packets` is 0.
    pub idle_since: u64,
    /// Time to send a full-size packet, ps.
    pub packet_time: u64,
}

impl View {
    /// Whether the arriving packet fits into `capacity`.
    #[inline]
    pub fn fits(&self, capacity: Capacity) -> bool {
        match capacity {
            Capacity::Packets(most) => self.packets < most,
            Capacity::Bytes(most) => self.bytes + self.arriving <= most,
        }
    }

    /// The queue in the unit of `threshold`, the arriving packet included, is above `threshold`.
    #[inline]
    pub fn exceeds(&self, threshold: Capacity) -> bool {
        match threshold {
            Capacity::Packets(most) => self.packets + 1 > most,
            Capacity::Bytes(most) => self.bytes + self.arriving > most,
        }
    }
}

/// What a discipline remembers of one port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum State {
    /// Nothing.
    Stateless,
    /// Random numbers.
    EcnRamp(ecn_ramp::Memory),
    /// The average of RED.
    Red(red::Memory),
}

impl Queue {
    /// The memory of one port; `key` seeds its random stream.
    pub(crate) fn state(&self, key: u64) -> State {
        match self {
            Self::DropTail(_) | Self::EcnStep(_) => State::Stateless,
            Self::EcnRamp(_) => State::EcnRamp(ecn_ramp::Memory::new(key)),
            Self::Red(_) => State::Red(red::Memory::new(key)),
        }
    }

    /// Decides over one packet.
    #[inline]
    pub(crate) fn admit(&self, state: &mut State, view: &View) -> Verdict {
        match (self, state) {
            (Self::DropTail(q), _) => q.admit(view),
            (Self::EcnStep(q), _) => q.admit(view),
            (Self::Red(q), State::Red(memory)) => q.admit(memory, view),
            (Self::EcnRamp(q), State::EcnRamp(memory)) => q.admit(memory, view),
            (Self::EcnRamp(_) | Self::Red(_), _) => unreachable!("a port with another's memory"),
        }
    }

    /// How much a port holds.
    pub(crate) fn capacity(&self) -> Capacity {
        match self {
            Self::DropTail(q) => q.capacity,
            Self::EcnStep(q) => q.capacity,
            Self::EcnRamp(q) => q.capacity,
            Self::Red(q) => q.capacity,
        }
    }

    /// Whether decisions need the number of packets (which costs the port a little).
    pub(crate) fn counts_packets(&self) -> bool {
        let is_packets = |c: Capacity| matches!(c, Capacity::Packets(_));
        match self {
            Self::DropTail(q) => is_packets(q.capacity),
            Self::EcnStep(q) => is_packets(q.capacity) || is_packets(q.threshold),
            Self::EcnRamp(q) => is_packets(q.capacity) || is_packets(q.min_threshold),
            Self::Red(_) => true,
        }
    }

    /// What does not go together.
    pub(crate) fn fault(&self) -> Option<Fault> {
        match self {
            Self::EcnRamp(q) if !q.is_sound() => {
                let message = "is not above min_threshold, or not in its unit; give both in packets or both in bytes";
                Some(Fault::new("queue.max_threshold", message))
            }
            _ => None,
        }
    }
}
