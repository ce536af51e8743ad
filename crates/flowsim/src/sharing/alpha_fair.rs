//! Alpha fairness: rates that maximize the sum of x^(1 - alpha) / (1 - alpha), for alpha = 1 of log x.
//!
//! Source: Mo and Walrand, "Fair end-to-end window-based congestion control", IEEE/ACM ToN 2000. Every link has a price; a
//! flow that pays q for its path sends q^(-1/alpha); a link that is not full costs nothing. The prices solve the dual problem,
//! which is convex, by coordinate descent: a link that carries too much or too little gets the price at which it is just
//! full, the others keep theirs, and whoever has moved by that is looked at next. After a small change few links
//! move.
//!
//! The subflows of one flow act as MPTCP's coupled controls do: x_s = (X / n) (P / q_s), the more on a path the less it costs
//! (windows inversely proportional to loss: Wischik et al., NSDI 2011, section 2.3), where P is the geometric mean of their
//! prices and X = P^(-1/alpha) what a flow with one path at that price gets.

use std::collections::VecDeque;

use crate::active::{Active, Bottleneck};
use crate::sharing::Change;

weft_net::kind! {
    /// Alpha fairness: between most throughput and max-min. Alpha 1 is proportional fairness, 2 what TCP does whose rate is
    /// inverse to the square root of its loss.
    pub struct AlphaFair: "sharing" / "alpha_fair", source "Mo and Walrand, IEEE/ACM ToN 2000" {
        /// How much more the poor count than the rich; towards infinity this is max-min.
        pub alpha: f64 = 2.0, range 0.1..=16.0;
        /// How exactly full links are full, relative.
        pub precision: f64 = 1e-6, range 1e-12..=0.01;
    }
}

/// Looks at links, per link and change, before a solution counts as not found.
const PATIENCE: usize = 100_000;

/// Alpha-fair sharing at work. Rates and capacities are in units of the fastest link.
#[derive(Clone, Debug)]
pub struct Prices {
    alpha: f64,
    precision: f64,
    unit: f64,
    /// By link.
    prices: Vec<f64>,
    loads: Vec<f64>,
    is_due: Vec<bool>,
    due: VecDeque<u32>,
    moved: Vec<u32>,
    has_moved: Vec<bool>,
    /// Changes after which some links were left less exactly full than asked for.
    pub rough: u64,
}

impl Prices {
    /// Of an empty network.
    pub fn new(kind: &AlphaFair, active: &Active) -> Self {
        let links = active.capacities.len();
        Self {
            alpha: kind.alpha,
            precision: kind.precision,
            unit: active.capacities.iter().copied().fold(1.0, f64::max),
            prices: vec![0.0; links],
            loads: vec![0.0; links],
            is_due: vec![false; links],
            due: VecDeque::new(),
            moved: Vec::new(),
            has_moved: Vec::new(),
            rough: 0,
        }
    }

    /// See [`crate::sharing::Sharer::share`].
    pub(crate) fn share(&mut self, active: &mut Active, change: &Change) -> &[u32] {
        self.moved.clear();
        self.has_moved.clear();
        self.has_moved.resize(active.slots(), false);
        for &link in &change.links {
            self.loads[link as usize] = active.load(link) / self.unit;
            self.look_at(active, link);
        }
        for &slot in &change.slots {
            for i in 0..active[slot].uses.len() {
                let link = active[slot].uses[i].link;
                // A new subflow that meets no price would send without bound.
                self.enqueue(link);
            }
            self.note(slot);
        }
        for &slot in &change.slots {
            self.follow(active, slot);
        }
        let mut looks = PATIENCE.saturating_mul(self.prices.len());
        while let Some(link) = self.due.pop_front() {
            self.is_due[link as usize] = false;
            self.settle(active, link);
            looks -= 1;
            if looks == 0 {
                self.rough += 1;
                self.is_due.fill(false);
                self.due.clear();
            }
        }
        for &slot in &self.moved {
            let subflow = &active[slot];
            let dearest = (subflow.uses.iter())
                .max_by(|a, b| {
                    let cost = |u: &crate::active::Use| u.weight * self.prices[u.link as usize];
                    cost(a).total_cmp(&cost(b))
                })
                .map_or(Bottleneck::Unknown, |u| Bottleneck::Link(u.link));
            let is_limited = subflow.rate >= subflow.limit;
            let subflow = &mut active[slot];
            subflow.level = subflow.rate;
            subflow.bottleneck = if is_limited {
                Bottleneck::Limit
            } else {
                dearest
            };
        }
        &self.moved
    }

    fn note(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.has_moved[slot as usize], true) {
            self.moved.push(slot);
        }
    }

    fn enqueue(&mut self, link: u32) {
        if !std::mem::replace(&mut self.is_due[link as usize], true) {
            self.due.push_back(link);
        }
    }

    /// Whether a link carries too much, or too little for its price: then it is due.
    fn look_at(&mut self, active: &Active, link: u32) {
        let at = link as usize;
        let capacity = active.capacities[at] / self.unit;
        let slack = self.precision * capacity;
        if self.loads[at] > capacity + slack
            || (self.prices[at] > 0.0 && self.loads[at] < capacity - slack)
        {
            self.enqueue(link);
        }
    }

    /// What a subflow pays for a bit, where `link` costs `price`.
    fn cost(&self, active: &Active, slot: u32, link: u32, price: f64) -> f64 {
        let pay = |u: &crate::active::Use| {
            u.weight
                * if u.link == link {
                    price
                } else {
                    self.prices[u.link as usize]
                }
        };
        active[slot].uses.iter().map(pay).sum()
    }

    /// What a subflow sends where `link` costs `price`, and the elasticity of that: d ln x / d ln q, not above 0.
    fn demand(&self, active: &Active, slot: u32, link: u32, price: f64) -> (f64, f64) {
        let own = self.cost(active, slot, link, price);
        let limit = active[slot].limit / self.unit;
        let (mut logs, mut n) = (0.0, 1.0);
        let mut other = active[slot].sibling;
        while other != slot {
            logs += libm::log(self.cost(active, other, link, price));
            n += 1.0;
            other = active[other].sibling;
        }
        let (wanted, elasticity) = if n == 1.0 {
            let rate = if self.alpha == 1.0 {
                1.0 / own
            } else if self.alpha == 2.0 {
                1.0 / own.sqrt()
            } else {
                libm::pow(own, -1.0 / self.alpha)
            };
            (rate, -1.0 / self.alpha)
        } else {
            let mean = (logs + libm::log(own)) / n;
            let together = 1.0 - 1.0 / self.alpha;
            (libm::exp(together * mean) / (n * own), together / n - 1.0)
        };
        if wanted < limit {
            (wanted, elasticity)
        } else {
            (limit, 0.0)
        }
    }

    /// What `link` carries at `price`, and how fast that changes with it.
    fn carried(&self, active: &Active, link: u32, price: f64) -> (f64, f64) {
        let (mut load, mut slope) = (0.0, 0.0);
        for &(slot, which) in active.users(link) {
            let weight = active[slot].uses[which as usize].weight;
            let (rate, elasticity) = self.demand(active, slot, link, price);
            load += weight * rate;
            if elasticity < 0.0 {
                slope += weight * weight * rate * elasticity / self.cost(active, slot, link, price);
            }
        }
        (load, slope)
    }

    /// Gives a link the price at which it is just full, or none if it is not.
    fn settle(&mut self, active: &mut Active, link: u32) {
        let at = link as usize;
        let capacity = active.capacities[at] / self.unit;
        let old = self.prices[at];
        // Infinite where somebody pays nothing else.
        let free = self.carried(active, link, 0.0).0;
        let price = if free <= capacity {
            0.0
        } else {
            self.full_price(active, link, capacity, old)
        };
        self.prices[at] = price;
        for i in 0..active.users(link).len() {
            let (slot, _) = active.users(link)[i];
            self.follow(active, slot);
            let mut other = active[slot].sibling;
            while other != slot {
                self.follow(active, other);
                other = active[other].sibling;
            }
        }
    }

    /// Newton's method from either side of the price at which `link` carries `capacity`. What is carried is convex in the
    /// price for subflows on their own, so that from below no step goes too far; from above a step is kept within the bounds
    /// that are known.
    fn full_price(&self, active: &Active, link: u32, capacity: f64, old: f64) -> f64 {
        if capacity == 0.0 {
            return f64::MAX;
        }
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut price = if old > 0.0 {
            old
        } else {
            libm::pow(capacity, -self.alpha)
        };
        for _ in 0..200 {
            let (load, slope) = self.carried(active, link, price);
            let excess = load - capacity;
            if libm::fabs(excess) <= 0.01 * self.precision * capacity {
                break;
            }
            if excess > 0.0 {
                low = price;
            } else {
                high = price;
            }
            let step = if slope < 0.0 {
                price - excess / slope
            } else {
                f64::INFINITY
            };
            price = if step > low && step < high {
                step
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                2.0 * price
            };
        }
        price
    }

    /// A subflow sends what it wants at today's prices; its links are told.
    fn follow(&mut self, active: &mut Active, slot: u32) {
        let rate = self.demand(active, slot, u32::MAX, 0.0).0;
        // Nobody has named a price yet: its links are due, and one of them will.
        let rate = if rate.is_finite() { rate } else { 0.0 };
        let before = active[slot].rate / self.unit;
        if rate == before {
            return;
        }
        active[slot].rate = rate * self.unit;
        self.note(slot);
        for i in 0..active[slot].uses.len() {
            let u = active[slot].uses[i];
            self.loads[u.link as usize] += u.weight * (rate - before);
            self.look_at(active, u.link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::active::Use;
    use proptest::prelude::*;

    fn rates(alpha: f64, paths: &[Vec<u32>], capacities: &[f64]) -> Vec<f64> {
        let kind = AlphaFair {
            alpha,
            precision: 1e-12,
        };
        let mut active = Active::new(capacities.to_vec());
        let slots = paths.iter().map(|p| {
            let uses = p.iter().map(|&link| Use { link, weight: 1.0 }).collect();
            active.add(uses, f64::INFINITY)
        });
        let slots: Vec<u32> = slots.collect();
        let mut prices = Prices::new(&kind, &active);
        prices.share(
            &mut active,
            &Change {
                slots: slots.clone(),
                links: vec![],
            },
        );
        assert_eq!(prices.rough, 0);
        slots.into_iter().map(|s| active[s].rate).collect()
    }

    #[test]
    fn a_parking_lot_is_shared_as_the_formula_says() {
        // Oracle 21. n links: the long flow pays n times the price p of one; 1/(np)^(1/a) + 1/p^(1/a) = 1, so that its share
        // is 1 / (1 + n^(1/a)): 1/(n+1) for alpha 1.
        for alpha in [1.0, 2.0, 0.5, 4.0] {
            for n in 1..12_u32 {
                let mut paths = vec![(0..n).collect::<Vec<u32>>()];
                paths.extend((0..n).map(|l| vec![l]));
                let rates = rates(alpha, &paths, &vec![1.0; n as usize]);
                let long = 1.0 / (1.0 + libm::pow(f64::from(n), 1.0 / alpha));
                assert!((rates[0] - long).abs() < 1e-9, "{alpha} {n} {rates:?}");
                assert!(rates[1..].iter().all(|r| (r - (1.0 - long)).abs() < 1e-9));
            }
        }
    }

    #[test]
    fn links_of_any_rate_are_full_and_the_others_cost_nothing() {
        let rates = rates(2.0, &[vec![0, 1], vec![0], vec![1]], &[1e9, 1e11]);
        assert!((rates[0] / 5e8 - 1.0).abs() < 0.01, "{rates:?}");
        assert!(
            ((rates[0] + rates[1]) / 1e9 - 1.0).abs() < 1e-9,
            "{rates:?}"
        );
        assert!(
            ((rates[0] + rates[2]) / 1e11 - 1.0).abs() < 1e-9,
            "{rates:?}"
        );
    }

    proptest! {
        /// The optimum's conditions (Kuhn and Tucker): no link above its capacity; a flow's marginal utility x^-alpha is the
        /// sum of the prices of its links, and those that are not full cost nothing.
        #[test]
        fn prices_and_rates_are_the_optimum(
            paths in prop::collection::vec(prop::collection::btree_set(0_u32..8, 1..4), 1..20),
            capacities in prop::collection::vec(1_u32..20, 8),
            alpha in prop::sample::select(vec![1.0, 2.0, 3.0]),
        ) {
            let kind = AlphaFair { alpha, precision: 1e-9 };
            let mut active = Active::new(capacities.into_iter().map(f64::from).collect());
            let mut prices = Prices::new(&kind, &active);
            let mut change = Change::default();
            for path in &paths {
                // One after another: the prices move on from what they were.
                let uses = path.iter().map(|&link| Use { link, weight: 1.0 }).collect();
                change.slots = vec![active.add(uses, f64::INFINITY)];
                prices.share(&mut active, &change);
            }
            change.slots.clear();
            change.links = active.remove(0).uses.iter().map(|u| u.link).collect();
            prices.share(&mut active, &change);
            for link in 0..8 {
                let capacity = active.capacities[link as usize];
                prop_assert!(active.load(link) <= capacity * (1.0 + 1e-8));
                if prices.prices[link as usize] > 0.0 {
                    prop_assert!(active.load(link) >= capacity * (1.0 - 1e-8));
                }
            }
            for (_, subflow) in active.iter() {
                let cost: f64 = subflow.uses.iter().map(|u| prices.prices[u.link as usize]).sum();
                let rate = subflow.rate / prices.unit;
                prop_assert!((libm::pow(rate, -alpha) / cost - 1.0).abs() < 1e-6);
            }
        }
    }
}
