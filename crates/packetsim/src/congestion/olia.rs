//! OLIA: opportunistic linked increases, which move traffic to the best paths without giving up the others.
//!
//! Sources: Khalili, Gast, Popovic, Upadhyay, Le Boudec: "MPTCP is not Pareto-optimal" (CoNEXT 2012), and
//! draft-khalili-mptcp-congestion-control-05, section 3. Reactions to losses and timeouts are those of Reno, but with several
//! paths a window may fall to one segment (section 3.3 of the draft). With one path it is Reno. Segments take the
//! place of bytes.

use serde::{Deserialize, Serialize};

use crate::congestion::reno;
use crate::congestion::{Ack, Control, Path, Window};

weft_net::kind! {
    /// Coupled increase that prefers the best paths, for MPTCP. Over plain TCP it is Reno.
    pub struct Olia: "congestion" / "olia", source "Khalili et al. (CoNEXT 2012), draft-khalili-mptcp-congestion-control" {}
}

/// One subflow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    reno: reno::State,
    /// Segments acknowledged between the last two losses, and since the last one: `l_1r` and `l_2r`.
    between: f64,
    since: f64,
    /// What an acknowledged segment adds: the Kelly-Voice term, and alpha, to be divided by the window.
    kelly: f64,
    alpha: f64,
    is_alone: bool,
}

impl State {
    pub(crate) fn new(_config: &Olia) -> Self {
        Self {
            reno: reno::State::new(&weft_net::kinds::Describe::defaults()),
            between: 0.0,
            since: 0.0,
            kelly: f64::INFINITY,
            alpha: 0.0,
            is_alone: true,
        }
    }

    fn end_interval(&mut self) {
        self.between = self.since;
        self.since = 0.0;
    }
}

/// alpha of path `own`: what the paths with the largest windows give to the best paths without them.
fn alpha(own: usize, paths: &[Path]) -> f64 {
    let quality = |p: &Path| p.own * p.own / p.srtt;
    let (mut best, mut widest, mut count) = (0.0_f64, 0.0_f64, 0);
    for (_, path) in Path::active(paths) {
        best = best.max(quality(path));
        widest = widest.max(path.cwnd);
        count += 1;
    }
    let is_widest = |p: &Path| p.cwnd >= widest;
    let is_collected = |p: &Path| quality(p) >= best && !is_widest(p);
    let collected = Path::active(paths).filter(|(_, p)| is_collected(p)).count();
    if collected == 0 {
        return 0.0;
    }
    let share = 1.0 / f64::from(count);
    if is_collected(&paths[own]) {
        share / collected as f64
    } else if is_widest(&paths[own]) {
        -share / Path::active(paths).filter(|(_, p)| is_widest(p)).count() as f64
    } else {
        0.0
    }
}

impl Control for State {
    fn is_coupled(&self) -> bool {
        true
    }

    #[inline]
    fn couple(&mut self, own: usize, paths: &mut [Path]) {
        paths[own].own = self.between.max(self.since);
        let (mut sum, mut count) = (0.0, 0);
        for (_, path) in Path::active(paths) {
            sum += path.cwnd / path.srtt;
            count += 1;
        }
        let Path { cwnd, srtt, .. } = paths[own];
        if cwnd > 0.0 && srtt > 0.0 {
            self.is_alone = count == 1;
            self.kelly = cwnd / (srtt * srtt) / (sum * sum);
            self.alpha = alpha(own, paths);
        }
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.since += f64::from(ack.acked);
        if !ack.is_limited {
            return;
        }
        let left = window.slow_start(f64::from(ack.acked));
        if left > 0.0 {
            let added = if self.is_alone {
                1.0 / window.cwnd
            } else {
                self.kelly + self.alpha / window.cwnd
            };
            window.cwnd = (window.cwnd + left * added).max(1.0);
        }
    }

    fn on_mark(&mut self, window: &mut Window, ack: &Ack) {
        let before = window.cwnd;
        self.reno.on_mark(window, ack);
        if window.cwnd < before {
            self.end_interval();
        }
    }

    fn on_loss(&mut self, window: &mut Window, now: u64, nxt: u32) {
        let half = window.cwnd / 2.0;
        self.reno.on_loss(window, now, nxt);
        self.end_interval();
        if !self.is_alone {
            window.ssthresh = half.max(1.0);
            window.cwnd = window.ssthresh;
        }
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, now: u64) {
        self.reno.on_timeout(window, flight, now);
        self.end_interval();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(cwnd: f64, own: f64) -> Path {
        Path {
            cwnd,
            srtt: 1.0,
            own,
        }
    }

    #[test]
    fn the_widest_path_gives_to_the_best() {
        // The best path (most segments between losses) has not the largest window: it gets 1/n, the widest loses 1/n.
        let all = [path(10.0, 50.0), path(40.0, 20.0), path(20.0, 10.0)];
        let third = 1.0 / 3.0;
        assert_eq!([0, 1, 2].map(|own| alpha(own, &all)), [third, -third, 0.0]);
        // Two best paths share it; where the best is the widest, nothing moves.
        let all = [path(10.0, 50.0), path(12.0, 50.0), path(40.0, 20.0)];
        assert_eq!(
            [0, 1, 2].map(|own| alpha(own, &all)),
            [third / 2.0, third / 2.0, -third]
        );
        let all = [path(50.0, 50.0), path(12.0, 20.0)];
        assert_eq!([0, 1].map(|own| alpha(own, &all)), [0.0, 0.0]);
    }

    #[test]
    fn equal_paths_grow_like_lia() {
        // (w / rtt^2) / (n w / rtt)^2 = 1 / (n^2 w).
        let mut all = vec![path(20.0, 0.0); 4];
        let mut olia = State::new(&Olia {});
        olia.couple(0, &mut all);
        assert!((olia.kelly - 1.0 / (16.0 * 20.0)).abs() < 1e-15);
        assert_eq!(olia.alpha, 0.0);
    }
}
