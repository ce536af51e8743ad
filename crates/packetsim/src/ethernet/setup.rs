//! From the experiment to an idle fabric: what it asks for is read, checked, and laid out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::ids::{FlowId, LinkId, NodeId};
use weft_net::random::stream_key;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::transport::rocev2::{ACK_BYTES, HEADER_BYTES};
use weft_net::units::{Rate, Time};
use weft_net::workload::Opener;

use crate::congestion::Congestion;
use crate::congestion::hpcc::HOPS;
use crate::flow_control::pfc::Pfc;
use crate::probe::Probe;
use crate::queue::Queue;
use crate::record::Record;
use crate::schedule::Schedule;
use crate::simulation::End;
use crate::wheel::{Calendar, Event};

use super::buffer::{Ingress, Shared};
use super::host::{Card, Profile, Sink, Source};
use super::packet::{NONE, Packet};
use super::port::{Class, Port, Turns};
use super::queue_pair::Sender;
use super::reaction::Control;
use super::{BYTE_AT_1_BPS, DEADLOCK_CHECK, Ethernet, Wire, class, deadlock};

impl Ethernet {
    /// The idle fabric at time 0.
    ///
    /// # Errors
    /// Every fault of the sections that the engine reads, and what it cannot do, by name.
    pub(crate) fn new(
        scenario: Arc<Scenario>,
        pfc: Pfc,
        spec: &Map<String, Value>,
    ) -> Result<Self, Vec<Fault>> {
        let mut faults = refused(&scenario);
        faults.extend(pfc.check());
        let schedule = Schedule::from_spec(spec).map_err(|f| faults.push(f)).ok();
        let mut table = spec
            .get("queue")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        table.entry("kind").or_insert_with(|| "drop_tail".into());
        let queue = Queue::from_table(&table).map_err(|f| faults.push(f)).ok();
        if let Some(fault) = queue.as_ref().and_then(Queue::fault) {
            faults.push(fault);
        }
        let mut profiles = Vec::new();
        for workload in &scenario.workloads {
            let Transport::Rocev2(transport) = &workload.transport else {
                continue;
            };
            for (key, class) in [
                ("priority", Some(transport.priority)),
                ("ack_priority", transport.ack_priority),
            ] {
                if let Some(class) = class.filter(|&c| c >= pfc.classes) {
                    let message = format!(
                        "{class} ({}) is no class; there are {} (flow_control.classes), from 0 on",
                        workload.name, pfc.classes
                    );
                    faults.push(Fault::new(format!("transport.{key}"), message));
                }
            }
            match control(&workload.congestion, &workload.name) {
                Ok(control) => profiles.push(Profile::new(transport.clone(), control)),
                Err(fault) => faults.push(fault),
            }
        }
        let wires = wires(&scenario).map_err(|f| faults.push(f)).ok();
        if let Some(wires) = &wires {
            faults.extend(check_buffers(&scenario, wires, &pfc));
        }
        faults.extend(check_storms(&scenario, &pfc));
        if let Some(xoff) = pfc.xoff.filter(|x| pfc.xon_offset > *x) {
            let message = format!(
                "{} B is more than flow_control.xoff, {} B, and a queue cannot fall below 0: what is paused would never go on; make it smaller",
                pfc.xon_offset.0, xoff.0
            );
            faults.push(Fault::new("flow_control.xon_offset", message));
        }
        match (schedule, queue, wires) {
            (Some(schedule), Some(queue), Some(wires)) if faults.is_empty() => {
                lay_out(scenario, pfc, schedule, queue, wires, profiles).map_err(|f| vec![f])
            }
            _ => Err(faults),
        }
    }
}

/// The congestion control of a workload.
fn control(table: &Map<String, Value>, name: &str) -> Result<Control, Fault> {
    let mut table = table.clone();
    table.entry("kind").or_insert_with(|| "none".into());
    let kind = table["kind"].as_str().unwrap_or_default().to_owned();
    match Congestion::from_table(&table)? {
        Congestion::None(_) => Ok(Control::None),
        Congestion::Dcqcn(config) => Ok(Control::Dcqcn(config)),
        Congestion::Hpcc(config) => Ok(Control::Hpcc(config)),
        Congestion::Swift(config) if config.flow_scaling_min >= config.flow_scaling_max => {
            let message = format!(
                "{} ({name}) is not below flow_scaling_max, {}",
                config.flow_scaling_min, config.flow_scaling_max
            );
            Err(Fault::new("congestion.flow_scaling_min", message))
        }
        Congestion::Swift(config) => Ok(Control::Swift(config)),
        _ => {
            let message = format!(
                "{kind} ({name}) is no control of transport rocev2; take dcqcn, hpcc, swift or none"
            );
            Err(Fault::new("congestion.kind", message))
        }
    }
}

/// What the engine cannot do, each by name with the way out.
fn refused(scenario: &Scenario) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (i, workload) in scenario.workloads.iter().enumerate() {
        if !matches!(workload.transport, Transport::Rocev2(_)) {
            let message = format!(
                "{} ({}) does not run over flow_control pfc, whose hosts have queue pairs; take transport rocev2, or flow_control none",
                workload.transport.name(),
                workload.name
            );
            faults.push(Fault::new("transport.kind", message));
        }
        let range = workload.first_flow as usize..(workload.first_flow + workload.flows) as usize;
        let is_chained =
            |f: &weft_net::workload::Flow| f.after.is_some() || f.opener == Opener::Destination;
        if scenario.flows[range].iter().any(is_chained) {
            let message = format!(
                "{}: flows that are fetched, or wait for one another, are not there for transport rocev2; take pairs, permutation, incast, all_to_all, stride, bulk, poisson or flows_file",
                workload.name
            );
            faults.push(Fault::new(format!("workload[{i}].kind"), message));
        }
    }
    if !scenario.failures.outages.is_empty() {
        let message = "links of flow_control pfc cannot fail during a run; leave [[failure]] out, or set topology.overrides failed = true for the whole run";
        faults.push(Fault::new("failure", message));
    }
    if let Some(link) = scenario.network.links.iter().position(|l| l.loss.is_some()) {
        let message = format!(
            "{} loses packets on the wire, which flow_control pfc does not simulate; leave loss out",
            scenario.network.link_name(LinkId::from(link))
        );
        faults.push(Fault::new("topology.link.loss", message));
    }
    if scenario.routes.source.is_some() && !scenario.load_balance.is_per_flow() {
        let message = "chooses for every packet, and over flow_control pfc whole paths are chosen once per flow; take ecmp or static, or routing shortest";
        faults.push(Fault::new("load_balance.kind", message));
    }
    faults
}

fn wires(scenario: &Scenario) -> Result<Vec<Wire>, Fault> {
    let network = &scenario.network;
    let ends: BTreeMap<(NodeId, NodeId), u32> = (network.links.iter().enumerate())
        .map(|(i, l)| ((l.src, l.dst), i as u32))
        .collect();
    let wire = |(i, link): (usize, &weft_net::network::Link)| {
        let reverse = ends.get(&(link.dst, link.src)).copied().ok_or_else(|| {
            let message = format!(
                "{} has no link in the other direction, on which pauses could come back",
                network.link_name(LinkId::from(i))
            );
            Fault::new("topology", message)
        })?;
        let mut wire = Wire {
            src: link.src.0,
            dst: link.dst.0,
            rate: link.rate.0,
            delay: link.delay.0,
            overhead: u64::from(link.overhead),
            starts_at_host: network.is_host(link.src),
            ends_at_host: network.is_host(link.dst),
            reverse,
            byte_time: 0,
            packet_time: 0,
        };
        if BYTE_AT_1_BPS.is_multiple_of(wire.rate) {
            wire.byte_time = BYTE_AT_1_BPS / wire.rate;
        }
        wire.packet_time = wire.transmit(1500);
        Ok(wire)
    };
    network.links.iter().enumerate().map(wire).collect()
}

/// Rate and mean delay of a link and the one back, and the larger packet of both: what headroom depends on.
fn loop_of(scenario: &Scenario, wires: &[Wire], link: usize) -> (Rate, Time, u64) {
    let (there, back) = (
        &scenario.network.links[link],
        &scenario.network.links[wires[link].reverse as usize],
    );
    // What is in transmission on the way back delays the pause, and that way may be slower.
    let mtu = u64::from(there.mtu + there.overhead).max(u64::from(back.mtu + back.overhead));
    let delay = Time((there.delay.0 + back.delay.0).div_ceil(2));
    (there.rate, delay, mtu)
}

/// Headroom of a lossless class at the end of a link.
fn headroom(scenario: &Scenario, wires: &[Wire], pfc: &Pfc, link: usize) -> u64 {
    let (rate, delay, mtu) = loop_of(scenario, wires, link);
    pfc.headroom(rate, delay, mtu)
}

/// Where headroom is less than what may come after a pause, if it is: at how many links, and what the worst needs.
fn too_little_headroom(scenario: &Scenario, wires: &[Wire], pfc: &Pfc) -> Option<String> {
    let own = pfc.headroom.map(|h| h.0)?;
    if !(0..pfc.classes).any(|c| pfc.is_lossless(c)) {
        return None;
    }
    let at_switch = (0..wires.len()).filter(|&l| !wires[l].ends_at_host);
    let needs = at_switch.map(|link| {
        let (rate, delay, mtu) = loop_of(scenario, wires, link);
        (pfc.needed(rate, delay, mtu), link)
    });
    let short: Vec<(u64, usize)> = needs.filter(|n| n.0 > own).collect();
    let &(most, link) = short.iter().max_by_key(|n| (n.0, usize::MAX - n.1))?;
    let count = short.len();
    Some(format!(
        "headroom of {own} B is less than what may come after a pause at {count} {}: {} needs {most} B, so that lossless classes can lose packets; leave flow_control.headroom out, or make it larger",
        if count == 1 { "link" } else { "links" },
        scenario.network.link_name(LinkId::from(link))
    ))
}

/// By node: headroom of all its lossless classes.
fn headrooms(scenario: &Scenario, wires: &[Wire], pfc: &Pfc) -> Vec<u64> {
    let lossless = (0..pfc.classes).filter(|&c| pfc.is_lossless(c)).count() as u64;
    let mut all = vec![0; scenario.network.nodes.len()];
    for (link, wire) in wires.iter().enumerate().filter(|(_, w)| !w.ends_at_host) {
        all[wire.dst as usize] += lossless * headroom(scenario, wires, pfc, link);
    }
    all
}

fn check_buffers(scenario: &Scenario, wires: &[Wire], pfc: &Pfc) -> Option<Fault> {
    let headrooms = headrooms(scenario, wires, pfc);
    let (node, &most) = headrooms.iter().enumerate().max_by_key(|h| h.1)?;
    let mtu = scenario
        .network
        .links
        .iter()
        .map(|l| u64::from(l.mtu))
        .max()?;
    (most + 2 * mtu > pfc.buffer.0).then(|| {
        let message = format!(
            "{} B: the headroom of {} alone needs {most} B, and something must be left to share; make it larger, headroom smaller, or fewer classes lossless",
            pfc.buffer.0, scenario.network.nodes[node].name
        );
        Fault::new("flow_control.buffer", message)
    })
}

fn check_storms(scenario: &Scenario, pfc: &Pfc) -> Vec<Fault> {
    let mut faults = Vec::new();
    let hosts = weft_net::workload::HostNames::of(&scenario.network);
    for (i, storm) in pfc.storms.iter().enumerate() {
        let key = |name: &str| format!("flow_control.storms[{i}].{name}");
        if let Err(message) = hosts.find(&storm.host) {
            faults.push(Fault::new(key("host"), message));
        }
        if storm.priority >= pfc.classes {
            let message = format!(
                "{} is no class; there are {} (flow_control.classes), from 0 on",
                storm.priority, pfc.classes
            );
            faults.push(Fault::new(key("priority"), message));
        }
        if let Some(until) = storm.until.filter(|&u| u <= storm.from) {
            faults.push(Fault::new(
                key("until"),
                format!("{until} is not after {}", storm.from),
            ));
        }
    }
    faults
}

fn lay_out(
    scenario: Arc<Scenario>,
    pfc: Pfc,
    schedule: Schedule,
    discipline: Queue,
    wires: Vec<Wire>,
    profiles: Vec<Profile>,
) -> Result<Ethernet, Fault> {
    let network = &scenario.network;
    let classes = pfc.classes as usize;
    let headrooms = headrooms(&scenario, &wires, &pfc);
    let is_switch = |node: usize| !network.is_host(NodeId::from(node));
    let shared = (0..network.nodes.len())
        .map(|node| is_switch(node).then(|| Shared::new(&pfc, headrooms[node])))
        .collect();
    let (mut queues, mut ingress) = (Vec::new(), Vec::new());
    for link in 0..wires.len() {
        let room = headroom(&scenario, &wires, &pfc, link);
        for class in 0..pfc.classes {
            let key = stream_key(
                scenario.seed,
                &format!("queue/{}/{class}", network.link_name(LinkId::from(link))),
            );
            queues.push(Class::new(discipline.state(key)));
            ingress.push(Ingress::new(pfc.is_lossless(class).then_some(room)));
        }
    }
    let is_per_flow = scenario.load_balance.is_per_flow();
    let nodes = (0..network.nodes.len()).map(NodeId::from);
    let balance = match is_per_flow {
        true => Vec::new(),
        false => nodes
            .map(|n| scenario.load_balance.switch(scenario.seed, network, n))
            .collect(),
    };
    let entropy = match is_per_flow {
        true => Vec::new(),
        false => (0..scenario.flows.len())
            .map(|f| {
                let tuple = scenario.five_tuple(FlowId::from(f));
                [scenario.entropy(&tuple), scenario.entropy(&tuple.reverse())]
            })
            .collect(),
    };
    let mut paths = Vec::new();
    let sources = (0..scenario.flows.len())
        .map(|f| source(&scenario, &profiles, &mut paths, FlowId::from(f)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut warnings = Vec::new();
    warnings.extend(too_little_headroom(&scenario, &wires, &pfc));
    if is_per_flow {
        let lanes = sources.iter().flat_map(|s| {
            let profile = &profiles[s.profile as usize];
            let data = (s.link, s.place, profile.transport.priority as u8);
            [data, (s.back_link, s.back, profile.ack_class)]
        });
        let lossless = lanes.filter(|l| l.0 != NONE && pfc.is_lossless(u64::from(l.2)));
        warnings.extend(deadlock::warning(
            network, &wires, &paths, classes, lossless,
        ));
    }
    let lookahead = wires
        .iter()
        .map(|w| w.transmit(1) + w.delay)
        .min()
        .unwrap_or(1);
    let mut calendar = Calendar::new(lookahead);
    for (i, flow) in scenario.flows.iter().enumerate() {
        calendar.push(Event::new(
            flow.start.0,
            flow.src.0,
            class::START,
            i as u32,
            Packet::default(),
        ));
    }
    for (i, storm) in pfc.storms.iter().enumerate() {
        let host = network
            .host_ids()
            .find(|h| network.nodes[h.index()].name == storm.host);
        let node = host.expect("checked before").0;
        let mut add = |time: u64, id: usize| {
            let packet = Packet::default();
            calendar.push(Event::new(time, node, class::STORM, id as u32, packet))
        };
        add(storm.from.0, 2 * i);
        if let Some(until) = storm.until {
            add(until.0, 2 * i + 1);
        }
    }
    let largest = network
        .links
        .iter()
        .map(|l| u64::from(l.mtu))
        .max()
        .unwrap_or(1500);
    let overhead = wires.iter().map(|w| w.overhead).max().unwrap_or(0);
    let flows = scenario.flows.len();
    Ok(Ethernet {
        probe: Probe::new(&scenario, &schedule),
        schedule,
        turns: Turns::new(&pfc, largest + overhead),
        largest,
        discipline,
        calendar,
        ports: vec![Port::new(classes); wires.len()],
        queues,
        ingress,
        waiting: Vec::new(),
        vacant: NONE,
        shared,
        balance,
        entropy,
        paths,
        cards: wires
            .iter()
            .map(|w| w.starts_at_host.then(|| Box::new(Card::new(classes))))
            .collect(),
        sources,
        sinks: vec![Sink::default(); flows],
        profiles,
        telemetry: Vec::new(),
        free_telemetry: Vec::new(),
        records: vec![Record::new(); flows],
        marked: vec![0; flows],
        lost: vec![0; flows],
        done: 0,
        next_check: DEADLOCK_CHECK,
        end: End::Running,
        now: 0,
        latest: 0,
        events: 0,
        hops: 0,
        unroutable: 0,
        storms_found: 0,
        fingerprints: vec![0; network.nodes.len()],
        warnings,
        hosts: scenario.network.hosts as u32,
        wires,
        pfc,
        scenario,
    })
}

/// A flow at its source, with its paths.
fn source(
    scenario: &Scenario,
    profiles: &[Profile],
    paths: &mut Vec<u32>,
    flow: FlowId,
) -> Result<Source, Fault> {
    let network = &scenario.network;
    let plan = &scenario.flows[flow.index()];
    let profile = &profiles[plan.workload as usize];
    let there = scenario
        .flow_path(flow)
        .unwrap_or_else(|| scenario.first_path(plan.src, plan.dst));
    let back = scenario
        .reverse_path(flow)
        .unwrap_or_else(|| scenario.first_path(plan.dst, plan.src));
    if there.is_empty() || back.is_empty() {
        return Ok(Source::new(
            plan.workload,
            Sender::new(0),
            super::reaction::Reaction::None,
        ));
    }
    let link = |l: &LinkId| &network.links[l.index()];
    let mtu = there
        .iter()
        .map(|l| u64::from(link(l).mtu))
        .min()
        .unwrap_or(1500);
    let extra = u64::from(HEADER_BYTES) + profile.control.telemetry();
    if extra >= mtu {
        let message = format!(
            "{mtu} B leave no payload beside {extra} B of headers and telemetry; make it larger"
        );
        return Err(Fault::new("topology.link.mtu", message));
    }
    if profile.control.telemetry() > 0 && there.len() > HOPS + 1 {
        let message = format!(
            "a path has {} switches, and a packet has room for the telemetry of {HOPS}; take another control for it",
            there.len() - 1
        );
        return Err(Fault::new("congestion.kind", message));
    }
    let payload = mtu - extra;
    let cross = |path: &[LinkId], bytes: u64| -> u64 {
        let one = |l: &LinkId| {
            let link = link(l);
            link.rate.transmit_time(bytes + u64::from(link.overhead)).0 + link.delay.0
        };
        path.iter().map(one).sum()
    };
    let round_trip =
        cross(&there, mtu) + cross(&back, u64::from(ACK_BYTES) + profile.control.telemetry());
    let card = link(&there[0]);
    let line = card.rate.0 as f64;
    let packet = mtu + u64::from(card.overhead);
    let total = plan.size.map_or(u32::MAX, |size| {
        size.div_ceil(payload).min(u64::from(u32::MAX - 1)) as u32
    });
    let reaction = profile.control.start(line, round_trip, there.len(), packet);
    let mut source = Source::new(plan.workload, Sender::new(total), reaction);
    source.payload = payload;
    source.rest = plan.size.map_or(0, |size| size % payload);
    source.line = line;
    source.stop = plan.stop.map_or(u64::MAX, |t| t.0);
    (source.link, source.back_link) = (there[0].0, back[0].0);
    if scenario.load_balance.is_per_flow() {
        let mut add = |path: &[LinkId]| {
            let place = paths.len() as u32;
            paths.extend(path[1..].iter().map(|l| l.0));
            place
        };
        source.place = add(&there);
        source.back = add(&back);
    }
    Ok(source)
}
