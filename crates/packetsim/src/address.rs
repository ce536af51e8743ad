//! Where an end of a subflow lives, and how its packets look.

use serde::{Deserialize, Serialize};

use crate::packet::{Kind, Packet, stamp};

/// IP packet of a SYN or SYN-ACK: 20 bytes IP, 40 TCP with its options (MSS, SACK, timestamps, window scale).
pub(crate) const SYN_BYTES: u16 = 60;

/// Where a subflow lives and how its packets look.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Address {
    /// The subflow.
    pub(crate) flow: u32,
    /// The flow that it belongs to.
    pub(crate) owner: u32,
    /// Its number there.
    pub(crate) number: u32,
    /// The host that this end lives on.
    pub(crate) node: u32,
    /// The link that it sends on.
    pub(crate) link: u32,
    /// The other host.
    pub(crate) dst: u32,
    /// Hash of the five-tuple in this direction.
    pub(crate) entropy: u32,
    /// Bytes of the options of MPTCP in SYN, SYN-ACK and third packet.
    pub(crate) handshake: [u8; 3],
    /// [`crate::packet::flag::BACKWARD`] at the destination of the payload, else 0.
    pub(crate) direction: u8,
}

impl Address {
    /// A packet of this end.
    #[inline]
    pub(crate) fn packet(&self, kind: Kind, seq: u32, bytes: u16, flags: u8, now: u64) -> Packet {
        Packet {
            time: 0,
            link: 0,
            flow: self.flow,
            dst: self.dst,
            entropy: self.entropy,
            seq,
            bytes,
            kind,
            flags: flags | self.direction,
            stamp: stamp(now),
            window: 0,
            sack: [0; 3],
            data: 0,
        }
    }
}
