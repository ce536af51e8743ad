//! A run, whatever engine does it: what bindings and tests drive.
//!
//! `[flow_control]` chooses the engine. Without flow control queues drop, and the window engine (`engine.rs`) knows the
//! departure of a packet when it joins one; where links are lossless a packet waits for what is free behind the link, and an engine
//! of its own (`lossless/`) does that, so that the one does not pay for the other. A new engine is one more [`Engine`] and one line
//! in [`Simulation::new`].

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weft_net::error::Fault;
use weft_net::results::{Progress, Table};
use weft_net::scenario::Scenario;

use crate::engine::Lossy;
use crate::ethernet::Ethernet;
use crate::flow_control::FlowControl;
use crate::lossless::Lossless;
use crate::outcome::Outcome;

/// Why the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    /// Not yet.
    Running,
    /// All flows are done, or `until` is reached.
    Done,
    /// `limit` is reached first.
    Limit,
    /// Nothing will ever happen again, but flows are left.
    Stuck,
}

/// What an engine can do. The calls are coarse: none is made per packet.
pub(crate) trait Engine: Send + Sync + std::fmt::Debug {
    /// Handles about `events` events, or what is left of the run.
    fn advance(&mut self, events: u64) -> Progress;
    /// What is known beforehand that a reader must see, and what has shown so far.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// How many rows of samples wait to be taken.
    fn sample_rows(&self) -> usize;
    /// The samples collected since the last call, if there are any.
    fn samples(&mut self) -> Option<Table>;
    /// Checks conservation and gives the tables. Panics if a packet was lost without being counted: that is our fault.
    fn finish(&mut self) -> Outcome;
    /// Captures what leaves the ports of `links` from now on, unless this engine's packets are no frames that a file could hold.
    fn capture(
        &mut self,
        _links: &[u32],
        _snaplen: u32,
        _application: &str,
        _comment: &str,
    ) -> bool {
        false
    }
    /// The bytes of the capture since the last call.
    fn captured(&mut self) -> Vec<u8> {
        Vec::new()
    }
    /// Frames in the capture so far, by captured link.
    fn captured_frames(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// One run.
#[derive(Debug)]
pub struct Simulation {
    engine: Box<dyn Engine>,
    links: usize,
}

impl Simulation {
    /// The idle network at time 0.
    ///
    /// # Errors
    /// Every fault of the sections that the simulator reads.
    pub fn new(scenario: Arc<Scenario>, spec: &Map<String, Value>) -> Result<Self, Vec<Fault>> {
        let links = scenario.network.links.len();
        let engine: Box<dyn Engine> = match FlowControl::from_spec(spec).map_err(|f| vec![f])? {
            FlowControl::None(_) => Box::new(Lossy::new(scenario, spec)?),
            FlowControl::Credit(credit) => Box::new(Lossless::new(scenario, credit, spec)?),
            FlowControl::Pfc(pfc) => Box::new(Ethernet::new(scenario, pfc, spec)?),
        };
        Ok(Self { engine, links })
    }

    /// Handles about `events` events, or what is left of the run.
    pub fn advance(&mut self, events: u64) -> Progress {
        self.engine.advance(events)
    }

    /// What is known before the run that a reader must see: what has no effect, routes that can deadlock.
    pub fn warnings(&self) -> Vec<String> {
        self.engine.warnings()
    }

    /// How many rows of samples wait to be taken.
    pub fn sample_rows(&self) -> usize {
        self.engine.sample_rows()
    }

    /// The samples collected since the last call, if there are any.
    pub fn samples(&mut self) -> Option<Table> {
        self.engine.samples()
    }

    /// Checks conservation and gives the tables. Panics if a packet was lost without being counted: that is our fault.
    pub fn finish(&mut self) -> Outcome {
        self.engine.finish()
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.links
    }

    /// Captures what leaves the ports of `links` from now on: `snaplen` bytes of each frame, 0 for all. Before the first
    /// step. False where that cannot be: packets of lossless fabrics are no Ethernet frames.
    #[must_use]
    pub fn capture(
        &mut self,
        links: &[u32],
        snaplen: u32,
        application: &str,
        comment: &str,
    ) -> bool {
        self.engine.capture(links, snaplen, application, comment)
    }

    /// The bytes of the file since the last call. What had not left its port when the run ended is not in it.
    pub fn captured(&mut self) -> Vec<u8> {
        self.engine.captured()
    }

    /// Frames so far, by captured link.
    pub fn captured_frames(&self) -> Vec<u64> {
        self.engine.captured_frames()
    }
}
