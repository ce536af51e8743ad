//! From the experiment to an idle fabric: what it asks for is read, checked (`checks`), and laid out.

use std::sync::Arc;

use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::ids::{FlowId, LinkId};
use weft_net::random::stream;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;

use crate::congestion::Congestion;
use crate::congestion::infiniband::Infiniband;
use crate::flow_control::credit::Credit;
use crate::probe::Probe;
use crate::record::Record;
use crate::schedule::Schedule;
use crate::simulation::End;

use super::adapter::{Adapter, Profile, Source};
use super::arbiter::Tables;
use super::buffer::Buffer;
use super::calendar::{Calendar, Class, event};
use super::checks::{
    check_control, check_credit, no_effect, one_rule, refused, slower_than_links, unknown_mask,
};
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
    warnings.extend(slower_than_links(&fabric, &scenario));
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
