//! The conservation check at the end of a run of the window engine.
//!
//! Sent = delivered + dropped + in flight, per flow and per link, and busy time = the sum of the serialization times.
//! A run that breaks one of these is worth nothing, so it panics with the values.

use weft_net::ids::LinkId;

use crate::engine::Lossy;
use crate::packet::LOCAL;

/// Packets that are queued, and on the wire, at the end of the run.
pub(crate) struct InFlight {
    /// By link: packets and bytes that have not left.
    pub(crate) queued: Vec<(u64, u64)>,
    /// By link: what these have been charged for time after the end: bytes x ps in the queue, ps of waiting.
    pub(crate) beyond: Vec<(u128, u64)>,
    /// By link: packets that have left and not arrived.
    flying: Vec<u64>,
    /// By subflow: both.
    by_flow: Vec<u64>,
}

/// What the calendar still holds.
pub(crate) fn in_flight(simulation: &Lossy) -> InFlight {
    let wire = &simulation.wire;
    let mut found = InFlight {
        queued: vec![(0, 0); wire.ports.len()],
        beyond: vec![(0, 0); wire.ports.len()],
        flying: vec![0; wire.ports.len()],
        by_flow: vec![0; simulation.scenario.subflows_total()],
    };
    for packet in wire.calendar.packets().filter(|p| p.link & LOCAL == 0) {
        let link = packet.link as usize;
        found.by_flow[packet.flow as usize] += 1;
        let class = wire.ports.class(packet.link);
        if packet.time - class.delay > simulation.now {
            let bytes = u64::from(packet.bytes) + class.overhead;
            let beyond = packet.time - class.delay - simulation.now;
            found.beyond[link].0 += u128::from(bytes) * u128::from(beyond);
            found.beyond[link].1 += beyond.saturating_sub(class.time_on_wire(bytes));
            found.queued[link].0 += 1;
            found.queued[link].1 += bytes;
        } else {
            found.flying[link] += 1;
        }
    }
    found
}

/// Panics unless every packet is accounted for.
pub(crate) fn check(simulation: &Lossy, found: &InFlight) {
    let (wire, hosts) = (&simulation.wire, &simulation.hosts);
    for link in 0..wire.ports.len() {
        let (port, class) = (wire.ports.port(link as u32), wire.ports.class(link as u32));
        let name = || simulation.scenario.network.link_name(LinkId::from(link));
        let lost = wire
            .wear
            .get(link)
            .and_then(Option::as_ref)
            .map_or(0, |w| w.lost);
        // A packet that the wire loses is counted when it joins the queue: it has no arrival.
        let ahead = port.packets - lost - found.queued[link].0 - found.flying[link];
        assert_eq!(
            ahead as u32,
            wire.arrived[link],
            "link {}: packets accepted - lost - in flight, and arrived",
            name()
        );
        let busy = u128::from(wire.ports.busy_before(link as u32, u64::MAX));
        let least = u128::from(port.bytes) * 8_000_000_000_000 / u128::from(class.rate);
        assert!(
            (least..=least + u128::from(port.packets)).contains(&busy),
            "link {}: busy for {busy} ps with {} bytes at {} bit/s",
            name(),
            port.bytes,
            class.rate
        );
    }
    for (id, record) in hosts.records.iter().enumerate() {
        let accounted = record.arrived + u64::from(wire.lost[id]) + found.by_flow[id];
        let (flow, number) = simulation.scenario.subflow(id as u32);
        assert_eq!(
            record.sent, accounted,
            "flow {}, subflow {number}: packets sent, and arrived + lost + in flight",
            flow.0
        );
    }
}
