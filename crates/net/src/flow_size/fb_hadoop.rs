//! FB_Hadoop: the flows of a Hadoop cluster, mostly below 1 kB.
//!
//! Source: Roy et al., SIGCOMM 2015, in the points that HPCC's public code distributes.

use crate::cdf::Cdf;

crate::kind! {
    /// Hadoop at Facebook: 60 % of flows up to 1 kB, 10 % above 120 kB; mean 120 kB.
    pub struct FbHadoop: "flow_size" / "fb_hadoop", source "Roy et al., SIGCOMM 2015" {
    }
}

/// Bytes and cumulative percent.
const POINTS: [(f64, f64); 19] = [
    (100.0, 1.0),
    (200.0, 2.0),
    (300.0, 5.0),
    (350.0, 15.0),
    (400.0, 20.0),
    (500.0, 30.0),
    (600.0, 40.0),
    (700.0, 50.0),
    (1e3, 60.0),
    (2e3, 67.0),
    (7e3, 70.0),
    (30e3, 72.0),
    (50e3, 82.0),
    (80e3, 87.0),
    (120e3, 90.0),
    (300e3, 95.0),
    (1e6, 97.5),
    (2e6, 99.0),
    (10e6, 100.0),
];

pub(super) fn cdf() -> Cdf {
    Cdf::new(&POINTS).expect("the points rise")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_size::Draw;

    #[test]
    fn the_mean_is_120_kb() {
        // Percent of the step x mean of its ends, in bytes; up to 1 kB: 100 + 150 + 750 + 3250 + 1875 + 4500 + 5500 + 6500 + 8500
        // = 31,125; up to 30 kB: 10,500 + 13,500 + 37,000 = 61,000; up to 120 kB: 400,000 + 325,000 + 300,000 = 1,025,000;
        // above: 1,050,000 + 1,625,000 + 2,250,000 + 6,000,000 = 10,925,000. Sum / 100 = 120,421.25.
        assert!((cdf().mean() - 120_421.25).abs() < 1e-6, "{}", cdf().mean());
    }
}
