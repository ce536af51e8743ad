//! UDP at a rate: packets leave by the clock, whatever the network does.

use crate::units::{Bytes, Rate};

/// IPv4 and UDP header.
pub const HEADER_BYTES: u32 = 28;

crate::choice! {
    /// When packets leave.
    pub enum Arrivals {
        /// Evenly spaced.
        Constant = "constant",
        /// Independent exponential gaps.
        Poisson = "poisson",
    }
}

crate::choice! {
    /// How large packets are.
    pub enum PacketSizes {
        /// All of `packet` bytes.
        Fixed = "fixed",
        /// Exponential with mean `packet`, at most the MTU of the path, at least the headers.
        Exponential = "exponential",
    }
}

crate::kind! {
    /// UDP at a given rate; nothing is retransmitted.
    pub struct Udp: "transport" / "udp", source "RFC 768" {
        /// Bits per second of IP packets and link overhead (what the wire carries) that each flow sends.
        pub rate: Rate, at least 1;
        /// When packets leave.
        pub arrivals: Arrivals = Arrivals::Constant;
        /// How large packets are.
        pub packet_size: PacketSizes = PacketSizes::Fixed;
        /// IP packet size; left out, the MTU. With exponential sizes, their mean.
        pub packet: Option<Bytes> = None, range 29..=65000;
    }
}
