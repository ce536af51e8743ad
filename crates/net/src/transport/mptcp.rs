//! Multipath TCP: several TCP connections, the subflows, under one data sequence.
//!
//! Source: RFC 8684. The sizes of its options are section 3.1 (MP_CAPABLE), 3.2 (MP_JOIN) and 3.3 (DSS), each padded to a
//! multiple of four as TCP's header is. No option checksum: like Linux by default; with it a DSS would fill its padding and
//! be no longer. Departure: the first data packet has a DSS like all others, where RFC 8684 has an MP_CAPABLE that is four
//! bytes shorter.

use crate::error::Fault;

/// MP_CAPABLE in SYN, SYN-ACK and the third packet.
pub const CAPABLE_BYTES: [u8; 3] = [4, 12, 20];
/// MP_JOIN in SYN, SYN-ACK and the third packet; the fourth is a plain ACK.
pub const JOIN_BYTES: [u8; 3] = [12, 16, 24];
/// What TCP has for its options.
pub const OPTION_BYTES: u32 = 40;
/// Subflows of `ndiffports` if nothing is said.
pub const SUBFLOWS: u64 = 8;

crate::choice! {
    /// Who decides how many subflows there are, and between what.
    pub enum PathManager {
        /// Never adds a subflow to the first.
        Default = "default",
        /// One subflow for each pair of a network card of one host and one of the other.
        Fullmesh = "fullmesh",
        /// As many as `subflows` says, which differ in the port of the host that opens them.
        Ndiffports = "ndiffports",
    }
}

crate::choice! {
    /// Which subflow gets the next data when several may send.
    pub enum Scheduler {
        /// The one with the shortest smoothed round trip.
        LowestRtt = "lowest_rtt",
        /// Each in turn.
        RoundRobin = "round_robin",
    }
}

crate::choice! {
    /// How long data sequence numbers and data ACKs are.
    pub enum DataSequence {
        /// Eight bytes, as Linux: 28 bytes of option in a data packet, 12 in an ACK.
        Long = "64 bits",
        /// Four bytes: 20 and 8.
        Short = "32 bits",
    }
}

super::tcp::stack! {
    /// Multipath TCP: each flow has several subflows, each with its own ports, sequence, round trip, loss recovery and
    /// window, under one data sequence with one receive window. `[congestion]` says whether their windows are coupled
    /// (`lia`, `olia`, `balia`) or not (any other). All keys of TCP hold for each subflow.
    pub struct Mptcp: "mptcp", source "RFC 8684" {
        /// Who adds subflows.
        pub path_manager: PathManager = PathManager::Ndiffports;
        /// Subflows of each flow with `ndiffports`, the first included; left out, 8.
        pub subflows: Option<u64> = None, at least 1;
        /// Which subflow gets the next data.
        pub scheduler: Scheduler = Scheduler::LowestRtt;
        /// What a subflow has not delivered when its retransmission timer expires is sent again on the others.
        pub reinjection: bool = true;
        /// Length of the numbers in the DSS option.
        pub data_sequence: DataSequence = DataSequence::Long;
    }
}

impl Mptcp {
    /// Whether the keys go together.
    ///
    /// # Errors
    /// A fault at the key that has no meaning.
    pub fn check(&self) -> Result<(), Fault> {
        match (self.path_manager, self.subflows) {
            (PathManager::Ndiffports, _) | (_, None) => Ok(()),
            (_, Some(n)) => Err(Fault::new(
                "transport.subflows",
                format!(
                    "{n} has no meaning here: only the path manager ndiffports is told how many; leave it out, or set path_manager = \"ndiffports\""
                ),
            )),
        }
    }

    /// Subflows of each flow; `None` where that depends on the network cards of its hosts.
    pub fn subflows(&self) -> Option<u64> {
        match self.path_manager {
            PathManager::Default => Some(1),
            PathManager::Ndiffports => Some(self.subflows.unwrap_or(SUBFLOWS)),
            PathManager::Fullmesh => None,
        }
    }

    /// Bytes of the DSS option with mapping and data ACK, padded: 4, data ACK, data sequence number, 4 + 2.
    pub fn mapping_bytes(&self) -> u32 {
        (4 + 2 * self.number_bytes() + 6).next_multiple_of(4)
    }

    /// Bytes of the DSS option with a data ACK alone.
    pub fn data_ack_bytes(&self) -> u32 {
        4 + self.number_bytes()
    }

    fn number_bytes(&self) -> u32 {
        match self.data_sequence {
            DataSequence::Long => 8,
            DataSequence::Short => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Describe;
    use serde_json::json;

    #[test]
    fn options_have_the_sizes_of_rfc_8684() {
        // Mapping with 64-bit numbers: 4 + 8 + 8 + 4 + 2 = 26, padded 28; a data ACK alone 4 + 8. With 32 bits: 18 and 8.
        let long = Mptcp::defaults();
        assert_eq!((long.mapping_bytes(), long.data_ack_bytes()), (28, 12));
        let short = Mptcp {
            data_sequence: DataSequence::Short,
            ..long.clone()
        };
        assert_eq!((short.mapping_bytes(), short.data_ack_bytes()), (20, 8));
        // With timestamps the long one fills the options of TCP to the last byte.
        assert_eq!(
            long.mapping_bytes() + super::super::tcp::TIMESTAMP_BYTES,
            OPTION_BYTES
        );
    }

    #[test]
    fn a_count_that_nothing_reads_is_refused() {
        let table = json!({ "path_manager": "default", "subflows": 4 });
        let fault = Mptcp::from_table(table.as_object().unwrap())
            .unwrap()
            .check()
            .unwrap_err();
        assert!(
            fault
                .to_string()
                .starts_with("transport.subflows: 4 has no meaning here"),
            "{fault}"
        );
    }

    #[test]
    fn a_profile_holds_for_its_tcp() {
        let table = json!({ "profile": "datacenter" });
        let mptcp = Mptcp::from_table(table.as_object().unwrap()).unwrap();
        assert_eq!(mptcp.tcp().rto_min, crate::units::Time::from_ms(5));
    }
}
