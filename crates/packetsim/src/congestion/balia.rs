//! BALIA: balanced linked adaptation, between responsiveness and friendliness.
//!
//! Sources: Peng, Walid, Hwang, Low: "Multipath TCP: Analysis, Design, and Implementation" (IEEE/ACM Transactions on
//! Networking, 2016), and draft-walid-mptcp-congestion-control-04, section 3. Slow start and timeouts are those of Reno;
//! marks count as losses, once per round trip. With one path it is Reno.

use serde::{Deserialize, Serialize};

use crate::congestion::reno;
use crate::congestion::{Ack, Control, Path, Window};

weft_net::kind! {
    /// Coupled increase and decrease, for MPTCP. Over plain TCP it is Reno.
    pub struct Balia: "congestion" / "balia", source "Peng et al. (2016), draft-walid-mptcp-congestion-control" {}
}

/// One subflow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    reno: reno::State,
    /// What an acknowledged segment adds; `None` where there is one path, or no sample.
    increase: Option<f64>,
    /// alpha: the rate of the fastest path over that of this one.
    alpha: f64,
    /// A mark reduces the window once per round trip: not again before this segment is acknowledged.
    reduced_until: u32,
}

impl State {
    pub(crate) fn new(_config: &Balia) -> Self {
        Self {
            reno: reno::State::new(&weft_net::kinds::Describe::defaults()),
            increase: None,
            alpha: 1.0,
            reduced_until: 0,
        }
    }

    fn reduce(&self, window: &mut Window) {
        let reduced = window.cwnd - window.cwnd / 2.0 * self.alpha.min(1.5);
        window.ssthresh = reduced.max(if self.increase.is_some() { 1.0 } else { 2.0 });
        window.cwnd = window.ssthresh;
    }
}

impl Control for State {
    fn is_coupled(&self) -> bool {
        true
    }

    #[inline]
    fn couple(&mut self, own: usize, paths: &mut [Path]) {
        let (mut sum, mut fastest, mut count) = (0.0, 0.0_f64, 0);
        for (_, path) in Path::active(paths) {
            let rate = path.cwnd / path.srtt;
            sum += rate;
            fastest = fastest.max(rate);
            count += 1;
        }
        let Path { cwnd, srtt, .. } = paths[own];
        if cwnd > 0.0 && srtt > 0.0 {
            let rate = cwnd / srtt;
            self.alpha = fastest / rate;
            let balance = (1.0 + self.alpha) / 2.0 * ((4.0 + self.alpha) / 5.0);
            self.increase = (count > 1).then(|| rate / srtt / (sum * sum) * balance);
        }
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.is_limited {
            return;
        }
        let left = window.slow_start(f64::from(ack.acked));
        if left > 0.0 {
            window.cwnd += left * self.increase.unwrap_or(1.0 / window.cwnd);
        }
    }

    fn on_mark(&mut self, window: &mut Window, ack: &Ack) {
        if ack.una > self.reduced_until {
            self.reduce(window);
            self.reduced_until = ack.nxt;
        }
    }

    fn on_loss(&mut self, window: &mut Window, _now: u64, nxt: u32) {
        self.reduce(window);
        self.reduced_until = nxt;
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, now: u64) {
        self.reno.on_timeout(window, flight, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(cwnd: f64, srtt: f64) -> Path {
        Path {
            cwnd,
            srtt,
            own: 0.0,
        }
    }

    #[test]
    fn the_slower_path_grows_and_falls_faster() {
        // Rates 10 and 20: alpha 2 on the first; increase 10 / 30^2 * 3/2 * 6/5 = 0.02; a loss takes half of 1.5.
        let mut all = [path(10.0, 1.0), path(20.0, 1.0)];
        let mut balia = State::new(&Balia {});
        balia.couple(0, &mut all);
        assert_eq!(balia.alpha, 2.0);
        assert!((balia.increase.expect("two paths") - 0.02).abs() < 1e-15);
        let mut window = Window {
            cwnd: 10.0,
            ssthresh: 1.0,
        };
        balia.on_loss(&mut window, 0, 0);
        assert_eq!(window.cwnd, 2.5);
        // On the faster one alpha is 1: 20 / 900, and half.
        balia.couple(1, &mut all);
        assert!((balia.increase.expect("two paths") - 20.0 / 900.0).abs() < 1e-15);
        window.cwnd = 20.0;
        balia.on_loss(&mut window, 0, 0);
        assert_eq!(window.cwnd, 10.0);
    }

    #[test]
    fn with_one_path_it_is_reno() {
        let mut balia = State::new(&Balia {});
        balia.couple(0, &mut [path(10.0, 3.0)]);
        assert_eq!((balia.alpha, balia.increase), (1.0, None));
    }
}
