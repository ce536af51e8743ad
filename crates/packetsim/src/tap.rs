//! A tap on ports: which packets left them, and what must be known of their connections to write their headers.
//!
//! A packet names segments; a header counts bytes. The two differ where a segment is shorter than the others, so a tap also
//! looks at what hosts send. It changes nothing, and costs nothing where there is none: ports that are not watched do not
//! come here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::packet::{Kind, Packet, flag};

/// A packet that left a watched port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// When its last bit left, ps.
    pub(crate) leaves: u64,
    pub(crate) link: u32,
    /// Requests that had left the port before it on its connection, this one included.
    pub(crate) requests: u32,
    pub(crate) packet: Packet,
}

/// Where the segments of a subflow lie in its sequence of bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// Segments below this have been sent.
    sent: u32,
    /// Ends of messages and short segments: (the segment after, bytes by which all so far were short).
    ends: Vec<(u32, u64)>,
    /// The segment after the one that carried the FIN.
    pub(crate) fin: Option<u32>,
}

impl Ledger {
    /// A host sends segment `seq` with `payload` bytes where full ones have `mss`.
    fn note(&mut self, seq: u32, payload: u64, mss: u64, is_end: bool) {
        if seq < self.sent {
            return;
        }
        self.sent = seq + 1;
        if is_end || payload < mss {
            let before = self.ends.last().map_or(0, |e| e.1);
            self.ends.push((seq + 1, before + mss - payload));
        }
    }

    /// Bytes before segment `seq`.
    pub(crate) fn position(&self, seq: u32, mss: u64) -> u64 {
        u64::from(seq) * mss - self.short_before(seq)
    }

    /// Messages that end before segment `seq`, where it is one of an application.
    pub(crate) fn messages_before(&self, seq: u32) -> u64 {
        self.ends.partition_point(|e| e.0 <= seq) as u64
    }

    fn short_before(&self, seq: u32) -> u64 {
        let at = self.ends.partition_point(|e| e.0 <= seq);
        at.checked_sub(1).map_or(0, |last| self.ends[last].1)
    }
}

/// The segments of a workload's connections.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sizes {
    /// Header bytes of a data packet.
    pub(crate) header: u16,
    /// Payload of a full segment.
    pub(crate) mss: u16,
    /// The end of a segment sequence is that of a message.
    pub(crate) has_messages: bool,
    /// A FIN rides on the last segment.
    pub(crate) has_fin: bool,
    /// Of a subflow of an application's connection: that connection, whose data segments may be short, too.
    pub(crate) stream: Option<u32>,
}

/// All that is tapped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tap {
    /// By link: whether its packets are kept.
    is_kept: Vec<bool>,
    /// By link: whether a host sends over it.
    is_card: Vec<bool>,
    /// By subflow: the sizes of its segments; `None` for UDP.
    sizes: Vec<Option<Sizes>>,
    /// By subflow.
    ledgers: BTreeMap<u32, Ledger>,
    /// Of the data of multipath connections that carry messages, by flow.
    streams: BTreeMap<u32, Ledger>,
    /// By link and subflow: requests that have left.
    requests: BTreeMap<(u32, u32), u32>,
    /// What has not been taken.
    pub(crate) seen: Vec<Seen>,
}

impl Tap {
    pub(crate) fn new(is_kept: Vec<bool>, is_card: Vec<bool>, sizes: Vec<Option<Sizes>>) -> Self {
        Self {
            is_kept,
            is_card,
            sizes,
            ledgers: BTreeMap::new(),
            streams: BTreeMap::new(),
            requests: BTreeMap::new(),
            seen: Vec::new(),
        }
    }

    /// Whether the packets of a link come here.
    pub(crate) fn watches(&self, link: usize) -> bool {
        self.is_kept[link] || self.is_card[link]
    }

    /// A packet is accepted at a watched port and leaves it then.
    pub(crate) fn note(&mut self, link: u32, leaves: u64, packet: &Packet) {
        let id = packet.flow;
        if self.is_card[link as usize]
            && packet.kind == Kind::Data
            && let Some(sizes) = self.sizes[id as usize]
        {
            let ledger = self.ledgers.entry(id).or_default();
            let has_flag = packet.flags & flag::FIN != 0;
            let payload = u64::from(packet.bytes - sizes.header);
            let is_end = sizes.has_messages && has_flag;
            ledger.note(packet.seq, payload, u64::from(sizes.mss), is_end);
            if let Some(flow) = sizes.stream {
                let data = self.streams.entry(flow).or_default();
                data.note(packet.data, payload, u64::from(sizes.mss), is_end);
            }
            if sizes.has_fin && has_flag {
                ledger.fin = Some(packet.seq + 1);
            }
        }
        if self.is_kept[link as usize] {
            let mut requests = self.requests.get(&(link, id)).copied().unwrap_or(0);
            if packet.kind == Kind::Request {
                requests = requests.max(packet.seq + 1);
                self.requests.insert((link, id), requests);
            }
            self.seen.push(Seen {
                leaves,
                link,
                requests,
                packet: *packet,
            });
        }
    }

    /// The sizes of a subflow's segments; `None` for UDP.
    pub(crate) fn sizes(&self, id: u32) -> Option<Sizes> {
        self.sizes[id as usize]
    }

    /// What `f` makes of the ledgers of a subflow and of its connection's data; of empty ones if nothing was sent.
    pub(crate) fn with_ledgers<T>(&self, id: u32, f: impl FnOnce(&Ledger, &Ledger) -> T) -> T {
        let none = Ledger::default();
        let stream = self.sizes(id).and_then(|s| s.stream);
        let data = stream.and_then(|flow| self.streams.get(&flow));
        f(
            self.ledgers.get(&id).unwrap_or(&none),
            data.unwrap_or(&none),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_segments_move_what_follows() {
        // Segments of 100, 100, 30 (the end of a message), 100 and 100 (an end), 7 (an end).
        let mut ledger = Ledger::default();
        for (seq, payload, is_end) in [
            (0, 100, false),
            (1, 100, false),
            (2, 30, true),
            (3, 100, false),
            (4, 100, true),
            (1, 100, false),
            (2, 30, true),
            (5, 7, true),
        ] {
            ledger.note(seq, payload, 100, is_end);
        }
        let places: Vec<_> = (0..7).map(|seq| ledger.position(seq, 100)).collect();
        assert_eq!(places, [0, 100, 200, 230, 330, 430, 437]);
        let messages: Vec<_> = (0..7).map(|seq| ledger.messages_before(seq)).collect();
        assert_eq!(messages, [0, 0, 0, 1, 1, 2, 3]);
    }
}
