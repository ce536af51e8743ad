//! VL arbitration: which lane of a port sends next.
//!
//! Two tables of lanes with weights. The high one goes first, until it has sent its limit while the low one had something to
//! send; then the low one sends a packet. Inside a table lanes take turns, each until it has sent its weight. Source: InfiniBand
//! Architecture Specification, volume 1, 7.6.9. Lanes that cannot send (no credits, no room) lose no turn by it.

use crate::flow_control::credit::{Credit, LaneWeight};

/// Units of 4096 bytes are 64 credits.
const LIMIT_UNIT: i64 = 64;
/// The limit that is none.
const UNLIMITED: u64 = 255;

/// The tables of all ports.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    high: Vec<(u8, i64)>,
    low: Vec<(u8, i64)>,
    limit: Option<i64>,
}

/// Whose turn it is in a table, and how many credits are left of it.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    entry: usize,
    left: i64,
}

/// Where one port stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arbiter {
    high: Turn,
    low: Turn,
    /// Credits that the high table has sent since the low one did, or could not.
    spent: i64,
    is_high: bool,
}

impl Tables {
    pub(super) fn new(credit: &Credit) -> Self {
        let entries = |table: &[LaneWeight]| {
            let used = table.iter().filter(|e| e.weight > 0);
            used.map(|e| (e.vl as u8, e.weight as i64)).collect()
        };
        let is_default = credit.vl_high.is_empty() && credit.vl_low.is_empty();
        Self {
            high: entries(&credit.vl_high),
            low: if is_default {
                (0..credit.lanes as u8).map(|vl| (vl, 64)).collect()
            } else {
                entries(&credit.vl_low)
            },
            limit: (credit.high_limit < UNLIMITED).then_some(credit.high_limit as i64 * LIMIT_UNIT),
        }
    }

    /// Whether a lane is ever served.
    pub(super) fn serves(&self, lane: u8) -> bool {
        self.high.iter().chain(&self.low).any(|e| e.0 == lane)
    }
}

impl Arbiter {
    /// The lane that sends, of those whose bit is set in `ready`; `None` if no table serves any of them.
    pub(super) fn choose(&mut self, tables: &Tables, ready: u16) -> Option<u8> {
        let has = |table: &[(u8, i64)]| table.iter().any(|e| ready >> e.0 & 1 == 1);
        let (high, low) = (has(&tables.high), has(&tables.low));
        if !low {
            self.spent = 0;
        }
        let may_high = tables.limit.is_none_or(|limit| !low || self.spent <= limit);
        self.is_high = high && may_high;
        if self.is_high {
            self.high.next(&tables.high, ready)
        } else {
            self.low.next(&tables.low, ready)
        }
    }

    /// The chosen lane sends a packet.
    pub(super) fn charge(&mut self, credits: u16) {
        let credits = i64::from(credits);
        if self.is_high {
            self.high.left -= credits;
            self.spent += credits;
        } else {
            self.low.left -= credits;
            self.spent = 0;
        }
    }
}

impl Turn {
    fn next(&mut self, table: &[(u8, i64)], ready: u16) -> Option<u8> {
        let can = |entry: usize| ready >> table[entry].0 & 1 == 1;
        if self.left > 0 && self.entry < table.len() && can(self.entry) {
            return Some(table[self.entry].0);
        }
        let after = (1..=table.len()).map(|step| (self.entry + step) % table.len());
        let entry = after.into_iter().find(|&e| can(e))?;
        *self = Self {
            entry,
            left: table[entry].1,
        };
        Some(table[entry].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(tables: &Tables, ready: u16, packets: usize) -> [usize; 3] {
        let mut arbiter = Arbiter::default();
        let mut sent = [0; 3];
        for _ in 0..packets {
            let lane = arbiter.choose(tables, ready).unwrap();
            arbiter.charge(32);
            sent[usize::from(lane)] += 1;
        }
        sent
    }

    #[test]
    fn weights_are_shares() {
        let tables = Tables {
            high: vec![],
            low: vec![(0, 32), (1, 96)],
            limit: None,
        };
        assert_eq!(shares(&tables, 0b11, 400), [100, 300, 0]);
        assert_eq!(shares(&tables, 0b01, 10), [10, 0, 0]);
    }

    #[test]
    fn the_low_table_sends_a_packet_when_the_high_one_has_sent_its_limit() {
        // 64 credits: after 0, 32 and 64 sent credits the high table may go on: three packets, then one of the low.
        let tables = Tables {
            high: vec![(2, 255)],
            low: vec![(0, 64)],
            limit: Some(64),
        };
        assert_eq!(shares(&tables, 0b101, 400), [100, 0, 300]);
        let strict = Tables {
            limit: None,
            ..tables
        };
        assert_eq!(shares(&strict, 0b101, 400), [0, 0, 400]);
    }

    #[test]
    fn a_lane_of_no_table_is_never_served() {
        let tables = Tables {
            high: vec![],
            low: vec![(0, 64)],
            limit: None,
        };
        assert_eq!(Arbiter::default().choose(&tables, 0b10), None);
        assert!(!tables.serves(1));
    }
}
