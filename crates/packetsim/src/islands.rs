//! What has arrived beyond the first gap, and what of it an ACK reports.
//!
//! Source: RFC 2018, section 4 (which blocks, in which order).

use serde::{Deserialize, Serialize};

/// The islands beyond the first gap; plain data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Islands {
    /// Disjoint ranges of segments in order.
    ranges: Vec<(u32, u32)>,
    /// One segment of each of the last three blocks that changed, newest first.
    recent: [u32; 3],
}

impl Islands {
    pub(crate) fn new() -> Self {
        Self {
            ranges: Vec::new(),
            recent: [u32::MAX; 3],
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether segment `seq` has arrived.
    pub(crate) fn contains(&self, seq: u32) -> bool {
        self.ranges
            .iter()
            .any(|&(start, end)| (start..end).contains(&seq))
    }

    /// Everything below `next` has arrived: returns what is missing now, and forgets the first island if it joins that.
    pub(crate) fn reach(&mut self, next: u32) -> u32 {
        if self.ranges[0].0 == next {
            return self.ranges.remove(0).1;
        }
        next
    }

    /// A segment arrives that is none of them.
    pub(crate) fn insert(&mut self, seq: u32) {
        let at = self.ranges.partition_point(|&(start, _)| start <= seq);
        let joins_left = at > 0 && self.ranges[at - 1].1 == seq;
        let joins_right = at < self.ranges.len() && self.ranges[at].0 == seq + 1;
        match (joins_left, joins_right) {
            (true, true) => {
                self.ranges[at - 1].1 = self.ranges[at].1;
                self.ranges.remove(at);
            }
            (true, false) => self.ranges[at - 1].1 = seq + 1,
            (false, true) => self.ranges[at].0 = seq,
            (false, false) => self.ranges.insert(at, (seq, seq + 1)),
        }
        // RFC 2018, section 4: the block with the newest segment comes first, then those reported most recently.
        let block = self.block_of(seq);
        let others: Vec<u32> = self
            .recent
            .iter()
            .copied()
            .filter(|&s| self.block_of(s).is_some_and(|b| Some(b) != block))
            .collect();
        self.recent = [
            seq,
            others.first().copied().unwrap_or(u32::MAX),
            others.get(1).copied().unwrap_or(u32::MAX),
        ];
    }

    fn block_of(&self, seq: u32) -> Option<(u32, u32)> {
        let at = self.ranges.partition_point(|&(start, _)| start <= seq);
        self.ranges
            .get(at.wrapping_sub(1))
            .copied()
            .filter(|&(_, end)| seq < end)
    }

    /// Writes at most `room` blocks, each as its distance from `next` and its length; returns how many.
    pub(crate) fn report(&self, next: u32, room: u16, sack: &mut [u32; 3]) -> u16 {
        let mut blocks = 0;
        for seq in self.recent {
            let Some((start, end)) = self.block_of(seq) else {
                continue;
            };
            let distance = start - next;
            if blocks >= room {
                break;
            }
            if distance > 0xffff {
                // Farther than a block can say: the sender hears of it when the gap is shorter.
                continue;
            }
            sack[usize::from(blocks)] = distance << 16 | (end - start).min(0xffff);
            blocks += 1;
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_with_the_newest_segment_comes_first() {
        let mut islands = Islands::new();
        for seq in [12, 15, 18, 13] {
            islands.insert(seq);
        }
        let mut sack = [0; 3];
        assert_eq!(islands.report(10, 3, &mut sack), 3);
        assert_eq!(sack, [2 << 16 | 2, 8 << 16 | 1, 5 << 16 | 1]);
        sack = [0; 3];
        assert_eq!(islands.report(10, 1, &mut sack), 1);
        assert_eq!(sack, [2 << 16 | 2, 0, 0]);
    }

    #[test]
    fn a_segment_that_fills_a_gap_joins_its_neighbours() {
        let mut islands = Islands::new();
        islands.insert(5);
        islands.insert(7);
        islands.insert(6);
        assert!((5..8).all(|seq| islands.contains(seq)) && !islands.contains(8));
        assert_eq!(islands.reach(4), 4);
        assert_eq!(islands.reach(5), 8);
        assert!(islands.is_empty());
    }
}
