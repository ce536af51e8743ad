//! Applications: what decides during the run when a connection carries the next message.
//!
//! The kinds are `rpc` (crates/net/src/workload/rpc.rs) and `trace`, whose clients follow a script: one application per client.
//! A get travels in a packet of its own and
//! is sent again until its answer begins; the values are messages of an ordinary connection, whose last segment may be
//! short and is acknowledged at once. Over MPTCP a message lies in the data sequence (`stream.rs`, `inbox.rs`) and a request
//! goes on the subflow that the scheduler would take. A connection opens with its first message and stays open; its window is not reset while
//! it is idle.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_net::flow_size::Draw;
use weft_net::random::stream;
use weft_net::results::Latency;
use weft_net::scenario::Scenario;
use weft_net::transport::Transport;
use weft_net::workload::trace::Timing;
use weft_net::workload::{Opener, Workload};

use crate::client::{App, Query, Script};
use crate::config::Config;
use crate::datagram::Histogram;
use crate::host::{Hosts, SinkEnd, SourceEnd};
use crate::packet::{Kind, Packet};
use crate::wire::Wire;

/// No application.
const NONE: u32 = u32::MAX;

/// The distributions of values, by workload: drawn from, never changed.
#[derive(Clone, Default)]
pub(crate) struct Values(Vec<Option<Arc<dyn Draw>>>);

impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the values of {} workloads", self.0.len())
    }
}

/// A message as `measure.trace` writes it down.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) at: u64,
    pub(crate) flow: u32,
    pub(crate) size: u64,
    pub(crate) query: u64,
    pub(crate) think: Option<u64>,
}

/// One connection at its client.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Connection {
    app: u32,
    /// Messages on their way: their query, and the segment after their last.
    pending: VecDeque<(u64, u32)>,
    /// The segment after the last message.
    end: u32,
    latency: Histogram,
}

/// All applications of the run; empty if there are none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Apps {
    apps: Vec<App>,
    /// By flow.
    connections: Vec<Option<Connection>>,
    /// What clients did, if that is recorded.
    pub(crate) log: Option<Vec<Message>>,
    #[serde(skip)]
    values: Values,
}

impl Apps {
    pub(crate) fn new(scenario: &Scenario, is_traced: bool) -> Self {
        let is_rpc = |kind: &Workload| matches!(kind, Workload::Rpc(_));
        let mut made = Self {
            log: is_traced.then(Vec::new),
            ..Self::default()
        };
        if !scenario.workloads.iter().any(|w| is_rpc(&w.kind)) && scenario.requests.is_empty() {
            return made;
        }
        made.connections = vec![None; scenario.flows.len()];
        for (i, plan) in scenario.workloads.iter().enumerate() {
            let Workload::Rpc(rpc) = &plan.kind else {
                made.values.0.push(None);
                made.follow(scenario, i as u32);
                continue;
            };
            let values = rpc.value.distribution().expect("checked with the scenario");
            made.values.0.push(Some(Arc::from(values)));
            let each = rpc.connections() * rpc.servers as u32;
            for first in (plan.first_flow..plan.first_flow + plan.flows).step_by(each as usize) {
                let client = Hosts::opener(scenario, weft_net::ids::FlowId(first));
                let name = &scenario.network.nodes[client.index()].name;
                for flow in first..first + each {
                    made.connections[flow as usize] = Some(Connection::of(made.apps.len()));
                }
                made.apps.push(App {
                    node: client.0,
                    workload: i as u32,
                    first,
                    connections: u64::from(each),
                    script: None,
                    answered: None,
                    random: stream(scenario.seed, &format!("app/{}/{name}", plan.name)),
                    issued: 0,
                    open: Vec::new(),
                    stop: plan.stop.map_or(u64::MAX, |t| t.0),
                    is_over: false,
                });
            }
        }
        made
    }

    /// The clients of a trace.
    fn follow(&mut self, scenario: &Scenario, workload: u32) {
        let plan = &scenario.workloads[workload as usize];
        let Workload::Trace(trace) = &plan.kind else {
            return;
        };
        let flows = plan.first_flow..plan.first_flow + plan.flows;
        let requests = &scenario.requests;
        let begin = requests
            .iter()
            .take_while(|r| !flows.contains(&r.flow.0))
            .count();
        let of_plan = requests[begin..]
            .iter()
            .take_while(|r| flows.contains(&r.flow.0));
        let end = begin + of_plan.count();
        let mut next = begin;
        while next < end {
            let client = requests[next].client;
            let own = requests[next..end]
                .iter()
                .take_while(|r| r.client == client);
            let after = next + own.count();
            let mut connections = 0;
            for request in &requests[next..after] {
                let connection = &mut self.connections[request.flow.index()];
                if connection.is_none() {
                    *connection = Some(Connection::of(self.apps.len()));
                    connections += 1;
                }
            }
            self.apps.push(App {
                node: client.0,
                workload,
                first: requests[next].flow.0,
                connections,
                script: Some(Script {
                    next: next as u32,
                    end: after as u32,
                    is_closed: trace.timing == Timing::ClosedLoop,
                }),
                answered: None,
                random: stream(scenario.seed, "app/trace"),
                issued: 0,
                open: Vec::new(),
                stop: plan.stop.map_or(u64::MAX, |t| t.0),
                is_over: false,
            });
            next = after;
        }
    }

    /// The application of a flow, [`NONE`] if it has none.
    #[inline]
    fn of(&self, flow: u32) -> u32 {
        match self.connections.get(flow as usize) {
            Some(Some(connection)) => connection.app,
            _ => NONE,
        }
    }

    /// Whether a flow is a connection of an application.
    #[inline]
    pub(crate) fn has(&self, flow: u32) -> bool {
        self.of(flow) != NONE
    }

    /// The latency of a connection's queries.
    pub(crate) fn latency(&self, flow: u32) -> Option<Latency> {
        let connection = self.connections.get(flow as usize)?.as_ref()?;
        connection.latency.summary()
    }
}

impl Connection {
    fn of(app: usize) -> Self {
        Self {
            app: app as u32,
            pending: VecDeque::new(),
            end: 0,
            latency: Histogram::new(),
        }
    }
}

impl Hosts {
    /// A flow of an application starts: the first of a client begins its queries, the others wait for them.
    pub(crate) fn start_app(
        &mut self,
        flow: u32,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let number = self.apps.of(flow) as usize;
        let app = &self.apps.apps[number];
        if app.first != flow {
            return;
        }
        // An open loop that draws begins with a gap; a script with its first query.
        if app.script.is_none() && app.is_open_loop(scenario) {
            self.next_query_later(number, wire, scenario);
        } else {
            self.on_app_timer(flow, wire, scenario, config);
        }
    }

    /// The timer of an application: time for its next query.
    pub(crate) fn on_app_timer(
        &mut self,
        flow: u32,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let number = self.apps.of(flow) as usize;
        self.ask(number, wire, scenario, config);
        let is_open_loop = |app: &App| !app.is_over && app.is_open_loop(scenario);
        // A trace may have several queries of one moment.
        while is_open_loop(&self.apps.apps[number])
            && let Some(script) = self.apps.apps[number].script
            && script
                .rest(scenario)
                .first()
                .is_some_and(|r| r.at.0 <= wire.now)
        {
            self.ask(number, wire, scenario, config);
        }
        let app = &self.apps.apps[number];
        if is_open_loop(app) && !app.is_through(scenario, wire.now) {
            self.next_query_later(number, wire, scenario);
        }
    }

    /// Sets the timer for the next query.
    fn next_query_later(&mut self, number: usize, wire: &mut Wire, scenario: &Scenario) {
        let app = &mut self.apps.apps[number];
        let at = app.next_at(scenario, wire.now);
        wire.schedule(Packet::local(Kind::AppTimer, app.node, app.first, at));
    }

    /// Issues a query, if there is one left.
    fn ask(&mut self, number: usize, wire: &mut Wire, scenario: &Arc<Scenario>, config: &Config) {
        let app = &mut self.apps.apps[number];
        if app.is_through(scenario, wire.now) {
            return self.end_app(number);
        }
        let think = app.answered.map(|answered| wire.now - answered);
        let think = think.filter(|_| !app.is_open_loop(scenario));
        let messages = match &self.apps.values.0[app.workload as usize] {
            Some(values) => app.draw(scenario, &**values),
            None => app.follow(scenario),
        };
        let query = app.issued;
        app.issued += 1;
        app.open.push(Query {
            number: query,
            started: wire.now,
            waiting: messages.len() as u32,
            flows: messages.iter().map(|m| m.0).collect(),
        });
        for (flow, size) in messages {
            if let Some(log) = &mut self.apps.log {
                let at = wire.now;
                log.push(Message {
                    at,
                    flow,
                    size,
                    query,
                    think,
                });
            }
            self.send_message(flow, query, size, wire, scenario, config);
        }
    }

    /// Sends a value, or asks for one.
    fn send_message(
        &mut self,
        flow: u32,
        query: u64,
        size: u64,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let plan = &scenario.flows[flow as usize];
        let workload = plan.workload as usize;
        let transport = &scenario.workloads[workload].transport;
        let is_multipath = matches!(transport, Transport::Mptcp(_));
        let mss = self.mss(transport);
        let segments = crate::segments::segments(Some(size), mss).0;
        let connection = self.apps.connections[flow as usize]
            .as_mut()
            .expect("a connection of an application");
        connection.end += segments;
        connection.pending.push_back((query, connection.end));
        let is_opened = self.records[flow as usize].started != crate::record::UNKNOWN;
        if !is_opened && !self.open_connection(flow, wire, scenario, config) {
            return;
        }
        match plan.opener {
            Opener::Destination => {
                if is_multipath {
                    self.ask_on_subflow(flow, size as u32, segments, wire, scenario);
                } else if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow as usize] {
                    let request = receiver.numbering.next(size as u32, segments);
                    receiver.ask_for(request, wire);
                }
            }
            Opener::Source if is_multipath => {
                self.add_subflow_message(flow, size, wire, scenario);
            }
            Opener::Source => {
                if let SourceEnd::Tcp(sender) = &mut self.sources[flow as usize] {
                    sender.add_message(size);
                }
                self.pump(flow, wire);
            }
        }
        if !is_opened {
            match (
                &mut self.sinks[flow as usize],
                &mut self.sources[flow as usize],
            ) {
                (SinkEnd::Tcp(receiver), _) if plan.opener == Opener::Destination => {
                    receiver.open(wire);
                }
                (_, SourceEnd::Tcp(sender)) => sender.open(wire),
                _ => {}
            }
        }
    }

    /// Something has arrived at the client of a connection: all segments below `reached`.
    pub(crate) fn on_messages(
        &mut self,
        flow: u32,
        reached: u32,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
        config: &Config,
    ) {
        let is_measured = self.is_measured(wire.now);
        loop {
            let Some(connection) = &mut self.apps.connections[flow as usize] else {
                return;
            };
            let query = match connection.pending.front() {
                Some(&(query, end)) if end <= reached => query,
                _ => return,
            };
            connection.pending.pop_front();
            let number = connection.app as usize;
            let app = &mut self.apps.apps[number];
            let at = (app.open.iter().position(|q| q.number == query)).expect("an open query");
            app.open[at].waiting -= 1;
            if app.open[at].waiting > 0 {
                continue;
            }
            let Query { started, flows, .. } = app.open.remove(at);
            for flow in flows.into_iter().filter(|_| is_measured) {
                if let Some(connection) = &mut self.apps.connections[flow as usize] {
                    connection.latency.add(wire.now - started);
                }
            }
            let app = &mut self.apps.apps[number];
            app.answered = Some(wire.now);
            if app.is_through(scenario, wire.now) {
                self.end_app(number);
            } else if app.is_open_loop(scenario) {
                // The next query comes by the clock.
            } else if app.next_at(scenario, wire.now) == wire.now {
                self.ask(number, wire, scenario, config);
            } else {
                self.next_query_later(number, wire, scenario);
            }
        }
    }

    /// The application has no more queries: once all are answered its connections are done.
    fn end_app(&mut self, number: usize) {
        let app = &mut self.apps.apps[number];
        if app.is_over || !app.open.is_empty() {
            return;
        }
        app.is_over = true;
        self.done += app.connections;
    }
}
