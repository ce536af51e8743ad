//! Flows of any size between two, all equally likely.

use crate::error::Fault;
use crate::flow_size::Draw;
use crate::random::Stream;
use crate::units::Bytes;

crate::kind! {
    /// Every whole number of bytes from `min` to `max`, equally likely.
    pub struct Uniform: "flow_size" / "uniform", source "" {
        /// Smallest flow, payload bytes.
        pub min: Bytes, at least 1;
        /// Largest flow, payload bytes.
        pub max: Bytes, at least 1;
    }
}

impl Uniform {
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.max >= self.min {
            return Ok(());
        }
        Err(Fault::new(
            "flow_size.max",
            format!(
                "{} bytes is less than the min of {}",
                self.max.0, self.min.0
            ),
        ))
    }
}

impl Draw for Uniform {
    fn draw(&self, random: &mut Stream) -> u64 {
        self.min.0 + random.below(self.max.0 - self.min.0 + 1)
    }
    fn mean(&self) -> f64 {
        (self.min.0 as f64 + self.max.0 as f64) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_lies_in_the_middle() {
        let sizes = Uniform {
            min: Bytes(1),
            max: Bytes(4),
        };
        assert_eq!(sizes.mean(), 2.5);
        let mut random = crate::random::stream(1, "uniform");
        let drawn: std::collections::BTreeSet<_> =
            (0..100).map(|_| sizes.draw(&mut random)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    #[test]
    fn the_ends_must_be_in_order() {
        let fault = Uniform {
            min: Bytes(5),
            max: Bytes(4),
        }
        .check()
        .unwrap_err();
        assert_eq!(
            fault.to_string(),
            "flow_size.max: 4 bytes is less than the min of 5"
        );
    }
}
