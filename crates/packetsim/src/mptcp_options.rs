//! The options of MPTCP as bytes (RFC 8684), with keys, tokens and codes that belong together.
//!
//! The simulator has no keys; a capture makes some from the seed, so that its options can be checked against each other.

use weft_net::random::stream_key;

use crate::sha256::{hmac, sha256};

const KIND: u8 = 30;
/// Subtype and version 1.
const CAPABLE: u8 = 1;
/// HMAC-SHA256 (flag H).
const SHA256: u8 = 1;
const JOIN: u8 = 1 << 4;
const DSS: u8 = 2 << 4;

/// The keys of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// Of the host that opened it, and of the other.
    keys: [[u8; 8]; 2],
    digests: [[u8; 32]; 2],
}

impl Keys {
    pub(crate) fn new(seed: u64, flow: u32) -> Self {
        let key =
            |side: &str| stream_key(seed, &format!("capture/key/{flow}/{side}")).to_be_bytes();
        let keys = [key("opener"), key("other")];
        Self {
            keys,
            digests: keys.map(|k| sha256(&k)),
        }
    }

    /// Initial data sequence number of a side; 0 is the opener's.
    pub(crate) fn idsn(&self, side: usize) -> u64 {
        let last = &self.digests[side][24..];
        u64::from_be_bytes(last.try_into().expect("eight bytes"))
    }

    /// MP_CAPABLE of the SYN, the SYN-ACK and the third packet (section 3.1).
    pub(crate) fn capable(&self, packet: usize) -> Vec<u8> {
        let keys: &[&[u8]] = match packet {
            0 => &[],
            1 => &[&self.keys[1]],
            _ => &[&self.keys[0], &self.keys[1]],
        };
        let keys = keys.concat();
        [&[KIND, 4 + keys.len() as u8, CAPABLE, SHA256], &keys[..]].concat()
    }

    /// MP_JOIN of the SYN, the SYN-ACK and the third packet (section 3.2); `nonces` are those of opener and other.
    pub(crate) fn join(&self, packet: usize, nonces: [u32; 2]) -> Vec<u8> {
        let [a, b] = self.keys;
        let [from, to] = nonces.map(u32::to_be_bytes);
        match packet {
            0 => {
                let token = &self.digests[1][..4];
                [&[KIND, 12, JOIN, 0], token, &from].concat()
            }
            1 => {
                let code = hmac(&[b, a].concat(), &[to, from].concat());
                [&[KIND, 16, JOIN, 0], &code[..8], &to].concat()
            }
            _ => {
                let code = hmac(&[a, b].concat(), &[from, to].concat());
                [&[KIND, 24, JOIN, 0], &code[..20]].concat()
            }
        }
    }
}

/// Where a segment's payload lies in the data sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    pub(crate) data: u64,
    /// In the subflow, counted from its initial sequence number.
    pub(crate) subflow: u32,
    pub(crate) length: u16,
    /// The end of the data follows.
    pub(crate) is_last: bool,
}

/// The data sequence signal (section 3.3), without checksum; numbers of eight bytes or of four.
pub(crate) fn dss(ack: u64, mapped: Option<Mapped>, is_long: bool) -> Vec<u8> {
    let number = |value: u64| {
        let bytes = value.to_be_bytes();
        if is_long {
            bytes[..].to_vec()
        } else {
            bytes[4..].to_vec()
        }
    };
    let mut flags = if is_long { 0b0011 } else { 0b0001 };
    let mut body = number(ack);
    if let Some(mapped) = mapped {
        flags |= if is_long { 0b1100 } else { 0b0100 };
        flags |= u8::from(mapped.is_last) << 4;
        body.extend(number(mapped.data));
        body.extend(mapped.subflow.to_be_bytes());
        // DATA_FIN takes a place in the data sequence.
        body.extend((mapped.length + u16::from(mapped.is_last)).to_be_bytes());
    }
    [&[KIND, 4 + body.len() as u8, DSS, flags], &body[..]].concat()
}

#[cfg(test)]
mod tests {
    use weft_net::transport::mptcp::{CAPABLE_BYTES, JOIN_BYTES};

    use super::*;

    #[test]
    fn options_are_as_long_as_the_simulator_counts() {
        let keys = Keys::new(1, 0);
        for packet in 0..3 {
            for (option, bytes) in [
                (keys.capable(packet), CAPABLE_BYTES[packet]),
                (keys.join(packet, [1, 2]), JOIN_BYTES[packet]),
            ] {
                assert_eq!((option.len(), option[1]), (usize::from(bytes), bytes));
            }
        }
        let mapped = Mapped {
            data: 1,
            subflow: 1,
            length: 1,
            is_last: false,
        };
        assert_eq!([true, false].map(|l| dss(0, None, l).len()), [12, 8]);
        assert_eq!(
            [true, false].map(|l| dss(0, Some(mapped), l).len()),
            [26, 18]
        );
    }
}
