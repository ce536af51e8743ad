//! TCP: the constants of a host's stack, with the profiles `linux`, `rfc` and `datacenter`.
//!
//! Sources: RFC 9293 (TCP), RFC 6298 (retransmission timer), RFC 6675 (SACK loss recovery), RFC 8985 (RACK-TLP),
//! RFC 3042 (limited transmit), RFC 6928 (initial window), RFC 1122 section 4.2.3.2 (delayed ACKs).

use serde_json::{Map, Value, json};

use crate::units::Time;

/// IPv4 and TCP header without options.
pub const BASE_HEADER_BYTES: u32 = 40;
/// The timestamp option, padded (RFC 7323).
pub const TIMESTAMP_BYTES: u32 = 12;

crate::choice! {
    /// A named set of defaults.
    pub enum Profile {
        /// What a current Linux does.
        Linux = "linux",
        /// What the RFCs say and no more.
        Rfc = "rfc",
        /// Linux with the short timers of a data center.
        Datacenter = "datacenter",
    }
}

/// Declares a kind of transport whose hosts run TCP: it has all keys of TCP, then its own.
macro_rules! stack {
    (
        $(#[doc = $doc:expr])*
        pub struct $name:ident: $kind:literal, source $source:literal { $($own:tt)* }
    ) => {
        $crate::kind! {
            $(#[doc = $doc])*
            pub struct $name: "transport" / $kind, source $source, profiles $crate::transport::tcp::profiles {
            /// The set of defaults that the other keys start from.
            pub profile: $crate::transport::tcp::Profile = $crate::transport::tcp::Profile::Linux;
            /// Smallest retransmission timeout.
            pub rto_min: $crate::units::Time = $crate::units::Time::from_ms(200);
            /// Retransmission timeout before the first round-trip sample.
            pub rto_initial: $crate::units::Time = $crate::units::Time::from_s(1);
            /// Largest retransmission timeout after back-off.
            pub rto_max: $crate::units::Time = $crate::units::Time::from_s(120);
            /// Timeouts in a row after which the connection is given up (Linux: tcp_retries2).
            pub retries: u64 = 15, range 1..=100;
            /// Initial window, segments (RFC 6928).
            pub initial_window: u64 = 10, range 1..=10000;
            /// Receive buffer: the largest window that the receiver offers.
            pub receive_window: $crate::units::Bytes = $crate::units::Bytes(6 * 1024 * 1024), range 0..=90000000;
            /// The window starts at 64 KiB and grows with the data that arrives, as Linux does; off, it is offered whole.
            pub autotune: bool = true;
            /// The timestamp option: 12 bytes in every packet (RFC 7323).
            pub timestamps: bool = true;
            /// RACK: time-based loss detection (RFC 8985). Off, three duplicate ACKs decide (RFC 6675).
            pub rack: bool = true;
            /// Tail loss probe (RFC 8985, section 7); needs `rack`.
            pub tlp: bool = true;
            /// Packets are ECN-capable and marks are echoed until the sender has slowed down (RFC 3168). DCTCP always uses ECN.
            pub ecn: bool = false;
            /// Duplicate ACKs that mean a loss, where RACK is off (RFC 5681).
            pub duplicate_acks: u64 = 3, range 1..=300;
            /// Send a new segment on each of the first two duplicate ACKs (RFC 3042).
            pub limited_transmit: bool = true;
            /// Segments that one ACK covers: 2 is the delayed ACK of RFC 1122, 1 an ACK per segment.
            pub ack_every: u64 = 2, range 1..=64;
            /// How long an ACK may wait for a second segment.
            pub ack_delay: $crate::units::Time = $crate::units::Time::from_ms(40);
            /// Segments at the start of a connection that are acknowledged at once (Linux: quick ACKs).
            pub quick_acks: u64 = 16, range 0..=1000;
            /// Reordering that is seen raises the count of duplicate ACKs that mean a loss (Linux: tcp_reordering).
            pub adaptive_duplicate_acks: bool = false;
            /// How far it may be raised (Linux: tcp_max_reordering).
            pub most_duplicate_acks: u64 = 300, range 1..=100000;
                $($own)*
            }
        }

        impl $name {
            /// The constants of TCP alone.
            pub fn tcp(&self) -> $crate::transport::tcp::Tcp {
                $crate::transport::tcp::Tcp {
                    profile: self.profile,
                    rto_min: self.rto_min,
                    rto_initial: self.rto_initial,
                    rto_max: self.rto_max,
                    retries: self.retries,
                    initial_window: self.initial_window,
                    receive_window: self.receive_window,
                    autotune: self.autotune,
                    timestamps: self.timestamps,
                    rack: self.rack,
                    tlp: self.tlp,
                    ecn: self.ecn,
                    duplicate_acks: self.duplicate_acks,
                    limited_transmit: self.limited_transmit,
                    ack_every: self.ack_every,
                    ack_delay: self.ack_delay,
                    quick_acks: self.quick_acks,
                    adaptive_duplicate_acks: self.adaptive_duplicate_acks,
                    most_duplicate_acks: self.most_duplicate_acks,
                }
            }
        }
    };
}
pub(crate) use stack;

stack! {
    /// TCP with selective acknowledgments. The profile sets the defaults of all other keys.
    pub struct Tcp: "tcp", source "RFC 9293, 6298, 6675, 8985, 3042, 6928" {}
}

/// Defaults of each profile where they differ from `linux`.
pub(crate) fn profiles() -> Vec<(&'static str, Map<String, Value>)> {
    let table = |value: Value| value.as_object().cloned().expect("a table");
    vec![
        ("linux", Map::new()),
        (
            "rfc",
            table(json!({
                "rto_min": Time::from_s(1), "rack": false, "tlp": false, "ack_every": 1, "quick_acks": 0, "autotune": false,
            })),
        ),
        (
            "datacenter",
            table(
                json!({ "rto_min": Time::from_ms(5), "rto_initial": Time::from_ms(10), "ack_delay": Time::from_us(500) }),
            ),
        ),
    ]
}

impl Tcp {
    /// IP and TCP header of a data packet, options included.
    pub fn header_bytes(&self) -> u32 {
        BASE_HEADER_BYTES + if self.timestamps { TIMESTAMP_BYTES } else { 0 }
    }
}
