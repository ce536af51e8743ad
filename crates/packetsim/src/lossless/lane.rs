//! One virtual lane of a link, seen from its sender: the credits of the buffer behind it, and what waits for them.
//!
//! Credits come back as their packet leaves that buffer, evenly from the first to the last; a release is announced when the packet
//! begins to leave and counts from when the sender learns of it. So the sender knows ahead when there will be enough, and needs
//! to be woken once.

use std::collections::VecDeque;

use crate::flow_control::credit::CREDIT;
use crate::prefetch::prefetch;

/// Credits that come back one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    pub(super) credits: u16,
    /// When the first is known, and when the last.
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Never, as things stand.
pub(super) const NEVER: u64 = u64::MAX;

/// The state of one lane of one link.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Credits of the buffer behind the link.
    pub(super) capacity: u32,
    /// Credits that are free without those in `releases`; below zero where a packet counts on these.
    free: i64,
    releases: VecDeque<Release>,
    /// Input that was served last.
    pub(super) served: u32,
    /// Since when packets wait and no credit is known to be on its way back; [`NEVER`] if it is not so.
    pub(super) starved_since: u64,
    /// Credits of the smallest packet that found too few.
    pub(super) needs: u16,
    /// Credits of the packets that wait for the lane, and their most so far.
    pub(super) queued: u64,
    most_queued: u64,
    /// Sum of `queued` over time, and until when.
    queued_time: u128,
    queued_at: u64,
    pub(super) packets: u64,
    pub(super) marked: u64,
    /// Sum of the times at which packets left the queue, minus those at which they joined it: wraps.
    pub(super) waited: u64,
    /// Ps in which it was starved.
    pub(super) paused: u64,
}

impl Lane {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            free: i64::from(capacity),
            releases: VecDeque::with_capacity(8),
            served: 0,
            starved_since: NEVER,
            needs: 0,
            queued: 0,
            most_queued: 0,
            queued_time: 0,
            queued_at: 0,
            packets: 0,
            marked: 0,
            waited: 0,
            paused: 0,
        }
    }

    /// A buffer without room behind it, whose credits are all as they were: for tests of what is checked.
    #[cfg(test)]
    pub(super) fn shrink(&mut self) {
        self.free -= i64::from(self.capacity);
        self.capacity = 0;
    }

    /// When a packet of so many credits may start: 0 if at any time, [`NEVER`] if no release on its way is enough.
    #[inline]
    pub(super) fn credit_time(&self, credits: u16) -> u64 {
        let mut missing = i64::from(credits) - self.free;
        if missing <= 0 {
            return 0;
        }
        let mut time = 0;
        for release in &self.releases {
            let all = i64::from(release.credits);
            if missing <= all {
                let share = (release.to - release.from) * missing as u64;
                return time.max(release.from + share.div_ceil(all as u64));
            }
            missing -= all;
            // With several packets leaving at once the later release may be over first: credits count in turn.
            time = time.max(release.to);
        }
        NEVER
    }

    /// A packet starts at `now`.
    #[inline]
    pub(super) fn consume(&mut self, now: u64, credits: u16) {
        while let Some(release) = self.releases.front()
            && release.to <= now
        {
            self.free += i64::from(release.credits);
            self.releases.pop_front();
        }
        self.free -= i64::from(credits);
        if self.starved_since != NEVER {
            self.paused += now - self.starved_since;
            self.starved_since = NEVER;
        }
    }

    /// The buffer behind the link announces credits.
    #[inline]
    pub(super) fn release(&mut self, release: Release) {
        self.releases.push_back(release);
    }

    /// Notes that from `since` on nothing goes for lack of credits, by a packet of so many.
    #[inline]
    pub(super) fn starve(&mut self, since: u64, credits: u16) {
        if self.starved_since == NEVER {
            self.starved_since = since;
            self.needs = credits;
        }
        self.needs = self.needs.min(credits);
    }

    /// A packet joins the queue of the lane.
    #[inline]
    pub(super) fn join(&mut self, now: u64, credits: u16) {
        self.count(now);
        self.queued += u64::from(credits);
        self.most_queued = self.most_queued.max(self.queued);
        self.waited = self.waited.wrapping_sub(now);
    }

    /// A packet leaves it.
    #[inline]
    pub(super) fn leave(&mut self, now: u64, credits: u16) {
        self.count(now);
        self.queued -= u64::from(credits);
        self.packets += 1;
        self.waited = self.waited.wrapping_add(now);
    }

    #[inline]
    fn count(&mut self, now: u64) {
        self.queued_time += u128::from(self.queued * (now - self.queued_at));
        self.queued_at = now;
    }

    /// Has the releases fetched.
    #[inline]
    pub(super) fn fetch_releases(&self) {
        self.releases.front().into_iter().for_each(prefetch);
    }

    /// Credits that are neither free nor on their way back.
    pub(super) fn outstanding(&self) -> i64 {
        let back: i64 = self.releases.iter().map(|r| i64::from(r.credits)).sum();
        i64::from(self.capacity) - self.free - back
    }

    /// Credits that packets hold at `now`: those that are not free, without what has come back by then.
    pub(super) fn held_credits(&self, now: u64) -> u64 {
        let back = |r: &Release| {
            if r.to <= now {
                u64::from(r.credits)
            } else {
                let part = u128::from(now.saturating_sub(r.from)) * u128::from(r.credits);
                (part / u128::from((r.to - r.from).max(1))) as u64
            }
        };
        let free: i64 = self.free + self.releases.iter().map(back).sum::<u64>() as i64;
        (i64::from(self.capacity) - free).max(0) as u64
    }

    pub(super) fn queued_bytes(&self) -> u64 {
        self.queued * CREDIT
    }

    pub(super) fn most_queued_bytes(&self) -> u64 {
        self.most_queued * CREDIT
    }

    /// Mean of the queue until `now`, bytes.
    pub(super) fn mean_queued_bytes(&mut self, now: u64) -> f64 {
        self.count(now);
        self.queued_time as f64 * CREDIT as f64 / now.max(1) as f64
    }

    /// Ps in which it was starved before `now`.
    pub(super) fn paused_before(&self, now: u64) -> u64 {
        let open = now.saturating_sub(self.starved_since.min(now));
        self.paused + open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_credits_of_the_first_packet_let_a_third_start() {
        // 96 credits, packets of 34: two start at once and leave 28. The third needs 6 of the first, which leaves from 1000 to 1340.
        let mut lane = Lane::new(96);
        assert_eq!(lane.credit_time(34), 0);
        lane.consume(0, 34);
        lane.consume(10, 34);
        assert_eq!(lane.credit_time(34), NEVER);
        assert_eq!(lane.credit_time(28), 0);
        lane.release(Release {
            credits: 34,
            from: 1000,
            to: 1340,
        });
        assert_eq!(lane.credit_time(34), 1060);
        assert_eq!(
            [999, 1170, 1340].map(|t| lane.held_credits(t)),
            [68, 51, 34]
        );
        lane.consume(1060, 34);
        // The fourth needs what is left of the first, 28, and 6 of the second.
        assert_eq!(lane.credit_time(34), NEVER);
        lane.release(Release {
            credits: 34,
            from: 1340,
            to: 1680,
        });
        assert_eq!(lane.credit_time(34), 1400);
        assert_eq!(lane.outstanding(), 34);
    }

    #[test]
    fn a_lane_without_credits_is_paused() {
        let mut lane = Lane::new(34);
        lane.consume(0, 34);
        lane.starve(100, 34);
        lane.starve(150, 34);
        assert_eq!(lane.paused_before(400), 300);
        lane.release(Release {
            credits: 34,
            from: 500,
            to: 500,
        });
        lane.consume(500, 34);
        assert_eq!((lane.paused_before(900), lane.starved_since), (400, NEVER));
    }
}
