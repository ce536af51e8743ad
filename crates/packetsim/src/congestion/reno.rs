//! Reno: one segment more per round trip, half after a loss.
//!
//! Sources: RFC 5681 (slow start, congestion avoidance), RFC 6582 (one reduction per recovery), RFC 3168 (marks).
//! Departure: a loss halves the window, not what is in flight; the window does not grow while something else limits.

use serde::{Deserialize, Serialize};

use crate::congestion::{Ack, Control, Window};

weft_net::kind! {
    /// Additive increase, multiplicative decrease (NewReno).
    pub struct Reno: "congestion" / "reno", source "RFC 5681, RFC 6582" {
        /// The window after a loss over the window before.
        pub decrease: f64 = 0.5, range 0.1..=0.99;
        /// Segments per round trip that the window grows by in congestion avoidance.
        pub increase: f64 = 1.0, range 0.01..=100.0;
    }
}

/// One sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    decrease: f64,
    increase: f64,
    /// A mark reduces the window once per round trip: not again before this segment is acknowledged.
    reduced_until: u32,
}

impl State {
    pub(crate) fn new(config: &Reno) -> Self {
        Self {
            decrease: config.decrease,
            increase: config.increase,
            reduced_until: 0,
        }
    }

    fn reduce(&self, window: &mut Window) {
        window.ssthresh = (window.cwnd * self.decrease).max(2.0);
        window.cwnd = window.ssthresh;
    }
}

impl Control for State {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.is_limited {
            return;
        }
        let left = window.slow_start(f64::from(ack.acked));
        if left > 0.0 {
            window.cwnd += self.increase * left / window.cwnd;
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

    fn on_timeout(&mut self, window: &mut Window, flight: u32, _now: u64) {
        window.ssthresh = (f64::from(flight).min(window.cwnd) * self.decrease).max(2.0);
    }
}
