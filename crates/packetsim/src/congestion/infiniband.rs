//! InfiniBand congestion control: switches mark, adapters answer, sources wait longer.
//!
//! A switch port whose queue exceeds a threshold sets FECN in some of the packets that it sends; the destination answers with a BECN;
//! each BECN moves the source up its congestion control table (CCT), whose entry is the delay after every packet, and a timer moves
//! it down again. Sources: InfiniBand Architecture Specification, volume 1, annex A10; Gran et al., IPDPS 2010 and CCGrid 2011.
//!
//! The standard leaves much open: where the threshold lies in credits, when congestion ends, what the table holds, when the delay
//! is paid. Those choices are keys of their own, and two profiles: `thesis` is calibrated against the published numbers of
//! the InfiniBand congestion control thesis (experiments/studies), `standard` adds nothing to the standard.
//! `lossless/marking.rs` and `lossless/reaction.rs` do it.

use serde_json::{Map, Value, json};
use weft_net::units::{Bytes, Time};

weft_net::choice! {
    /// A named set of defaults.
    pub enum Profile {
        /// Calibrated against the numbers of the InfiniBand congestion control thesis.
        Thesis = "thesis",
        /// What the standard says and no more.
        Standard = "standard",
    }
}

weft_net::choice! {
    /// What `packet_size` counts.
    pub enum SizeUnit {
        /// Bytes, as the model of the thesis does.
        Bytes = "bytes",
        /// Credits of 64 bytes, as the standard does.
        Credits = "credits",
    }
}

weft_net::choice! {
    /// Which packets are marked.
    pub enum Marking {
        /// Each with probability 1 / (1 + marking_rate).
        Random = "random",
        /// Every (1 + marking_rate)-th: it can lock to the round robin of the inputs, so that one flow gets all marks.
        Counter = "counter",
    }
}

weft_net::choice! {
    /// What shares a place in the table.
    pub enum Scope {
        /// Each queue pair has its own.
        Qp = "qp",
        /// All queue pairs of an adapter's port on one service level share it.
        Port = "port",
    }
}

weft_net::choice! {
    /// How the table grows where `cct` does not list it.
    pub enum CctAlgorithm {
        /// `i x cct_nodes / cct_div` packet times.
        Linear = "linear",
        /// `cct_nodes x (i / cct_div)^2`.
        Quadratic = "quadratic",
        /// `cct_nodes^(i / cct_div) - 1`.
        Exponential = "exponential",
    }
}

weft_net::choice! {
    /// How finely an entry is kept.
    pub enum CctEncoding {
        /// As it is.
        Real = "real",
        /// As the standard's 16 bits: a multiplier of 14 bits, shifted right by at most 3.
        Shifted = "shifted",
    }
}

weft_net::kind! {
    /// FECN marks at switches, BECN from destinations, and delays from a table at sources.
    pub struct Infiniband: "congestion" / "infiniband", source "InfiniBand Architecture Specification, annex A10; Gran et al., IPDPS 2010", profiles profiles {
        /// The set of defaults that the other keys start from.
        pub profile: Profile = Profile::Thesis;
        /// Weight of the marking threshold: 0 never marks, 1 is high (loose), 15 is low (aggressive).
        pub threshold: u64 = 2, range 0..=15;
        /// Weight of the threshold of `reset_zone`.
        pub reset_threshold: u64 = 3, range 0..=15;
        /// Mean number of packets between two marked ones.
        pub marking_rate: u64 = 1, range 0..=65535;
        /// Smaller packets are never marked.
        pub packet_size: u64 = 1, range 0..=65536;
        /// What `packet_size` counts.
        pub packet_size_unit: SizeUnit = SizeUnit::Bytes;
        /// Ports (`src>dst`, `*` for any text) that mark even while they have no credits, as victims of congestion further on; others
        /// mark only at its root.
        pub victim_mask: Vec<String> = vec!["*".to_owned()];
        /// Steps up the table for each BECN.
        pub ccti_increase: u64 = 1, range 0..=65535;
        /// The place in the table stays below this.
        pub ccti_limit: u64 = 128, range 1..=65535;
        /// The timer leads no further down than this.
        pub ccti_min: u64 = 0, range 0..=65535;
        /// Time of one step down the table (the standard counts in 1.024 us).
        pub ccti_timer: Time = Time::from_us(20), at least 1000;
        /// The table: delay after a packet in times of its length on the wire, by place; left out, `cct_algorithm` fills it.
        pub cct: Option<Vec<f64>> = None;
        /// How the table grows.
        pub cct_algorithm: CctAlgorithm = CctAlgorithm::Linear;
        /// `num_nodes` of the thesis.
        pub cct_nodes: f64 = 10.0, range 0..=1000000;
        /// `CCT_Div` of the thesis.
        pub cct_div: f64 = 95.0, range 0.001..=1000000;
        /// How finely an entry is kept.
        pub cct_encoding: CctEncoding = CctEncoding::Real;
        /// What shares a place in the table.
        pub scope: Scope = Scope::Qp;
        /// Size of a BECN.
        pub becn_size: Bytes = Bytes(64), range 1..=4096;
        /// Service level of BECNs; left out, that of the packet that they answer.
        pub becn_service_level: Option<u64> = None, range 0..=15;
        /// Packets after which the delay is paid, at once for all of them.
        pub burst_packets: u64 = 6, range 1..=1000;
        /// Credits below the threshold at which congestion ends.
        pub hysteresis: u64 = 34, range 0..=1000000;
        /// Credits of which the threshold is a share, `(16 - threshold) / 16`; left out, `flow_control.input_buffer`.
        pub threshold_base: Option<u64> = None, range 1..=1000000;
        /// Credits added to the threshold.
        pub threshold_offset: f64 = 0.0, range -1000000..=1000000;
        /// Which packets are marked.
        pub marking: Marking = Marking::Random;
        /// In congestion, half as many marks while the queue is below the threshold of weight `reset_threshold`.
        pub reset_zone: bool = true;
    }
}

/// What the profiles say; `thesis` are the defaults above.
fn profiles() -> Vec<(&'static str, Map<String, Value>)> {
    let standard = json!({
        "packet_size_unit": "credits", "cct_encoding": "shifted", "burst_packets": 1, "hysteresis": 0, "reset_zone": false,
    });
    let table = |value: Value| value.as_object().cloned().expect("a table");
    vec![("thesis", Map::new()), ("standard", table(standard))]
}

impl Infiniband {
    /// The smallest packet that is marked, bytes.
    pub fn smallest_marked(&self) -> u64 {
        match self.packet_size_unit {
            SizeUnit::Bytes => self.packet_size,
            SizeUnit::Credits => self.packet_size * crate::flow_control::credit::CREDIT,
        }
    }

    /// Credits at which a weight marks, where a lane of the input buffer has `buffer`; `None` for weight 0.
    pub fn threshold_credits(&self, weight: u64, buffer: u64) -> Option<f64> {
        let base = self.threshold_base.unwrap_or(buffer) as f64;
        (weight > 0).then(|| base * (16 - weight) as f64 / 16.0 + self.threshold_offset)
    }

    /// The table, up to the limit: delays in packet times.
    pub fn table(&self) -> Vec<f64> {
        let entry = |i: u64| {
            let real = match &self.cct {
                Some(listed) => listed
                    .get(i as usize)
                    .or(listed.last())
                    .copied()
                    .unwrap_or(0.0),
                None => {
                    let x = i as f64 / self.cct_div;
                    match self.cct_algorithm {
                        CctAlgorithm::Linear => self.cct_nodes * x,
                        CctAlgorithm::Quadratic => self.cct_nodes * x * x,
                        CctAlgorithm::Exponential => libm::pow(self.cct_nodes, x) - 1.0,
                    }
                }
            };
            match self.cct_encoding {
                CctEncoding::Real => real,
                CctEncoding::Shifted => shifted(real),
            }
        };
        (0..self.ccti_limit).map(entry).collect()
    }
}

/// The nearest delay that 14 bits of multiplier and 2 bits of shift can say.
fn shifted(delay: f64) -> f64 {
    const MOST: f64 = 16_383.0;
    for scale in [8.0, 4.0, 2.0] {
        let multiplier = libm::round(delay * scale);
        if multiplier <= MOST {
            return multiplier / scale;
        }
    }
    libm::round(delay).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;

    #[test]
    fn thresholds_are_shares_of_the_input_buffer() {
        let control = Infiniband::defaults();
        let credits = [2, 4, 8, 10].map(|w| control.threshold_credits(w, 96).unwrap());
        assert_eq!(credits, [84.0, 72.0, 48.0, 36.0]);
        assert_eq!(control.threshold_credits(0, 96), None);
    }

    #[test]
    fn the_table_grows_by_tenths_of_a_packet() {
        let table = Infiniband::defaults().table();
        assert_eq!((table.len(), table[0]), (128, 0.0));
        assert!((table[95] - 10.0).abs() < 1e-12);
        // 10 / 95 = 0.105 is nearest to 1/8; 2 x 0.105 = 0.21 to 2/8.
        let standard = Infiniband {
            cct_encoding: CctEncoding::Shifted,
            ..Infiniband::defaults()
        };
        assert_eq!(standard.table()[1..3], [0.125, 0.25]);
        assert_eq!([shifted(3000.3), shifted(20_000.0)], [3000.25, 16_383.0]);
    }

    #[test]
    fn a_packet_size_in_credits_is_64_times_as_large() {
        let table = json!({ "profile": "standard", "packet_size": 8 });
        let control = Infiniband::from_table(table.as_object().unwrap()).unwrap();
        assert_eq!((control.smallest_marked(), control.burst_packets), (512, 1));
    }
}
