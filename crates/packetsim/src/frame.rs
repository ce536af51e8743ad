//! Frames as they would be on a wire: Ethernet, IPv4, TCP or UDP, with right lengths and checksums and a payload of zeros.
//!
//! Sources: RFC 791, RFC 768, RFC 9293 section 3.1, RFC 1071 (checksum).

use weft_net::load_balance::FiveTuple;

/// Ethernet header.
pub(crate) const ETHERNET_BYTES: usize = 14;
const IPV4_BYTES: usize = 20;
const TTL: u8 = 64;

/// Bits of TCP's flags.
pub(crate) mod bit {
    pub(crate) const FIN: u8 = 1;
    pub(crate) const SYN: u8 = 2;
    pub(crate) const RST: u8 = 4;
    pub(crate) const PSH: u8 = 8;
    pub(crate) const ACK: u8 = 16;
    pub(crate) const ECE: u8 = 64;
    pub(crate) const CWR: u8 = 128;
}

/// What a TCP header says beside ports and checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tcp {
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) window: u16,
    /// A multiple of four bytes, at most 40.
    pub(crate) options: Vec<u8>,
}

/// What is inside the IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    Tcp(Tcp),
    Udp,
}

/// A frame; its headers are bytes, its payload are zeros that nobody needs to store.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) headers: Vec<u8>,
    /// Bytes of the whole frame.
    pub(crate) length: u32,
}

impl Frame {
    /// The frame from one node to the next. `bytes` is the size of the IP packet, `ecn` the two bits of its header.
    pub(crate) fn new(
        between: ([u8; 4], [u8; 4]),
        tuple: &FiveTuple,
        ecn: u8,
        bytes: u16,
        inside: &Inside,
    ) -> Self {
        let mut headers = Vec::with_capacity(ETHERNET_BYTES + IPV4_BYTES + 60);
        headers.extend(mac(between.1));
        headers.extend(mac(between.0));
        headers.extend(0x0800_u16.to_be_bytes());
        headers.extend([0x45, ecn]);
        headers.extend(bytes.to_be_bytes());
        // Not to be fragmented, so that it needs no identification (RFC 6864).
        headers.extend([0, 0, 0x40, 0, TTL, tuple.protocol, 0, 0]);
        headers.extend(tuple.src);
        headers.extend(tuple.dst);
        let header_sum = checksum(sum(&headers[ETHERNET_BYTES..]));
        headers[ETHERNET_BYTES + 10..ETHERNET_BYTES + 12]
            .copy_from_slice(&header_sum.to_be_bytes());
        let begin = headers.len();
        headers.extend(tuple.src_port.to_be_bytes());
        headers.extend(tuple.dst_port.to_be_bytes());
        let length = bytes - IPV4_BYTES as u16;
        let at = match inside {
            Inside::Udp => {
                headers.extend(length.to_be_bytes());
                headers.extend([0, 0]);
                begin + 6
            }
            Inside::Tcp(tcp) => {
                headers.extend(tcp.seq.to_be_bytes());
                headers.extend(tcp.ack.to_be_bytes());
                let words = 5 + tcp.options.len() / 4;
                headers.extend([(words as u8) << 4, tcp.flags]);
                headers.extend(tcp.window.to_be_bytes());
                headers.extend([0; 4]);
                headers.extend(&tcp.options);
                begin + 16
            }
        };
        // The pseudo header; zeros of the payload add nothing.
        let pseudo =
            sum(&tuple.src) + sum(&tuple.dst) + u32::from(tuple.protocol) + u32::from(length);
        let code = match (checksum(pseudo + sum(&headers[begin..])), inside) {
            // Zero would mean that there is none.
            (0, Inside::Udp) => 0xffff,
            (code, _) => code,
        };
        headers[at..at + 2].copy_from_slice(&code.to_be_bytes());
        let inside_ip = headers.len() - ETHERNET_BYTES;
        assert!(
            inside_ip <= usize::from(bytes),
            "{inside_ip} bytes of headers in an IP packet of {bytes}"
        );
        Self {
            headers,
            length: ETHERNET_BYTES as u32 + u32::from(bytes),
        }
    }
}

/// Hardware address of a node: locally administered, its IPv4 address behind 02:00.
fn mac(address: [u8; 4]) -> [u8; 6] {
    let [a, b, c, d] = address;
    [2, 0, a, b, c, d]
}

/// The sum of 16-bit words; at most a few dozen of them.
fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&b| u32::from(b)))
        .sum()
}

/// The one's complement of a sum.
fn checksum(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        // The example of its section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
        assert_eq!(
            checksum(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])),
            !0xddf2
        );
    }

    #[test]
    fn a_datagram_is_as_long_as_its_ip_packet_says() {
        let tuple = FiveTuple {
            src: [10, 0, 0, 2],
            dst: [10, 1, 0, 2],
            src_port: 1,
            dst_port: 2,
            protocol: 17,
        };
        let frame = Frame::new(([10, 0, 0, 1], [10, 0, 2, 1]), &tuple, 3, 128, &Inside::Udp);
        assert_eq!((frame.headers.len(), frame.length), (42, 142));
        assert_eq!(frame.headers[..12], [2, 0, 10, 0, 2, 1, 2, 0, 10, 0, 0, 1]);
        // Summed with its checksum a header gives ffff.
        assert_eq!(checksum(sum(&frame.headers[14..34])), 0);
        assert_eq!(frame.headers[15], 3);
    }
}
