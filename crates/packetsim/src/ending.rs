//! The end of a run of the window engine: the counts that its tables are made of.

use crate::conservation::{self, InFlight};
use crate::engine::Lossy;
use crate::outcome::{LinkCount, Outcome, QueueCount, Tally};
use crate::trace_table;

/// Ends the run.
pub(crate) fn finish(simulation: &mut Lossy) -> Outcome {
    // Which flows offer no window must be asked before their ends are gone.
    let stuck: Vec<bool> = (0..simulation.scenario.flows.len())
        .map(|f| simulation.hosts.is_stuck(f))
        .collect();
    simulation.hosts.retire_all(&simulation.scenario);
    let found = conservation::in_flight(simulation);
    conservation::check(simulation, &found);
    let Lossy {
        scenario,
        config,
        wire,
        hosts,
        probe,
        ..
    } = &*simulation;
    let mut warnings = Vec::new();
    if wire.unroutable > 0 {
        warnings.push(format!(
            "{} packets had no way to their destination",
            wire.unroutable
        ));
    }
    let turns = wire.turns.as_ref();
    Tally {
        scenario,
        schedule: &config.schedule,
        probe,
        records: &hosts.records,
        lost: &wire.lost,
        marked: &wire.marked,
        stuck: &stuck,
        changes: wire.changes,
        end: simulation.end,
        now: simulation.now,
        links: links(simulation, &found),
        queues: queues(simulation, &found),
        turned: turns.map_or_else(Vec::new, |t| t.paths(scenario)),
        events: simulation.events,
        packet_hops: wire.hops,
        fingerprint: wire.fingerprint(),
        more: trace_table::trace(simulation).into_iter().collect(),
        warnings,
        null_columns: &["samples.error"],
    }
    .outcome()
}

fn links(simulation: &Lossy, found: &InFlight) -> Vec<LinkCount> {
    let wire = &simulation.wire;
    let count = |i: usize| LinkCount {
        tx_bytes: wire.ports.port(i as u32).bytes - found.queued[i].1,
        tx_packets: wire.ports.port(i as u32).packets - found.queued[i].0,
        busy: wire.ports.busy_before(i as u32, simulation.now),
        lost: (wire.wear.get(i).and_then(Option::as_ref)).map_or(0, |w| w.lost),
    };
    (0..wire.ports.len()).map(count).collect()
}

fn queues(simulation: &Lossy, found: &InFlight) -> Vec<QueueCount> {
    let wire = &simulation.wire;
    let now = simulation.now.max(1);
    let count = |i: usize| {
        let port = wire.ports.port(i as u32);
        let waited = (port.waited - found.beyond[i].1) as f64 / 1e3;
        QueueCount {
            link: i as u32,
            priority: 0,
            enqueued: port.packets,
            dropped: wire.ports.tallies[i].dropped,
            marked: wire.ports.tallies[i].marked,
            max_bytes: wire.ports.max_bytes(i as u32),
            mean_bytes: (port.byte_time - found.beyond[i].0) as f64 / now as f64,
            mean_wait_ns: (port.packets > 0).then(|| waited / port.packets as f64),
            paused: 0,
        }
    };
    (0..wire.ports.len()).map(count).collect()
}
