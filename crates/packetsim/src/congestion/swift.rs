//! Swift: a window that keeps the round trip at a target.
//!
//! Source: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020, algorithm
//! 1 and section 3.1 (names of the parameters there in brackets). Fabric delay only: hosts here take no time.

use serde::{Deserialize, Serialize};
use weft_net::units::Time;

weft_net::kind! {
    /// Swift: additive increase below a target delay, decrease in proportion above it.
    pub struct Swift: "congestion" / "swift", source "Kumar et al., SIGCOMM 2020" {
        /// Delay beyond the idle round trip that is aimed at (base target), for a path without hops and a large window.
        pub base_target: Time = Time::from_us(5), at least 1;
        /// More for each link of the path (h).
        pub hop_scaling: Time = Time::from_ns(500);
        /// Range of the part that grows as windows fall (fs_range).
        pub flow_scaling: Time = Time::from_us(20);
        /// Windows, packets, between which it does (fs_min_cwnd, fs_max_cwnd).
        pub flow_scaling_min: f64 = 0.1, range 0.000001..=1000000.0;
        /// The larger of them.
        pub flow_scaling_max: f64 = 100.0, range 0.000001..=1000000.0;
        /// Packets by which the window grows in a round trip (ai).
        pub additive: f64 = 1.0, range 0.000001..=1000.0;
        /// How strongly delay beyond the target counts (beta).
        pub beta: f64 = 0.8, range 0.000001..=1.0;
        /// The window falls at most by this share at once (max_mdf).
        pub max_decrease: f64 = 0.5, range 0.000001..=1.0;
        /// Smallest window, packets (min_cwnd).
        pub min_window: f64 = 0.001, range 0.000001..=1.0;
    }
}

/// A flow at its source. The window is in packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    window: f64,
    most: f64,
    idle: f64,
    /// The part of the target that does not depend on the window, ps.
    fixed: f64,
    /// alpha and beta of flow scaling: alpha / sqrt(window) + beta.
    scaling: (f64, f64),
    round_trip: f64,
    last_decrease: u64,
}

impl State {
    /// `idle` is the round trip of the path in ps, `most` the packets that fill it; `links` their number.
    pub(crate) fn new(config: &Swift, idle: u64, most: f64, links: usize) -> Self {
        let range = config.flow_scaling.0 as f64;
        let (least, largest) = (config.flow_scaling_min, config.flow_scaling_max);
        let span = 1.0 / least.sqrt() - 1.0 / largest.sqrt();
        let alpha = if span > 0.0 { range / span } else { 0.0 };
        Self {
            window: most,
            most: most.max(1.0) * 4.0,
            idle: idle as f64,
            fixed: config.base_target.0 as f64 + (links as u64 * config.hop_scaling.0) as f64,
            scaling: (alpha, -alpha / largest.sqrt()),
            round_trip: idle as f64,
            last_decrease: 0,
        }
    }

    pub(crate) fn window(&self) -> f64 {
        self.window
    }

    /// The smoothed round trip, ps.
    pub(crate) fn round_trip(&self) -> f64 {
        self.round_trip
    }

    /// What the round trip should be, ps.
    fn target(&self, config: &Swift) -> f64 {
        let (alpha, beta) = self.scaling;
        let range = config.flow_scaling.0 as f64;
        let scaled = (alpha / self.window.sqrt() + beta).clamp(0.0, range);
        self.idle + self.fixed + scaled
    }

    /// An acknowledgment of so many packets after a round trip of `delay` ps.
    pub(crate) fn on_ack(&mut self, config: &Swift, now: u64, delay: u64, acked: u32) {
        let delay = delay as f64;
        self.round_trip += (delay - self.round_trip) / 8.0;
        let target = self.target(config);
        if delay < target {
            let acked = f64::from(acked);
            self.window += if self.window >= 1.0 {
                config.additive * acked / self.window
            } else {
                config.additive * acked
            };
        } else if self.may_decrease(now) {
            let cut = 1.0 - config.beta * (delay - target) / delay;
            self.window *= cut.max(1.0 - config.max_decrease);
            self.last_decrease = now;
        }
        self.window = self.window.clamp(config.min_window, self.most);
    }

    /// Packets are lost, and selectively or by a NAK known to be.
    pub(crate) fn on_loss(&mut self, config: &Swift, now: u64) {
        if self.may_decrease(now) {
            self.window = (self.window * (1.0 - config.max_decrease)).max(config.min_window);
            self.last_decrease = now;
        }
    }

    /// Nothing came for a timeout.
    pub(crate) fn on_timeout(&mut self, config: &Swift, now: u64) {
        self.window = (self.window * (1.0 - config.max_decrease)).max(config.min_window);
        self.last_decrease = now;
    }

    fn may_decrease(&self, now: u64) -> bool {
        self.last_decrease == 0 || (now - self.last_decrease) as f64 >= self.round_trip
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;

    #[test]
    fn delay_above_the_target_cuts_in_proportion_and_once_a_round_trip() {
        // Idle 10 us, 4 links: 10 + 5 + 2 us; a window of 100 packets has no flow scaling.
        let config = Swift::defaults();
        let mut state = State::new(&config, 10_000_000, 100.0, 4);
        assert!((state.target(&config) - 17e6).abs() < 1.0);
        state.on_ack(&config, 1, 10_000_000, 1);
        assert!((state.window() - 100.01).abs() < 1e-9);
        // 34 us: twice the target, 0.8 x (34 - 17) / 34 = 0.4 less.
        state.on_ack(&config, 2, 34_000_000, 1);
        assert!((state.window() - 60.0).abs() < 0.1, "{}", state.window());
        let after = state.window();
        state.on_ack(&config, 3, 34_000_000, 1);
        assert_eq!(state.window(), after);
        state.on_ack(&config, 1_000_000_000, 1_000_000_000, 1);
        assert!((state.window() - after / 2.0).abs() < 1e-9);
    }

    #[test]
    fn small_windows_are_given_more_delay() {
        let config = Swift::defaults();
        let at = |window| State::new(&config, 10_000_000, window, 4).target(&config);
        assert!((at(0.1) - 37e6).abs() < 1.0 && at(1.0) > at(10.0) && at(10.0) > at(100.0));
    }
}
