//! Max-min fairness: no flow can get more without taking from one that has no more than it.
//!
//! Source: Bertsekas and Gallager, Data Networks, 1992, section 6.5.2. `filling.rs` finds the rates. When a flow comes or
//! goes, most others keep theirs: so the few that share a link with it are filled alone, in what the others leave, and
//! then the definition is checked where something moved: every subflow has a full link on which nobody's level is above its own
//! (or has what it wants). Who fails, and who stands above it on its link, is filled with them the next time, until
//! nobody fails. Then all have a bottleneck, and that makes the rates the max-min fair ones.

use crate::active::{Active, Bottleneck, ROUNDING, Use};
use crate::sharing::Change;
use crate::sharing::filling::Filling;

weft_net::kind! {
    /// Max-min fairness: the least gets as much as it can, then the next. What flows do that adapt alike.
    pub struct MaxMin: "sharing" / "max_min", source "Bertsekas and Gallager, Data Networks, 1992, section 6.5.2" {}
}

/// Max-min sharing at work.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    filling: Filling,
    /// Who is filled, and by slot whether it is.
    slots: Vec<u32>,
    is_in: Vec<bool>,
}

impl Levels {
    /// See [`crate::sharing::Sharer::share`].
    pub(crate) fn share(&mut self, active: &mut Active, change: &Change) -> &[u32] {
        for slot in self.slots.drain(..) {
            if let Some(is_in) = self.is_in.get_mut(slot as usize) {
                *is_in = false;
            }
        }
        self.is_in.resize(active.slots(), false);
        for &slot in &change.slots {
            self.take(active, slot);
        }
        let mut touched: Vec<u32> = change.links.clone();
        for &slot in &change.slots {
            touched.extend(active[slot].uses.iter().map(|u| u.link));
        }
        touched.sort_unstable();
        touched.dedup();
        for &link in &touched {
            for at in 0..active.users(link).len() {
                let (slot, _) = active.users(link)[at];
                if active[slot].bottleneck == Bottleneck::Link(link) {
                    self.take(active, slot);
                }
            }
        }
        loop {
            if 2 * self.slots.len() > active.len() {
                let all: Vec<u32> = active.iter().map(|(slot, _)| slot).collect();
                all.into_iter().for_each(|slot| self.take(active, slot));
            }
            self.filling.fill(active, &self.slots);
            if self.slots.len() == active.len() || !self.widen(active) {
                return &self.slots;
            }
        }
    }

    /// Takes a subflow and its siblings among those to be filled.
    fn take(&mut self, active: &Active, slot: u32) {
        let mut next = slot;
        while !std::mem::replace(&mut self.is_in[next as usize], true) {
            self.slots.push(next);
            next = active[next].sibling;
        }
    }

    /// Takes who is without a bottleneck, and who keeps others from theirs; returns whether there was one.
    fn widen(&mut self, active: &Active) -> bool {
        let before = self.slots.len();
        let touched: Vec<u32> = self.filling.touched().collect();
        for link in touched {
            let users = active.users(link);
            let highest = users.iter().map(|u| active[u.0].level).fold(0.0, f64::max);
            let is_full = active.is_full(link);
            for &(slot, _) in users {
                if self.is_in[slot as usize] || active[slot].bottleneck != Bottleneck::Link(link) {
                    continue;
                }
                if !is_full || active[slot].level < highest * (1.0 - ROUNDING) {
                    self.take(active, slot);
                }
            }
            // Those that were filled and are held here while somebody who was not has more.
            let held = users.iter().map(|u| &active[u.0]);
            let least = held
                .filter(|s| s.bottleneck == Bottleneck::Link(link))
                .map(|s| s.level)
                .fold(f64::INFINITY, f64::min);
            for &(slot, _) in users {
                if !self.is_in[slot as usize] && active[slot].level > least * (1.0 + ROUNDING) {
                    self.take(active, slot);
                }
            }
        }
        self.slots.len() > before
    }
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
    let mut active = Active::new(capacities.to_vec());
    let slots: Vec<Option<u32>> = (paths.iter())
        .map(|path| {
            let whole = |&link: &u32| Use { link, weight: 1.0 };
            let uses: Vec<Use> = path.as_ref().iter().map(whole).collect();
            (!uses.is_empty()).then(|| active.add(uses, f64::INFINITY))
        })
        .collect();
    let all: Vec<u32> = slots.iter().flatten().copied().collect();
    Filling::default().fill(&mut active, &all);
    slots
        .into_iter()
        .map(|slot| slot.map_or(0.0, |s| active[s].rate))
        .collect()
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

    fn subflow(links: &[u32]) -> Vec<Use> {
        links
            .iter()
            .map(|&link| Use { link, weight: 1.0 })
            .collect()
    }

    /// Rates of flows that come one after another, each with subflows on those paths.
    fn joint(flows: &[&[&[u32]]], capacities: &[f64]) -> Vec<f64> {
        let mut active = Active::new(capacities.to_vec());
        let mut levels = Levels::default();
        let mut flows_slots = Vec::new();
        for paths in flows {
            let slots: Vec<u32> = paths
                .iter()
                .map(|p| active.add(subflow(p), f64::INFINITY))
                .collect();
            active.join(&slots);
            levels.share(
                &mut active,
                &Change {
                    slots: slots.clone(),
                    links: vec![],
                },
            );
            flows_slots.push(slots);
        }
        flows_slots
            .iter()
            .map(|slots| slots.iter().map(|&s| active[s].rate).sum())
            .collect()
    }

    #[test]
    fn subflows_share_as_one_flow_and_pool_their_paths() {
        // Oracle 16, what LIA aims at: on one bottleneck two subflows get together what one flow gets; on links of their
        // own the sum of both.
        assert_eq!(joint(&[&[&[0], &[0]], &[&[0]]], &[1.0]), [0.5, 0.5]);
        assert_eq!(joint(&[&[&[0], &[1]]], &[1.0, 3.0]), [4.0]);
        // Link 0 is full when the flow has 1/3 there and the other 2/3; then link 1 is all its.
        let rates = joint(&[&[&[0], &[1]], &[&[0]]], &[1.0, 1.0]);
        assert!(
            (rates[0] - 4.0 / 3.0).abs() < 1e-12 && (rates[1] - 2.0 / 3.0).abs() < 1e-12,
            "{rates:?}"
        );
    }

    #[test]
    fn a_limit_leaves_the_rest_to_others() {
        let mut active = Active::new(vec![10.0]);
        let mut levels = Levels::default();
        let slots: Vec<u32> = [2.0, f64::INFINITY, 100.0]
            .into_iter()
            .map(|l| active.add(subflow(&[0]), l))
            .collect();
        levels.share(
            &mut active,
            &Change {
                slots: slots.clone(),
                links: vec![],
            },
        );
        assert_eq!(
            slots.iter().map(|&s| active[s].rate).collect::<Vec<_>>(),
            [2.0, 4.0, 4.0]
        );
        assert_eq!(active[slots[0]].bottleneck, Bottleneck::Limit);
        active[slots[0]].limit = 3.0;
        levels.share(
            &mut active,
            &Change {
                slots: vec![slots[0]],
                links: vec![],
            },
        );
        assert_eq!(
            slots.iter().map(|&s| active[s].rate).collect::<Vec<_>>(),
            [3.0, 3.5, 3.5]
        );
    }

    proptest! {
        /// Flows come and go, some with several subflows and limits: rates are always those of a filling of all.
        #[test]
        fn what_changes_little_by_little_is_what_is_shared_at_once(
            steps in prop::collection::vec(
                (prop::collection::vec(prop::collection::btree_set(0_u32..10, 1..4), 1..4), 0_usize..8, 0_u32..30), 1..60),
            capacities in prop::collection::vec(1_u32..20, 10),
        ) {
            let mut active = Active::new(capacities.into_iter().map(f64::from).collect());
            let mut levels = Levels::default();
            let mut flows: Vec<Vec<u32>> = Vec::new();
            for (paths, gone, limit) in steps {
                let mut change = Change::default();
                if gone < flows.len() {
                    for slot in flows.swap_remove(gone) {
                        change.links.extend(active.remove(slot).uses.iter().map(|u| u.link));
                    }
                } else {
                    let limit = if limit == 0 { f64::INFINITY } else { f64::from(limit) };
                    let slots: Vec<u32> = paths.iter()
                        .map(|p| active.add(p.iter().map(|&link| Use { link, weight: 0.5 + f64::from(link) }).collect(), limit))
                        .collect();
                    active.join(&slots);
                    change.slots = slots.clone();
                    flows.push(slots);
                }
                levels.share(&mut active, &change);
                let mut whole = active.clone();
                let all: Vec<u32> = whole.iter().map(|(slot, _)| slot).collect();
                Filling::default().fill(&mut whole, &all);
                for (slot, subflow) in whole.iter() {
                    prop_assert!((active[slot].rate - subflow.rate).abs() <= 1e-7 * subflow.rate.max(1e-3),
                        "{} {subflow:?} {:?}", slot, active[slot]);
                }
            }
        }
    }
}
