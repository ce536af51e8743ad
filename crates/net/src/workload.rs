//! Workloads: who sends how much to whom, and when.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::ids::{FlowId, NodeId};
use crate::nearest::nearest;
use crate::network::Network;
use crate::random::{Stream, stream};
use crate::topology::Size;
use crate::units::Time;

pub mod all_to_all;
pub mod bisection;
pub mod bulk;
pub mod fetch;
pub mod flows_file;
pub mod incast;
pub mod pairs;
pub mod permutation;
pub mod poisson;
pub mod rpc;
pub mod silent;
pub mod stride;
pub mod trace;

crate::room! {
    /// The traffic: `[[workload]]`.
    pub enum Workload {
        Permutation(permutation::Permutation),
        Silent(silent::Silent),
        Fetch(fetch::Fetch),
        Incast(incast::Incast),
        AllToAll(all_to_all::AllToAll),
        Stride(stride::Stride),
        Bisection(bisection::Bisection),
        Pairs(pairs::Pairs),
        Poisson(poisson::Poisson),
        FlowsFile(flows_file::FlowsFile),
        Trace(trace::Trace),
        Bulk(bulk::Bulk),
        Rpc(rpc::Rpc),
    }
}

/// One transfer of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The host whose payload it is.
    pub src: NodeId,
    /// The host that receives the payload.
    pub dst: NodeId,
    /// Payload bytes; `None` is endless.
    pub size: Option<u64>,
    /// When it starts; for a flow that waits for another, the pause after that one has closed.
    pub start: Time,
    /// The flow that must have closed before this one starts.
    pub after: Option<FlowId>,
    /// When an endless flow stops sending; `None` for a flow with a size, which is always sent whole.
    pub stop: Option<Time>,
    /// Who opens the connection: the source (an upload), or the destination, which then sends a request (a fetch).
    pub opener: Opener,
    /// Bytes of the request of a fetch; 0 for an upload.
    pub request: u32,
    /// Port at the source. Of a generator's flow, 0 is a free one, which `Scenario::build` chooses; so is `dst_port`.
    pub src_port: u16,
    /// Port at the destination.
    pub dst_port: u16,
    /// Index of the workload.
    pub workload: u32,
}

/// A message that a trace says a client exchanged over a connection that stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Who asks, or sets.
    pub client: NodeId,
    /// When it did.
    pub at: Time,
    /// The query that it belongs to: those of one client and query go out together.
    pub query: u64,
    /// The connection.
    pub flow: FlowId,
    /// Bytes of the value.
    pub size: u64,
    /// How long the client had thought since its last query was answered, if that is known.
    pub think: Option<Time>,
    /// Where the file says so.
    pub line: usize,
}

/// Who sends the first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opener {
    /// The side that has the payload.
    Source,
    /// The side that wants it.
    Destination,
}

/// What a workload needs to draw its flows.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The fabric.
    pub network: &'a Network,
    /// The experiment's seed; draw from `stream(seed, "workload/NAME/...")`.
    pub seed: u64,
    /// The workload's name.
    pub name: &'a str,
    /// Its index, to be written into the flows.
    pub index: u32,
    /// When it starts.
    pub start: Time,
    /// When it stops, if it does.
    pub stop: Option<Time>,
    /// How many flows earlier workloads made: ids of this one's flows begin here.
    pub first_flow: u32,
}

/// What every workload can do.
pub trait Generate {
    /// How many flows it makes on a network of this size between `start` and `stop` (an expectation, if that is
    /// random): for the prediction of memory.
    ///
    /// # Errors
    /// Parameters that make no sense on this size, at their key.
    fn flow_count(&self, size: &Size, start: Time, stop: Option<Time>) -> Result<u64, Vec<Fault>>;

    /// Its flows. `start` orders them within the workload; a port of 0 is chosen by the scenario.
    ///
    /// # Errors
    /// Asked only where [`Generate::flow_count`] found no fault. Hosts that do not exist, lines of a file that cannot be read: all of them, at their keys.
    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>>;

    /// The messages that a trace says its connections carry, by client and time. Asked only where [`Generate::flows`] found
    /// no fault.
    fn requests(&self, _context: &Context<'_>) -> Vec<Request> {
        Vec::new()
    }
}

impl Workload {
    /// The kind behind the list.
    pub fn generator(&self) -> &dyn Generate {
        match self {
            Self::Permutation(w) => w,
            Self::Silent(w) => w,
            Self::Fetch(w) => w,
            Self::Incast(w) => w,
            Self::AllToAll(w) => w,
            Self::Stride(w) => w,
            Self::Bisection(w) => w,
            Self::Pairs(w) => w,
            Self::Poisson(w) => w,
            Self::FlowsFile(w) => w,
            Self::Trace(w) => w,
            Self::Bulk(w) => w,
            Self::Rpc(w) => w,
        }
    }
}

/// Port of the receiver of an upload: iperf3's.
pub const UPLOAD_PORT: u16 = 5201;
/// Port of the server of a fetch.
pub const FETCH_PORT: u16 = 80;

impl Context<'_> {
    /// An upload from `src` to `dst` that starts with the workload.
    pub fn upload(&self, src: NodeId, dst: NodeId, size: Option<u64>) -> Flow {
        Flow {
            src,
            dst,
            size,
            start: self.start,
            after: None,
            stop: self.stop.filter(|_| size.is_none()),
            opener: Opener::Source,
            request: 0,
            src_port: 0,
            dst_port: UPLOAD_PORT,
            workload: self.index,
        }
    }

    /// A fetch from `server` by `client` that starts with the workload.
    pub fn fetch(&self, server: NodeId, client: NodeId, size: Option<u64>, request: u64) -> Flow {
        Flow {
            opener: Opener::Destination,
            request: request as u32,
            src_port: FETCH_PORT,
            dst_port: 0,
            ..self.upload(server, client, size)
        }
    }

    /// The workload's random stream for one purpose.
    pub fn stream(&self, purpose: &str) -> Stream {
        stream(self.seed, &format!("workload/{}/{purpose}", self.name))
    }

    /// A random permutation of all hosts without fixed points: entry `i` is the partner of host `i`.
    pub fn derangement(&self, purpose: &str) -> Vec<NodeId> {
        // Redraw until no host is its own partner: on average e = 2.7 draws, every such permutation equally likely.
        let mut random = self.stream(purpose);
        let mut to: Vec<NodeId> = self.network.host_ids().collect();
        while to.iter().enumerate().any(|(i, t)| i == t.index()) {
            random.shuffle(&mut to);
        }
        to
    }
}

/// Hosts by name.
#[derive(Debug)]
pub struct HostNames<'a>(BTreeMap<&'a str, NodeId>);

impl<'a> HostNames<'a> {
    /// Of all hosts of `network`.
    pub fn of(network: &'a Network) -> Self {
        Self(
            network
                .host_ids()
                .map(|h| (network.nodes[h.index()].name.as_str(), h))
                .collect(),
        )
    }

    /// The host of that name.
    ///
    /// # Errors
    /// What is wrong, with names that exist.
    pub fn find(&self, name: &str) -> Result<NodeId, String> {
        self.0.get(name).copied().ok_or_else(|| {
            if let Some(near) = nearest(name, self.0.keys().copied()) {
                return format!("there is no host {name:?}; did you mean {near:?}?");
            }
            let some: Vec<_> = self.0.keys().take(3).copied().collect();
            format!(
                "there is no host {name:?}; hosts are called {}, ...",
                some.join(", ")
            )
        })
    }
}

/// Refuses a fabric with fewer than `least` hosts.
fn need_hosts(hosts: u64, least: u64, what: &str) -> Result<(), Fault> {
    if hosts >= least {
        return Ok(());
    }
    Err(Fault::new(
        "workload",
        format!("{what}: at least {least} hosts are needed; the topology has {hosts}"),
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::topology::Topology;
    use serde_json::{Value, json};

    /// The flows of a workload on a star of so many hosts (names `h<i>`, 10 Gbps).
    pub(crate) fn try_flows(
        hosts: u64,
        workload: Value,
        stop: Option<Time>,
    ) -> Result<Vec<Flow>, Vec<Fault>> {
        let topology = json!({ "kind": "star", "hosts": hosts });
        let topology = Topology::from_table(topology.as_object().unwrap()).unwrap();
        let network = topology.build(0).unwrap();
        let workload = Workload::from_table(workload.as_object().unwrap())?;
        let generator = workload.generator();
        let start = Time::from_us(5);
        generator.flow_count(&topology.size().unwrap(), start, stop)?;
        generator.flows(&Context {
            network: &network,
            seed: 1,
            name: "w",
            index: 0,
            start,
            stop,
            first_flow: 100,
        })
    }

    pub(crate) fn flows(hosts: u64, workload: Value) -> Vec<Flow> {
        try_flows(hosts, workload, None).unwrap()
    }

    pub(crate) fn fault(hosts: u64, workload: Value) -> String {
        try_flows(hosts, workload, None).unwrap_err()[0].to_string()
    }

    /// (source, destination) of every flow.
    pub(crate) fn ends(flows: &[Flow]) -> Vec<(u32, u32)> {
        flows.iter().map(|f| (f.src.0, f.dst.0)).collect()
    }

    #[test]
    fn a_stop_cuts_endless_flows_only() {
        let stop = Some(Time::from_ms(1));
        let endless = try_flows(2, json!({ "kind": "permutation" }), stop).unwrap();
        let sized = try_flows(2, json!({ "kind": "permutation", "size": 1 }), stop).unwrap();
        assert_eq!((endless[0].stop, sized[0].stop), (stop, None));
    }

    #[test]
    fn the_count_is_right_where_it_is_not_random() {
        let topology =
            Topology::from_table(json!({ "kind": "star", "hosts": 16 }).as_object().unwrap())
                .unwrap();
        for table in [
            json!({ "kind": "permutation" }),
            json!({ "kind": "silent", "size": 1 }),
            json!({ "kind": "fetch", "size": 1 }),
            json!({ "kind": "incast", "degree": 5 }),
            json!({ "kind": "all_to_all" }),
            json!({ "kind": "stride", "stride": 4 }),
            json!({ "kind": "bisection" }),
            json!({ "kind": "bisection", "both": true, "pairing": "random" }),
            json!({ "kind": "pairs", "pairs": ["h0>h1", "h1>h0"] }),
            json!({ "kind": "poisson", "load": 0.5, "size": { "kind": "websearch" }, "flows": 50 }),
        ] {
            let workload = Workload::from_table(table.as_object().unwrap()).unwrap();
            let count = workload
                .generator()
                .flow_count(&topology.size().unwrap(), Time::ZERO, None)
                .unwrap();
            let flows = flows(16, table.clone());
            assert_eq!(count, flows.len() as u64, "{table}");
            assert!(flows.iter().all(|f| f.src != f.dst), "{table}");
        }
    }
}
