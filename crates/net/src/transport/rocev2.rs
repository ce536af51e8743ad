//! RoCEv2: queue pairs of RDMA over UDP, a network card that paces them, and what it does about lost packets.
//!
//! A flow is a queue pair with one RDMA WRITE of its size: packets numbered one after another (PSN), acknowledged
//! cumulatively. `go_back_n` is what cards do by the InfiniBand transport: a receiver drops what is out of order and says once where the
//! gap is; `selective` is IRN: it keeps what comes, names it, and only what is missing is sent again.

use crate::units::{Bytes, Time};

/// IPv4 20, UDP 8, base transport header 12, invariant CRC 4.
pub const HEADER_BYTES: u32 = 44;
/// An acknowledgment also has an ACK extended transport header of 4 bytes.
pub const ACK_BYTES: u32 = HEADER_BYTES + 4;
/// A congestion notification carries 16 reserved bytes.
pub const CNP_BYTES: u32 = HEADER_BYTES + 16;
/// UDP port of RoCEv2.
pub const PORT: u16 = 4791;

crate::choice! {
    /// How losses are repaired.
    pub enum Retransmission {
        /// From the first missing packet on, everything again.
        GoBackN = "go_back_n",
        /// Missing packets alone (IRN: Mittal et al., SIGCOMM 2018).
        Selective = "selective",
    }
}

crate::kind! {
    /// Queue pairs of RDMA over converged Ethernet, version 2; needs flow control pfc (which may leave classes lossy).
    pub struct Rocev2: "transport" / "rocev2", source "InfiniBand Architecture Specification, annex A17; Mittal et al., SIGCOMM 2018" {
        /// Class of data packets: 802.1p priority.
        pub priority: u64 = 0, range 0..=7;
        /// Class of acknowledgments and notifications; left out, that of the data.
        pub ack_priority: Option<u64> = None, range 0..=7;
        /// Packets for each acknowledgment; the last packet of a flow is always acknowledged. Controls that read
        /// acknowledgments (hpcc, swift) have one for each packet.
        pub ack_every: u64 = 1, range 1..=1024;
        /// How losses are repaired.
        pub retransmission: Retransmission = Retransmission::GoBackN;
        /// Packets by which a later one must be ahead before a missing one counts as lost (selective).
        pub reordering: u64 = 1, range 1..=65536;
        /// Unacknowledged payload at most; left out, no limit but that of the congestion control.
        pub window: Option<Bytes> = None, at least 1;
        /// Without progress for so long, the first missing packet counts as lost.
        pub timeout: Time = Time::from_ms(4), at least 1;
        /// Timeouts in a row before the queue pair gives up.
        pub retries: u64 = 7, range 0..=1000;
    }
}
