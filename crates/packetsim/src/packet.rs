//! A packet, by value: 56 bytes that are copied from calendar to calendar.
//!
//! TCP counts in segments: a sequence number names a whole segment, and the last one of a flow may be shorter.
//! Timers and starts of flows are packets too ("local events"): they never cross a link.

use serde::{Deserialize, Serialize};

/// High bit of [`Packet::link`]: a local event of the node in the other bits.
pub(crate) const LOCAL: u32 = 1 << 31;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Kind {
    /// TCP payload.
    Data,
    /// TCP acknowledgment.
    Ack,
    /// First packet of a connection.
    Syn,
    /// Its answer.
    SynAck,
    /// What a fetch asks for, from the destination of the payload to its source.
    Request,
    /// UDP payload.
    Datagram,
    /// Third and fourth packet of the handshake of a subflow that joins (RFC 8684, section 3.2).
    Join,
    /// End of a subflow, when all data is acknowledged.
    Fin,
    /// End of a subflow that does not answer.
    Reset,
    /// Local: a flow starts at the host that opens it.
    Start,
    /// Local: a timer of the source of a flow.
    SourceTimer,
    /// Local: a timer of the destination of a flow.
    SinkTimer,
    /// Local: packets of a flow have waited long enough in its host's receive side.
    MergeTimer,
    /// Local: an application's next query is due; of its first connection.
    AppTimer,
    /// Local: the network card has room again.
    CardReady,
}

impl Kind {
    /// Whether it travels from the source of the payload to its destination (for data) or may (for the handshake).
    pub(crate) fn is_local(self) -> bool {
        self >= Self::Start
    }
}

/// Bits of [`Packet::flags`].
pub(crate) mod flag {
    /// ECN-capable transport.
    pub(crate) const ECT: u8 = 1;
    /// Congestion experienced: set by a queue.
    pub(crate) const CE: u8 = 2;
    /// ECN echo, on ACKs.
    pub(crate) const ECE: u8 = 4;
    /// Congestion window reduced, on data: stops the echo of RFC 3168.
    pub(crate) const CWR: u8 = 8;
    /// Last packet of its direction.
    pub(crate) const FIN: u8 = 16;
    /// Not the first transmission.
    pub(crate) const AGAIN: u8 = 32;
    /// The ACK answers a segment that had arrived before (RFC 2883).
    pub(crate) const DUPLICATE: u8 = 64;
    /// From the destination of the flow to its source.
    pub(crate) const BACKWARD: u8 = 128;
}

/// A packet on its way, or a local event.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Packet {
    /// When its last bit arrives at the end of `link`, ps; of a local event: when it happens.
    pub(crate) time: u64,
    /// The link that it travels over, or [`LOCAL`] and a node.
    pub(crate) link: u32,
    /// The subflow it belongs to (`weft_net::subflows`; of a flow with one path, the flow); of [`Kind::CardReady`]: the link of the card.
    pub(crate) flow: u32,
    /// Destination host.
    pub(crate) dst: u32,
    /// Hash of the five-tuple, for load balancing.
    pub(crate) entropy: u32,
    /// Data: number of the segment. ACK: number of the first segment that is missing.
    pub(crate) seq: u32,
    /// Size of the IP packet.
    pub(crate) bytes: u16,
    /// What it is.
    pub(crate) kind: Kind,
    /// See [`flag`].
    pub(crate) flags: u8,
    /// Timestamp option, in units of 2^10 ps: data carries the sender's clock, an ACK echoes it.
    pub(crate) stamp: u32,
    /// ACK: window offered, in segments.
    pub(crate) window: u32,
    /// ACK: up to three SACK blocks, each (distance of its start from `seq`) << 16 | length; 0 is none. The third of an ACK
    /// that answers a duplicate is the segment that had arrived before. First of other packets: of a request, the first
    /// segment that is missing; of those of a handshake and an end, segments sent; of data of a subflow, requests that have
    /// come there. Second and third of a request: its number in the
    /// connection, and the first data segment that is missing.
    pub(crate) sack: [u32; 3],
    /// Multipath: of data, the number of the data segment; of an ACK, the first data segment that is missing. Of a request
    /// of an application: how many bytes it asks for.
    pub(crate) data: u32,
}

const _: () = assert!(size_of::<Packet>() == 56);

impl Packet {
    /// A local event of `node`.
    pub(crate) fn local(kind: Kind, node: u32, flow: u32, time: u64) -> Self {
        Self {
            time,
            link: LOCAL | node,
            flow,
            dst: node,
            entropy: 0,
            seq: 0,
            bytes: 0,
            kind,
            flags: 0,
            stamp: 0,
            window: 0,
            sack: [0; 3],
            data: 0,
        }
    }
}

/// The clock of the timestamp option: units of 2^10 ps, wraps every 4.4 s.
#[inline(always)]
pub(crate) fn stamp(now: u64) -> u32 {
    (now >> 10) as u32
}
