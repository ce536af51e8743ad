//! Max-min fairness: no flow can get more without taking from one that has no more than it.
//!
//! Source: Bertsekas and Gallager, Data Networks, 1992, section 6.5.2: all rates grow together until a link is full;
//! its flows keep what they have, and the others go on. The share of a link, what is left of it over the flows that
//! still grow, never falls while others are filled; so a heap of shares that are looked at again before they count
//! finds each full link in turn, without a round over all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A share, not negative, as bits that sort like it.
fn sortable(share: f64) -> u64 {
    share.to_bits()
}

/// The rate of every flow, in the unit of `capacities`.
///
/// `paths` are the links of each flow; one that is named twice is used twice. A flow without links has no way and gets
/// 0. `capacities`, by link, are finite and not negative. Panics if a link is out of range or a capacity is not so.
///
/// ```
/// // A long flow over two links, and a short one on each: all get half. The second link has room for more.
/// let rates = weft_flowsim::sharing::max_min::rates(&[vec![0, 1], vec![0], vec![1]], &[1.0, 2.0]);
/// assert_eq!(rates, [0.5, 0.5, 1.5]);
/// ```
pub fn rates<P: AsRef<[u32]>>(paths: &[P], capacities: &[f64]) -> Vec<f64> {
    assert!(
        capacities.iter().all(|c| c.is_finite() && *c >= 0.0),
        "a capacity is a number, at least 0"
    );
    let mut uses = vec![0_u32; capacities.len()];
    for &link in paths.iter().flat_map(|p| p.as_ref()) {
        uses[link as usize] += 1;
    }
    // Flows by link, one list behind the other.
    let mut first: Vec<usize> = vec![0];
    for &count in &uses {
        first.push(first[first.len() - 1] + count as usize);
    }
    let mut next = first.clone();
    let mut flows = vec![0_u32; first[capacities.len()]];
    for (flow, path) in paths.iter().enumerate() {
        for &link in path.as_ref() {
            flows[next[link as usize]] = flow as u32;
            next[link as usize] += 1;
        }
    }
    let mut left = capacities.to_vec();
    let mut growing = uses;
    let share = |left: f64, growing: u32| left.max(0.0) / f64::from(growing);
    let mut heap: BinaryHeap<_> = (0..capacities.len())
        .filter(|&l| growing[l] > 0)
        .map(|l| Reverse((sortable(share(left[l], growing[l])), l)))
        .collect();
    let mut rates = vec![0.0; paths.len()];
    let mut is_fixed = vec![false; paths.len()];
    while let Some(Reverse((key, link))) = heap.pop() {
        if growing[link] == 0 {
            continue;
        }
        let rate = share(left[link], growing[link]);
        if sortable(rate) > key {
            heap.push(Reverse((sortable(rate), link)));
            continue;
        }
        for &flow in &flows[first[link]..first[link + 1]] {
            if std::mem::replace(&mut is_fixed[flow as usize], true) {
                continue;
            }
            rates[flow as usize] = rate;
            for &other in paths[flow as usize].as_ref() {
                left[other as usize] -= rate;
                growing[other as usize] -= 1;
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_parking_lot_halves_every_link() {
        // Oracle 21: n unit links, a flow over all and one on each: one half for everybody.
        for n in 1..20 {
            let mut paths = vec![(0..n).collect::<Vec<u32>>()];
            paths.extend((0..n).map(|l| vec![l]));
            assert_eq!(
                rates(&paths, &vec![1.0; n as usize]),
                vec![0.5; n as usize + 1]
            );
        }
    }

    #[test]
    fn the_textbook_example_comes_out() {
        // Links of 1, 2 and 4 in a row. a: 0; b: 0 1; c: 1 2; d: 2. Link 0 fills at 1/2 (a, b); link 1 leaves 3/2 for c;
        // link 2 leaves 5/2 for d.
        let paths = [vec![0], vec![0, 1], vec![1, 2], vec![2]];
        assert_eq!(rates(&paths, &[1.0, 2.0, 4.0]), [0.5, 0.5, 1.5, 2.5]);
    }

    #[test]
    fn without_a_way_or_a_link_that_carries_there_is_no_rate() {
        assert_eq!(
            rates(&[vec![], vec![0], vec![1]], &[0.0, 3.0]),
            [0.0, 0.0, 3.0]
        );
        assert_eq!(rates::<Vec<u32>>(&[], &[1.0]), [0.0; 0]);
        // Over a link twice: half of it.
        assert_eq!(rates(&[vec![0, 0]], &[1.0]), [0.5]);
    }

    proptest! {
        /// The definition: every flow has a full link on which nobody has more than it.
        #[test]
        fn every_flow_has_a_bottleneck(
            paths in prop::collection::vec(prop::collection::btree_set(0_u32..12, 1..5), 1..40),
            capacities in prop::collection::vec(1_u32..50, 12),
        ) {
            let paths: Vec<Vec<u32>> = paths.into_iter().map(|p| p.into_iter().collect()).collect();
            let capacities: Vec<f64> = capacities.into_iter().map(f64::from).collect();
            let rates = rates(&paths, &capacities);
            let on = |l: u32| paths.iter().zip(&rates).filter(move |(p, _)| p.contains(&l)).map(|(_, &r)| r);
            for (path, &rate) in paths.iter().zip(&rates) {
                let has_bottleneck = path.iter().any(|&l| {
                    let is_full = on(l).sum::<f64>() >= capacities[l as usize] * (1.0 - 1e-12);
                    is_full && on(l).all(|other| other <= rate * (1.0 + 1e-12))
                });
                prop_assert!(has_bottleneck, "{rates:?}");
            }
            for (l, &capacity) in capacities.iter().enumerate() {
                prop_assert!(on(l as u32).sum::<f64>() <= capacity * (1.0 + 1e-12));
            }
        }
    }
}
