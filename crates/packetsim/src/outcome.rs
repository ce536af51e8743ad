//! What a run leaves: the tables, and what the manifest says of it. An engine hands over plain counts, a [`Tally`].

use serde::Serialize;
use weft_net::ids::LinkId;
use weft_net::results::Table;
use weft_net::scenario::Scenario;
use weft_net::units::Time;

use crate::flow_table;
use crate::probe::Probe;
use crate::record::Record;
use crate::schedule::Schedule;
use crate::simulation::End;
use crate::tables;

/// Everything that a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// `flows`, `links`, `queues`, `paths`, `nodes`; `trace` if that is asked for.
    pub tables: Vec<Table>,
    /// What the manifest says of the run.
    pub summary: Summary,
}

/// What the manifest says of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Packets and local events handled.
    pub events: u64,
    /// Packets that left a port over a link.
    pub packet_hops: u64,
    /// Simulated time.
    pub simulated_ns: u64,
    /// Hash of all departures, the same on any machine.
    pub fingerprint: String,
    /// What to know before the numbers are trusted.
    pub warnings: Vec<String>,
    /// Whether the run came to the end that the experiment asked for, and no flow was given up on the way.
    pub finished: bool,
    /// Flows with a size that did not finish.
    pub unfinished: u64,
    /// Columns that this backend cannot know.
    pub null_columns: Vec<String>,
}

/// What a directed link has carried until the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCount {
    pub(crate) tx_bytes: u64,
    pub(crate) tx_packets: u64,
    /// Ps that it was sending.
    pub(crate) busy: u64,
    /// Packets that the wire lost.
    pub(crate) lost: u64,
}

/// One queue: of an egress port, or of one lane of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueCount {
    pub(crate) link: u32,
    pub(crate) priority: u32,
    pub(crate) enqueued: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) max_bytes: u64,
    pub(crate) mean_bytes: f64,
    pub(crate) mean_wait_ns: Option<f64>,
    /// Ps that packets were there and flow control let none go.
    pub(crate) paused: u64,
}

/// Everything that the tables are made of.
pub(crate) struct Tally<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) schedule: &'a Schedule,
    pub(crate) probe: &'a Probe,
    /// By subflow.
    pub(crate) records: &'a [Record],
    pub(crate) lost: &'a [u32],
    pub(crate) marked: &'a [u32],
    /// By flow: it offers no room and never will.
    pub(crate) stuck: &'a [bool],
    /// How often routes have changed.
    pub(crate) changes: usize,
    pub(crate) end: End,
    pub(crate) now: u64,
    /// By link.
    pub(crate) links: Vec<LinkCount>,
    pub(crate) queues: Vec<QueueCount>,
    /// Paths of packets that were balanced one by one: subflow, links, bytes.
    pub(crate) turned: Vec<(u32, Vec<LinkId>, u64)>,
    pub(crate) events: u64,
    pub(crate) packet_hops: u64,
    pub(crate) fingerprint: u64,
    /// Tables that only this engine has.
    pub(crate) more: Vec<Table>,
    /// What the engine has to say beside what is the same for all.
    pub(crate) warnings: Vec<String>,
    pub(crate) null_columns: &'a [&'a str],
}

impl Tally<'_> {
    /// Length of the measurement window, ps.
    pub(crate) fn window(&self) -> u64 {
        let is_cut = !self.probe.busy_until.is_empty();
        self.schedule.window(self.now, is_cut)
    }

    /// The tables and the summary.
    pub(crate) fn outcome(self) -> Outcome {
        let flows = flow_table::flows(&self);
        let mut warnings = self.scenario.routes.warnings.clone();
        match self.end {
            End::Limit => warnings.push(format!(
                "the limit of {} was reached before all flows were done; raise backend.limit, or see the reasons of the flows",
                Time(self.schedule.limit)
            )),
            _ if self.window() == 0 && self.now > 0 => warnings.push(format!(
                "the run ended at {}, before the warm-up of {} was over: nothing was measured; shorten measure.warmup",
                Time(self.now),
                Time(self.schedule.warmup)
            )),
            End::Stuck => warnings.push(format!(
                "the run stopped at {}: nothing more could happen, but flows were left",
                Time(self.now)
            )),
            End::Done | End::Running => {}
        }
        if flows.unfinished > 0 {
            let total = self.scenario.flows.len();
            warnings.push(format!(
                "{} of {total} flows did not finish: {}",
                flows.unfinished,
                flows.reasons.join("; ")
            ));
        }
        warnings.extend(self.warnings.iter().cloned());
        let mut tables = vec![
            flows.table,
            tables::links(&self),
            tables::queues(&self),
            tables::paths(&self),
            weft_net::results::nodes(&self.scenario.network),
        ];
        tables.extend(self.more);
        Outcome {
            tables,
            summary: Summary {
                events: self.events,
                packet_hops: self.packet_hops,
                simulated_ns: Time(self.now).as_ns(),
                fingerprint: format!("{:016x}", self.fingerprint),
                warnings,
                finished: self.end == End::Done && flows.given_up == 0,
                unfinished: flows.unfinished,
                null_columns: self.null_columns.iter().map(|&c| c.to_owned()).collect(),
            },
        }
    }
}
