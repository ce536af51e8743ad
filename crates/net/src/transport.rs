//! Transports: what carries a flow, with its headers and constants.

pub mod infiniband;
pub mod mptcp;
pub mod rocev2;
pub mod tcp;
pub mod udp;

use crate::error::Fault;

crate::room! {
    /// The protocol of the hosts: `[transport]`.
    pub enum Transport {
        Tcp(tcp::Tcp),
        Mptcp(mptcp::Mptcp),
        Udp(udp::Udp),
        Infiniband(infiniband::Infiniband),
        Rocev2(rocev2::Rocev2),
    }
}

crate::room_parameter!(Transport => "transport");

/// Header bytes of a connection's packets, IP header and options included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Headers {
    /// Without an option of MPTCP: what the sizes of the handshake are added to.
    pub plain: u16,
    /// Of an ACK without SACK blocks.
    pub ack: u16,
    /// Of a data packet.
    pub data: u16,
    /// SACK blocks that find room in an ACK.
    pub sack_blocks: u16,
}

impl Transport {
    /// Whether the parameters go together.
    ///
    /// # Errors
    /// A fault at the key that does not.
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Mptcp(m) => m.check(),
            Self::Infiniband(i) => i.check(),
            Self::Tcp(_) | Self::Udp(_) | Self::Rocev2(_) => Ok(()),
        }
    }

    /// The constants of TCP, where that is below; `None` elsewhere.
    pub fn tcp(&self) -> Option<tcp::Tcp> {
        match self {
            Self::Tcp(t) => Some(t.clone()),
            Self::Mptcp(m) => Some(m.tcp()),
            Self::Udp(_) | Self::Infiniband(_) | Self::Rocev2(_) => None,
        }
    }

    /// Header bytes of all packets of a connection; `None` without any.
    pub fn headers(&self) -> Option<Headers> {
        let (ack, data) = match self {
            Self::Tcp(_) => (0, 0),
            Self::Mptcp(m) => (m.data_ack_bytes(), m.mapping_bytes()),
            Self::Udp(_) | Self::Infiniband(_) | Self::Rocev2(_) => return None,
        };
        let plain = self.tcp()?.header_bytes();
        // Two bytes of padding, kind and length, and eight bytes per block (RFC 2018).
        let room = mptcp::OPTION_BYTES - (plain - tcp::BASE_HEADER_BYTES) - ack - 4;
        Some(Headers {
            plain: plain as u16,
            ack: (plain + ack) as u16,
            data: (plain + data) as u16,
            // A receiver reports the last three that changed.
            sack_blocks: (room / 8).min(3) as u16,
        })
    }

    /// Header bytes of a full data packet inside the IP packet (IP header included).
    pub fn header_bytes(&self) -> u32 {
        match self {
            Self::Tcp(t) => t.header_bytes(),
            Self::Mptcp(m) => m.tcp().header_bytes() + m.mapping_bytes(),
            Self::Udp(_) => udp::HEADER_BYTES,
            Self::Infiniband(i) => i.header.0 as u32,
            Self::Rocev2(_) => rocev2::HEADER_BYTES,
        }
    }

    /// Subflows of each flow; `None` where that depends on the network cards of its hosts.
    pub fn subflows(&self) -> Option<u64> {
        match self {
            Self::Tcp(_) | Self::Udp(_) | Self::Infiniband(_) | Self::Rocev2(_) => Some(1),
            Self::Mptcp(m) => m.subflows(),
        }
    }

    /// Its `kind`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            Self::Mptcp(_) => "mptcp",
            Self::Udp(_) => "udp",
            Self::Infiniband(_) => "infiniband",
            Self::Rocev2(_) => "rocev2",
        }
    }

    /// Number in the protocol field of the IP header.
    pub fn protocol(&self) -> u8 {
        match self {
            Self::Tcp(_) | Self::Mptcp(_) => 6,
            Self::Udp(_) | Self::Rocev2(_) => 17,
            // No IP packet: a number that hashes like any other (the one of RoCEv2's UDP would be 17).
            Self::Infiniband(_) => 0,
        }
    }
}
