//! A packet, by value.

/// What a packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Payload.
    #[default]
    Data,
    /// Everything before `ack` has arrived; `seq` is the packet that caused it.
    Ack,
    /// The same, and something is missing there.
    Nak,
    /// Congestion notification.
    Cnp,
    /// A pause frame: `flow` is the class, `seq` 1 to stop and 0 to go on.
    Pause,
}

/// A packet on a link or in a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// When the data packet left its source, ps; echoed by acknowledgments.
    pub(super) sent: u64,
    pub(super) flow: u32,
    pub(super) seq: u32,
    pub(super) ack: u32,
    /// Where the rest of its path begins in [`super::Ethernet::paths`]; [`NONE`] where every switch chooses.
    pub(super) place: u32,
    /// Its telemetry, or [`NONE`].
    pub(super) telemetry: u32,
    /// IP packet; of a pause frame, what it has without overhead.
    pub(super) bytes: u16,
    pub(super) class: u8,
    pub(super) kind: Kind,
    /// ECN capable, congestion experienced, and whether its buffer is headroom: bits of [`flag`].
    pub(super) flags: u8,
}

/// Nothing.
pub(super) const NONE: u32 = u32::MAX;

/// Bits of [`Packet::flags`].
pub(super) mod flag {
    /// Switches may mark it.
    pub(crate) const CAPABLE: u8 = 1;
    /// One has, or (of an acknowledgment) had.
    pub(crate) const MARKED: u8 = 2;
    /// It was sent before.
    pub(crate) const AGAIN: u8 = 4;
    /// Its sender cannot go on without an answer (the request bit of the base transport header).
    pub(crate) const ASKS: u8 = 8;
}
