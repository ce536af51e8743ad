//! DRILL: every packet takes the shortest of a few queues: some random ones, and those that were shortest last time.
//!
//! Source: Ghorbani, Yang, Godfrey, Ganjali, Firoozshahian, SIGCOMM 2017: DRILL(d, m) looks at d random ports and at
//! the m that it remembers; d = 2, m = 1 is as good as looking at all. A queue is as long as the time until it is
//! empty, so that ports of different rates compare. The paper keeps a memory for each forwarding engine; here a switch
//! has one. Of equally long queues the one remembered wins, then the first drawn.

use serde::{Deserialize, Serialize};

use crate::ids::LinkId;
use crate::load_balance::SwitchState;
use crate::random::Stream;

crate::kind! {
    /// Each packet takes the least loaded of some random hops and of the best ones before.
    pub struct Drill: "load_balance" / "drill", source "Ghorbani et al., SIGCOMM 2017" {
        /// Hops drawn for each packet.
        pub samples: u64 = 2, range 1..=64;
        /// Hops remembered.
        pub memory: u64 = 1, range 0..=64;
    }
}

impl Drill {
    pub(super) fn switch(&self, key: u64) -> SwitchState {
        SwitchState::Drill(Box::new(State {
            random: Stream::from_key(key),
            samples: self.samples as u32,
            memory: self.memory as usize,
            best: Vec::new(),
            candidates: Vec::new(),
        }))
    }
}

/// What one switch remembers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    random: Stream,
    samples: u32,
    memory: usize,
    /// The least loaded of the last choice, best first.
    best: Vec<LinkId>,
    /// Memory that one choice leaves to the next: backlog and hop.
    candidates: Vec<(u64, u32)>,
}

impl State {
    pub(super) fn choose(&mut self, hops: &[LinkId], backlog: impl Fn(LinkId) -> u64) -> u32 {
        let n = hops.len() as u32;
        self.candidates.clear();
        // Hops are in the order of their ids.
        let remembered = self.best.iter().filter_map(|l| hops.binary_search(l).ok());
        self.candidates.extend(remembered.map(|i| (0, i as u32)));
        let known = self.candidates.len();
        while self.candidates.len() - known < self.samples.min(n) as usize {
            let drawn = self.random.below(u64::from(n)) as u32;
            if self.candidates[known..].iter().all(|c| c.1 != drawn) {
                self.candidates.push((0, drawn));
            }
        }
        for candidate in &mut self.candidates {
            candidate.0 = backlog(hops[candidate.1 as usize]);
        }
        // Stable: of equals the first stays first.
        self.candidates.sort_by_key(|c| c.0);
        self.best.clear();
        for &(_, i) in &self.candidates {
            if self.best.len() < self.memory && !self.best.contains(&hops[i as usize]) {
                self.best.push(hops[i as usize]);
            }
        }
        self.candidates[0].1
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::{LinkId, NodeId};
    use crate::load_balance::Moment;
    use crate::load_balance::tests::{hops, kind, network};

    /// Packets of one byte each join ports that send nothing: what each of 8 ports has after 8000.
    fn loads(text: &str) -> [u64; 8] {
        let (network, hops) = (network(), hops(8));
        let mut state = kind(text).switch(1, &network, NodeId(16));
        let mut load = [0_u64; 8];
        for _ in 0..8000 {
            let moment = Moment {
                now: 0,
                backlog: |l: LinkId| load[(l.0 - 100) as usize],
            };
            let chosen = state.choose_at(0, NodeId(1), &hops, moment);
            load[(chosen.0 - 100) as usize] += 1;
        }
        load
    }

    #[test]
    fn looking_at_two_evens_out_what_one_leaves_uneven() {
        let spread = |load: [u64; 8]| load.iter().max().unwrap() - load.iter().min().unwrap();
        // One random hop: sd sqrt(8000 x 7/64) = 29.6 for each. The better of two: within ln ln 8 / ln 2 and a constant.
        assert!(spread(loads(r#"{"kind":"drill","samples":1,"memory":0}"#)) > 30);
        assert!(spread(loads(r#"{"kind":"drill","samples":2,"memory":0}"#)) < 10);
        assert!(spread(loads(r#"{"kind":"drill"}"#)) < 10);
    }

    #[test]
    fn the_shortest_queue_is_remembered() {
        // Only port 105 is empty; once a sample has met it, it is always taken.
        let (network, hops) = (network(), hops(8));
        let mut state = kind(r#"{"kind":"drill"}"#).switch(1, &network, NodeId(16));
        let moment = || Moment {
            now: 0,
            backlog: |l: LinkId| u64::from(l.0 != 105),
        };
        let taken: Vec<_> = (0..200)
            .map(|_| state.choose_at(0, NodeId(1), &hops, moment()).0)
            .collect();
        let met = taken.iter().position(|&l| l == 105).unwrap();
        assert!(met > 0 && taken[met..].iter().all(|&l| l == 105));
    }
}
