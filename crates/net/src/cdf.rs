//! A distribution given by points of its cumulative distribution function, linear between them.
//!
//! Below the first point there is nothing to interpolate from: the share of the first point is an atom, those flows are all as
//! large as it says. (Others draw them from 1 byte up; the points of published distributions are bins, of which the
//! first is small, and an atom keeps its exact size where a file describes sizes that occur as such.)

use crate::flow_size::Draw;
use crate::random::Stream;

/// Points (bytes, share of flows at most this large): both rising, the last share 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    points: Vec<(f64, f64)>,
}

impl Cdf {
    /// From bytes and cumulative percent.
    ///
    /// # Errors
    /// The index of the first point that falls, and what is wrong with it.
    pub fn new(percent: &[(f64, f64)]) -> Result<Self, (usize, String)> {
        let mut before = (0.0, 0.0);
        for (i, &(bytes, share)) in percent.iter().enumerate() {
            if !(bytes.is_finite() && bytes >= 1.0) {
                return Err((i, format!("{bytes} bytes; a flow has at least 1")));
            }
            if !(0.0..=100.0).contains(&share) {
                return Err((i, format!("{share} is no percentage")));
            }
            if i > 0 && bytes <= before.0 {
                return Err((i, format!("{bytes} bytes do not come after {}", before.0)));
            }
            if share < before.1 {
                return Err((
                    i,
                    format!("{share} % falls below the {} % before", before.1),
                ));
            }
            before = (bytes, share);
        }
        if (before.1 - 100.0).abs() > 1e-9 {
            return Err((
                percent.len().saturating_sub(1),
                format!("ends at {} %, not at 100 %", before.1),
            ));
        }
        Ok(Self {
            points: percent
                .iter()
                .map(|&(bytes, share)| (bytes, share / 100.0))
                .collect(),
        })
    }
}

impl Draw for Cdf {
    fn draw(&self, random: &mut Stream) -> u64 {
        let share = random.uniform();
        let after = self
            .points
            .partition_point(|p| p.1 <= share)
            .min(self.points.len() - 1);
        let (bytes, upper) = self.points[after];
        let size = match after.checked_sub(1).map(|b| self.points[b]) {
            None => bytes,
            Some((below, lower)) => below + (bytes - below) * (share - lower) / (upper - lower),
        };
        // Nearest whole byte, so that the mean stays.
        (size + 0.5) as u64
    }

    fn mean(&self) -> f64 {
        let atom = self.points[0].0 * self.points[0].1;
        let segments = self
            .points
            .windows(2)
            .map(|w| (w[1].1 - w[0].1) * (w[0].0 + w[1].0) / 2.0);
        atom + segments.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn the_first_point_is_an_atom() {
        // Half of the flows have 100 bytes, the other half 100 to 300: mean 50 + 100.
        let cdf = Cdf::new(&[(100.0, 50.0), (300.0, 100.0)]).unwrap();
        assert!((cdf.mean() - 150.0).abs() < 1e-9);
        let mut random = stream(1, "cdf");
        let sizes: Vec<_> = (0..10_000).map(|_| cdf.draw(&mut random)).collect();
        assert!(sizes.iter().all(|s| (100..=300).contains(s)));
        // 5000 atoms and some 25 that round to 100; standard deviation 50.
        let atoms = sizes.iter().filter(|&&s| s == 100).count();
        assert!((4_750..=5_300).contains(&atoms), "{atoms}");
    }

    #[test]
    fn faults_name_the_point() {
        let fault = |points: &[(f64, f64)]| Cdf::new(points).unwrap_err();
        assert_eq!(
            fault(&[(10.0, 50.0), (5.0, 100.0)]),
            (1, "5 bytes do not come after 10".into())
        );
        assert_eq!(
            fault(&[(10.0, 50.0), (20.0, 40.0)]),
            (1, "40 % falls below the 50 % before".into())
        );
        assert_eq!(
            fault(&[(10.0, 50.0), (20.0, 90.0)]),
            (1, "ends at 90 %, not at 100 %".into())
        );
        assert_eq!(
            fault(&[(0.0, 50.0)]),
            (0, "0 bytes; a flow has at least 1".into())
        );
    }
}
