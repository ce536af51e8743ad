//! LIA: the subflows of a connection together take no more than one TCP would on the best of their paths.
//!
//! Source: RFC 6356 (linked increases). Slow start, the reaction to a loss and to a timeout are those of Reno (section 3).
//! The factor alpha is computed for every ACK, not once per round trip. With one path it is Reno.

use serde::{Deserialize, Serialize};

use crate::congestion::reno;
use crate::congestion::{Ack, Control, Path, Window};

weft_net::kind! {
    /// Coupled increase, for MPTCP. Over plain TCP it is Reno.
    pub struct Lia: "congestion" / "lia", source "RFC 6356" {}
}

/// One subflow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    reno: reno::State,
    /// `alpha / cwnd_total`: what an acknowledged segment adds at most.
    linked: f64,
}

impl State {
    pub(crate) fn new(_config: &Lia) -> Self {
        Self {
            reno: reno::State::new(&weft_net::kinds::Describe::defaults()),
            linked: f64::INFINITY,
        }
    }
}

/// `alpha / cwnd_total` = max(cwnd / rtt^2) / (sum of cwnd / rtt)^2 over all paths (RFC 6356, section 4).
fn linked_increase(paths: &[Path]) -> f64 {
    let (mut best, mut sum) = (0.0_f64, 0.0);
    for (_, path) in Path::active(paths) {
        let rate = path.cwnd / path.srtt;
        best = best.max(rate / path.srtt);
        sum += rate;
    }
    if sum > 0.0 {
        best / (sum * sum)
    } else {
        f64::INFINITY
    }
}

impl Control for State {
    fn is_coupled(&self) -> bool {
        true
    }

    #[inline]
    fn couple(&mut self, _own: usize, paths: &mut [Path]) {
        self.linked = linked_increase(paths);
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.is_limited {
            return;
        }
        let left = window.slow_start(f64::from(ack.acked));
        if left > 0.0 {
            window.cwnd += left * self.linked.min(1.0 / window.cwnd);
        }
    }

    fn on_mark(&mut self, window: &mut Window, ack: &Ack) {
        self.reno.on_mark(window, ack);
    }

    fn on_loss(&mut self, window: &mut Window, now: u64, nxt: u32) {
        self.reno.on_loss(window, now, nxt);
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, now: u64) {
        self.reno.on_timeout(window, flight, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(all: &[(f64, f64)]) -> Vec<Path> {
        let path = |&(cwnd, srtt): &(f64, f64)| Path {
            cwnd,
            srtt,
            own: 0.0,
        };
        all.iter().map(path).collect()
    }

    #[test]
    fn n_equal_paths_grow_together_like_one() {
        // Each of n subflows gets w ACKs a round trip and adds 1 / (n^2 w) for each: n * w / (n^2 w) = 1/n together, which
        // with halving of one window at a time gives one TCP's share.
        for n in 1..=8 {
            let all = paths(&vec![(20.0, 1e8); n]);
            let expected = 1.0 / ((n * n) as f64 * 20.0);
            assert!((linked_increase(&all) / expected - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_example_with_unequal_round_trips() {
        // cwnd 10 and 40 segments, 1 and 2 units: max(10, 10) / (10 + 20)^2 = 10 / 900. A path without a sample is left out.
        let all = paths(&[(10.0, 1.0), (40.0, 2.0), (7.0, 0.0), (0.0, 5.0)]);
        assert!((linked_increase(&all) - 10.0 / 900.0).abs() < 1e-15);
    }

    #[test]
    fn with_one_path_it_is_reno() {
        let mut lia = State::new(&Lia {});
        let mut reno = reno::State::new(&reno::Reno {
            decrease: 0.5,
            increase: 1.0,
        });
        let mut windows = [Window {
            cwnd: 10.0,
            ssthresh: 12.0,
        }; 2];
        for _ in 0..50 {
            let ack = Ack {
                now: 0,
                acked: 2,
                rtt: 5,
                srtt: 5,
                una: 1,
                nxt: 1,
                is_marked: false,
                is_limited: true,
            };
            let mut path = paths(&[(windows[0].cwnd, 5.0)]);
            lia.couple(0, &mut path);
            lia.on_ack(&mut windows[0], &ack);
            reno.on_ack(&mut windows[1], &ack);
        }
        assert!((windows[0].cwnd - windows[1].cwnd).abs() < 1e-9);
    }
}
