//! Bounded Pareto: many small flows and few very large ones, cut off at both ends.
//!
//! Source: Harchol-Balter, "Performance Modeling and Design of Computer Systems", chapter 20. The density falls as
//! x^-(shape + 1) between `min` and `max`; drawn by inverting the distribution function.

use crate::error::Fault;
use crate::flow_size::Draw;
use crate::random::Stream;
use crate::units::Bytes;

crate::kind! {
    /// Bounded Pareto: sizes from `min` to `max` whose density falls as a power.
    pub struct Pareto: "flow_size" / "pareto", source "Harchol-Balter 2013, chapter 20" {
        /// Smallest flow, payload bytes.
        pub min: Bytes, at least 1;
        /// Largest flow, payload bytes.
        pub max: Bytes, at least 2;
        /// How fast large flows become rare: near 1, few flows carry most bytes.
        pub shape: f64 = 1.2, range 0.01..=100.0;
    }
}

impl Pareto {
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.max > self.min {
            return Ok(());
        }
        Err(Fault::new(
            "flow_size.max",
            format!(
                "{} bytes is not above the min of {}",
                self.max.0, self.min.0
            ),
        ))
    }

    /// (min / max)^shape: the share that an unbounded Pareto would have above `max`.
    fn cut_off(&self) -> f64 {
        libm::pow(self.min.0 as f64 / self.max.0 as f64, self.shape)
    }
}

impl Draw for Pareto {
    fn draw(&self, random: &mut Stream) -> u64 {
        let share = random.uniform() * (1.0 - self.cut_off());
        let size = self.min.0 as f64 / libm::pow(1.0 - share, 1.0 / self.shape);
        ((size + 0.5) as u64).clamp(self.min.0, self.max.0)
    }

    fn mean(&self) -> f64 {
        let (min, max, shape) = (self.min.0 as f64, self.max.0 as f64, self.shape);
        let scale = shape / (1.0 - self.cut_off());
        // Integral of min^a x^-a from min to max, times a and normalised.
        if (shape - 1.0).abs() < 1e-9 {
            return scale * min * libm::log(max / min);
        }
        scale * min * (1.0 - libm::pow(min / max, shape - 1.0)) / (shape - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_the_integral() {
        // shape 2, 1 to 2: density 2 x^-3 / (1 - 1/4), mean = 8/3 x (1 - 1/2) = 4/3.
        let sizes = Pareto {
            min: Bytes(1),
            max: Bytes(2),
            shape: 2.0,
        };
        assert!((sizes.mean() - 4.0 / 3.0).abs() < 1e-12);
        // shape 1, 1 to e: x^-2 / (1 - 1/e), mean = 1 / (1 - 1/e); with 1000 to 2000 instead: 1000 ln 2 x 2.
        let sizes = Pareto {
            min: Bytes(1000),
            max: Bytes(2000),
            shape: 1.0,
        };
        assert!((sizes.mean() - 2000.0 * std::f64::consts::LN_2).abs() < 1e-6);
    }

    #[test]
    fn no_draw_leaves_the_bounds() {
        let sizes = Pareto {
            min: Bytes(10),
            max: Bytes(20),
            shape: 0.1,
        };
        let mut random = crate::random::stream(1, "pareto");
        assert!((0..10_000).all(|_| (10..=20).contains(&sizes.draw(&mut random))));
    }
}
