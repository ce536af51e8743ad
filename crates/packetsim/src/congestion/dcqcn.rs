//! DCQCN: a rate that notifications cut and that time and bytes let grow again.
//!
//! Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3 (names of the
//! parameters there in brackets); the interval of decreases is that of ConnectX cards. Timers are looked at when the flow sends
//! or is notified: in between the rate has no effect.

use serde::{Deserialize, Serialize};
use weft_net::units::{Bytes, Rate, Time};

weft_net::kind! {
    /// DCQCN: the receiver answers marked packets with notifications, and the sender's card adapts its rate.
    pub struct Dcqcn: "congestion" / "dcqcn", source "Zhu et al., SIGCOMM 2015" {
        /// Weight of a notification in the estimate of congestion (g).
        pub g: f64 = 0.00390625, range 0.0000001..=1.0;
        /// Without a notification for so long, the estimate falls (the alpha timer).
        pub alpha_interval: Time = Time::from_us(55), at least 1;
        /// At most one decrease in such a time; 0 obeys every notification.
        pub decrease_interval: Time = Time::from_us(4);
        /// A receiver sends at most one notification per flow in such a time (N).
        pub cnp_interval: Time = Time::from_us(50);
        /// After such a time the rate grows (T).
        pub timer: Time = Time::from_us(55), at least 1;
        /// After so many bytes the rate grows (B).
        pub byte_counter: Bytes = Bytes(10_000_000), at least 1;
        /// So many growths recover towards the rate before the cut (F).
        pub fast_recovery: u64 = 5, range 1..=1000;
        /// Additive increase (R_AI).
        pub additive: Rate = Rate(40_000_000), at least 1;
        /// Hyper increase (R_HAI).
        pub hyper: Rate = Rate(200_000_000), at least 1;
        /// The rate is never below this.
        pub min_rate: Rate = Rate(100_000_000), at least 1;
    }
}

/// A flow at its source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    /// Bits per second on the wire.
    rate: f64,
    target: f64,
    line: f64,
    alpha: f64,
    /// When the estimate falls next, and when the timer expires, ps.
    alpha_due: u64,
    timer_due: u64,
    last_decrease: u64,
    /// Expirations of timer and byte counter since the last cut.
    times: u64,
    rounds: u64,
    bytes: u64,
    /// Before the first notification the flow sends at line rate, and nothing grows.
    is_cut: bool,
}

impl State {
    pub(crate) fn new(line: f64) -> Self {
        Self {
            rate: line,
            target: line,
            line,
            alpha: 1.0,
            alpha_due: u64::MAX,
            timer_due: u64::MAX,
            last_decrease: 0,
            times: 0,
            rounds: 0,
            bytes: 0,
            is_cut: false,
        }
    }

    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// A notification arrives.
    pub(crate) fn on_notification(&mut self, config: &Dcqcn, now: u64) {
        self.catch_up(config, now);
        if self.is_cut && now - self.last_decrease < config.decrease_interval.0 {
            return;
        }
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(config.min_rate.0 as f64);
        self.alpha = (1.0 - config.g) * self.alpha + config.g;
        self.last_decrease = now;
        self.is_cut = true;
        (self.times, self.rounds, self.bytes) = (0, 0, 0);
        self.alpha_due = now + config.alpha_interval.0;
        self.timer_due = now + config.timer.0;
    }

    /// So many bytes have been put on the wire.
    pub(crate) fn on_sent(&mut self, config: &Dcqcn, now: u64, bytes: u64) {
        if !self.is_cut {
            return;
        }
        self.catch_up(config, now);
        self.bytes += bytes;
        while self.bytes >= config.byte_counter.0 {
            self.bytes -= config.byte_counter.0;
            self.rounds += 1;
            self.grow(config);
        }
    }

    /// Timers that have expired until `now`.
    fn catch_up(&mut self, config: &Dcqcn, now: u64) {
        while self.alpha_due <= now {
            self.alpha *= 1.0 - config.g;
            self.alpha_due += config.alpha_interval.0;
            // Too small to matter: the rest at once.
            if self.alpha < 1e-12 {
                let missed = now.saturating_sub(self.alpha_due) / config.alpha_interval.0;
                self.alpha_due += (missed + 1) * config.alpha_interval.0;
            }
        }
        while self.timer_due <= now {
            self.timer_due += config.timer.0;
            self.times += 1;
            self.grow(config);
            if self.rate >= self.line && self.target >= self.line {
                let missed = now.saturating_sub(self.timer_due) / config.timer.0;
                self.timer_due += (missed + 1) * config.timer.0;
                self.times += missed + 1;
            }
        }
    }

    fn grow(&mut self, config: &Dcqcn) {
        let fast = config.fast_recovery;
        if self.times.max(self.rounds) > fast {
            let step = if self.times.min(self.rounds) > fast {
                let stage = self.times.min(self.rounds) - fast;
                config.hyper.0 as f64 * stage as f64
            } else {
                config.additive.0 as f64
            };
            self.target = (self.target + step).min(self.line);
        }
        self.rate = ((self.rate + self.target) / 2.0).min(self.line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;

    #[test]
    fn the_first_notification_halves_and_five_timers_recover() {
        let config = Dcqcn::defaults();
        let mut state = State::new(100e9);
        state.on_sent(&config, 1_000, 1_000_000_000);
        assert_eq!(state.rate(), 100e9);
        state.on_notification(&config, 10_000_000);
        assert_eq!(state.rate(), 50e9);
        // Each timer halves the distance to 100: 75, 87.5, ...
        for (n, expected) in [(1, 75e9), (2, 87.5e9), (5, 98.4375e9)] {
            let mut later = state.clone();
            later.on_sent(&config, 10_000_000 + n * 55_000_000, 0);
            assert_eq!(later.rate(), expected, "{n}");
        }
        // A second one within 4 us is not obeyed.
        state.on_notification(&config, 13_000_000);
        assert_eq!(state.rate(), 50e9);
    }

    #[test]
    fn bytes_and_timers_together_grow_in_steps_that_grow() {
        let config = Dcqcn::defaults();
        let mut state = State::new(100e9);
        for i in 0..20 {
            state.on_notification(&config, i * 5_000_000);
        }
        let low = state.rate();
        let mut now = 100_000_000;
        let mut last = low;
        for _ in 0..40 {
            now += 55_000_000;
            state.on_sent(&config, now, 10_000_000);
            assert!(state.rate() >= last);
            last = state.rate();
        }
        assert!(last > low + 5e9);
    }
}
