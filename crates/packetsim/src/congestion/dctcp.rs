//! DCTCP: reduce the window in proportion to the share of marked bytes.
//!
//! Sources: RFC 8257; Alizadeh et al., "Data Center TCP", SIGCOMM 2010.

use serde::{Deserialize, Serialize};

use crate::congestion::{Ack, Control, Window};

weft_net::kind! {
    /// Data Center TCP: needs a queue that marks (`ecn_step` or `red`).
    pub struct Dctcp: "congestion" / "dctcp", source "RFC 8257; Alizadeh et al., SIGCOMM 2010" {
        /// Weight of the newest window in the estimate of the marked share.
        pub g: f64 = 0.0625, range 0.0001..=1.0;
        /// The estimate at the start of a connection.
        pub initial_alpha: f64 = 1.0, range 0.0..=1.0;
    }
}

/// One sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    g: f64,
    alpha: f64,
    delivered: u32,
    marked: u32,
    /// The observation window ends when this segment is acknowledged.
    window_ends: u32,
    /// Not reduced again before this segment, the first one sent after the reduction, is acknowledged.
    reduced_until: u32,
}

impl State {
    pub(crate) fn new(config: &Dctcp) -> Self {
        Self {
            g: config.g,
            alpha: config.initial_alpha,
            delivered: 0,
            marked: 0,
            window_ends: 0,
            reduced_until: 0,
        }
    }
}

impl Control for State {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.is_limited {
            return;
        }
        let left = window.slow_start(f64::from(ack.acked));
        if left > 0.0 {
            window.cwnd += left / window.cwnd;
        }
    }

    fn on_mark(&mut self, window: &mut Window, ack: &Ack) {
        if ack.una > self.reduced_until {
            window.cwnd = (window.cwnd * (1.0 - self.alpha / 2.0)).max(2.0);
            window.ssthresh = window.cwnd;
            self.reduced_until = ack.nxt;
        }
    }

    fn on_loss(&mut self, window: &mut Window, _now: u64, nxt: u32) {
        window.ssthresh = (window.cwnd / 2.0).max(2.0);
        window.cwnd = window.ssthresh;
        self.reduced_until = nxt;
    }

    fn on_timeout(&mut self, window: &mut Window, _flight: u32, _now: u64) {
        window.ssthresh = (window.cwnd / 2.0).max(2.0);
    }

    fn needs_precise_marks(&self) -> bool {
        true
    }

    fn on_delivered(&mut self, segments: u32, ack: &Ack) {
        self.delivered += segments;
        if ack.is_marked {
            self.marked += segments;
        }
        if ack.una > self.window_ends {
            // RFC 8257, section 3.3, step 4: alpha = alpha (1 - g) + g M.
            if self.delivered > 0 {
                let share = f64::from(self.marked) / f64::from(self.delivered);
                self.alpha = self.alpha * (1.0 - self.g) + self.g * share;
            }
            self.delivered = 0;
            self.marked = 0;
            self.window_ends = ack.nxt;
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_net::kinds::Describe;

    use super::*;

    #[test]
    fn alpha_converges_to_the_marked_share() {
        // A quarter of the segments marked in every window: alpha -> 0.25, the window falls by 12.5 % each time.
        let mut state = State::new(&Dctcp::defaults());
        let window = Window {
            cwnd: 100.0,
            ssthresh: 1.0,
        };
        for round in 0..200 {
            for i in 0..4 {
                let una = round * 4 + i + 1;
                let ack = Ack {
                    now: 0,
                    acked: 1,
                    rtt: 1,
                    srtt: 1,
                    una,
                    nxt: una + 3,
                    is_marked: i == 0,
                    is_limited: true,
                };
                state.on_delivered(1, &ack);
            }
        }
        assert!((state.alpha - 0.25).abs() < 0.02, "{}", state.alpha);
        let mut reduced = window;
        let ack = Ack {
            now: 0,
            acked: 1,
            rtt: 1,
            srtt: 1,
            una: 900,
            nxt: 950,
            is_marked: true,
            is_limited: true,
        };
        state.on_mark(&mut reduced, &ack);
        assert!((reduced.cwnd - 100.0 * (1.0 - state.alpha / 2.0)).abs() < 1e-9);
        // Once per round trip: also the last segment that was sent before the reduction does not count.
        for una in [949, 950] {
            state.on_mark(&mut reduced, &Ack { una, ..ack });
            assert!(
                (reduced.cwnd - 100.0 * (1.0 - state.alpha / 2.0)).abs() < 1e-9,
                "{una}"
            );
        }
        state.on_mark(&mut reduced, &Ack { una: 951, ..ack });
        let factor = 1.0 - state.alpha / 2.0;
        assert!((reduced.cwnd - 100.0 * factor * factor).abs() < 1e-9);
    }
}
