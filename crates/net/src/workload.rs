//! Workloads: who sends how much to whom, and when.

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::ids::{FlowId, NodeId};
use crate::network::Network;
use crate::topology::Size;
use crate::units::Time;

pub mod permutation;

crate::room! {
    /// The traffic: `[[workload]]`.
    pub enum Workload {
        Permutation(permutation::Permutation),
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
    /// When an endless flow stops sending.
    pub stop: Option<Time>,
    /// Who opens the connection: the source (an upload), or the destination, which then sends a request (a fetch).
    pub opener: Opener,
    /// Bytes of the request of a fetch; 0 for an upload.
    pub request: u32,
    /// Port at the source.
    pub src_port: u16,
    /// Port at the destination.
    pub dst_port: u16,
    /// Index of the workload.
    pub workload: u32,
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
    fn flow_count(&self, size: &Size, start: Time, stop: Option<Time>) -> Result<u64, Fault>;

    /// Its flows. `start` orders them within the workload; ports are distinct per host pair.
    ///
    /// # Errors
    /// Hosts that do not exist, lines of a file that cannot be read: all of them, at their keys.
    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>>;
}

impl Workload {
    /// The kind behind the list.
    pub fn generator(&self) -> &dyn Generate {
        match self {
            Self::Permutation(w) => w,
        }
    }
}

impl Context<'_> {
    /// An upload from `src` to `dst` that starts with the workload; ports count upwards with `number`.
    pub fn upload(&self, src: NodeId, dst: NodeId, size: Option<u64>, number: u32) -> Flow {
        Flow {
            src,
            dst,
            size,
            start: self.start,
            after: None,
            stop: self.stop,
            opener: Opener::Source,
            request: 0,
            // Linux's range of ephemeral ports; the server's port is iperf3's.
            src_port: 32_768 + (number % 28_232) as u16,
            dst_port: 5201,
            workload: self.index,
        }
    }
}
