//! The end of a run: its tables, and what the manifest says of it.

use serde::Serialize;
use weft_net::results::Table;
use weft_net::units::Time;

use crate::conservation;
use crate::engine::{End, Simulation};
use crate::flow_table;
use crate::tables;
use crate::trace_table;

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

/// Ends the run.
pub(crate) fn finish(simulation: &mut Simulation) -> Outcome {
    // Which flows offer no window must be asked before their ends are gone.
    let stuck: Vec<bool> = (0..simulation.scenario.flows.len())
        .map(|f| simulation.hosts.is_stuck(f))
        .collect();
    simulation.hosts.retire_all(&simulation.scenario);
    let found = conservation::in_flight(simulation);
    conservation::check(simulation, &found);
    let flows = flow_table::flows(simulation, &stuck);
    let mut tables = vec![
        flows.table,
        tables::links(simulation, &found),
        tables::queues(simulation, &found),
        tables::paths(simulation),
        weft_net::results::nodes(&simulation.scenario.network),
    ];
    tables.extend(trace_table::trace(simulation));
    let mut warnings = simulation.scenario.routes.warnings.clone();
    let count = flows.unfinished;
    match simulation.end {
        End::Limit => warnings.push(format!(
            "the limit of {} was reached before all flows were done; raise backend.limit, or see the reasons of the flows",
            Time(simulation.config.limit)
        )),
        _ if window(simulation) == 0 && simulation.now > 0 => warnings.push(format!(
            "the run ended at {}, before the warm-up of {} was over: nothing was measured; shorten measure.warmup",
            Time(simulation.now),
            Time(simulation.config.warmup)
        )),
        End::Stuck => warnings.push(format!(
            "the run stopped at {}: nothing more could happen, but flows were left",
            Time(simulation.now)
        )),
        End::Done | End::Running => {}
    }
    if count > 0 {
        let total = simulation.scenario.flows.len();
        warnings.push(format!(
            "{count} of {total} flows did not finish: {}",
            flows.reasons.join("; ")
        ));
    }
    if simulation.wire.unroutable > 0 {
        warnings.push(format!(
            "{} packets had no way to their destination",
            simulation.wire.unroutable
        ));
    }
    Outcome {
        tables,
        summary: Summary {
            events: simulation.events,
            packet_hops: simulation.wire.hops,
            simulated_ns: Time(simulation.now).as_ns(),
            fingerprint: format!("{:016x}", simulation.wire.fingerprint()),
            warnings,
            finished: simulation.end == End::Done && flows.given_up == 0,
            unfinished: count,
            null_columns: vec!["samples.error".to_owned()],
        },
    }
}

/// Length of the measurement window, ps.
pub(crate) fn window(simulation: &Simulation) -> u64 {
    let end = simulation.now
        - if simulation.probe.busy_until.is_empty() {
            0
        } else {
            simulation.config.cooldown
        };
    end.saturating_sub(simulation.config.warmup)
}
