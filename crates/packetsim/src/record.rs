//! What is known of a flow once its ends are gone: one row of the `flows` table in the making.

use serde::{Deserialize, Serialize};
use weft_net::results::Latency;

/// Why a flow did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reason {
    /// It did, or nothing is known against it.
    None,
    /// There is no way to the destination.
    PathDown,
    /// Too many timeouts in a row.
    BackOff,
}

/// How far packets were reordered (RFC 4737, section 4.2.2): the extent of a late packet is how many packets have arrived
/// since the first that was sent after it, that one included.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Extents {
    /// Late packets whose extent is known.
    pub(crate) count: u64,
    pub(crate) sum: u64,
    pub(crate) most: u64,
}

impl Extents {
    pub(crate) fn note(&mut self, extent: u64) {
        self.add(&Self {
            count: 1,
            sum: extent,
            most: extent,
        });
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }
}

/// Nothing yet.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// One flow; times in ps, [`UNKNOWN`] until they are known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The first packet was sent.
    pub(crate) started: u64,
    /// The last payload byte was received.
    pub(crate) finished: u64,
    /// The sender knew that.
    pub(crate) acked: u64,
    /// The last FIN arrived.
    pub(crate) closed: u64,
    pub(crate) reason: Reason,
    /// Payload received, each byte once.
    pub(crate) delivered: u64,
    /// The same at the start and at the end of the measurement window.
    pub(crate) delivered_before: u64,
    pub(crate) delivered_until: u64,
    /// Wire bytes that the source sent.
    pub(crate) wire_bytes: u64,
    pub(crate) resent_bytes: u64,
    /// How often the retransmission timer went off, and for how long nothing had happened each time, ps.
    pub(crate) timeouts: u64,
    pub(crate) timeout_wait: u64,
    pub(crate) reordered: u64,
    /// Segments that arrived although they had arrived before: retransmitted in vain.
    pub(crate) duplicates: u64,
    pub(crate) extents: Extents,
    /// Packets that either end sent, and that arrived at either.
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    /// Subflows that were established.
    pub(crate) subflows: u32,
    /// The end has been there and is gone: packets on their way do not make it again.
    pub(crate) source_is_over: bool,
    pub(crate) sink_is_over: bool,
    /// The one-way delay of datagrams, or the time of an application's queries.
    pub(crate) latency: Option<Latency>,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            started: UNKNOWN,
            finished: UNKNOWN,
            acked: UNKNOWN,
            closed: UNKNOWN,
            reason: Reason::None,
            delivered: 0,
            delivered_before: 0,
            delivered_until: UNKNOWN,
            wire_bytes: 0,
            resent_bytes: 0,
            timeouts: 0,
            timeout_wait: 0,
            reordered: 0,
            duplicates: 0,
            extents: Extents::default(),
            sent: 0,
            arrived: 0,
            subflows: 1,
            source_is_over: false,
            sink_is_over: false,
            latency: None,
        }
    }
}
