//! HPCC: a window from what switches write into every packet: how long their queues are and how much they send.
//!
//! Source: Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1 (names of the parameters there
//! in brackets).

use serde::{Deserialize, Serialize};
use weft_net::units::{Bytes, Time};

weft_net::kind! {
    /// HPCC: in-band telemetry tells how busy every link of the path is, and the window follows.
    pub struct Hpcc: "congestion" / "hpcc", source "Li et al., SIGCOMM 2019" {
        /// Utilization that is aimed at (eta).
        pub target: f64 = 0.95, range 0.1..=1.0;
        /// Additive steps before the window is scaled again (maxStage).
        pub stages: u64 = 5, range 0..=1000;
        /// Additive increase (W_AI); left out, the window of a flow alone times 1 - eta over `flows`.
        pub additive: Option<Bytes> = None;
        /// Flows at one link that `additive` is laid out for.
        pub flows: u64 = 100, range 1..=1000000;
        /// Round trip without queues (T); left out, that of each flow's path.
        pub base_rtt: Option<Time> = None, at least 1;
        /// Bytes of telemetry in every packet (42: two, and eight for each of five hops).
        pub telemetry: Bytes = Bytes(42), range 0..=500;
    }
}

/// What a switch writes into a packet that leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hop {
    /// When, ps.
    pub(crate) time: u64,
    /// Bytes that the port has sent.
    pub(crate) sent: u64,
    /// Bytes that wait.
    pub(crate) queue: u64,
    /// Bits per second.
    pub(crate) rate: f64,
}

/// Hops that a packet has room for.
pub(crate) const HOPS: usize = 8;

/// The telemetry of one packet.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Telemetry {
    pub(crate) count: u8,
    pub(crate) hops: [Hop; HOPS],
}

/// A flow at its source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    /// Bytes.
    window: f64,
    reference: f64,
    most: f64,
    additive: f64,
    /// Ps.
    round_trip: f64,
    utilization: f64,
    stage: u64,
    /// The packet whose acknowledgment begins a new round.
    round_ends: u32,
    last: Telemetry,
}

impl State {
    /// `line` in bits per second, `round_trip` of the path in ps.
    pub(crate) fn new(config: &Hpcc, line: f64, round_trip: u64) -> Self {
        let round_trip = config.base_rtt.map_or(round_trip, |t| t.0) as f64;
        let most = line * round_trip / 8e12;
        let step = most * (1.0 - config.target) / config.flows as f64;
        Self {
            window: most,
            reference: most,
            most,
            additive: config.additive.map_or(step, |a| a.0 as f64),
            round_trip,
            utilization: 1.0,
            stage: 0,
            round_ends: 0,
            last: Telemetry::default(),
        }
    }

    pub(crate) fn window(&self) -> f64 {
        self.window
    }

    /// Bits per second: the window over the round trip.
    pub(crate) fn rate(&self) -> f64 {
        self.window * 8e12 / self.round_trip
    }

    /// An acknowledgment of packet `psn` brings its telemetry; `next` is the packet that will be sent next.
    pub(crate) fn on_ack(&mut self, config: &Hpcc, psn: u32, next: u32, seen: &Telemetry) {
        let is_first = self.last.count != seen.count;
        if !is_first {
            self.measure(seen);
        }
        self.last = *seen;
        if is_first {
            return;
        }
        let is_round = psn >= self.round_ends;
        self.react(config, is_round);
        if is_round {
            self.round_ends = next;
        }
    }

    fn measure(&mut self, seen: &Telemetry) {
        let (mut highest, mut interval) = (0.0, self.round_trip);
        for i in 0..usize::from(seen.count) {
            let (now, before) = (&seen.hops[i], &self.last.hops[i]);
            // Two packets that left a port at one time say nothing of its rate.
            if now.time <= before.time {
                continue;
            }
            let elapsed = (now.time - before.time) as f64;
            let sent = now.sent.saturating_sub(before.sent) as f64 * 8e12 / elapsed;
            let queue = now.queue.min(before.queue) as f64 * 8e12;
            let busy = queue / (now.rate * self.round_trip) + sent / now.rate;
            if busy > highest {
                (highest, interval) = (busy, elapsed);
            }
        }
        let share = interval.min(self.round_trip) / self.round_trip;
        self.utilization = (1.0 - share) * self.utilization + share * highest;
    }

    fn react(&mut self, config: &Hpcc, is_round: bool) {
        let scaled = self.utilization >= config.target || self.stage >= config.stages;
        let window = if scaled {
            self.reference / (self.utilization / config.target).max(1e-6) + self.additive
        } else {
            self.reference + self.additive
        };
        self.window = window.clamp(1.0, self.most);
        if is_round {
            self.stage = if scaled { 0 } else { self.stage + 1 };
            self.reference = self.window;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;

    fn seen(time: u64, sent: u64, queue: u64) -> Telemetry {
        let mut telemetry = Telemetry {
            count: 1,
            ..Telemetry::default()
        };
        telemetry.hops[0] = Hop {
            time,
            sent,
            queue,
            rate: 100e9,
        };
        telemetry
    }

    #[test]
    fn a_full_link_with_a_queue_shrinks_the_window_in_proportion() {
        // 100 Gb/s, 10 us: 125,000 B. The link sends at line rate for a round trip and half of that waits: U = 1.5.
        let config = Hpcc::defaults();
        let mut state = State::new(&config, 100e9, 10_000_000);
        assert_eq!(state.window(), 125_000.0);
        state.on_ack(&config, 0, 10, &seen(1_000_000, 0, 62_500));
        state.on_ack(&config, 1, 11, &seen(11_000_000, 125_000, 62_500));
        let expected = 125_000.0 / (1.5 / 0.95) + 125_000.0 * 0.05 / 100.0;
        assert!(
            (state.window() - expected).abs() < 1e-6,
            "{}",
            state.window()
        );
        assert!((state.rate() - expected * 8e5).abs() < 1.0);
    }

    #[test]
    fn an_idle_link_lets_the_window_grow_back() {
        let config = Hpcc::defaults();
        let mut state = State::new(&config, 100e9, 10_000_000);
        state.on_ack(&config, 0, 1, &seen(0, 0, 1_000_000));
        state.on_ack(&config, 1, 2, &seen(10_000_000, 125_000, 1_000_000));
        let low = state.window();
        assert!(low < 20_000.0);
        for round in 2..40_u32 {
            let time = u64::from(round) * 10_000_000;
            state.on_ack(
                &config,
                round,
                round + 1,
                &seen(time, 125_000 + u64::from(round) * 1000, 0),
            );
        }
        assert!(state.window() > 100_000.0, "{}", state.window());
    }
}
