//! Flow control: what keeps a link from sending when there is no room behind it.
//!
//! The kind chooses the engine (`simulation.rs`): without flow control queues drop.

use serde_json::{Map, Value};
use weft_net::error::Fault;

pub mod credit;
pub mod none;
pub mod pfc;

weft_net::room! {
    /// What keeps links from losing packets: `[flow_control]`.
    pub enum FlowControl {
        None(none::None),
        Credit(credit::Credit),
        Pfc(pfc::Pfc),
    }
}

impl FlowControl {
    /// The section of a spec; without one, none.
    ///
    /// # Errors
    /// A fault of the section.
    pub fn from_spec(spec: &Map<String, Value>) -> Result<Self, Fault> {
        let mut table = spec
            .get("flow_control")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        table.entry("kind").or_insert_with(|| "none".into());
        Self::from_table(&table)
    }
}
