//! The ideal completion time: the same flow alone on an idle network.
//!
//! Source: oracle 19 of the validation suite: packets of one size, pipelined through links that store and forward, plus
//! the handshake. Rates are exact, every serialization rounded up to the picosecond as on the wire. The window is taken
//! to be no limit: a real flow can only be slower. UDP keeps its rate.
//!
//! | flow | before the first data packet |
//! | --- | --- |
//! | TCP upload | SYN there, SYN-ACK back, and the ACK of that ahead of the data |
//! | TCP fetch | SYN from the destination, SYN-ACK back to it, request to the source |
//! | UDP | nothing |

use std::collections::BTreeMap;

use crate::ids::{FlowId, LinkId, NodeId};
use crate::many_paths::Between;
use crate::network::Link;
use crate::scenario::Scenario;
use crate::shaper::TokenBucket;
use crate::transport::udp::{Arrivals, PacketSizes};
use crate::transport::{Transport, mptcp};
use crate::units::Time;
use crate::workload::Opener;

/// SYN and SYN-ACK with their options, IP header included.
pub const SYN_BYTES: u64 = 60;

/// What a flow sends: packets of control one after another, then its payload.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// Packets of which each is an answer to the one before: whether it comes from the destination, IP bytes.
    pub(crate) opening: Vec<(bool, u64)>,
    /// IP bytes of a packet right ahead of the payload; 0 is none.
    pub(crate) ahead: u64,
    /// Bytes of payload.
    pub(crate) size: u64,
    /// Most of it in a packet.
    pub(crate) payload: u64,
    /// Header of a packet with payload.
    pub(crate) header: u64,
    /// Picoseconds between packets that are ready; 0: all are at once.
    pub(crate) gap: f64,
}

/// The ideal completion times of a scenario's flows; what flows between the same hosts have in common is found once.
#[derive(Debug)]
pub struct Ideals<'a> {
    pub(crate) scenario: &'a Scenario,
    /// By source and destination.
    pub(crate) pairs: BTreeMap<(NodeId, NodeId), Between>,
    /// By source, destination and bytes of a packet: its time by the fastest way.
    pub(crate) times: BTreeMap<(NodeId, NodeId, u64), Option<Time>>,
}

impl<'a> Ideals<'a> {
    /// Nothing is known yet.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            pairs: BTreeMap::new(),
            times: BTreeMap::new(),
        }
    }

    /// From the first bit of the first packet (the SYN) to the arrival of the last payload byte, alone on the network.
    /// Exact where the flow has one path; else what its paths allow at best (`many_paths.rs`).
    ///
    /// `None` for an endless flow, where there is no way, for UDP with random arrivals or sizes, where it depends on the
    /// draw, for InfiniBand, where it depends on the switches, and for several paths with token buckets on them, whose bursts have no one rate.
    pub fn fct(&mut self, flow: FlowId) -> Option<Time> {
        let scenario = self.scenario;
        let plan = &scenario.flows[flow.index()];
        let (path, path_back) = scenario.idle_paths(flow);
        let (there, back) = (scenario.links(&path), scenario.links(&path_back));
        if there.is_empty() || back.is_empty() {
            return None;
        }
        let course = scenario.course(flow, &there)?;
        let has_cards = |host| scenario.network.out(host).len() > 1;
        let has_many = scenario.subflow_count(flow) > 1 || !scenario.load_balance.is_per_flow();
        let is_wider = is_widened_by_paths(&there) || has_cards(plan.src) || has_cards(plan.dst);
        if has_many && (is_wider || scenario.has_other_paths(flow, &path)) {
            return self.over_many_paths(flow, &course, (&there, &back), is_wider);
        }
        if there.iter().chain(&back).any(|l| l.shaper.is_some()) {
            return Some(packet_by_packet(&course, &there, &back));
        }
        let handshake = opening(&course.opening, &there, &back);
        let Course {
            ahead,
            size,
            payload,
            header,
            gap,
            ..
        } = course;
        Some(handshake + pipelined(&there, ahead, size, payload, header, gap))
    }
}

impl Scenario {
    /// [`Ideals::fct`] of one flow.
    pub fn ideal_fct(&self, flow: FlowId) -> Option<Time> {
        Ideals::new(self).fct(flow)
    }

    /// What the flow sends over `there`; `None` if it has no end or depends on a draw.
    fn course(&self, flow: FlowId, there: &[&Link]) -> Option<Course> {
        let plan = &self.flows[flow.index()];
        let transport = &self.workloads[plan.workload as usize].transport;
        let header = u64::from(transport.header_bytes());
        let mtu = there.iter().map(|l| u64::from(l.mtu)).min()?;
        let mut course = Course {
            opening: Vec::new(),
            ahead: 0,
            size: plan.size?,
            payload: mtu - header,
            header,
            gap: 0.0,
        };
        match transport {
            Transport::Udp(udp) => {
                if udp.arrivals != Arrivals::Constant || udp.packet_size != PacketSizes::Fixed {
                    return None;
                }
                let packet = udp.packet.map_or(mtu, |p| p.0.min(mtu));
                let wire = packet + u64::from(there[0].overhead);
                course.gap = wire as f64 * 8e12 / udp.rate.0 as f64;
                course.payload = packet - header;
            }
            // Depends on the buffers and delays of the switches, which the simulator knows.
            Transport::Infiniband(_) | Transport::Rocev2(_) => return None,
            Transport::Tcp(_) | Transport::Mptcp(_) => {
                course.opening = self.opening_packets(flow);
                if plan.opener == Opener::Source {
                    let headers = transport.headers().expect("a connection has headers");
                    let third = match transport {
                        Transport::Mptcp(_) => u64::from(mptcp::CAPABLE_BYTES[2]),
                        _ => 0,
                    };
                    course.ahead = u64::from(headers.plain) + third;
                }
            }
        }
        Some(course)
    }

    /// Packets before the payload, each an answer to the one before: whether it comes from the destination, IP bytes.
    pub(crate) fn opening_packets(&self, flow: FlowId) -> Vec<(bool, u64)> {
        let plan = &self.flows[flow.index()];
        let transport = &self.workloads[plan.workload as usize].transport;
        let [syn, syn_ack] = match transport {
            Transport::Udp(_) | Transport::Infiniband(_) | Transport::Rocev2(_) => {
                return Vec::new();
            }
            Transport::Mptcp(_) => [mptcp::CAPABLE_BYTES[0], mptcp::CAPABLE_BYTES[1]],
            Transport::Tcp(_) => [0; 2],
        };
        let (syn, syn_ack) = (SYN_BYTES + u64::from(syn), SYN_BYTES + u64::from(syn_ack));
        match plan.opener {
            Opener::Source => vec![(false, syn), (true, syn_ack)],
            Opener::Destination => {
                let request = u64::from(transport.header_bytes()) + u64::from(plan.request);
                vec![(true, syn), (false, syn_ack), (true, request)]
            }
        }
    }

    pub(crate) fn links(&self, path: &[LinkId]) -> Vec<&Link> {
        path.iter()
            .map(|l| &self.network.links[l.index()])
            .collect()
    }
}

/// Whether several paths could carry more than this one: its narrowest link is none of the hosts' own.
fn is_widened_by_paths(path: &[&Link]) -> bool {
    let [first, inner @ .., last] = path else {
        return false;
    };
    let own = first.rate.min(last.rate);
    inner.iter().any(|l| l.rate < own)
}

/// Time until the packets before the payload have come and gone.
pub(crate) fn opening(packets: &[(bool, u64)], there: &[&Link], back: &[&Link]) -> Time {
    packets.iter().fold(Time::ZERO, |time, &(is_back, bytes)| {
        time + one_packet(if is_back { back } else { there }, bytes)
    })
}

/// The recursion that [`pipelined`] solves, for links that it cannot: those with a token bucket. Buckets are full at the
/// start.
fn packet_by_packet(course: &Course, there: &[&Link], back: &[&Link]) -> Time {
    let mut there: Vec<_> = there.iter().map(|&link| Hop::new(link)).collect();
    let mut back: Vec<_> = back.iter().map(|&link| Hop::new(link)).collect();
    let cross = |hops: &mut [Hop], ready: u64, bytes: u64| -> u64 {
        hops.iter_mut()
            .fold(ready, |time, hop| hop.cross(time, bytes))
    };
    let mut begin = 0;
    for &(is_back, bytes) in &course.opening {
        begin = cross(if is_back { &mut back } else { &mut there }, begin, bytes);
    }
    if course.ahead > 0 {
        cross(&mut there, begin, course.ahead);
    }
    let (mut sent, mut packet, mut arrival) = (0, 0, begin);
    while sent < course.size {
        let payload = (course.size - sent).min(course.payload);
        let ready = begin + (packet as f64 * course.gap) as u64;
        arrival = cross(&mut there, ready, payload + course.header);
        (sent, packet) = (sent + payload, packet + 1);
    }
    Time(arrival)
}

/// A link and when it has sent what came before.
struct Hop<'a> {
    link: &'a Link,
    bucket: Option<TokenBucket>,
    free: u64,
}

impl<'a> Hop<'a> {
    fn new(link: &'a Link) -> Self {
        Self {
            link,
            bucket: TokenBucket::of(link),
            free: 0,
        }
    }

    /// A packet of so many IP bytes is there at `ready`; returns when it has arrived at the other end.
    fn cross(&mut self, ready: u64, ip_bytes: u64) -> u64 {
        let ready = ready.max(self.free);
        let bytes = ip_bytes + u64::from(self.link.overhead);
        self.free = match &mut self.bucket {
            Some(bucket) => bucket.pass(ready, bytes).leaves,
            None => ready + self.link.rate.transmit_time(bytes).0,
        };
        self.free + self.link.delay.0
    }
}

pub(crate) fn transmit(link: &Link, ip_bytes: u64) -> Time {
    link.rate.transmit_time(ip_bytes + u64::from(link.overhead))
}

/// Time in which one IP packet crosses `path`.
pub(crate) fn one_packet(path: &[&Link], ip_bytes: u64) -> Time {
    path.iter().fold(Time::ZERO, |time, link| {
        time + transmit(link, ip_bytes) + link.delay
    })
}

/// Time until the last of `size` payload bytes has crossed `path`, in packets of `mss` that are ready every `gap`
/// picoseconds (0: back to back), behind a packet of `ahead` bytes (0: none).
///
/// At each link a packet begins when it has arrived and the one before it has left. For n packets of one size that take
/// `s` there, the last leaves at the later of `its own arrival + s` and `when the first leaves + (n - 1) s`.
fn pipelined(path: &[&Link], ahead: u64, size: u64, mss: u64, header: u64, gap: f64) -> Time {
    let (full, rest) = (size / mss, size % mss);
    let ready = |packet: u64| Time((packet as f64 * gap) as u64);
    let (mut leader, mut first, mut propagation) = (Time::ZERO, Time::ZERO, Time::ZERO);
    let mut last_full = ready(full.saturating_sub(1));
    let mut last = ready(full);
    for link in path {
        if ahead > 0 {
            leader += transmit(link, ahead);
        }
        let mut has_left = leader;
        if full > 0 {
            let serialization = transmit(link, mss + header);
            first = first.max(leader) + serialization;
            let behind_first = first + Time((full - 1) * serialization.0);
            last_full = (last_full + serialization).max(behind_first);
            has_left = last_full;
        }
        last = if rest > 0 {
            last.max(has_left) + transmit(link, rest + header)
        } else {
            has_left
        };
        propagation += link.delay;
    }
    last + propagation
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::build;
    use crate::units::Rate;
    use serde_json::json;

    fn link(gbps: u64, delay_ns: u64) -> Link {
        Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate: Rate::from_gbps(gbps),
            delay: Time::from_ns(delay_ns),
            latency: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: None,
            is_up: true,
            shaper: None,
        }
    }

    fn run(links: &[Link], size: u64) -> Time {
        pipelined(&links.iter().collect::<Vec<_>>(), 0, size, 1460, 40, 0.0)
    }

    /// Packet by packet: the definition that the formula must meet.
    fn recursion(links: &[Link], size: u64) -> Time {
        let mut left = vec![Time::ZERO; links.len()];
        let mut arrival = Time::ZERO;
        let mut sent = 0;
        while sent < size {
            let payload = (size - sent).min(1460);
            sent += payload;
            arrival = Time::ZERO;
            for (link, left) in links.iter().zip(&mut left) {
                *left = arrival.max(*left) + transmit(link, payload + 40);
                arrival = *left + link.delay;
            }
        }
        arrival
    }

    #[test]
    fn equal_links_give_the_textbook_formula() {
        // 10 full packets over 3 links of 10 Gbps: 1.2 us each; S/C + (h-1) L/C + propagation = 12 + 2.4 + 1.5 us.
        assert_eq!(
            run(&[link(10, 500), link(10, 500), link(10, 500)], 14_600),
            Time::from_ns(15_900)
        );
    }

    #[test]
    fn the_slowest_link_sets_the_pace() {
        // 1500 B at 10 Gbps 1.2 us, at 1 Gbps 12 us: 1.2 + 12 + 1.2 + 4 x 12 us.
        assert_eq!(
            run(&[link(10, 0), link(1, 0), link(10, 0)], 5 * 1460),
            Time::from_ns(62_400)
        );
    }

    #[test]
    fn a_short_last_packet_is_exact() {
        // One full and one of 100 B (140 on the wire) over two links of 1 Gbps: 12 + 12 + 1.12 us: it waits at the second.
        assert_eq!(run(&[link(1, 0), link(1, 0)], 1560), Time::from_ns(25_120));
        // Alone: 2 x 1.12 us.
        assert_eq!(run(&[link(1, 0), link(1, 0)], 100), Time::from_ns(2_240));
    }

    #[test]
    fn the_formula_is_the_recursion() {
        let rates = [[10, 1, 10], [1, 10, 40], [40, 10, 1], [3, 7, 3]];
        for r in rates {
            let links = [link(r[0], 100), link(r[1], 7), link(r[2], 0)];
            for size in [1, 1459, 1460, 1461, 2920, 3000, 14_600, 15_001, 100_000] {
                assert_eq!(run(&links, size), recursion(&links, size), "{r:?} {size}");
            }
        }
    }

    #[test]
    fn a_paced_sender_waits_for_its_clock() {
        // 3 packets of 1500 B, one every 20 us, over 1 and 10 Gbps: 40 + 12 + 1.2 us.
        let links = [link(1, 0), link(10, 0)];
        let run = |size, gap| pipelined(&links.iter().collect::<Vec<_>>(), 0, size, 1460, 40, gap);
        assert_eq!(run(3 * 1460, 2e7), Time::from_ns(53_200));
        // A fourth of 140 B is ready at 60 us: + 1.12 + 0.112 us. With a gap of 5 us the link sets the pace instead.
        assert_eq!(run(3 * 1460 + 100, 2e7), Time::from_ns(61_232));
        assert_eq!(run(3 * 1460, 5e6), Time::from_ns(37_200));
    }

    /// Two hosts and a switch, 10 Gbps, 1 us, 38 bytes of overhead; one flow.
    fn ideal(workload: serde_json::Value) -> Option<Time> {
        build(json!({ "topology": { "kind": "star", "hosts": 2 }, "workload": [workload] }))
            .unwrap()
            .ideal_fct(FlowId(0))
    }

    #[test]
    fn an_upload_shakes_hands_first() {
        // SYN and SYN-ACK: 98 B, 78.4 ns and 1 us on each of two links, 2.1568 us each way.
        // One full packet of 1448 B payload: 1538 B, 2 x (1.2304 + 1) = 4.4608 us. The ACK of the
        // SYN-ACK, 90 B, goes first: 0.072 us. Together 8.8464 us.
        let upload = json!({ "kind": "pairs", "pairs": ["h0>h1"], "size": 1448 });
        assert_eq!(ideal(upload), Some(Time(8_846_400)));
    }

    #[test]
    fn a_fetch_asks_first() {
        // SYN, SYN-ACK as above; request of 52 + 100 + 38 = 190 B: 2 x (0.152 + 1) = 2.304 us; then the data.
        let fetch = json!({ "kind": "incast", "degree": 1, "fetch": true, "size": 1448 });
        assert_eq!(
            ideal(fetch),
            Some(Time(2 * 2_156_800 + 2_304_000 + 4_460_800))
        );
    }

    #[test]
    fn udp_keeps_its_rate() {
        // 1472 B payload fill a packet; at 1 Gbps one is ready every 12.304 us: the second crosses in 4.4608 us.
        let udp = json!({ "kind": "udp", "rate": 1_000_000_000 });
        let flow = |transport| json!({ "kind": "pairs", "pairs": ["h0>h1"], "size": 2944, "transport": transport });
        assert_eq!(ideal(flow(udp)), Some(Time(12_304_000 + 4_460_800)));
        assert_eq!(
            ideal(flow(
                json!({ "kind": "udp", "rate": 1, "arrivals": "poisson" })
            )),
            None
        );
    }

    #[test]
    fn a_burst_passes_a_token_bucket_at_once() {
        // 1 Mb/s, 1 us, no overhead, buckets of 3200 B on both links. SYN and SYN-ACK of 60 B and the ACK of 52 B find
        // tokens: a round trip of 2 x 2 us. Of the data (1448 B in 1500) the first two packets leave 3200 - 60 - 52 -
        // 3000 = 88 B, to which 8 us a byte only 0.5 B come in 4 us; the third waits for about 1411.5 B, 11.292 ms.
        let link =
            json!({ "rate": 1_000_000, "overhead": 0, "shaper": "token_bucket", "burst": 3200 });
        let ideal = |size: u64| {
            build(json!({
                "topology": { "kind": "star", "hosts": 2, "link": link },
                "workload": [{ "kind": "pairs", "pairs": ["h0>h1"], "size": size }],
            }))
            .unwrap()
            .ideal_fct(FlowId(0))
            .unwrap()
        };
        assert_eq!(ideal(2 * 1448), Time::from_us(6));
        // 1412 B from the time at which the bucket was full, when the SYN had not left: 112 + 4500 - 3200 = 1412 B.
        assert_eq!(ideal(3 * 1448), Time(1412 * 8_000_000 + 2_000_000));
    }

    #[test]
    fn an_endless_flow_has_none() {
        assert_eq!(ideal(json!({ "kind": "pairs", "pairs": ["h0>h1"] })), None);
    }
}
