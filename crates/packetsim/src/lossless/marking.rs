//! Marks: when one lane of a switch's port is congested, and which packets get FECN.
//!
//! The queue of a port is what waits for it in all input buffers, in credits: packets fill it as they arrive and empty it as they go
//! through the core, both evenly. Between these ends the queue is a straight line, so that the state can only change at one of them; they are
//! looked at, in order, when the next packet comes or goes. Congestion begins when the queue reaches the threshold and the port has
//! credits for a packet (it is the root of the congestion) or is told to mark as a victim; it ends when the queue is a hysteresis below the
//! threshold. Source: section 5 of the model of the InfiniBand congestion control thesis (experiments/studies).

use weft_net::random::Stream;

use crate::congestion::infiniband::Marking as Mode;
use crate::flow_control::credit::CREDIT;

use super::lane::Lane;
use super::{Packet, flag};

/// Credits in fixed point, so that sums do not depend on their order.
const ONE: i64 = 1 << 32;

/// Credits that come or go, evenly.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    from: u64,
    to: u64,
    /// All of them, fixed point; below zero if they go.
    all: i64,
    /// A ps of them.
    slope: i64,
}

/// What all ports have in common.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// Where congestion begins and ends, and where the reset zone does; credits, fixed point.
    pub(super) enter: i64,
    pub(super) exit: i64,
    pub(super) reset: Option<i64>,
    pub(super) mode: Mode,
    pub(super) rate: u64,
    pub(super) smallest: u64,
}

/// One lane of one port.
#[derive(Debug)]
pub(super) struct Marking {
    rule: Rule,
    /// Marks even as a victim.
    is_masked: bool,
    is_congested: bool,
    /// Credits of packets that are here whole or in part, and those that are whole and not leaving.
    present: i64,
    whole: i64,
    ramps: Vec<Ramp>,
    /// Of mode `counter`: halves of packets since the last mark.
    passed: u64,
    random: Stream,
}

impl Rule {
    /// Credits in fixed point.
    pub(super) fn fixed(credits: f64) -> i64 {
        (credits * ONE as f64) as i64
    }
}

impl Marking {
    pub(super) fn new(rule: Rule, is_masked: bool, random: Stream) -> Self {
        Self {
            rule,
            is_masked,
            is_congested: false,
            present: 0,
            whole: 0,
            ramps: Vec::with_capacity(8),
            passed: 0,
            random,
        }
    }

    /// A packet fills the queue from `now` to `to`.
    #[inline]
    pub(super) fn join(&mut self, now: u64, to: u64, credits: u16, lane: &Lane) {
        self.advance(now, credits, lane);
        self.present += i64::from(credits);
        self.ramp(now, to, i64::from(credits));
    }

    /// A packet leaves the queue from `now` to `to`; whether it is marked.
    #[inline]
    pub(super) fn leave(&mut self, now: u64, to: u64, packet: &Packet, lane: &Lane) -> bool {
        self.advance(now, packet.credits, lane);
        let is_marked = self.is_congested && self.marks(now, packet);
        self.ramp(now, to, -i64::from(packet.credits));
        is_marked
    }

    fn marks(&mut self, now: u64, packet: &Packet) -> bool {
        let bytes = u64::from(packet.credits) * CREDIT;
        if packet.flags & flag::BECN != 0 || bytes < self.rule.smallest {
            return false;
        }
        let is_half = self.rule.reset.is_some_and(|reset| self.queue(now) < reset);
        let halves = if is_half { 1 } else { 2 };
        match self.rule.mode {
            Mode::Random => self.random.below(2 * (1 + self.rule.rate)) < halves,
            Mode::Counter => {
                self.passed += halves;
                let is_due = self.passed >= 2 * (1 + self.rule.rate);
                if is_due {
                    self.passed = 0;
                }
                is_due
            }
        }
    }

    #[inline]
    fn ramp(&mut self, from: u64, to: u64, credits: i64) {
        let all = credits * ONE;
        let length = to.saturating_sub(from).max(1) as i64;
        self.ramps.push(Ramp {
            from,
            to,
            all,
            slope: all / length,
        });
    }

    /// The queue, in credits, fixed point; no ramp has ended before `now`.
    #[inline]
    fn queue(&self, now: u64) -> i64 {
        let part = |r: &Ramp| {
            if r.to <= now {
                r.all
            } else {
                r.slope * (now - r.from) as i64
            }
        };
        self.whole + self.ramps.iter().map(part).sum::<i64>()
    }

    /// Follows the queue to `now`, at which a packet of so many credits comes or goes.
    #[inline]
    fn advance(&mut self, now: u64, credits: u16, lane: &Lane) {
        // Nothing can have happened while all that was here was less than the threshold.
        let is_quiet = !self.is_congested && self.present * ONE < self.rule.enter;
        while let Some(first) = self.first_end(now) {
            let ramp = self.ramps[first];
            if !is_quiet {
                self.look(ramp.to, credits, lane);
            }
            self.ramps.swap_remove(first);
            self.whole += ramp.all;
            if ramp.all < 0 {
                self.present += ramp.all / ONE;
            }
        }
        if !is_quiet {
            self.look(now, credits, lane);
        }
    }

    /// The ramp that ends first, if it does not go on after `now`.
    #[inline]
    fn first_end(&self, now: u64) -> Option<usize> {
        let mut found = None;
        let mut first = now;
        for (i, ramp) in self.ramps.iter().enumerate() {
            if ramp.to <= first {
                found = Some(i);
                first = ramp.to;
            }
        }
        found
    }

    #[inline]
    fn look(&mut self, at: u64, credits: u16, lane: &Lane) {
        let queue = self.queue(at);
        if self.is_congested {
            self.is_congested = queue >= self.rule.exit;
        } else if queue >= self.rule.enter {
            self.is_congested = self.is_masked || lane.credit_time(credits) <= at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::random::stream;

    fn marking(is_masked: bool) -> (Marking, Lane) {
        let rule = Rule {
            enter: Rule::fixed(48.0),
            exit: Rule::fixed(14.0),
            reset: None,
            mode: Mode::Counter,
            rate: 0,
            smallest: 0,
        };
        (
            Marking::new(rule, is_masked, stream(1, "marking")),
            Lane::new(96),
        )
    }

    fn packet() -> Packet {
        Packet {
            credits: 34,
            ..Packet::default()
        }
    }

    #[test]
    fn congestion_begins_and_ends_along_the_lines() {
        let (mut marking, lane) = marking(true);
        // Two packets fill the queue to 68 by 1088; 48 is reached at 768, and seen at the end of both.
        marking.join(0, 1088, 34, &lane);
        marking.join(0, 1088, 34, &lane);
        assert_eq!(marking.queue(768), Rule::fixed(48.0) / ONE * ONE);
        // Both leave, one after the other: 68 - 34 = 34 is above 14, so that the second is marked, too.
        assert!(marking.leave(2000, 2340, &packet(), &lane));
        assert!(marking.leave(2340, 2680, &packet(), &lane));
        // Empty: what comes now is not.
        marking.join(3000, 3100, 34, &lane);
        assert!(!marking.leave(4000, 4340, &packet(), &lane));
        assert_eq!((marking.whole, marking.present), (34 * ONE, 34));
    }

    #[test]
    fn a_peak_between_two_packets_is_seen() {
        let (mut marking, lane) = marking(true);
        marking.join(0, 1000, 34, &lane);
        marking.join(0, 1000, 34, &lane);
        // The first leaves from 900 to 2000: the peak, 68 - 3, is at 1000, and nobody comes or goes there.
        marking.leave(900, 2000, &packet(), &lane);
        assert!(marking.is_congested || marking.queue(1000) > marking.rule.enter);
        assert!(marking.leave(2000, 2340, &packet(), &lane));
    }

    #[test]
    fn a_victim_marks_only_if_it_is_told_to() {
        for is_masked in [false, true] {
            let (mut marking, mut lane) = marking(is_masked);
            // No credits: the congestion is further on.
            lane.consume(0, 90);
            marking.join(0, 100, 34, &lane);
            marking.join(0, 100, 34, &lane);
            assert_eq!(marking.leave(500, 840, &packet(), &lane), is_masked);
        }
    }
}
