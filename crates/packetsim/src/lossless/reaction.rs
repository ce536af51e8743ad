//! The reaction of a source: its place in the congestion control table, and the delay that stands there.
//!
//! A BECN leads up, a timer that runs on its own from the start of the flow leads down; the timer is no event: how often it went off is
//! counted when somebody asks.

use crate::congestion::infiniband::Infiniband;
use crate::flow_control::credit::credits;

/// The control of a workload, in the units of the engine.
#[derive(Clone, Debug)]
pub(super) struct Control {
    /// Delay of each place, in times of the packet on the wire.
    table: Vec<f64>,
    increase: u32,
    least: u32,
    timer: u64,
    /// Packets after which the delay is paid.
    pub(super) burst: u32,
    pub(super) notice_credits: u16,
    pub(super) notice_level: Option<u8>,
}

/// One place in the table: of a queue pair, or of all on a port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reaction {
    ccti: u32,
    /// When the timer was started, ps, and how often it has been counted.
    since: Option<u64>,
    ticks: u64,
}

impl Reaction {
    /// The timer starts, if it does not run.
    pub(super) fn start(&mut self, now: u64) {
        self.since.get_or_insert(now);
    }

    fn settle(&mut self, now: u64, control: &Control) {
        let ticks = self.since.map_or(0, |since| (now - since) / control.timer);
        let down = (ticks - self.ticks).min(u64::from(u32::MAX)) as u32;
        self.ticks = ticks;
        self.ccti = self.ccti.saturating_sub(down).max(control.least);
    }
}

impl Control {
    pub(super) fn new(config: &Infiniband) -> Self {
        let table = config.table();
        Self {
            increase: config.ccti_increase as u32,
            least: (config.ccti_min as u32).min(table.len() as u32 - 1),
            table,
            timer: config.ccti_timer.0,
            burst: config.burst_packets as u32,
            notice_credits: credits(config.becn_size.0) as u16,
            notice_level: config.becn_service_level.map(|l| l as u8),
        }
    }

    /// A BECN arrives.
    pub(super) fn react(&self, reaction: &mut Reaction, now: u64) {
        reaction.settle(now, self);
        let most = self.table.len() as u32 - 1;
        reaction.ccti = (reaction.ccti + self.increase).min(most);
    }

    /// The delay after a packet that takes `wire_time` ps on the wire.
    #[inline]
    pub(super) fn delay(&self, reaction: &mut Reaction, now: u64, wire_time: u64) -> u64 {
        reaction.settle(now, self);
        (self.table[reaction.ccti as usize] * wire_time as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;

    #[test]
    fn notices_lead_up_and_the_timer_down() {
        let control = Control::new(&Infiniband::defaults());
        let mut reaction = Reaction::default();
        reaction.start(5_000_000);
        for _ in 0..19 {
            control.react(&mut reaction, 5_000_000);
        }
        // Place 19: 19 x 10 / 95 = 2 packet times.
        assert_eq!(
            control.delay(&mut reaction, 5_000_000, 1_088_000),
            2_176_000
        );
        // 20 us after the start of the flow, not after the last notice, one step down.
        assert_eq!(
            control.delay(&mut reaction, 24_999_999, 1_088_000),
            2_176_000
        );
        let below = control.delay(&mut reaction, 25_000_000, 950);
        assert_eq!(below, 1800);
        // Nobody asks for a long time: down to the least.
        assert_eq!(
            control.delay(&mut reaction, 1_000_000_000_000, 1_088_000),
            0
        );
        for _ in 0..1000 {
            control.react(&mut reaction, 1_000_000_000_000);
        }
        assert_eq!(reaction.ccti, 127);
    }
}
