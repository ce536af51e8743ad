//! Juggler: receive offload that puts packets back in order before TCP sees them.
//!
//! Source: Geng, Jeyakumar, Kabbani, Alizadeh: "Juggler: a practical reordering resilient network stack for datacenters"
//! (EuroSys 2016), section 4. Per flow: a queue by sequence number and the next number that is expected. *Build-up*: until
//! the first flush a smaller number may still arrive and becomes the expected one. *Active merging*: what is in sequence is
//! flushed when it is large enough, ends the flow or is marked, or when `inseq_timeout` has passed since the last
//! flush; if the expected packet is missing for `ooo_timeout`, all is flushed and the flow is in *loss recovery* until that
//! packet comes: it is passed at once, like everything below the expected number. With an empty queue the flow is in *post
//! merge*, and may lose its place in the table to another.
//!
//! Departures: a flush hands its packets to TCP one by one, so that ACKs are as without offload; the out-of-order timeout
//! runs from when the first packet beyond the gap arrived, not from the last flush; a full table gives up the entry that was flushed longest ago
//! (post merge first, then active merging, then loss recovery).

use serde::{Deserialize, Serialize};
use weft_net::units::{Bytes, Time};

use crate::packet::{Packet, flag};

weft_net::kind! {
    /// Packets of a flow wait for those that are missing, for a while, and go to TCP in order.
    pub struct Juggler: "receive" / "juggler", source "Geng et al., EuroSys 2016" {
        /// Longest time between two flushes of packets that are in sequence: 64 KiB at 10 Gbps.
        pub inseq_timeout: Time = Time::from_us(52);
        /// How long packets wait for one that is missing.
        pub ooo_timeout: Time = Time::from_us(50);
        /// Packets in sequence are flushed when they are this large together.
        pub flush: Bytes = Bytes(65_536), at least 1;
        /// Flows that the table of a host holds.
        pub flows: u64 = 64, range 1..=65536;
    }
}

/// No timer.
const NEVER: u64 = u64::MAX;

/// Where a flow stands (post merge is an empty queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Phase {
    BuildUp,
    Merging,
    /// This segment was missing when all was flushed.
    Recovery(u32),
}

/// One flow of a host's table.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    flow: u32,
    phase: Phase,
    /// The segment that is expected.
    next: u32,
    /// What waits, by sequence number.
    queue: Vec<Packet>,
    /// Time of the last flush, ps; before the first, of the first arrival.
    flushed: u64,
    /// Since when a segment is missing that those before and after have come.
    gap_since: u64,
    /// When the outstanding timer event happens.
    wake_at: u64,
}

/// The table of one host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// A data packet arrives at `now`. What goes to TCP is added to `out`, in order; returns when to call
    /// [`Self::expire`] for its flow, if that has not been said before.
    pub(crate) fn arrive(
        &mut self,
        config: &Juggler,
        packet: &Packet,
        now: u64,
        out: &mut Vec<Packet>,
    ) -> Option<u64> {
        let at = match self.entries.iter().position(|e| e.flow == packet.flow) {
            Some(at) => at,
            None => {
                if self.entries.len() as u64 >= config.flows {
                    self.evict(out);
                }
                self.entries.push(Entry {
                    flow: packet.flow,
                    phase: Phase::BuildUp,
                    next: packet.seq,
                    queue: Vec::new(),
                    flushed: now,
                    gap_since: NEVER,
                    wake_at: NEVER,
                });
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[at];
        if packet.seq < entry.next {
            if entry.phase != Phase::BuildUp {
                if entry.phase == Phase::Recovery(packet.seq) {
                    entry.phase = Phase::Merging;
                }
                out.push(*packet);
                return None;
            }
            entry.next = packet.seq;
        }
        let place = entry.queue.partition_point(|p| p.seq <= packet.seq);
        entry.queue.insert(place, *packet);
        entry.settle(config, now, out)
    }

    /// A timer of `flow`: flushes what has waited long enough; returns when to call again.
    pub(crate) fn expire(
        &mut self,
        config: &Juggler,
        flow: u32,
        now: u64,
        out: &mut Vec<Packet>,
    ) -> Option<u64> {
        let entry = self.entries.iter_mut().find(|e| e.flow == flow)?;
        if entry.wake_at != now {
            return None;
        }
        entry.wake_at = NEVER;
        entry.settle(config, now, out)
    }

    /// Makes room for another flow.
    fn evict(&mut self, out: &mut Vec<Packet>) {
        let order = |e: &Entry| {
            let is_recovering = matches!(e.phase, Phase::Recovery(_));
            (is_recovering, !e.queue.is_empty(), e.flushed)
        };
        let at = (0..self.entries.len())
            .min_by_key(|&i| order(&self.entries[i]))
            .expect("a full table has entries");
        out.append(&mut self.entries.remove(at).queue);
    }
}

impl Entry {
    /// How many packets at the head are in sequence, and whether they must go now.
    fn run(&self, config: &Juggler) -> (usize, bool) {
        let (mut count, mut bytes, mut is_urgent) = (0, 0, false);
        let mut expected = self.next;
        for packet in &self.queue {
            // A second copy goes with the first.
            if packet.seq > expected {
                break;
            }
            expected = packet.seq + 1;
            count += 1;
            bytes += u64::from(packet.bytes);
            // What ends the flow, or differs in its ECN bits, is not merged with what follows.
            is_urgent |= packet.flags & (flag::FIN | flag::CE) != 0;
        }
        (count, is_urgent || bytes >= config.flush.0)
    }

    /// Flushes what is due; returns the time of the next timer if that has not been said before.
    fn settle(&mut self, config: &Juggler, now: u64, out: &mut Vec<Packet>) -> Option<u64> {
        let (count, is_urgent) = self.run(config);
        if count > 0 && (is_urgent || now >= self.flushed.saturating_add(config.inseq_timeout.0)) {
            self.flush(count, now, out);
        }
        let (run, _) = self.run(config);
        self.gap_since = since(&self.queue[run..]);
        if now >= self.gap_since.saturating_add(config.ooo_timeout.0) {
            let lost = match run {
                0 => self.next,
                _ => self.queue[run - 1].seq + 1,
            };
            self.flush(self.queue.len(), now, out);
            self.phase = Phase::Recovery(lost);
            self.gap_since = NEVER;
        }
        let mut due = NEVER;
        if self.run(config).0 > 0 {
            due = self.flushed.saturating_add(config.inseq_timeout.0);
        }
        if self.gap_since != NEVER {
            due = due.min(self.gap_since.saturating_add(config.ooo_timeout.0));
        }
        if due < self.wake_at {
            self.wake_at = due;
            return Some(due);
        }
        None
    }

    /// Hands over the first `count` packets.
    fn flush(&mut self, count: usize, now: u64, out: &mut Vec<Packet>) {
        self.next = self.queue[count - 1].seq + 1;
        out.extend(self.queue.drain(..count));
        self.flushed = now;
        if self.phase == Phase::BuildUp {
            self.phase = Phase::Merging;
        }
    }
}

/// Since when the segment before `beyond` has been missing: the earliest arrival of a later one.
fn since(beyond: &[Packet]) -> u64 {
    beyond.iter().map(|p| p.time).min().unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use weft_net::kinds::Describe;

    use super::*;
    use crate::packet::Kind;

    const US: u64 = 1_000_000;

    fn packet(flow: u32, seq: u32, now: u64) -> Packet {
        Packet {
            seq,
            bytes: 1500,
            ..Packet::local(Kind::Data, 0, flow, now)
        }
    }

    /// What a table hands over for arrivals at these microseconds, its timers running: (time in us, segment).
    fn handed(config: &Juggler, arrivals: &[(u64, u32, u32)]) -> Vec<(u64, u32)> {
        let (mut table, mut timers, mut handed) = (Table::default(), Vec::new(), Vec::new());
        let mut out = Vec::new();
        let last = arrivals.last().expect("some").0;
        for us in 0..=last + 200 {
            let now = us * US;
            for &(_, flow, seq) in arrivals.iter().filter(|a| a.0 == us) {
                let due = table.arrive(config, &packet(flow, seq, now), now, &mut out);
                timers.extend(due.map(|due| (due, flow)));
            }
            for (due, flow) in timers.clone() {
                if due == now {
                    let due = table.expire(config, flow, now, &mut out);
                    timers.extend(due.map(|due| (due, flow)));
                }
            }
            handed.extend(out.drain(..).map(|p| (us, p.seq)));
        }
        handed
    }

    #[test]
    fn packets_come_out_in_order_while_the_spread_is_below_the_timeout() {
        // Build-up: 3 and 1 arrive before 0; the first flush is 52 us after the first arrival.
        let arrivals = [(0, 7, 3), (1, 7, 1), (2, 7, 0), (30, 7, 2)];
        assert_eq!(
            handed(&Juggler::defaults(), &arrivals),
            [(52, 0), (52, 1), (52, 2), (52, 3)]
        );
    }

    #[test]
    fn what_is_missing_for_too_long_is_given_up_and_passed_when_it_comes() {
        // 0 is flushed at 52. 2 arrives at 60, 1 is missing: at 110 it goes without it. 1 at 150 passes at once.
        let arrivals = [(0, 7, 0), (60, 7, 2), (150, 7, 1), (151, 7, 3)];
        assert_eq!(
            handed(&Juggler::defaults(), &arrivals),
            [(52, 0), (110, 2), (150, 1), (162, 3)]
        );
    }

    #[test]
    fn large_runs_and_idle_flows_do_not_wait() {
        let config = Juggler {
            flush: Bytes(4_500),
            ..Juggler::defaults()
        };
        // Three full packets are enough; after more than 52 us of silence a packet passes at once.
        let arrivals = [(0, 7, 0), (1, 7, 1), (2, 7, 2), (100, 7, 3)];
        assert_eq!(
            handed(&config, &arrivals),
            [(2, 0), (2, 1), (2, 2), (100, 3)]
        );
    }

    #[test]
    fn a_full_table_gives_up_its_oldest_entry() {
        let config = Juggler {
            flows: 1,
            ..Juggler::defaults()
        };
        // The second flow takes the place of the first, whose packet goes to TCP.
        assert_eq!(handed(&config, &[(0, 7, 0), (5, 8, 4)]), [(5, 0), (57, 4)]);
    }
}
