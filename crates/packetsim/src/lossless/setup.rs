//! From the experiment to an idle fabric: what it asks for is read, checked against the paths, and laid out.

use std::sync::Arc;

use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::ids::{FlowId, LinkId, NodeId};
use weft_net::random::stream;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::workload::Opener;

use crate::congestion::Congestion;
use crate::congestion::infiniband::Infiniband;
use crate::flow_control::credit::{Credit, credits};
use crate::probe::Probe;
use crate::record::Record;
use crate::schedule::Schedule;
use crate::simulation::End;

use super::adapter::{Adapter, Profile, Source};
use super::arbiter::Tables;
use super::buffer::Buffer;
use super::calendar::{Calendar, Class, event};
use super::fabric::{Fabric, hits, of_port};
use super::lane::Lane;
use super::marking::{Marking, Rule};
use super::reaction::{Control, Reaction};
use super::switch::{Input, NONE, Output};
use super::{DEADLOCK_CHECK, Lossless, Packet, deadlock};

impl Lossless {
    /// The idle fabric at time 0.
    ///
    /// # Errors
    /// Every fault of the sections that the engine reads, and what it cannot do, by name.
    pub(crate) fn new(
        scenario: Arc<Scenario>,
        credit: Credit,
        spec: &Map<String, Value>,
    ) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let schedule = Schedule::from_spec(spec).map_err(|f| vec![f])?;
        faults.extend(refused(&scenario));
        let mut congestion = Vec::new();
        for workload in &scenario.workloads {
            let mut table = workload.congestion.clone();
            table.entry("kind").or_insert_with(|| "none".into());
            match Congestion::from_table(&table) {
                Ok(Congestion::Infiniband(control)) => {
                    faults.extend(check_control(&control));
                    congestion.push(Some(control));
                }
                Ok(Congestion::None(_)) => congestion.push(None),
                // Another transport is refused as such.
                Ok(_) if !matches!(workload.transport, Transport::Infiniband(_)) => {
                    congestion.push(None);
                }
                Ok(other) => {
                    let kind = table["kind"].as_str().unwrap_or_default().to_owned();
                    let why = match other.is_for_tcp() {
                        true => "sets the window of TCP, and transport infiniband has none",
                        false => {
                            "sets the rate of RoCE queue pairs, and this is transport infiniband"
                        }
                    };
                    let message =
                        format!("{kind} {why} ({}); take infiniband, or none", workload.name);
                    faults.push(Fault::new("congestion.kind", message));
                }
                Err(fault) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        faults.extend(check_credit(&credit, &scenario, &congestion));
        faults.extend(one_rule(&congestion));
        let masks = congestion.iter().flatten().next();
        faults.extend(masks.and_then(|c| unknown_mask(c, &scenario)));
        if !faults.is_empty() {
            return Err(faults);
        }
        let run = lay_out(scenario, &credit, schedule, &congestion);
        let tables = &run.tables;
        let unserved = run.fabric.lanes_used().find(|&lane| !tables.serves(lane));
        match unserved {
            None => Ok(run),
            Some(lane) => Err(vec![Fault::new(
                "flow_control.vl_low",
                format!(
                    "lane {lane} stands in no arbitration table with a weight, and would never send; add it to vl_low or vl_high"
                ),
            )]),
        }
    }
}

/// What the engine cannot do, each by name with the way out.
fn refused(scenario: &Scenario) -> Vec<Fault> {
    let mut faults = Vec::new();
    for workload in &scenario.workloads {
        let kind = match workload.transport {
            Transport::Infiniband(_) => continue,
            Transport::Tcp(_) => "tcp",
            Transport::Mptcp(_) => "mptcp",
            Transport::Udp(_) => "udp",
            Transport::Rocev2(_) => "rocev2",
        };
        let message = format!(
            "{kind} ({}) does not run over flow_control credit, whose ports carry credits of InfiniBand packets; take transport infiniband, or flow_control none",
            workload.name
        );
        faults.push(Fault::new("transport.kind", message));
    }
    if !scenario.load_balance.is_per_flow() {
        let message = "balances packet by packet, and an infiniband receiver takes packets in order only; take ecmp or static";
        faults.push(Fault::new("load_balance.kind", message));
    }
    if !scenario.failures.outages.is_empty() {
        let message = "links of flow_control credit cannot fail during a run; leave [[failure]] out, or set topology.overrides failed = true for the whole run";
        faults.push(Fault::new("failure", message));
    }
    if let Some(link) = scenario.network.links.iter().position(|l| l.loss.is_some()) {
        let message = format!(
            "{} loses packets, and a lost packet would take its credits along; leave loss out with flow_control credit",
            scenario.network.link_name(LinkId::from(link))
        );
        faults.push(Fault::new("topology.link.loss", message));
    }
    if let Some(link) = scenario
        .network
        .links
        .iter()
        .position(|l| l.shaper.is_some())
    {
        let message = format!(
            "{} has a token bucket, and the ports of flow_control credit send at one rate; leave it out",
            scenario.network.link_name(LinkId::from(link))
        );
        faults.push(Fault::new("topology.link.shaper", message));
    }
    let chained = |w: usize| {
        let mut flows = scenario
            .flows
            .iter()
            .filter(move |f| f.workload as usize == w);
        flows.any(|f| f.after.is_some() || f.opener == Opener::Destination)
    };
    for (i, workload) in scenario.workloads.iter().enumerate() {
        if chained(i) {
            let message = format!(
                "{}: flows that are fetched, or wait for one another, need answers, and transport infiniband sends none; take pairs, permutation, incast, all_to_all, stride, bulk or poisson",
                workload.name
            );
            faults.push(Fault::new(format!("workload[{i}].kind"), message));
        }
    }
    faults
}

/// What does not go together in `[flow_control]`, and what is too small for the packets.
fn check_credit(
    credit: &Credit,
    scenario: &Scenario,
    congestion: &[Option<Infiniband>],
) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut largest = 0;
    for workload in &scenario.workloads {
        if let Transport::Infiniband(transport) = &workload.transport {
            largest = largest.max(credits(transport.packet.0));
        }
    }
    let becns = congestion.iter().flatten().map(|c| credits(c.becn_size.0));
    let becn = becns.max().unwrap_or(0);
    let (largest, smaller) = match becn > largest {
        true => (becn, "congestion.becn_size"),
        false => (largest, "transport.packet"),
    };
    let mut fits = |key: String, buffer: Option<u64>| {
        if let Some(buffer) = buffer.filter(|&b| b < largest) {
            let message = format!(
                "{buffer} credits hold no packet of {largest} credits; make it larger, or {smaller} smaller"
            );
            faults.push(Fault::new(key, message));
        }
    };
    fits(
        "flow_control.input_buffer".to_owned(),
        Some(credit.input_buffer),
    );
    fits(
        "flow_control.host_buffer".to_owned(),
        Some(credit.host_buffer),
    );
    fits(
        "flow_control.output_buffer".to_owned(),
        Some(credit.output_buffer),
    );
    for (i, port) in credit.ports.iter().enumerate() {
        fits(
            format!("flow_control.ports[{i}].input_buffer"),
            port.input_buffer,
        );
        fits(
            format!("flow_control.ports[{i}].output_buffer"),
            port.output_buffer,
        );
    }
    if largest > u64::from(u16::MAX) {
        let message =
            format!("{largest} credits are more than the simulator counts in a packet (65535)");
        faults.push(Fault::new("transport.packet", message));
    }
    let network = &scenario.network;
    let lists = credit.ports.iter().enumerate().filter_map(|(i, port)| {
        let list = port.sl_to_vl.as_ref()?;
        Some((format!("flow_control.ports[{i}].sl_to_vl"), list))
    });
    let maps = credit.lane_maps.iter().enumerate();
    let maps = maps.map(|(i, map)| {
        (
            format!("flow_control.lane_maps[{i}].sl_to_vl"),
            &map.sl_to_vl,
        )
    });
    let lists = lists.chain(maps);
    let lists = lists.chain([("flow_control.sl_to_vl".to_owned(), &credit.sl_to_vl)]);
    for (key, list) in lists {
        if let Some(lane) = list.iter().find(|&&lane| lane >= credit.lanes) {
            let message = format!(
                "{lane} is no lane; there are {} (flow_control.lanes), from 0 on",
                credit.lanes
            );
            faults.push(Fault::new(key, message));
        }
    }
    for (key, table) in [("vl_high", &credit.vl_high), ("vl_low", &credit.vl_low)] {
        if let Some(i) = table.iter().position(|e| e.vl >= credit.lanes) {
            let message = format!(
                "{} is no lane; there are {} (flow_control.lanes), from 0 on",
                table[i].vl, credit.lanes
            );
            faults.push(Fault::new(format!("flow_control.{key}[{i}].vl"), message));
        }
    }
    let names = |i: usize| {
        let link = &network.links[i];
        [link.src, link.dst].map(|n| network.nodes[n.index()].name.as_str())
    };
    let ports = credit.ports.iter().enumerate();
    let ports = ports.map(|(i, port)| (format!("ports[{i}].links"), &port.links));
    let maps = credit.lane_maps.iter().enumerate().flat_map(|(i, map)| {
        let key = |name: &str| format!("lane_maps[{i}].{name}");
        [(key("from"), &map.from), (key("links"), &map.links)]
    });
    for (key, pattern) in ports.chain(maps) {
        let is_hit = |l: usize| {
            let [src, dst] = names(l);
            hits(pattern, src, dst)
        };
        if !(0..network.links.len()).any(is_hit) {
            let message = format!(
                "{pattern:?} matches no link; a link is called {}",
                network.link_name(LinkId(0))
            );
            faults.push(Fault::new(format!("flow_control.{key}"), message));
        }
    }
    faults
}

/// A mask of ports that are not there.
fn unknown_mask(control: &Infiniband, scenario: &Scenario) -> Option<Fault> {
    let network = &scenario.network;
    let is_hit = |mask: &String| {
        network.links.iter().any(|link| {
            let [src, dst] = [link.src, link.dst].map(|n| network.nodes[n.index()].name.as_str());
            hits(mask, src, dst)
        })
    };
    let at = control.victim_mask.iter().position(|mask| !is_hit(mask))?;
    let message = format!(
        "{:?} matches no link; a link is called {}",
        control.victim_mask[at],
        network.link_name(LinkId(0))
    );
    Some(Fault::new(format!("congestion.victim_mask[{at}]"), message))
}

/// What the keys of congestion control say against each other.
fn check_control(control: &Infiniband) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault =
        |key: &str, message: String| faults.push(Fault::new(format!("congestion.{key}"), message));
    if control.ccti_min >= control.ccti_limit {
        let message = format!(
            "{} is not below ccti_limit, {}, below which the place in the table stays",
            control.ccti_min, control.ccti_limit
        );
        fault("ccti_min", message);
    }
    if let Some(table) = &control.cct {
        if table.is_empty() {
            fault(
                "cct",
                "is empty; list delays in packet times, like [0, 0.1, 0.2], or leave it out"
                    .to_owned(),
            );
        }
        if let Some(delay) = table.iter().find(|d| !(d.is_finite() && **d >= 0.0)) {
            fault(
                "cct",
                format!("{delay} is no delay; entries are packet times, 0 or more"),
            );
        }
        if let Some(pair) = table.windows(2).find(|pair| pair[1] < pair[0]) {
            let message = format!(
                "falls from {} to {}: a higher place would send faster; let entries rise",
                pair[0], pair[1]
            );
            fault("cct", message);
        }
    }
    faults
}

/// Switches have one rule for all packets: workloads may differ in what their sources do, not in what ports do.
fn one_rule(congestion: &[Option<Infiniband>]) -> Option<Fault> {
    let of_ports = |c: &Infiniband| {
        let (sizes, zone) = (c.smallest_marked(), c.reset_zone);
        let weights = (c.threshold, c.reset_threshold, c.marking_rate, c.hysteresis);
        let rest = (c.threshold_base, c.threshold_offset.to_bits(), c.marking);
        (sizes, zone, weights, rest, c.victim_mask.clone())
    };
    let mut rules = congestion.iter().flatten().map(of_ports);
    let first = rules.next()?;
    rules.any(|other| other != first).then(|| {
        let message = "workloads ask for different thresholds, marking rates, packet sizes or masks, and a port has one of each; give those keys the same value";
        Fault::new("congestion", message)
    })
}

fn lay_out(
    scenario: Arc<Scenario>,
    credit: &Credit,
    schedule: Schedule,
    congestion: &[Option<Infiniband>],
) -> Lossless {
    let network = &scenario.network;
    let mut fabric = Fabric::new(network, credit);
    let names = |i: usize| {
        let link = &network.links[i];
        [link.src, link.dst].map(|n| network.nodes[n.index()].name.as_str())
    };
    let (mut outputs, mut inputs, mut lanes) = (Vec::new(), Vec::new(), Vec::new());
    let mut adapters = Vec::new();
    for (i, wire) in fabric.wires.iter().enumerate() {
        let port = of_port(credit, names(i));
        let room = port.output_buffer.unwrap_or(credit.output_buffer);
        let buffer = (!wire.starts_at_host).then(|| Buffer::new(room as u32));
        outputs.push(Output::new(wire.credit, buffer));
        let at_once = if wire.ends_at_host {
            1
        } else {
            port.max_being_sent.unwrap_or(credit.max_being_sent)
        };
        inputs.push(Input::new(at_once));
        let default = if wire.ends_at_host {
            credit.host_buffer
        } else {
            credit.input_buffer
        };
        let room = port.input_buffer.unwrap_or(default) as u32;
        lanes.extend((0..fabric.lanes).map(|_| Lane::new(room)));
        adapters.push(
            wire.starts_at_host
                .then(|| Box::new(Adapter::new(fabric.lanes))),
        );
    }
    let (controls, profiles) = profiles(&scenario, congestion);
    let mut warnings = Vec::new();
    let switch = congestion.iter().flatten().next();
    let marking = (0..lanes.len())
        .map(|lane| {
            let link = lane / fabric.lanes as usize;
            if fabric.wires[link].starts_at_host {
                return None;
            }
            let config = switch?;
            let [src, dst] = names(link);
            let is_masked = config.victim_mask.iter().any(|m| hits(m, src, dst));
            let name = format!("marking/{src}>{dst}/{}", lane % fabric.lanes as usize);
            let rule = rule(config, credit.input_buffer)?;
            Some(Marking::new(rule, is_masked, stream(scenario.seed, &name)))
        })
        .collect();
    warnings.extend(switch.iter().flat_map(|c| no_effect(c, credit, &scenario)));
    let (sources, reactions) = sources(&scenario, &mut fabric, &profiles, congestion);
    let paths = sources.iter().flat_map(|s| {
        let profile = &profiles[s.profile as usize];
        let path = |place: u32, end: usize| &fabric.paths[place as usize..end];
        let length = |place: u32| {
            let rest = &fabric.paths[place as usize..];
            let last = rest
                .iter()
                .position(|&l| fabric.wires[l as usize].ends_at_host);
            place as usize + last.expect("a path ends at a host") + 1
        };
        let there = (s.place != NONE).then(|| (path(s.place, length(s.place)), profile.level));
        let notice = (profile.control != NONE).then(|| {
            controls[profile.control as usize]
                .notice_level
                .unwrap_or(profile.level)
        });
        let back = notice
            .filter(|_| s.back != NONE)
            .map(|level| (path(s.back, length(s.back)), level));
        [there, back].into_iter().flatten()
    });
    warnings.extend(deadlock::warning(network, &fabric, paths));
    let mut calendar = Calendar::new(fabric.lookahead());
    for (i, flow) in scenario.flows.iter().enumerate() {
        calendar.push(event(
            flow.start.0,
            flow.src.0,
            Class::Start,
            i as u32,
            Packet::default(),
        ));
    }
    let flows = scenario.flows.len();
    Lossless {
        probe: Probe::new(&scenario, &schedule),
        schedule,
        queues: vec![(NONE, NONE); fabric.queue_count],
        waiting: Vec::new(),
        vacant: NONE,
        asking: vec![0; fabric.asking_words],
        calendar,
        outputs,
        inputs,
        lanes,
        marking,
        tables: Tables::new(credit),
        adapters,
        sources,
        profiles,
        controls,
        reactions,
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
        fingerprints: vec![0; network.nodes.len()],
        warnings,
        fabric,
        scenario,
    }
}

/// What the flows of each workload have in common, and the controls that they name.
fn profiles(
    scenario: &Scenario,
    congestion: &[Option<Infiniband>],
) -> (Vec<Control>, Vec<Profile>) {
    let mut controls = Vec::new();
    let profiles = scenario
        .workloads
        .iter()
        .zip(congestion)
        .map(|(workload, congestion)| {
            let Transport::Infiniband(transport) = &workload.transport else {
                unreachable!("refused before")
            };
            let control = match congestion {
                None => NONE,
                Some(config) => {
                    controls.push(Control::new(config));
                    controls.len() as u32 - 1
                }
            };
            Profile {
                payload: transport.packet.0 - transport.header.0,
                level: transport.service_level as u8,
                transport: transport.clone(),
                control,
            }
        });
    let profiles = profiles.collect();
    (controls, profiles)
}

/// The flows at their sources, with their paths, and their places in the tables of delays.
fn sources(
    scenario: &Scenario,
    fabric: &mut Fabric,
    profiles: &[Profile],
    congestion: &[Option<Infiniband>],
) -> (Vec<Source>, Vec<Reaction>) {
    use crate::congestion::infiniband::Scope;
    use std::collections::BTreeMap;

    let mut reactions = Vec::new();
    let mut shared = BTreeMap::new();
    let mut sources = Vec::with_capacity(scenario.flows.len());
    for (i, flow) in scenario.flows.iter().enumerate() {
        let mut place = |path: Option<Vec<LinkId>>| match path {
            Some(path) if !path.is_empty() => {
                let place = fabric.paths.len() as u32;
                fabric.paths.extend(path.iter().map(|l| l.0));
                place
            }
            _ => NONE,
        };
        let there = place(scenario.flow_path(FlowId::from(i)));
        let control = &congestion[flow.workload as usize];
        let back = match control {
            Some(_) => place(scenario.reverse_path(FlowId::from(i))),
            None => NONE,
        };
        let mut source = Source::new(flow.workload, there, back, flow.size, flow.stop);
        if let Some(control) = control {
            let mut own = || {
                reactions.push(Reaction::default());
                reactions.len() as u32 - 1
            };
            source.reaction = match control.scope {
                Scope::Qp => own(),
                Scope::Port => {
                    let level = profiles[flow.workload as usize].level;
                    let port = (flow.src, level);
                    *shared.entry(port).or_insert_with(own)
                }
            };
        }
        sources.push(source);
    }
    (sources, reactions)
}

/// The marking rule; `None` where the threshold is off.
fn rule(config: &Infiniband, buffer: u64) -> Option<Rule> {
    let enter = config.threshold_credits(config.threshold, buffer)?;
    let reset = config.threshold_credits(config.reset_threshold, buffer);
    Some(Rule {
        enter: Rule::fixed(enter),
        // An empty queue is never congested, however low the threshold.
        exit: Rule::fixed(enter - config.hysteresis as f64).max(1),
        reset: reset.filter(|_| config.reset_zone).map(Rule::fixed),
        mode: config.marking,
        rate: config.marking_rate,
        smallest: config.smallest_marked(),
    })
}

/// Why congestion control does nothing, if it does not.
fn no_effect(config: &Infiniband, credit: &Credit, scenario: &Scenario) -> Vec<String> {
    let mut found = Vec::new();
    let packets = scenario
        .workloads
        .iter()
        .filter_map(|w| match &w.transport {
            Transport::Infiniband(t) => {
                Some(credits(t.packet.0) * crate::flow_control::credit::CREDIT)
            }
            _ => None,
        });
    let largest = packets.max().unwrap_or(0);
    let smallest = config.smallest_marked();
    if config.threshold == 0 {
        found.push(
            "congestion control has no effect: congestion.threshold 0 never marks".to_owned(),
        );
    } else if smallest > largest {
        found.push(format!(
            "congestion control has no effect: no packet is as large as congestion.packet_size, {smallest} B (the largest has {largest} B)"
        ));
    }
    if config.ccti_increase == 0 && config.ccti_min == 0 {
        found.push(
            "congestion control has no effect: congestion.ccti_increase 0 never leaves the first place of the table".to_owned(),
        );
    }
    if let Some(listed) = config.cct.as_ref().map(|table| table.len() as u64)
        && listed < config.ccti_limit
    {
        found.push(format!(
            "congestion.cct has {listed} entries, and ccti_limit is {}: beyond the last entry the delay stays",
            config.ccti_limit
        ));
    }
    let at = |weight| config.threshold_credits(weight, credit.input_buffer);
    if let Some(enter) = at(config.threshold) {
        if enter <= 0.0 {
            found.push(format!(
                "congestion.threshold_offset {} puts the threshold at {enter} credits: whatever waits is congestion",
                config.threshold_offset
            ));
        }
        let inputs = (0..scenario.network.nodes.len()).map(NodeId::from);
        let most = inputs
            .map(|n| scenario.network.out(n).len() as u64)
            .max()
            .unwrap_or(0);
        if enter > (most * credit.input_buffer) as f64 {
            found.push(format!(
                "congestion control has no effect: the threshold of {enter} credits is more than all input buffers of a switch hold ({})",
                most * credit.input_buffer
            ));
        }
    }
    if config.reset_zone
        && let (Some(enter), Some(reset)) = (at(config.threshold), at(config.reset_threshold))
        && reset > enter
    {
        found.push(format!(
            "congestion.reset_threshold {} ({reset} credits) lies above threshold {} ({enter}): in congestion, marks are halved until the queue is beyond it",
            config.reset_threshold, config.threshold
        ));
    }
    found
}
