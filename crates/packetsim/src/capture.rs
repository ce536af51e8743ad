//! A capture: the packets that leave some ports, as frames in a pcapng file, in the order of their times.
//!
//! A frame's time is when its last bit leaves the port. What is ready is taken as the run goes on, so that memory does not
//! grow with it; only what has a connection's sizes apart (short segments) stays.

use std::collections::BTreeMap;

use crate::engine::Lossy;
use crate::frame::Frame;
use crate::packet::flag;
use crate::pcapng;
use crate::segment_header::{Connection, sizes};
use crate::tap::{Seen, Tap};

/// What is captured, beside the tap of the wire.
#[derive(Debug)]
pub(crate) struct Capture {
    /// The interface of each link.
    interfaces: BTreeMap<u32, u32>,
    /// By interface: frames so far.
    frames: Vec<u64>,
    /// Bytes of a frame that are kept.
    snaplen: usize,
    /// Accepted by their ports, but later than what may still come.
    pending: Vec<Seen>,
    connections: BTreeMap<u32, Connection>,
    out: Vec<u8>,
}

impl Lossy {
    /// Captures what leaves the ports of `links` from now on: `snaplen` bytes of each frame, 0 for all. Before the first
    /// step.
    pub(crate) fn capture_ports(
        &mut self,
        links: &[u32],
        snaplen: u32,
        application: &str,
        comment: &str,
    ) {
        let network = &self.scenario.network;
        let mut out = Vec::new();
        pcapng::section(&mut out, application, comment);
        for &link in links {
            let rate = network.links[link as usize].rate.0;
            let name = network.link_name(weft_net::ids::LinkId(link));
            pcapng::interface(&mut out, &name, rate, snaplen);
        }
        let mut is_kept = vec![false; network.links.len()];
        for &link in links {
            is_kept[link as usize] = true;
        }
        let is_card = network
            .links
            .iter()
            .map(|l| network.is_host(l.src))
            .collect();
        let of_subflows = (0..self.scenario.subflows_total() as u32)
            .map(|id| {
                let flow = self.scenario.subflow(id).0.0;
                sizes(
                    &self.scenario,
                    self.hosts.mtu,
                    flow,
                    self.hosts.apps.has(flow),
                )
            })
            .collect();
        let tap = Tap::new(is_kept, is_card, of_subflows);
        for link in 0..network.links.len() {
            if tap.watches(link) {
                self.wire.ports.watch(link as u32);
            }
        }
        self.wire.tap = Some(Box::new(tap));
        self.capture = Some(Capture {
            interfaces: links.iter().copied().zip(0..).collect(),
            frames: vec![0; links.len()],
            snaplen: if snaplen == 0 {
                usize::MAX
            } else {
                snaplen as usize
            },
            pending: Vec::new(),
            connections: BTreeMap::new(),
            out,
        });
    }

    /// The bytes of the file since the last call. What had not left its port when the run ended is not in it.
    pub(crate) fn take_captured(&mut self) -> Vec<u8> {
        let (Some(capture), Some(tap)) = (&mut self.capture, &mut self.wire.tap) else {
            return Vec::new();
        };
        capture.pending.append(&mut tap.seen);
        // What is still to come leaves after this.
        let now = self.now;
        let mut ready: Vec<Seen> = capture
            .pending
            .extract_if(.., |s| s.leaves <= now)
            .collect();
        ready.sort_by_key(|s| (s.leaves, s.link));
        for seen in &ready {
            let id = seen.packet.flow;
            let connection = capture.connections.entry(id).or_insert_with(|| {
                Connection::new(
                    &self.scenario,
                    &self.config,
                    self.hosts.mtu,
                    id,
                    tap.sizes(id),
                )
            });
            let ends = &self.scenario.network.links[seen.link as usize];
            let address =
                |node: weft_net::ids::NodeId| self.scenario.network.nodes[node.index()].address;
            let is_backward = seen.packet.flags & flag::BACKWARD != 0;
            let tuple = if is_backward {
                connection.tuple.reverse()
            } else {
                connection.tuple
            };
            let inside = tap.with_ledgers(id, |ledger, data| connection.inside(seen, ledger, data));
            let frame = Frame::new(
                (address(ends.src), address(ends.dst)),
                &tuple,
                ecn(seen.packet.flags),
                seen.packet.bytes,
                &inside,
            );
            capture.write(seen, &frame);
        }
        std::mem::take(&mut capture.out)
    }

    /// Frames so far, by captured link.
    pub(crate) fn count_captured(&self) -> Vec<u64> {
        self.capture
            .as_ref()
            .map_or_else(Vec::new, |c| c.frames.clone())
    }
}

impl Capture {
    fn write(&mut self, seen: &Seen, frame: &Frame) {
        let interface = self.interfaces[&seen.link];
        self.frames[interface as usize] += 1;
        let mut bytes = frame.headers.clone();
        bytes.resize(self.snaplen.min(frame.length as usize), 0);
        pcapng::packet(
            &mut self.out,
            interface,
            seen.leaves / 1000,
            &bytes,
            frame.length,
        );
    }
}

/// The two bits of the IP header (RFC 3168): ECT(0), or congestion experienced.
fn ecn(flags: u8) -> u8 {
    match (flags & flag::CE != 0, flags & flag::ECT != 0) {
        (true, _) => 0b11,
        (false, true) => 0b10,
        (false, false) => 0,
    }
}
