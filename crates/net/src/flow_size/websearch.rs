//! WebSearch: the flows of a web search cluster, mostly bytes of large flows.
//!
//! Source: Alizadeh et al. (DCTCP), SIGCOMM 2010, in the points that later papers use.

use crate::cdf::Cdf;

crate::kind! {
    /// Web search: 15 % of flows up to 10 kB, 10 % from 5 to 30 MB; mean 1.7 MB.
    pub struct Websearch: "flow_size" / "websearch", source "Alizadeh et al., SIGCOMM 2010" {
    }
}

/// Bytes and cumulative percent.
const POINTS: [(f64, f64); 11] = [
    (10e3, 15.0),
    (20e3, 20.0),
    (30e3, 30.0),
    (50e3, 40.0),
    (80e3, 53.0),
    (200e3, 60.0),
    (1e6, 70.0),
    (2e6, 80.0),
    (5e6, 90.0),
    (10e6, 97.0),
    (30e6, 100.0),
];

pub(super) fn cdf() -> Cdf {
    Cdf::new(&POINTS).expect("the points rise")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_size::Draw;

    #[test]
    fn the_mean_is_1_7_mb() {
        // Share of the step x mean of its ends, in kB: .15*10 + .05*15 + .1*25 + .1*40 + .13*65 + .07*140 + .1*600 + .1*1500
        // + .1*3500 + .07*7500 + .03*20000 = 1.5 + .75 + 2.5 + 4 + 8.45 + 9.8 + 60 + 150 + 350 + 525 + 600 = 1712.
        assert!((cdf().mean() - 1_712_000.0).abs() < 1e-3);
    }
}
