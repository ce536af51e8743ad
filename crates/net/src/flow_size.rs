//! Flow sizes: how many bytes a flow carries, as a distribution.

use crate::error::Fault;
use crate::random::Stream;

pub mod empirical;
pub mod fb_hadoop;
pub mod fixed;
pub mod pareto;
pub mod uniform;
pub mod websearch;

crate::room! {
    /// How large flows are: `size = { kind = ..., ... }` of a workload.
    pub enum FlowSize {
        Fixed(fixed::Fixed),
        Uniform(uniform::Uniform),
        Pareto(pareto::Pareto),
        Empirical(empirical::Empirical),
        Websearch(websearch::Websearch),
        FbHadoop(fb_hadoop::FbHadoop),
    }
}

crate::room_parameter!(FlowSize => "flow_size");

/// A distribution ready to draw from.
pub trait Draw: Send + Sync {
    /// Bytes of one flow, at least 1.
    fn draw(&self, random: &mut Stream) -> u64;
    /// Its mean in bytes, exact but for the rounding of draws to whole bytes.
    fn mean(&self) -> f64;
}

impl FlowSize {
    /// Reads what must be read (a CDF file) and gives the distribution.
    ///
    /// # Errors
    /// Parameters that contradict each other, a file that is missing or is no CDF (every bad line), at `flow_size.key`.
    pub fn distribution(&self) -> Result<Box<dyn Draw>, Vec<Fault>> {
        match self {
            Self::Fixed(f) => Ok(Box::new(f.clone())),
            Self::Uniform(u) => u
                .check()
                .map(|()| Box::new(u.clone()) as Box<dyn Draw>)
                .map_err(|f| vec![f]),
            Self::Pareto(p) => p
                .check()
                .map(|()| Box::new(p.clone()) as Box<dyn Draw>)
                .map_err(|f| vec![f]),
            Self::Empirical(e) => Ok(Box::new(e.read()?)),
            Self::Websearch(_) => Ok(Box::new(websearch::cdf())),
            Self::FbHadoop(_) => Ok(Box::new(fb_hadoop::cdf())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use serde_json::json;

    #[test]
    fn draws_have_the_exact_mean() {
        for table in [
            json!({ "kind": "fixed", "bytes": 1000 }),
            json!({ "kind": "uniform", "min": 1, "max": 1000 }),
            json!({ "kind": "pareto", "min": 1000, "max": 1_000_000, "shape": 1.5 }),
            json!({ "kind": "pareto", "min": 1000, "max": 100_000, "shape": 1 }),
            json!({ "kind": "websearch" }),
            json!({ "kind": "fb_hadoop" }),
        ] {
            let distribution = FlowSize::from_table(table.as_object().unwrap())
                .unwrap()
                .distribution()
                .unwrap();
            let mut random = stream(1, "flow_size");
            let (mut sum, mut squares) = (0.0, 0.0);
            let n = 200_000;
            for _ in 0..n {
                let size = distribution.draw(&mut random) as f64;
                sum += size;
                squares += size * size;
            }
            let mean = sum / f64::from(n);
            let deviation = (squares / f64::from(n) - mean * mean).max(0.0).sqrt();
            // Five standard errors, and half a byte of rounding.
            let tolerance = 5.0 * deviation / f64::from(n).sqrt() + 0.5;
            assert!(
                (mean - distribution.mean()).abs() < tolerance,
                "{table}: {mean}, not {}",
                distribution.mean()
            );
        }
    }
}
