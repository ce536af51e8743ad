//! The end of a run: what must hold, and the counts that its tables are made of.
//!
//! Every packet that was sent has arrived, is lost, waits or is on its way; buffers hold what their queues hold, and no more than they have.
//! A run that breaks one of these panics with the values.

use weft_net::ids::LinkId;

use crate::outcome::{LinkCount, Outcome, QueueCount, Tally};

use super::packet::{Kind, NONE};
use super::{Ethernet, class};

/// Panics unless every packet and every byte is accounted for.
fn check(run: &Ethernet) {
    let mut under_way = vec![0_u64; run.scenario.flows.len()];
    let mut held = vec![0_u64; run.ingress.len()];
    for event in run.calendar.events() {
        if event.class() == class::ARRIVE && event.packet.kind != Kind::Pause {
            under_way[event.packet.flow as usize] += 1;
        }
    }
    for port in &run.ports {
        // What is on the wire still has its place in the buffer.
        if let Some(sent) = port.sending.filter(|s| s.from != NONE) {
            held[run.queue_of(sent.from, sent.class)] += u64::from(sent.bytes);
        }
    }
    for queue in &run.queues {
        let mut place = queue.head;
        while place != NONE {
            let entry = &run.waiting[place as usize];
            under_way[entry.packet.flow as usize] += 1;
            if entry.from != NONE {
                held[run.queue_of(entry.from, entry.packet.class)] += u64::from(entry.packet.bytes);
            }
            place = entry.next;
        }
    }
    let classes = run.pfc.classes as usize;
    let name = |at: usize| run.scenario.network.link_name(LinkId::from(at / classes));
    for (at, ingress) in run.ingress.iter().enumerate() {
        assert_eq!(
            ingress.held(),
            held[at],
            "{}: bytes counted, and bytes that wait",
            name(at)
        );
    }
    for (node, shared) in run.shared.iter().enumerate() {
        let Some(shared) = shared else { continue };
        let links = run
            .wires
            .iter()
            .enumerate()
            .filter(|(_, w)| w.dst as usize == node);
        let used: u64 = links
            .flat_map(|(link, _)| {
                run.ingress[link * classes..(link + 1) * classes]
                    .iter()
                    .map(|i| i.shared)
            })
            .sum();
        assert_eq!(
            shared.used(),
            used,
            "{}: shared bytes",
            run.scenario.network.nodes[node].name
        );
    }
    for (flow, record) in run.records.iter().enumerate() {
        assert_eq!(
            record.sent,
            record.arrived + u64::from(run.lost[flow]) + under_way[flow],
            "flow {flow}: packets sent, and arrived + lost + in flight"
        );
    }
}

/// Ends the run.
pub(super) fn finish(run: &mut Ethernet) -> Outcome {
    check(run);
    let now = run.now;
    let classes = run.pfc.classes as usize;
    for at in 0..run.queues.len() {
        let mut place = run.queues[at].head;
        while place != NONE {
            run.queues[at].waited = run.queues[at].waited.wrapping_add(now);
            place = run.waiting[place as usize].next;
        }
    }
    let links = run.ports.iter().enumerate().map(|(link, port)| {
        let unsent = match port.sending {
            Some(sent) if port.free_at > now => {
                (1, u64::from(sent.bytes) + run.wires[link].overhead)
            }
            _ => (0, 0),
        };
        LinkCount {
            tx_bytes: port.bytes - unsent.1,
            tx_packets: port.packets - unsent.0,
            busy: port.busy_before(now),
            lost: 0,
        }
    });
    let links = links.collect();
    let queues = run
        .queues
        .iter_mut()
        .enumerate()
        .map(|(at, queue)| QueueCount {
            link: (at / classes) as u32,
            priority: (at % classes) as u32,
            enqueued: queue.enqueued,
            dropped: queue.dropped,
            marked: queue.marked,
            max_bytes: queue.most,
            mean_bytes: queue.mean_bytes(now),
            mean_wait_ns: (queue.enqueued > 0)
                .then(|| queue.waited as f64 / 1e3 / queue.enqueued as f64),
            paused: queue.paused_before(now),
        });
    let queues: Vec<QueueCount> = queues.collect();
    let mut warnings = run.warnings.clone();
    let dropped: u64 = (queues.iter())
        .filter(|q| run.pfc.is_lossless(u64::from(q.priority)))
        .map(|q| q.dropped)
        .sum();
    if run.storms_found > 0 {
        warnings.push(format!(
            "the watchdog found {} queue{} paused for longer than {}",
            run.storms_found,
            if run.storms_found == 1 { "" } else { "s" },
            run.pfc.watchdog.unwrap_or_default()
        ));
    } else if dropped > 0 {
        warnings.push(format!(
            "{dropped} packets were lost in lossless classes: there was less headroom than came after the pause; make flow_control.headroom larger"
        ));
    }
    if run.unroutable > 0 {
        warnings.push(format!(
            "{} packets had no way to their destination",
            run.unroutable
        ));
    }
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
        warnings,
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

    /// Three hosts that send to a fourth without congestion control, some microseconds into the run.
    fn congested() -> Ethernet {
        let spec = json!({
            "backend": { "until": 1_000_000_000 },
            "topology": { "kind": "star", "hosts": 4 },
            "flow_control": { "kind": "pfc" },
            "transport": { "kind": "rocev2" },
            "congestion": { "kind": "none" },
            "workload": [{ "kind": "pairs", "pairs": ["h0>h3", "h1>h3", "h2>h3"] }],
        });
        let spec = spec.as_object().unwrap();
        let scenario = Arc::new(Scenario::build(spec).unwrap());
        let FlowControl::Pfc(pfc) = FlowControl::from_spec(spec).unwrap() else {
            unreachable!("it says pfc")
        };
        let mut run = Ethernet::new(scenario, pfc, spec).unwrap();
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
    #[should_panic(expected = "bytes counted, and bytes that wait")]
    fn a_byte_that_nobody_holds_is_found() {
        let mut run = congested();
        run.ingress[0].in_headroom += 1;
        check(&run);
    }

    #[test]
    #[should_panic(expected = "packets sent, and arrived + lost + in flight")]
    fn a_packet_that_vanished_is_found() {
        let mut run = congested();
        run.records[0].sent += 1;
        check(&run);
    }
}
