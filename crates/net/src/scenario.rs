//! The scenario: network, routes and flows, the same for every backend.
//!
//! [`Scenario::build`] makes it from the *spec*: the experiment as one JSON document in base units. Rooms that the spec
//! leaves out take their first choice (`routing` shortest, `load_balance` ecmp, `transport` tcp); those of the backends
//! (`queue`, `congestion`, `backend`, `measure`) are not read here. `workload_plan.rs` has the workloads,
//! `ports.rs` the ports of flows, `flow_path.rs` the path of a flow, `ideal_fct.rs` its completion time on an idle network.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Fault;
use crate::failure::Failures;
use crate::load_balance::LoadBalance;
use crate::network::{Link, Network, Node};
use crate::parts::Parts;
use crate::routes::Routes;
use crate::routing::Share;
use crate::subflows::{self, Subflows};
use crate::transport::Transport;
use crate::workload::{Context, Flow, Opener, Request, Workload};
use crate::workload_plan::WorkloadPlan;

/// All that a backend needs to know of what happens, and nothing of how it is computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    /// The experiment's seed.
    pub seed: u64,
    /// The fabric.
    pub network: Network,
    /// Its forwarding tables at the start.
    pub routes: Routes,
    /// How connections share whole paths, where routes are that.
    pub share: Option<Share>,
    /// What fails during the run.
    pub failures: Failures,
    /// The choice among equal hops.
    pub load_balance: LoadBalance,
    /// The flows of all workloads, one workload after another.
    pub flows: Vec<Flow>,
    /// The workloads.
    pub workloads: Vec<WorkloadPlan>,
    /// The subflows beyond the first of each flow.
    pub subflows: Subflows,
    /// The messages of traces, by client and time within each workload.
    pub requests: Vec<Request>,
}

/// What a scenario would be, before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Prediction {
    /// Hosts.
    pub hosts: u64,
    /// Switches.
    pub switches: u64,
    /// Directed links.
    pub links: u64,
    /// Flows; an expectation where a workload draws their number.
    pub flows: u64,
    /// Their subflows, taken to be one each where the network cards decide (`fullmesh`).
    pub subflows: u64,
    /// Bytes that network, routes and flows occupy, an estimate from above for regular fabrics.
    pub memory_bytes: u64,
}

type Spec = Map<String, Value>;

impl Scenario {
    /// Builds what the spec describes.
    ///
    /// ```
    /// use serde_json::json;
    /// use weft_net::{ids::FlowId, scenario::Scenario};
    ///
    /// let spec = json!({
    ///     "seed": 7,
    ///     "topology": { "kind": "dumbbell", "left": 1, "right": 1 },
    ///     "workload": [{ "kind": "pairs", "pairs": ["l0>r0"], "size": 1000 }],
    /// });
    /// let scenario = Scenario::build(spec.as_object().unwrap()).unwrap();
    /// assert_eq!(scenario.flow_path(FlowId(0)).unwrap().len(), 3);
    /// ```
    ///
    /// # Errors
    /// All faults that can be found, each at its key path (`workload[1].degree`).
    pub fn build(spec: &Spec) -> Result<Self, Vec<Fault>> {
        let Parts {
            seed,
            topology,
            routing,
            load_balance,
            mut workloads,
        } = Parts::read(spec)?;
        let size = topology.size()?;
        let network = topology.build(seed)?;
        let mut faults = Vec::new();
        let routes = routing
            .routes(&network, seed)
            .map_err(|f| faults.push(f))
            .ok();
        let failures = routes.as_ref().and_then(|routes| {
            Failures::build(spec, &network, &routing, routes, seed)
                .map_err(|found| faults.extend(found))
                .ok()
        });
        let (mut flows, mut requests) = (Vec::new(), Vec::new());
        for (i, plan) in workloads.iter_mut().enumerate() {
            plan.first_flow = flows.len() as u32;
            let context = Context {
                network: &network,
                seed,
                name: &plan.name,
                index: i as u32,
                start: plan.start,
                stop: plan.stop,
                first_flow: plan.first_flow,
            };
            // The count finds what does not fit the fabric; only then may flows be drawn.
            let generator = plan.kind.generator();
            let count = generator.flow_count(&size, plan.start, plan.stop);
            match count.and_then(|_| generator.flows(&context)) {
                Ok(made) if is_fetch_without_connection(&made, &plan.transport) => {
                    let message =
                        "udp has no connection in which a server could be asked; take tcp";
                    faults.push(Fault::new(format!("workload[{i}].transport"), message));
                }
                Ok(made) => {
                    let asked = generator.requests(&context);
                    let has_messages = matches!(plan.kind, Workload::Rpc(_)) || !asked.is_empty();
                    if has_messages && plan.transport.tcp().is_none() {
                        let what = match plan.kind {
                            Workload::Rpc(_) => "rpc",
                            _ => "a trace with gets or sets",
                        };
                        let message = format!(
                            "{what} keeps connections open that carry messages, and only tcp and mptcp can; take one of them for this workload"
                        );
                        faults.push(Fault::new(format!("workload[{i}].transport"), message));
                    }
                    requests.extend(asked);
                    plan.flows = made.len() as u32;
                    flows.extend(made);
                }
                Err(found) => faults.extend(
                    found
                        .into_iter()
                        .map(|f| f.in_section(&format!("workload[{i}]"))),
                ),
            }
        }
        let (Some(routes), Some(failures), true) = (routes, failures, faults.is_empty()) else {
            return Err(faults);
        };
        let counts: Vec<u32> = flows
            .iter()
            .map(|f| {
                let transport = &workloads[f.workload as usize].transport;
                subflows::planned(transport, &network, &routes, f.src, f.dst)
                    .min(u64::from(u32::MAX)) as u32
            })
            .collect();
        let subflows = crate::ports::choose(&mut flows, &counts, seed)
            .map_err(|none| vec![none.fault(&flows, &network)])?;
        Ok(Self {
            seed,
            network,
            routes,
            share: routing.share(),
            failures,
            load_balance,
            flows,
            workloads,
            subflows,
            requests,
        })
    }
}

/// Sizes and memory of what the spec describes; builds nothing that grows with the network.
///
/// # Errors
/// All faults that show without building.
pub fn predict(spec: &Spec) -> Result<Prediction, Vec<Fault>> {
    let parts = Parts::read(spec)?;
    let size = parts.topology.size()?;
    let mut faults = Vec::new();
    let (mut flows, mut subflows) = (0_u64, 0_u64);
    for (i, plan) in parts.workloads.iter().enumerate() {
        match plan
            .kind
            .generator()
            .flow_count(&size, plan.start, plan.stop)
        {
            Ok(count) => {
                flows = flows.saturating_add(count);
                let each = plan.transport.subflows().unwrap_or(1);
                subflows = subflows.saturating_add(count.saturating_mul(each));
            }
            Err(found) => faults.extend(
                found
                    .into_iter()
                    .map(|f| f.in_section(&format!("workload[{i}]"))),
            ),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let nodes = size.hosts + size.switches;
    let links = 2 * size.cables;
    // A name and its allocation beside the node; a link also has its place in `out` and in the routes; a row of routes
    // per switch with an entry per edge switch.
    let memory_bytes = nodes * (size_of::<Node>() as u64 + 32)
        + links * (size_of::<Link>() as u64 + 8)
        + size
            .switches
            .saturating_mul(size.switches.min(size.hosts))
            .saturating_mul(4)
        + parts.routing.path_bytes(&size)
        + size
            .switches
            .saturating_mul(parts.load_balance.switch_bytes(size.hosts))
        + flows.saturating_mul(size_of::<Flow>() as u64)
        + (subflows - flows).saturating_mul(6);
    Ok(Prediction {
        hosts: size.hosts,
        switches: size.switches,
        links,
        flows,
        subflows,
        memory_bytes,
    })
}

fn is_fetch_without_connection(flows: &[Flow], transport: &Transport) -> bool {
    matches!(transport, Transport::Udp(_)) && flows.iter().any(|f| f.opener == Opener::Destination)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn build(spec: Value) -> Result<Scenario, Vec<Fault>> {
        Scenario::build(spec.as_object().unwrap())
    }

    #[test]
    fn rooms_left_out_take_their_defaults() {
        let s = build(json!({ "topology": { "kind": "fat_tree" }, "workload": [{ "kind": "permutation", "size": 1000 }] })).unwrap();
        assert_eq!((s.network.hosts, s.flows.len(), s.seed), (16, 16, 1));
        assert!(matches!(s.load_balance, LoadBalance::Ecmp(_)));
        assert!(matches!(s.workloads[0].transport, Transport::Tcp(_)));
        assert_eq!(
            (s.workloads[0].name.as_str(), s.workloads[0].flows),
            ("permutation", 16)
        );
    }

    #[test]
    fn a_workload_may_have_its_own_protocols() {
        let s = build(json!({
            "topology": { "kind": "fat_tree" },
            "congestion": { "kind": "cubic" },
            "workload": [
                { "name": "a", "kind": "permutation", "transport": { "kind": "udp", "rate": 1000 }, "start": 5, "stop": 9 },
                { "name": "b", "kind": "permutation", "congestion": { "kind": "dctcp" } },
            ],
        }))
        .unwrap();
        assert!(matches!(s.workloads[0].transport, Transport::Udp(_)));
        assert_eq!(s.workloads[0].congestion["kind"], "cubic");
        assert_eq!(s.workloads[1].congestion["kind"], "dctcp");
        assert_eq!(
            (
                s.flows[0].start.0,
                s.flows[0].stop.map(|t| t.0),
                s.flows[16].start.0
            ),
            (5, Some(9), 0)
        );
        assert_eq!(s.workloads[1].first_flow, 16);
    }

    #[test]
    fn all_faults_come_together() {
        let faults = build(json!({
            "seed": -1,
            "topology": { "kind": "fat_tree", "k": 5 },
            "load_balance": { "kind": "ecmp", "buckets": 12 },
            "workload": [
                { "kind": "permutation" },
                { "kind": "permutation", "size": 0 },
                { "kind": "permutation", "transport": { "kind": "udp", "rate": 1, "packet": 5 } },
                { "kind": "permutation", "start": 9, "stop": 9 },
            ],
        }))
        .unwrap_err();
        let keys: Vec<_> = faults.iter().map(|f| f.key.as_str()).collect();
        let expected = [
            "seed",
            "topology.k",
            "load_balance.buckets",
            "workload[1].size",
            "workload[2].transport.packet",
            "workload[3].stop",
            "workload[3].name",
        ];
        assert_eq!(keys, expected, "{faults:?}");
    }

    #[test]
    fn faults_of_the_fabric_name_their_workload() {
        let udp = json!({ "kind": "udp", "rate": 1 });
        let faults = build(json!({
            "topology": { "kind": "star", "hosts": 3 },
            "workload": [
                { "kind": "incast", "degree": 2 },
                { "name": "b", "kind": "incast", "degree": 3 },
                { "kind": "fetch", "size": 1 },
                { "kind": "pairs", "pairs": ["h0>h1", "h0>x", "y"] },
                { "name": "e", "kind": "fetch", "clients": 1, "servers": 2, "size": 1, "transport": udp },
            ],
        }))
        .unwrap_err();
        let keys: Vec<_> = faults.iter().map(|f| f.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "workload[1].degree",
                "workload[2]",
                "workload[3].pairs[1]",
                "workload[3].pairs[2]",
                "workload[4].transport"
            ]
        );
    }

    #[test]
    fn the_prediction_is_the_size_that_is_built() {
        let spec = json!({ "topology": { "kind": "fat_tree", "k": 8 }, "workload": [{ "kind": "permutation" }] });
        let predicted = predict(spec.as_object().unwrap()).unwrap();
        let built = build(spec).unwrap();
        assert_eq!(predicted.hosts, built.network.hosts as u64);
        assert_eq!(
            predicted.hosts + predicted.switches,
            built.network.nodes.len() as u64
        );
        assert_eq!(predicted.links, built.network.links.len() as u64);
        assert_eq!(predicted.flows, built.flows.len() as u64);
        assert!(predicted.memory_bytes > built.routes.memory_bytes());
    }
}
