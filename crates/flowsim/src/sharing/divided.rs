//! Max-min fairness of flows that are divided over links: a flow of rate r loads a link with its share of r.
//!
//! A flow that is sprayed over
//! equal paths, and one that is bounded by a demand (a link of its own), are the same thing.

use crate::active::{Active, Use};
use crate::sharing::filling::Filling;

/// The rate of every flow, in the unit of `capacities`.
///
/// `uses` are the links of each flow, with the share of its rate that crosses them, above 0. A flow without links gets 0.
/// Panics if a link is out of range, a share is not above 0, or a capacity is not finite or negative.
///
/// ```
/// use weft_flowsim::sharing::divided::rates;
/// // Three flows over two links: hashed 2 to 1 they get 1/2, 1/2 and 1; divided over both, 2/3 each.
/// assert_eq!(rates(&[vec![(0, 1.0)], vec![(0, 1.0)], vec![(1, 1.0)]], &[1.0, 1.0]), [0.5, 0.5, 1.0]);
/// let each = rates(&vec![vec![(0, 0.5), (1, 0.5)]; 3], &[1.0, 1.0]);
/// assert!(each.iter().all(|r| (r - 2.0 / 3.0).abs() < 1e-12));
/// ```
pub fn rates<U: AsRef<[(u32, f64)]>>(uses: &[U], capacities: &[f64]) -> Vec<f64> {
    let mut active = Active::new(capacities.to_vec());
    let slots: Vec<Option<u32>> = (uses.iter())
        .map(|links| {
            let part = |&(link, weight): &(u32, f64)| {
                assert!(weight > 0.0, "a share is above 0");
                Use { link, weight }
            };
            let uses: Vec<Use> = links.as_ref().iter().map(part).collect();
            (!uses.is_empty()).then(|| active.add(uses, f64::INFINITY))
        })
        .collect();
    let all: Vec<u32> = slots.iter().flatten().copied().collect();
    Filling::default().fill(&mut active, &all);
    (slots.into_iter())
        .map(|slot| slot.map_or(0.0, |s| active[s].rate))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sharing::max_min;
    use proptest::prelude::*;

    #[test]
    fn a_demand_is_a_link_of_its_own() {
        // One of three flows asks for 0.2 only: the others share the rest.
        let uses = [vec![(0, 1.0), (1, 1.0)], vec![(0, 1.0)], vec![(0, 1.0)]];
        let rates = rates(&uses, &[1.0, 0.2]);
        for (rate, expected) in rates.iter().zip([0.2, 0.4, 0.4]) {
            assert!((rate - expected).abs() < 1e-12, "{rates:?}");
        }
    }

    proptest! {
        /// With shares of one it is plain max-min fairness.
        #[test]
        fn undivided_flows_get_what_max_min_gives(
            paths in prop::collection::vec(prop::collection::btree_set(0_u32..12, 0..5), 1..40),
            capacities in prop::collection::vec(0_u32..50, 12),
        ) {
            let paths: Vec<Vec<u32>> = paths.into_iter().map(|p| p.into_iter().collect()).collect();
            let uses: Vec<Vec<(u32, f64)>> = paths.iter().map(|p| p.iter().map(|&l| (l, 1.0)).collect()).collect();
            let capacities: Vec<f64> = capacities.into_iter().map(f64::from).collect();
            for (found, plain) in rates(&uses, &capacities).iter().zip(max_min::rates(&paths, &capacities)) {
                prop_assert!((found - plain).abs() < 1e-9, "{found} {plain}");
            }
        }

        /// The definition: every flow has a full link on which nobody has more than it.
        #[test]
        fn every_divided_flow_has_a_bottleneck(
            shares in prop::collection::vec(prop::collection::btree_map(0_u32..8, 1_u32..=8, 1..5), 1..30),
            capacities in prop::collection::vec(1_u32..50, 8),
        ) {
            let uses: Vec<Vec<(u32, f64)>> =
                shares.into_iter().map(|s| s.into_iter().map(|(l, w)| (l, f64::from(w) / 8.0)).collect()).collect();
            let capacities: Vec<f64> = capacities.into_iter().map(f64::from).collect();
            let rates = rates(&uses, &capacities);
            let load = |l: u32| -> f64 {
                let on = uses.iter().zip(&rates).flat_map(|(u, r)| u.iter().filter(|s| s.0 == l).map(move |s| s.1 * r));
                on.sum()
            };
            for (own, &rate) in uses.iter().zip(&rates) {
                let has_bottleneck = own.iter().any(|&(l, _)| {
                    let nobody_has_more = uses
                        .iter()
                        .zip(&rates)
                        .filter(|(u, _)| u.iter().any(|s| s.0 == l))
                        .all(|(_, &other)| other <= rate * (1.0 + 1e-9));
                    load(l) >= capacities[l as usize] * (1.0 - 1e-9) && nobody_has_more
                });
                prop_assert!(has_bottleneck, "{rates:?}");
            }
            for (l, &capacity) in capacities.iter().enumerate() {
                prop_assert!(load(l as u32) <= capacity * (1.0 + 1e-9));
            }
        }
    }
}
