//! The receive side: what a host does with packets between its network card and TCP.
//!
//! A kind decides in which order and when packets are handed over; ACKs, UDP and the handshake pass at once.

pub mod in_order;
pub mod juggler;

weft_net::room! {
    /// What a host does with arriving packets before TCP sees them: `[receive]`.
    pub enum Receive {
        InOrder(in_order::InOrder),
        Juggler(juggler::Juggler),
    }
}

impl Receive {
    /// The table that a host needs for it; `None` if packets pass at once.
    pub(crate) fn juggler(&self) -> Option<&juggler::Juggler> {
        match self {
            Self::InOrder(_) => None,
            Self::Juggler(config) => Some(config),
        }
    }
}
