//! What a lossless run cannot do, what does not go together, and what has no effect: faults by name, and warnings.

use weft_net::error::Fault;
use weft_net::ids::{LinkId, NodeId};
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::workload::Opener;

use crate::congestion::infiniband::Infiniband;
use crate::flow_control::credit::{CREDIT, Credit, credits};

use super::fabric::{Fabric, hits};

/// What the engine cannot do, each by name with the way out.
pub(super) fn refused(scenario: &Scenario) -> Vec<Fault> {
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
pub(super) fn check_credit(
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
pub(super) fn unknown_mask(control: &Infiniband, scenario: &Scenario) -> Option<Fault> {
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
pub(super) fn check_control(control: &Infiniband) -> Vec<Fault> {
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
pub(super) fn one_rule(congestion: &[Option<Infiniband>]) -> Option<Fault> {
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

/// Why congestion control does nothing, if it does not.
pub(super) fn no_effect(config: &Infiniband, credit: &Credit, scenario: &Scenario) -> Vec<String> {
    let mut found = Vec::new();
    let packets = scenario
        .workloads
        .iter()
        .filter_map(|w| match &w.transport {
            Transport::Infiniband(t) => Some(credits(t.packet.0) * CREDIT),
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

/// What is slower than the links beside it, so that their speed has no effect.
pub(super) fn slower_than_links(fabric: &Fabric, scenario: &Scenario) -> Vec<String> {
    let rate = |credit: u64| format!("{:.1} Gb/s", (CREDIT * 8) as f64 * 1e3 / credit as f64);
    let fastest = |at_host: bool| {
        let wires = fabric.wires.iter();
        let wires = wires.filter(|w| (w.starts_at_host || w.ends_at_host) == at_host);
        wires.map(|w| w.credit).min()
    };
    let mut found = Vec::new();
    for workload in &scenario.workloads {
        if let Transport::Infiniband(adapter) = &workload.transport
            && let Some(link) = fastest(true).filter(|&l| l < adapter.bus_credit())
        {
            found.push(format!(
                "the bus of a host ({}) carries {}, its link {}: what is beyond has no effect; raise transport.pcie_rate or pcie_lanes",
                workload.name,
                rate(adapter.bus_credit()),
                rate(link)
            ));
        }
    }
    if let Some(link) = fastest(false).filter(|&l| l < fabric.core_credit) {
        found.push(format!(
            "the core of a switch moves a packet at {}, links take {}: what is beyond has no effect; raise flow_control.core_rate",
            rate(fabric.core_credit),
            rate(link)
        ));
    }
    found
}
