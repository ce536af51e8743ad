//! The end of a run: what must hold of a lossless fabric, and the counts that its tables are made of.
//!
//! Every packet that was sent has arrived, waits in a buffer or is on its way; every credit is free, on its way back, or held by a packet that
//! is on its way or waits; no buffer holds more than its credits; each wire was busy for as long as its credits take. A run that breaks
//! one of these panics with the values.

use weft_net::ids::LinkId;

use crate::flow_control::credit::CREDIT;
use crate::outcome::{LinkCount, Outcome, QueueCount, Tally};

use super::Lossless;
use super::calendar::{Class, class_of};

/// Panics unless every packet and every credit is accounted for.
fn check(run: &Lossless) {
    let lanes = run.fabric.lanes;
    let mut held = vec![0_i64; run.lanes.len()];
    let mut waiting = vec![0_i64; run.lanes.len()];
    let mut under_way = vec![0_u64; run.scenario.flows.len()];
    for event in run.calendar.events() {
        if matches!(class_of(event), Class::Head | Class::Tail) {
            let lane = event.id() * lanes + u32::from(event.packet.lane);
            held[lane as usize] += i64::from(event.packet.credits);
            under_way[event.packet.flow as usize] += 1;
        }
    }
    run.each_waiting(|from, _, packet| {
        held[from as usize] += i64::from(packet.credits);
        waiting[from as usize] += i64::from(packet.credits);
        under_way[packet.flow as usize] += 1;
    });
    let name = |lane: usize| {
        let link = run
            .scenario
            .network
            .link_name(LinkId::from(lane / lanes as usize));
        format!("{link}, lane {}", lane % lanes as usize)
    };
    for (lane, state) in run.lanes.iter().enumerate() {
        assert_eq!(
            state.outstanding(),
            held[lane],
            "{}: credits that are neither free nor on their way back, and those that packets hold",
            name(lane)
        );
        assert!(
            waiting[lane] <= i64::from(state.capacity),
            "{}: {} credits wait in a buffer of {}",
            name(lane),
            waiting[lane],
            state.capacity
        );
    }
    for (link, output) in run.outputs.iter().enumerate() {
        let wire = &run.fabric.wires[link];
        assert_eq!(
            output.busy,
            output.credits * wire.credit,
            "link {}: busy time, and that of its credits",
            run.scenario.network.link_name(LinkId::from(link))
        );
    }
    for (flow, record) in run.records.iter().enumerate() {
        assert_eq!(
            record.sent,
            record.arrived + under_way[flow],
            "flow {flow}: packets sent, and arrived + in flight"
        );
    }
}

/// Ends the run.
pub(super) fn finish(run: &mut Lossless) -> Outcome {
    check(run);
    let now = run.now;
    let lanes = run.fabric.lanes as usize;
    let mut waited: Vec<u64> = run.lanes.iter().map(|l| l.waited).collect();
    run.each_waiting(|_, to, _| {
        let waited = &mut waited[to as usize];
        *waited = waited.wrapping_add(now);
    });
    let links = run.outputs.iter().map(|output| {
        let (tx_packets, credits) = output.sent_before(now);
        LinkCount {
            tx_bytes: credits * CREDIT,
            tx_packets,
            busy: output.busy_before(now),
            lost: 0,
        }
    });
    let links = links.collect();
    let queues = run
        .lanes
        .iter_mut()
        .enumerate()
        .map(|(lane, state)| QueueCount {
            link: (lane / lanes) as u32,
            priority: (lane % lanes) as u32,
            enqueued: state.packets,
            dropped: 0,
            marked: state.marked,
            max_bytes: state.most_queued_bytes(),
            mean_bytes: state.mean_queued_bytes(now),
            mean_wait_ns: (state.packets > 0)
                .then(|| waited[lane] as f64 / 1e3 / state.packets as f64),
            paused: state.paused_before(now),
        });
    let queues = queues.collect();
    Tally {
        scenario: &run.scenario,
        schedule: &run.schedule,
        probe: &run.probe,
        records: &run.records,
        lost: &run.lost,
        marked: &run.marked,
        stuck: &vec![false; run.records.len()],
        changes: 0,
        end: run.end,
        now,
        links,
        queues,
        turned: Vec::new(),
        events: run.events,
        packet_hops: run.hops,
        fingerprint: (run.fingerprints.iter())
            .fold(0, |hash, &node| weft_net::random::mix(hash ^ node)),
        more: Vec::new(),
        warnings: run.warnings.clone(),
        null_columns: &["samples.error"],
    }
    .outcome()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use weft_net::scenario::Scenario;

    use super::*;
    use crate::flow_control::FlowControl;
    use crate::simulation::Engine;

    /// Three hosts that send to a fourth, some microseconds into the run: buffers are full, packets on every wire.
    fn congested() -> Lossless {
        let spec = json!({
            "backend": { "until": 1_000_000_000 },
            "topology": { "kind": "star", "hosts": 4 },
            "flow_control": { "kind": "credit" },
            "transport": { "kind": "infiniband" },
            "workload": [{ "kind": "pairs", "pairs": ["h0>h3", "h1>h3", "h2>h3"] }],
        });
        let spec = spec.as_object().unwrap();
        let scenario = Arc::new(Scenario::build(spec).unwrap());
        let FlowControl::Credit(credit) = FlowControl::from_spec(spec).unwrap() else {
            unreachable!("it says credit")
        };
        let mut run = Lossless::new(scenario, credit, spec).unwrap();
        run.advance(3000);
        run
    }

    #[test]
    fn a_run_in_mid_flight_is_accounted_for() {
        let run = congested();
        assert!(run.records.iter().any(|r| r.sent > r.arrived));
        check(&run);
    }

    #[test]
    #[should_panic(expected = "credits that are neither free nor on their way back")]
    fn a_credit_that_is_lost_is_found() {
        let mut run = congested();
        let now = run.now;
        run.lanes[0].consume(now, 1);
        check(&run);
    }

    #[test]
    #[should_panic(expected = "wait in a buffer of 0")]
    fn a_buffer_above_its_credits_is_found() {
        let mut run = congested();
        run.lanes.iter_mut().for_each(|lane| lane.shrink());
        check(&run);
    }

    #[test]
    #[should_panic(expected = "busy time, and that of its credits")]
    fn a_wire_that_was_busy_for_nothing_is_found() {
        let mut run = congested();
        run.outputs[0].busy += 1;
        check(&run);
    }

    #[test]
    #[should_panic(expected = "packets sent, and arrived + in flight")]
    fn a_packet_that_vanished_is_found() {
        let mut run = congested();
        run.records[0].sent += 1;
        check(&run);
    }
}
