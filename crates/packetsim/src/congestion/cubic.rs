//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! Sources: RFC 9438; slow start ends early by HyStart++ (RFC 9406). Departure: RFC 9406 section 4.3 asks for eight
//! round-trip samples per round; so does this.

use serde::{Deserialize, Serialize};

use crate::congestion::{Ack, Control, Window};

weft_net::kind! {
    /// CUBIC with its Reno-friendly region, fast convergence and HyStart++.
    pub struct Cubic: "congestion" / "cubic", source "RFC 9438, RFC 9406" {
        /// C: how aggressively the window grows, segments per second cubed.
        pub c: f64 = 0.4, range 0.001..=100.0;
        /// The window after a loss over the window before (beta_cubic).
        pub beta: f64 = 0.7, range 0.1..=0.99;
        /// Give up bandwidth sooner when the maximum shrinks (RFC 9438, section 4.7).
        pub fast_convergence: bool = true;
        /// Leave slow start when the round-trip time rises (RFC 9406).
        pub hystart: bool = true;
    }
}

/// RFC 9406, section 4.3; times in ps.
const MIN_RTT_THRESHOLD: u64 = 4_000_000_000;
const MAX_RTT_THRESHOLD: u64 = 16_000_000_000;
const MIN_RTT_DIVISOR: u64 = 8;
const RTT_SAMPLES: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

/// One sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// Window before the last reduction.
    w_max: f64,
    /// Window that Reno would have.
    w_est: f64,
    /// Window at the start of this epoch.
    w_start: f64,
    /// Seconds from the start of the epoch to the plateau.
    k: f64,
    /// Start of the epoch, ps; 0 if none.
    epoch: u64,
    reduced_until: u32,
    hystart: Option<HyStart>,
    /// `w_max` before the last reduction, to restore.
    before: (f64, u64),
}

impl State {
    pub(crate) fn new(config: &Cubic) -> Self {
        Self {
            c: config.c,
            beta: config.beta,
            fast_convergence: config.fast_convergence,
            w_max: 0.0,
            w_est: 0.0,
            w_start: 0.0,
            k: 0.0,
            epoch: 0,
            reduced_until: 0,
            hystart: config.hystart.then(HyStart::default),
            before: (0.0, 0),
        }
    }

    fn reduce(&mut self, window: &mut Window) {
        self.before = (self.w_max, self.epoch);
        let cwnd = window.cwnd;
        self.w_max = if self.fast_convergence && cwnd < self.w_max {
            cwnd * (1.0 + self.beta) / 2.0
        } else {
            cwnd
        };
        window.ssthresh = (cwnd * self.beta).max(2.0);
        window.cwnd = window.ssthresh;
        self.epoch = 0;
        self.hystart = None;
    }

    fn begin_epoch(&mut self, now: u64, cwnd: f64) {
        self.epoch = now.max(1);
        self.w_start = cwnd;
        self.w_est = cwnd;
        if cwnd < self.w_max {
            self.k = libm::cbrt((self.w_max - cwnd) / self.c);
        } else {
            // After slow start that no loss ended, the window itself is the plateau.
            self.k = 0.0;
            self.w_max = cwnd;
        }
    }

    fn avoid_congestion(&mut self, window: &mut Window, ack: &Ack, acked: f64) {
        if self.epoch == 0 {
            self.begin_epoch(ack.now, window.cwnd);
        }
        let at = |time: u64| {
            let t = time as f64 * 1e-12 - self.k;
            self.c * t * t * t + self.w_max
        };
        let elapsed = ack.now - self.epoch;
        // Section 4.3: the Reno-friendly window, with alpha 1 once it has passed the old maximum.
        let alpha = if self.w_est >= self.w_max {
            1.0
        } else {
            3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        };
        self.w_est += alpha * acked / window.cwnd;
        if at(elapsed) < self.w_est {
            window.cwnd = window.cwnd.max(self.w_est);
            return;
        }
        // Sections 4.4 and 4.5: aim at the window one round trip from now, at most half as large again.
        let target = at(elapsed + ack.srtt).clamp(window.cwnd, 1.5 * window.cwnd);
        window.cwnd += (target - window.cwnd) / window.cwnd * acked;
    }
}

impl Control for State {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.in_slow_start()
            && let Some(hystart) = &mut self.hystart
        {
            hystart.observe(window, ack);
        }
        if !ack.is_limited {
            // Section 5.8: no growth while something else limits the sender. Like Linux, the epoch goes on: between two
            // ACKs a sender that shares its network card changes sides all the time.
            return;
        }
        let divisor = match &self.hystart {
            Some(h) if window.in_slow_start() && h.is_conservative => CSS_GROWTH_DIVISOR,
            _ => 1.0,
        };
        let left = window.slow_start(f64::from(ack.acked) / divisor);
        if left > 0.0 && !window.in_slow_start() {
            self.avoid_congestion(window, ack, left);
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

    fn on_timeout(&mut self, window: &mut Window, _flight: u32, _now: u64) {
        let cwnd = window.cwnd;
        self.reduce(window);
        window.cwnd = cwnd;
    }

    fn on_undo(&mut self) {
        (self.w_max, self.epoch) = self.before;
    }
}

/// HyStart++: slow start ends when the round trips of a round exceed those of the round before.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HyStart {
    /// The round ends when this segment is acknowledged.
    round_ends: u32,
    last_round_min: u64,
    this_round_min: u64,
    samples: u32,
    /// In conservative slow start: growing slower, to see whether the rise was noise.
    is_conservative: bool,
    baseline: u64,
    rounds_left: u32,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            round_ends: 0,
            last_round_min: u64::MAX,
            this_round_min: u64::MAX,
            samples: 0,
            is_conservative: false,
            baseline: u64::MAX,
            rounds_left: 0,
        }
    }
}

impl HyStart {
    fn observe(&mut self, window: &mut Window, ack: &Ack) {
        if ack.una > self.round_ends {
            self.round_ends = ack.nxt;
            self.last_round_min = self.this_round_min;
            self.this_round_min = u64::MAX;
            self.samples = 0;
            if self.is_conservative {
                self.rounds_left -= 1;
                if self.rounds_left == 0 {
                    window.ssthresh = window.cwnd;
                    return;
                }
            }
        }
        if ack.rtt != 0 {
            self.this_round_min = self.this_round_min.min(ack.rtt);
            self.samples += 1;
        }
        if self.samples < RTT_SAMPLES
            || self.this_round_min == u64::MAX
            || self.last_round_min == u64::MAX
        {
            return;
        }
        if self.is_conservative {
            if self.this_round_min < self.baseline {
                self.is_conservative = false;
                self.baseline = u64::MAX;
            }
        } else {
            let threshold =
                (self.last_round_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD);
            if self.this_round_min >= self.last_round_min + threshold {
                self.baseline = self.this_round_min;
                self.is_conservative = true;
                self.rounds_left = CSS_ROUNDS;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_net::kinds::Describe;

    use super::*;

    #[test]
    fn the_window_returns_to_its_maximum_after_k_seconds() {
        // w_max 1000, beta 0.7: K = cbrt(300 / 0.4) = 9.086 s.
        let mut state = State::new(&Cubic::defaults());
        let mut window = Window {
            cwnd: 1000.0,
            ssthresh: 1.0,
        };
        state.on_loss(&mut window, 0, 0);
        assert!((window.cwnd - 700.0).abs() < 1e-9);
        let rtt = 100_000_000_000;
        let (mut now, mut reached) = (0, 0.0);
        while reached == 0.0 {
            now += rtt;
            let acked = window.cwnd as u32;
            let ack = Ack {
                now,
                acked,
                rtt,
                srtt: rtt,
                una: 1,
                nxt: 1,
                is_marked: false,
                is_limited: true,
            };
            state.on_ack(&mut window, &ack);
            if window.cwnd >= 999.0 {
                reached = now as f64 * 1e-12;
            }
        }
        // The cubic is flat around K: 999 is reached cbrt(1 / 0.4) = 1.36 s before it, and the first epoch begins
        // with the first ACK.
        assert!((reached - (9.086 - 1.357)).abs() < 0.25, "{reached}");
    }

    #[test]
    fn fast_convergence_gives_way() {
        let mut state = State::new(&Cubic::defaults());
        let mut window = Window {
            cwnd: 100.0,
            ssthresh: 1.0,
        };
        state.on_loss(&mut window, 0, 0);
        assert_eq!(state.w_max, 100.0);
        state.on_loss(&mut window, 0, 0);
        assert!((state.w_max - 70.0 * 0.85).abs() < 1e-9);
    }
}
