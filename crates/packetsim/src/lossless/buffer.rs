//! The room in an output buffer: packets that have been given a time on the wire, and how much of them has left.

use std::collections::VecDeque;

use crate::prefetch::prefetch;

/// A packet that is being sent, or will be.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    credits: u16,
    from: u64,
    to: u64,
}

/// One output buffer.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    capacity: u32,
    held: u32,
    leaving: VecDeque<Leaving>,
}

impl Buffer {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            held: 0,
            leaving: VecDeque::with_capacity(4),
        }
    }

    /// When there is room for a packet, ps: 0 if there always has been since the last one. At least as much as the packet has
    /// credits must have left, and each packet leaves evenly while it is on the wire.
    #[inline]
    pub(super) fn room_time(&self, credits: u16) -> u64 {
        let wanted = self.held + u32::from(credits);
        if wanted <= self.capacity {
            return 0;
        }
        let mut missing = wanted - self.capacity;
        for packet in &self.leaving {
            let credits = u32::from(packet.credits);
            if missing <= credits {
                let share = (packet.to - packet.from) * u64::from(missing);
                return packet.from + share.div_ceil(u64::from(packet.credits));
            }
            missing -= credits;
        }
        unreachable!("a packet that is larger than the buffer is refused at the start")
    }

    /// Has the packets fetched.
    #[inline]
    pub(super) fn fetch(&self) {
        self.leaving.front().into_iter().for_each(prefetch);
    }

    /// Takes a packet at `now`, which leaves from `from` to `to`.
    #[inline]
    pub(super) fn take(&mut self, now: u64, credits: u16, from: u64, to: u64) {
        while let Some(first) = self.leaving.front()
            && first.to <= now
        {
            self.held -= u32::from(first.credits);
            self.leaving.pop_front();
        }
        self.held += u32::from(credits);
        self.leaving.push_back(Leaving { credits, from, to });
    }

    /// Packets and credits of those whose last bit is still here at `now`.
    pub(super) fn unsent(&self, now: u64) -> (u64, u64) {
        let left = self.leaving.iter().filter(|p| p.to > now);
        left.fold((0, 0), |(packets, credits), p| {
            (packets + 1, credits + u64::from(p.credits))
        })
    }

    /// Ps of the packets in it that they will be on the wire after `now`, with `wire_credit` ps for each credit.
    pub(super) fn sending_after(&self, now: u64, wire_credit: u64) -> u64 {
        let after = |p: &Leaving| {
            p.to.saturating_sub(p.from.max(now))
                .min(u64::from(p.credits) * wire_credit)
        };
        self.leaving.iter().map(after).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_packet_waits_until_24_credits_of_the_first_have_left() {
        // 78 credits hold two packets of 34; a third needs 34 - (78 - 68) = 24 more.
        let mut buffer = Buffer::new(78);
        buffer.take(0, 34, 50, 50 + 34 * 32);
        assert_eq!(buffer.room_time(34), 0);
        buffer.take(340, 34, 50 + 34 * 32, 50 + 68 * 32);
        assert_eq!(buffer.room_time(34), 50 + 24 * 32);
        assert_eq!(buffer.room_time(10), 0);
        // Two packets at once: all of the first, and 24 of the second.
        assert_eq!(buffer.room_time(68), 50 + 34 * 32 + 24 * 32);
        assert_eq!(buffer.sending_after(50 + 32, 32), 67 * 32);
    }
}
