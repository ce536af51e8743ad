//! What every workload of a scenario has beside its kind: a name, a span of time, and its own protocols.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::kinds::{ParameterType, ValueType};
use crate::transport::Transport;
use crate::units::Time;
use crate::workload::Workload;

crate::kind! {
    /// Keys that every `[[workload]]` has, whatever its kind.
    pub struct WorkloadKeys: "record" / "workload", source "" {
        /// Names its flows and its random streams; left out, its kind.
        pub name: Option<String> = None;
        /// When its first flow may start.
        pub start: Time = Time::ZERO;
        /// When its endless flows stop sending and no further flow starts.
        pub stop: Option<Time> = None;
        /// In place of `[transport]`, for these flows.
        pub transport: Option<Transport> = None;
        /// In place of `[congestion]`, for these flows.
        pub congestion: Option<CongestionTable> = None;
        /// In place of `[receive]`, for these flows.
        pub receive: Option<ReceiveTable> = None;
    }
}

macro_rules! opaque_room {
    ($($(#[doc = $doc:expr])* $name:ident => $room:literal),*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Map<String, Value>);

        impl ParameterType for $name {
            fn value_type() -> ValueType {
                ValueType::Room { room: $room }
            }
        }
    )*};
}
opaque_room! {
    /// A table of the room `congestion`, which the simulators read.
    CongestionTable => "congestion",
    /// A table of the room `receive`, which the simulators read.
    ReceiveTable => "receive"
}

/// A workload with all that its flows need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadPlan {
    /// Unique among the workloads.
    pub name: String,
    /// What it generates.
    pub kind: Workload,
    /// What carries its flows.
    pub transport: Transport,
    /// Its table of `congestion`, or the experiment's; empty if neither says anything.
    pub congestion: Map<String, Value>,
    /// Its table of `receive`, or the experiment's; empty if neither says anything.
    pub receive: Map<String, Value>,
    /// When its first flow may start.
    pub start: Time,
    /// When its endless flows stop sending and no further flow starts.
    pub stop: Option<Time>,
    /// Its first flow.
    pub first_flow: u32,
    /// How many flows it has, one after another from `first_flow`.
    pub flows: u32,
}
