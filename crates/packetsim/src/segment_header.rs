//! The TCP header of a packet: what the simulator says in segments, as sequence numbers, windows and options in bytes.
//!
//! What the simulator does not model: initial sequence numbers and keys, which are drawn from the seed; the echo of timestamps
//! in packets that carry data, which is 0; the clock of the side that only acknowledges, which is the time at the port. A
//! tick of the clock is 2^10 ps.

use std::sync::Arc;

use weft_net::ids::FlowId;
use weft_net::load_balance::FiveTuple;
use weft_net::random::stream_key;
use weft_net::scenario::Scenario;
use weft_net::transport::mptcp::DataSequence;
use weft_net::transport::{Headers, Transport};
use weft_net::workload::Opener;

use crate::config::Config;
use crate::congestion::Control;
use crate::frame::{Inside, Tcp, bit};
use crate::mptcp_options::{Keys, Mapped, dss};
use crate::packet::{Kind, Packet, flag, stamp};
use crate::segments::{segment_bytes, segments};
use crate::tap::{Ledger, Seen, Sizes};

/// IPv4 and TCP header without options.
const BARE: u16 = 40;
const NOP: u8 = 1;
/// End of the options, and what fills the header behind it.
const END: u8 = 0;

/// What of a subflow does not change during the run.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Of the packets that carry payload.
    pub(crate) tuple: FiveTuple,
    /// `None`: UDP.
    tcp: Option<Box<Stack>>,
}

#[derive(Clone, Debug)]
struct Stack {
    headers: Headers,
    sizes: Sizes,
    mtu: u32,
    /// Which side opened the connection: 0, the source of the payload; 1, its destination.
    opener: usize,
    /// Initial sequence numbers, by side.
    isn: [u32; 2],
    is_ecn_capable: bool,
    has_timestamps: bool,
    receive_window: u64,
    scale: u8,
    /// Payload of a request, where it has any.
    request: u64,
    multipath: Option<Multipath>,
}

#[derive(Clone, Debug)]
struct Multipath {
    keys: Keys,
    /// The subflow joins the first one.
    joins: bool,
    /// Nonces of opener and other side.
    nonces: [u32; 2],
    is_long: bool,
    /// Data segments of the flow, and its bytes; `None`: endless.
    total: Option<(u32, u64)>,
}

/// The sizes of the segments of a flow's subflows; `None` for UDP. `has_messages`: it is a connection of an application.
pub(crate) fn sizes(scenario: &Scenario, mtu: u32, flow: u32, has_messages: bool) -> Option<Sizes> {
    let plan = &scenario.flows[flow as usize];
    let workload = &scenario.workloads[plan.workload as usize];
    Some(Sizes {
        header: workload.transport.headers()?.data,
        mss: segment_bytes(mtu, &workload.transport),
        has_messages,
        has_fin: !has_messages && matches!(workload.transport, Transport::Tcp(_)),
        stream: (has_messages && matches!(workload.transport, Transport::Mptcp(_))).then_some(flow),
    })
}

impl Connection {
    /// `sizes` are those of its segments, `None` for UDP.
    pub(crate) fn new(
        scenario: &Arc<Scenario>,
        config: &Config,
        mtu: u32,
        id: u32,
        sizes: Option<Sizes>,
    ) -> Self {
        let (flow, number) = scenario.subflow(id);
        let plan = &scenario.flows[flow.index()];
        let transport = &scenario.workloads[plan.workload as usize].transport;
        let draw = |what: &str| stream_key(scenario.seed, &format!("capture/{what}/{id}"));
        let tcp = sizes.zip(transport.tcp()).map(|(sizes, tcp)| {
            let control = config.congestion[plan.workload as usize].controller();
            let receive_window = tcp.receive_window.0;
            let most = receive_window.max(1);
            let opener = usize::from(plan.opener == Opener::Destination);
            Box::new(Stack {
                headers: transport.headers().expect("a connection has headers"),
                sizes,
                mtu,
                opener,
                isn: ["source", "destination"].map(|side| draw(&format!("isn/{side}")) as u32),
                is_ecn_capable: tcp.ecn || control.needs_precise_marks(),
                has_timestamps: tcp.timestamps,
                receive_window,
                // The smallest with which the largest window can be said.
                scale: (64 - most.leading_zeros()).saturating_sub(16).min(14) as u8,
                // Only the connection of an application asks on other subflows than the first.
                request: if opener == 1 && (number == 0 || sizes.has_messages) {
                    u64::from(plan.request)
                } else {
                    0
                },
                multipath: match transport {
                    Transport::Mptcp(m) => Some(Multipath {
                        keys: Keys::new(scenario.seed, flow.0),
                        joins: number > 0,
                        nonces: ["opener", "other"]
                            .map(|side| draw(&format!("nonce/{side}")) as u32),
                        is_long: m.data_sequence == DataSequence::Long,
                        total: plan.size.map(|s| (segments(Some(s), sizes.mss).0, s)),
                    }),
                    _ => None,
                },
            })
        });
        Self {
            tuple: scenario.subflow_tuple(FlowId(flow.0), number),
            tcp,
        }
    }

    /// What the IP packet holds.
    pub(crate) fn inside(&self, seen: &Seen, ledger: &Ledger, data: &Ledger) -> Inside {
        match &self.tcp {
            None => Inside::Udp,
            Some(stack) => Inside::Tcp(stack.header(seen, ledger, data)),
        }
    }
}

impl Stack {
    fn header(&self, seen: &Seen, ledger: &Ledger, data: &Ledger) -> Tcp {
        let packet = &seen.packet;
        let side = usize::from(packet.flags & flag::BACKWARD != 0);
        let (seq, ack) = if side == 0 {
            self.forward(packet, ledger)
        } else {
            self.backward(seen, ledger)
        };
        let flags = self.flags(packet);
        let place = |base: u32, offset: u64| base.wrapping_add(offset as u32);
        let payload = match packet.kind {
            Kind::Data | Kind::Request => packet.bytes - self.headers.data,
            _ => 0,
        };
        let mut options = self.options(seen, [ledger, data], seq, payload);
        options.resize(usize::from(packet.bytes - payload - BARE), END);
        Tcp {
            seq: place(self.isn[side], seq),
            ack: if flags & bit::ACK == 0 {
                0
            } else {
                place(self.isn[1 - side], ack)
            },
            flags,
            window: self.window(packet, side),
            options,
        }
    }

    /// Sequence and acknowledgment number of a packet from the source of the payload, relative to the initial ones.
    fn forward(&self, packet: &Packet, ledger: &Ledger) -> (u64, u64) {
        let mss = u64::from(self.sizes.mss);
        let is_fin = packet.flags & flag::FIN != 0;
        match packet.kind {
            Kind::Syn => (0, 0),
            Kind::SynAck => (0, 1),
            Kind::Data => {
                // Data answers requests that have arrived.
                let requests = match (self.sizes.has_messages, self.sizes.stream) {
                    (false, _) => 1,
                    (true, None) => ledger.messages_before(packet.seq) + 1,
                    (true, Some(_)) => u64::from(packet.sack[0]),
                };
                (
                    1 + ledger.position(packet.seq, mss),
                    1 + requests * self.request,
                )
            }
            // What the sender had sent; its last packet acknowledges the other FIN, after its own.
            kind => {
                let last = u64::from(kind == Kind::Ack && is_fin);
                let sent = ledger.position(packet.sack[0], mss);
                // A subflow that joins has not been asked before its handshake is over.
                let asked = if self.sizes.stream.is_some() {
                    0
                } else {
                    self.request
                };
                (1 + sent + last, 1 + asked + last)
            }
        }
    }

    /// The same of a packet from the destination.
    fn backward(&self, seen: &Seen, ledger: &Ledger) -> (u64, u64) {
        let packet = &seen.packet;
        let mss = u64::from(self.sizes.mss);
        let requests = u64::from(match self.sizes.has_messages {
            true => seen.requests,
            // It was delivered before anything was acknowledged.
            false => 1,
        });
        let asked = 1 + requests * self.request;
        match packet.kind {
            Kind::Syn => (0, 0),
            Kind::SynAck => (0, 1),
            Kind::Request => (
                1 + u64::from(packet.seq) * self.request,
                1 + ledger.position(packet.sack[0], mss),
            ),
            Kind::Ack => {
                let fin = u64::from(packet.flags & flag::FIN != 0);
                (asked, 1 + ledger.position(packet.seq, mss) + fin)
            }
            _ => (asked, 1),
        }
    }

    fn flags(&self, packet: &Packet) -> u8 {
        let has = |flag: u8| packet.flags & flag != 0;
        let on = |is: bool, bits: u8| if is { bits } else { 0 };
        let ends = has(flag::FIN);
        match packet.kind {
            Kind::Syn => bit::SYN | on(self.is_ecn_capable, bit::ECE | bit::CWR),
            Kind::SynAck => bit::SYN | bit::ACK | on(self.is_ecn_capable, bit::ECE),
            Kind::Data => {
                bit::ACK
                    | on(ends, bit::PSH)
                    | on(ends && self.sizes.has_fin, bit::FIN)
                    | on(has(flag::CWR), bit::CWR)
            }
            Kind::Request => bit::ACK | bit::PSH,
            Kind::Fin => bit::ACK | bit::FIN,
            Kind::Reset => bit::ACK | bit::RST,
            _ => {
                bit::ACK | on(has(flag::ECE), bit::ECE) | on(ends && has(flag::BACKWARD), bit::FIN)
            }
        }
    }

    fn window(&self, packet: &Packet, side: usize) -> u16 {
        let bytes = match side {
            0 => self.receive_window,
            _ => u64::from(packet.window) * u64::from(self.sizes.mss),
        };
        let scale = match packet.kind {
            Kind::Syn | Kind::SynAck => 0,
            _ => self.scale,
        };
        (bytes >> scale).min(u64::from(u16::MAX)) as u16
    }

    /// The options, without the padding behind them. `seq` is relative to the initial sequence number.
    fn options(
        &self,
        seen: &Seen,
        [ledger, data]: [&Ledger; 2],
        seq: u64,
        payload: u16,
    ) -> Vec<u8> {
        let packet = &seen.packet;
        let is_backward = packet.flags & flag::BACKWARD != 0;
        let mut options = Vec::with_capacity(40);
        let times = |options: &mut Vec<u8>| {
            let clock = if is_backward {
                stamp(seen.leaves)
            } else {
                packet.stamp
            };
            let echo = match packet.kind {
                Kind::Ack if is_backward => packet.stamp,
                _ => 0,
            };
            options.extend([8, 10]);
            options.extend(clock.to_be_bytes());
            options.extend(echo.to_be_bytes());
        };
        let third = self
            .multipath
            .as_ref()
            .and_then(|m| m.third(self, packet, side_of(packet)));
        match packet.kind {
            Kind::Syn | Kind::SynAck => {
                let [high, low] = ((self.mtu - u32::from(BARE)) as u16).to_be_bytes();
                options.extend([2, 4, high, low, 4, 2]);
                if self.has_timestamps {
                    times(&mut options);
                }
                options.extend([NOP, 3, 3, self.scale]);
                if let Some(m) = &self.multipath {
                    options.resize(20, NOP);
                    options.extend(m.handshake(usize::from(packet.kind == Kind::SynAck)));
                }
                return options;
            }
            _ if self.has_timestamps => {
                options.extend([NOP, NOP]);
                times(&mut options);
            }
            _ => {}
        }
        if let Some(third) = third {
            options.extend(third);
            return options;
        }
        if packet.kind == Kind::Ack && is_backward {
            self.sack(packet, ledger, &mut options);
        }
        if let Some(m) = &self.multipath {
            options.extend(m.signal(self, packet, data, seq, payload));
        }
        options
    }

    fn sack(&self, packet: &Packet, ledger: &Ledger, options: &mut Vec<u8>) {
        let mss = u64::from(self.sizes.mss);
        let edge = |segment: u32| {
            let fin = u64::from(ledger.fin == Some(segment));
            let place = 1 + ledger.position(segment, mss) + fin;
            self.isn[0].wrapping_add(place as u32).to_be_bytes()
        };
        let mut blocks = Vec::new();
        let mut room = 3;
        if packet.flags & flag::DUPLICATE != 0 {
            // RFC 2883: the block that says what has come twice is the first.
            let twice = packet.sack[2];
            let start = ledger.position(twice, mss) + 1;
            blocks.push([
                self.isn[0].wrapping_add(start as u32).to_be_bytes(),
                edge(twice + 1),
            ]);
            room = 2;
        }
        for block in packet.sack[..room].iter().filter(|&&b| b != 0) {
            let start = packet.seq + (block >> 16);
            let place = ledger.position(start, mss) + 1;
            let from = self.isn[0].wrapping_add(place as u32).to_be_bytes();
            blocks.push([from, edge(start + (block & 0xffff))]);
        }
        if !blocks.is_empty() {
            options.extend([NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
            options.extend(blocks.into_iter().flatten().flatten());
        }
    }
}

fn side_of(packet: &Packet) -> usize {
    usize::from(packet.flags & flag::BACKWARD != 0)
}

impl Multipath {
    /// Option `number` of the handshake: of the SYN, the SYN-ACK, the third packet.
    fn handshake(&self, number: usize) -> Vec<u8> {
        if self.joins {
            self.keys.join(number, self.nonces)
        } else {
            self.keys.capable(number)
        }
    }

    /// The option of the third packet, if this is it.
    fn third(&self, stack: &Stack, packet: &Packet, side: usize) -> Option<Vec<u8>> {
        let is_third = match packet.kind {
            // The fourth packet comes from the other side.
            Kind::Join => side == stack.opener,
            Kind::Ack => side == 0 && packet.flags & flag::FIN == 0,
            _ => false,
        };
        is_third.then(|| self.handshake(2))
    }

    /// The signal of the data level.
    fn signal(
        &self,
        stack: &Stack,
        packet: &Packet,
        ledger: &Ledger,
        seq: u64,
        payload: u16,
    ) -> Vec<u8> {
        let mss = u64::from(stack.sizes.mss);
        // Short are only the ends of messages; that of a flow has nothing behind it.
        let place = |data: u32| ledger.position(data, mss);
        // Keys are numbered by who opened the connection.
        let idsn = |side: usize| self.keys.idsn(usize::from(side != stack.opener));
        let begins = |side: usize| idsn(side).wrapping_add(1);
        let ack = match side_of(packet) {
            // Data answers requests that have arrived, on whatever subflow.
            0 if stack.sizes.has_messages && packet.kind == Kind::Data => {
                let requests = ledger.messages_before(packet.data) + 1;
                begins(1).wrapping_add(requests * stack.request)
            }
            0 if stack.sizes.has_messages => begins(1),
            0 => begins(1).wrapping_add(stack.request),
            _ => {
                let reached = match packet.kind {
                    Kind::Request => packet.sack[2],
                    _ => packet.data,
                };
                let received = match self.total {
                    // DATA_FIN takes a place.
                    Some((segments, size)) if reached >= segments => size + 1,
                    _ => place(reached),
                };
                begins(0).wrapping_add(received)
            }
        };
        let mapped = match packet.kind {
            Kind::Data => Some(Mapped {
                data: begins(0).wrapping_add(place(packet.data)),
                subflow: seq as u32,
                length: payload,
                is_last: packet.flags & flag::FIN != 0 && self.total.is_some(),
            }),
            Kind::Request => Some(Mapped {
                data: begins(1).wrapping_add(u64::from(packet.sack[1]) * stack.request),
                subflow: seq as u32,
                length: payload,
                is_last: false,
            }),
            _ => None,
        };
        dss(ack, mapped, self.is_long)
    }
}
