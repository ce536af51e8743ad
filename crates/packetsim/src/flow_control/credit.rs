//! Credits: a packet leaves only when the buffer behind the link has room for all of it, lane by lane.
//!
//! Source: InfiniBand Architecture Specification, volume 1, chapter 7 (virtual lanes, flow control, arbitration). Buffers, delays and
//! the core of a switch are those of the InfiniBand congestion control thesis (experiments/studies); `lossless/` says how they act.

use weft_net::units::{Bytes, Rate, Time};

/// Bytes of a credit.
pub const CREDIT: u64 = 64;

weft_net::kind! {
    /// One entry of a VL arbitration table.
    pub struct LaneWeight: "record" / "lane_weight", source "InfiniBand Architecture Specification, volume 1, 7.6.9" {
        /// The virtual lane.
        pub vl: u64, range 0..=14;
        /// Credits that it may send before the next entry has its turn; 0 skips the entry.
        pub weight: u64 = 64, range 0..=255;
    }
}

weft_net::kind! {
    /// Ports that differ from the others.
    pub struct CreditPort: "record" / "credit_port", source "" {
        /// Directed links by name `src>dst`; `*` stands for any text.
        pub links: String;
        /// Credits of each lane of the input buffer at the end of the link.
        pub input_buffer: Option<u64> = None, range 1..=1000000;
        /// Packets that leave the input buffer at the end of the link at once.
        pub max_being_sent: Option<u64> = None, range 1..=4;
        /// Credits of the output buffer at the start of the link.
        pub output_buffer: Option<u64> = None, range 1..=1000000;
        /// The lane of each service level on the link, from 0 on.
        pub sl_to_vl: Option<Vec<u64>> = None;
    }
}

weft_net::kind! {
    /// The SL-to-VL table of some pairs of an input and an output port.
    pub struct LaneMap: "record" / "lane_map", source "InfiniBand Architecture Specification, volume 1, 7.6.6" {
        /// The links that packets come by, by name `src>dst`; `*` stands for any text.
        pub from: String;
        /// The links that they leave on.
        pub links: String;
        /// The lane of each service level, from 0 on.
        pub sl_to_vl: Vec<u64>;
    }
}

weft_net::record_parameter!(LaneWeight, CreditPort, LaneMap);

weft_net::kind! {
    /// Credit-based flow control per virtual lane, with input buffers, virtual output queues and cut-through switches.
    pub struct Credit: "flow_control" / "credit", source "InfiniBand Architecture Specification, volume 1, chapter 7" {
        /// Credits (64 B) of each lane of a switch's input buffer.
        pub input_buffer: u64 = 96, range 1..=1000000;
        /// The same of a host.
        pub host_buffer: u64 = 1000, range 1..=1000000;
        /// Credits of a switch's output buffer; its lanes share it.
        pub output_buffer: u64 = 78, range 1..=1000000;
        /// Packets that leave one input buffer at once.
        pub max_being_sent: u64 = 1, range 1..=4;
        /// Rate at which a switch moves a packet from an input to an output buffer.
        pub core_rate: Rate = Rate(51_200_000_000), at least 1;
        /// From the arrival of a credit until it may leave the input buffer.
        pub switch_delay: Time = Time::from_ns(50);
        /// From the start of the transfer through the core until the wire may start.
        pub output_delay: Time = Time::from_ns(50);
        /// From a credit that gets free until the sender knows, beside the propagation of the link.
        pub credit_delay: Time = Time::from_ns(45);
        /// Virtual lanes for data.
        pub lanes: u64 = 1, range 1..=15;
        /// The lane of each service level, from 0 on; left out, or beyond its end, the level modulo `lanes`.
        pub sl_to_vl: Vec<u64> = Vec::new();
        /// Pairs of an input and an output port that differ, the last that fits first: a switch chooses the lane by both.
        pub lane_maps: Vec<LaneMap> = Vec::new();
        /// Entries of the high-priority arbitration table; left out, there is none.
        pub vl_high: Vec<LaneWeight> = Vec::new();
        /// Entries of the low-priority table; left out, every lane with the same weight.
        pub vl_low: Vec<LaneWeight> = Vec::new();
        /// Units of 4096 bytes that the high table may send while the low one waits; 255 is without limit.
        pub high_limit: u64 = 255, range 0..=255;
        /// Ports that differ.
        pub ports: Vec<CreditPort> = Vec::new();
        /// A ring of ports that have waited for each other's credits for so long is a deadlock, and the run ends.
        pub deadlock_after: Time = Time::from_ms(1), at least 1;
    }
}

/// Credits that a packet occupies.
pub fn credits(bytes: u64) -> u64 {
    bytes.div_ceil(CREDIT)
}

/// Bytes of so many credits.
pub fn bytes(credits: u64) -> Bytes {
    Bytes(credits * CREDIT)
}
