//! The ideal completion time: the same flow alone on an idle network.
//!
//! Source: oracle 19 of the validation suite: packets of one size, pipelined through links that store and forward, plus
//! the handshake. Rates are exact, every serialization rounded up to the picosecond as on the wire. The window is taken
//! to be no limit, and the sender to have all data at hand: a real flow can only be slower.
//!
//! | flow | before the first data packet |
//! | --- | --- |
//! | TCP upload | SYN there, SYN-ACK back |
//! | TCP fetch | SYN from the destination, SYN-ACK back to it, request to the source |
//! | UDP | nothing: packets back to back |

use crate::ids::{FlowId, LinkId};
use crate::network::Link;
use crate::scenario::Scenario;
use crate::transport::Transport;
use crate::units::Time;
use crate::workload::Opener;

/// SYN and SYN-ACK with their options, IP header included.
pub const SYN_BYTES: u64 = 60;

impl Scenario {
    /// From the first bit of the first packet (the SYN) to the arrival of the last payload byte, alone on the network.
    /// `None` for an endless flow and where there is no way.
    pub fn ideal_fct(&self, flow: FlowId) -> Option<Time> {
        let plan = &self.flows[flow.index()];
        let transport = &self.workloads[plan.workload as usize].transport;
        let there = self.links(
            self.flow_path(flow)
                .unwrap_or_else(|| self.first_path(plan.src, plan.dst)),
        );
        let back = self.links(
            self.reverse_path(flow)
                .unwrap_or_else(|| self.first_path(plan.dst, plan.src)),
        );
        if there.is_empty() || back.is_empty() {
            return None;
        }
        let header = u64::from(transport.header_bytes());
        let mtu = there.iter().map(|l| u64::from(l.mtu)).min()?;
        let data = pipelined(&there, plan.size?, mtu - header, header);
        let handshake = match (transport, plan.opener) {
            (Transport::Udp(_), _) => Time::ZERO,
            (Transport::Tcp(_), Opener::Source) => {
                one_packet(&there, SYN_BYTES) + one_packet(&back, SYN_BYTES)
            }
            (Transport::Tcp(_), Opener::Destination) => {
                let request = one_packet(&back, header + u64::from(plan.request));
                one_packet(&back, SYN_BYTES) + one_packet(&there, SYN_BYTES) + request
            }
        };
        Some(handshake + data)
    }

    fn links(&self, path: Vec<LinkId>) -> Vec<&Link> {
        path.into_iter()
            .map(|l| &self.network.links[l.index()])
            .collect()
    }
}

fn transmit(link: &Link, ip_bytes: u64) -> Time {
    link.rate.transmit_time(ip_bytes + u64::from(link.overhead))
}

/// Time in which one IP packet crosses `path`.
fn one_packet(path: &[&Link], ip_bytes: u64) -> Time {
    path.iter().fold(Time::ZERO, |time, link| {
        time + transmit(link, ip_bytes) + link.delay
    })
}

/// Time until the last of `size` payload bytes has crossed `path`, in packets of `mss` that follow back to back.
///
/// Full packets: the last of n leaves link i at `sum over j <= i of ser_j, + (n - 1) times the largest of them` after
/// the start. The last, shorter packet leaves link i after `max(its own arrival, the packet before has left) + ser`.
fn pipelined(path: &[&Link], size: u64, mss: u64, header: u64) -> Time {
    let (full, rest) = (size / mss, size % mss);
    let (mut before, mut slowest, mut propagation) = (Time::ZERO, Time::ZERO, Time::ZERO);
    let mut last = Time::ZERO;
    for link in path {
        if full > 0 {
            let ser = transmit(link, mss + header);
            before += ser;
            slowest = slowest.max(ser);
        }
        if rest > 0 {
            let has_left = before + Time(full.saturating_sub(1) * slowest.0);
            last = last.max(has_left) + transmit(link, rest + header);
        } else {
            last = before + Time((full - 1) * slowest.0);
        }
        propagation += link.delay;
    }
    last + propagation
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::units::Rate;

    fn link(gbps: u64, delay_ns: u64) -> Link {
        Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate: Rate::from_gbps(gbps),
            delay: Time::from_ns(delay_ns),
            mtu: 1500,
            overhead: 0,
            loss: None,
            is_up: true,
        }
    }

    fn run(links: &[Link], size: u64) -> Time {
        pipelined(&links.iter().collect::<Vec<_>>(), size, 1460, 40)
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
}
