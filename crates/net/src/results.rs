//! Results: the tables that every backend fills, as columns.

mod flow_table;
mod link_table;

pub use flow_table::{FlowRow, FlowTable, Latency, PacketCounts, flows};
pub use link_table::{LinkRow, link_names, links, paths};

use serde::Serialize;

use crate::network::{Network, Node, NodeKind};

/// How far a run has come.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Simulated time, ps.
    pub now_ps: u64,
    /// When the run ends, ps, if that is a time.
    pub end_ps: Option<u64>,
    /// Events handled: of packets and timers, or of flows.
    pub events: u64,
    /// Packets that left a port over a link; 0 where there are no packets.
    pub packet_hops: u64,
    /// Flows that are done or given up.
    pub flows_done: u64,
    /// All flows.
    pub flows_total: u64,
    /// Nothing is left to do but to end the run.
    pub finished: bool,
}

/// One column of a table; nulls are `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Integers without nulls.
    Integer(Vec<i64>),
    /// Integers with nulls.
    OptionalInteger(Vec<Option<i64>>),
    /// Real numbers without nulls.
    Real(Vec<f64>),
    /// Real numbers with nulls.
    OptionalReal(Vec<Option<f64>>),
    /// Words from a dictionary; `None` is null.
    Word(Vec<Option<u32>>, Vec<String>),
    /// Lists of words from a dictionary: row `i` is `items[ends[i-1]..ends[i]]`.
    Words {
        /// Where each row ends in `items`.
        ends: Vec<u32>,
        /// Indices into `words`.
        items: Vec<u32>,
        /// The dictionary.
        words: Vec<String>,
    },
}

impl Column {
    /// Integers, without nulls if there are none.
    pub fn integer(values: Vec<Option<i64>>) -> Self {
        match values.iter().all(Option::is_some) {
            true => Self::Integer(values.into_iter().flatten().collect()),
            false => Self::OptionalInteger(values),
        }
    }
}

/// A table: named columns of one length, some rows of it at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `flows`, `links`, `queues`, `paths`, `samples`, `nodes`.
    pub name: &'static str,
    /// Columns in order.
    pub columns: Vec<(&'static str, Column)>,
}

/// The `nodes` table: what the fabric consists of, for those who draw it.
pub fn nodes(network: &Network) -> Table {
    let nodes = &network.nodes;
    let words = |f: &dyn Fn(&Node) -> String| {
        Column::Word(
            (0..nodes.len() as u32).map(Some).collect(),
            nodes.iter().map(f).collect(),
        )
    };
    let kind = |n: &Node| Some(u32::from(n.kind == NodeKind::Switch));
    Table {
        name: "nodes",
        columns: vec![
            ("node", words(&|n| n.name.clone())),
            (
                "kind",
                Column::Word(
                    nodes.iter().map(kind).collect(),
                    vec!["host".to_owned(), "switch".to_owned()],
                ),
            ),
            (
                "level",
                Column::Integer(nodes.iter().map(|n| i64::from(n.level)).collect()),
            ),
            (
                "pod",
                Column::OptionalInteger(nodes.iter().map(|n| n.pod.map(i64::from)).collect()),
            ),
            (
                "address",
                words(&|n| n.address.map(|b| b.to_string()).join(".")),
            ),
        ],
    }
}
