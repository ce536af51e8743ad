//! Transports: what carries a flow, with its headers and constants.

pub mod tcp;
pub mod udp;

crate::room! {
    /// The protocol of the hosts: `[transport]`.
    pub enum Transport {
        Tcp(tcp::Tcp),
        Udp(udp::Udp),
    }
}

crate::room_parameter!(Transport => "transport");

impl Transport {
    /// Header bytes of a full data packet inside the IP packet (IP header included).
    pub fn header_bytes(&self) -> u32 {
        match self {
            Self::Tcp(t) => t.header_bytes(),
            Self::Udp(_) => udp::HEADER_BYTES,
        }
    }
}
