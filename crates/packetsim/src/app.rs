//! Applications: what decides during the run when a connection carries the next message.
//!
//! The kind is `rpc` (crates/net/src/workload/rpc.rs): one application per client. A get travels in a packet of its own and
//! is sent again until its answer begins; the values are messages of an ordinary TCP connection, whose last segment may be
//! short and is acknowledged at once. A connection opens with its first message and stays open; its window is not reset while
//! it is idle.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_net::flow_size::Draw;
use weft_net::random::{Stream, stream};
use weft_net::scenario::Scenario;
use weft_net::workload::rpc::Rpc;
use weft_net::workload::{Opener, Workload};

use crate::config::Config;
use crate::datagram::{Histogram, Latency};
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

/// A query that has not been answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Query {
    number: u64,
    started: u64,
    /// Messages that have not arrived.
    waiting: u32,
    /// The connections that it uses.
    flows: Vec<u32>,
}

/// One client.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct App {
    node: u32,
    workload: u32,
    /// Its first connection; they follow one another, server by server.
    first: u32,
    random: Stream,
    issued: u64,
    open: Vec<Query>,
    stop: u64,
    is_over: bool,
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
    #[serde(skip)]
    values: Values,
}

impl Apps {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let is_rpc = |kind: &Workload| matches!(kind, Workload::Rpc(_));
        if !scenario.workloads.iter().any(|w| is_rpc(&w.kind)) {
            return Self::default();
        }
        let mut made = Self {
            connections: vec![None; scenario.flows.len()],
            ..Self::default()
        };
        for (i, plan) in scenario.workloads.iter().enumerate() {
            let Workload::Rpc(rpc) = &plan.kind else {
                made.values.0.push(None);
                continue;
            };
            let values = rpc.value.distribution().expect("checked with the scenario");
            made.values.0.push(Some(Arc::from(values)));
            let each = rpc.connections() * rpc.servers as u32;
            for first in (plan.first_flow..plan.first_flow + plan.flows).step_by(each as usize) {
                let client = Hosts::opener(scenario, weft_net::ids::FlowId(first));
                let name = &scenario.network.nodes[client.index()].name;
                for flow in first..first + each {
                    made.connections[flow as usize] = Some(Connection {
                        app: made.apps.len() as u32,
                        pending: VecDeque::new(),
                        end: 0,
                        latency: Histogram::new(),
                    });
                }
                made.apps.push(App {
                    node: client.0,
                    workload: i as u32,
                    first,
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

fn rpc<'a>(scenario: &'a Scenario, app: &App) -> &'a Rpc {
    match &scenario.workloads[app.workload as usize].kind {
        Workload::Rpc(rpc) => rpc,
        _ => unreachable!("applications are rpc"),
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
        if rpc(scenario, app).rate.is_some() {
            self.next_query_later(number, wire, scenario);
        } else {
            self.ask(number, wire, scenario, config);
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
        let app = &self.apps.apps[number];
        if !app.is_over && rpc(scenario, app).rate.is_some() {
            self.next_query_later(number, wire, scenario);
        }
    }

    /// Sets the timer: the think time, or the gap of an open loop.
    fn next_query_later(&mut self, number: usize, wire: &mut Wire, scenario: &Scenario) {
        let app = &mut self.apps.apps[number];
        let rpc = rpc(scenario, app);
        let wait = match rpc.rate {
            Some(rate) => (app.random.exponential() * 1e12 / rate + 0.5) as u64,
            None => rpc.think.0,
        };
        let at = wire.now + wait.max(1);
        wire.schedule(Packet::local(Kind::AppTimer, app.node, app.first, at));
    }

    /// Issues a query, if there is one left.
    fn ask(&mut self, number: usize, wire: &mut Wire, scenario: &Arc<Scenario>, config: &Config) {
        let app = &mut self.apps.apps[number];
        let rpc = rpc(scenario, app);
        let is_last =
            |app: &App| rpc.requests.is_some_and(|most| app.issued >= most) || wire.now >= app.stop;
        if is_last(app) {
            return self.end_app(number);
        }
        let is_get = app.random.uniform() < rpc.gets;
        // The first places of a shuffle, which need no shuffle of the rest.
        let mut servers: Vec<u32> = (0..rpc.servers as u32).collect();
        for place in 0..rpc.fan_out as usize {
            let other = place + app.random.below((servers.len() - place) as u64) as usize;
            servers.swap(place, other);
        }
        servers.truncate(rpc.fan_out as usize);
        let each = rpc.connections();
        let flows: Vec<u32> = servers
            .iter()
            .map(|server| app.first + server * each + u32::from(!is_get && each == 2))
            .collect();
        let query = app.issued;
        app.issued += 1;
        let values = self.apps.values.0[app.workload as usize]
            .as_ref()
            .expect("an application has values");
        let sizes: Vec<u64> = flows.iter().map(|_| values.draw(&mut app.random)).collect();
        app.open.push(Query {
            number: query,
            started: wire.now,
            waiting: flows.len() as u32,
            flows: flows.clone(),
        });
        for (flow, size) in flows.into_iter().zip(sizes) {
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
        let mss = self.mss(&scenario.workloads[workload].transport);
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
                if let SinkEnd::Tcp(receiver) = &mut self.sinks[flow as usize] {
                    receiver.ask_for(size as u32, segments, wire);
                }
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
            let app = &self.apps.apps[number];
            let rpc = rpc(scenario, app);
            let is_through = rpc.requests.is_some_and(|most| app.issued >= most);
            if is_through || wire.now >= app.stop {
                self.end_app(number);
            } else if rpc.rate.is_some() {
                // The next query comes by the clock.
            } else if rpc.think.0 == 0 {
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
        let of_app = |c: &&Option<Connection>| c.as_ref().is_some_and(|c| c.app as usize == number);
        let first = app.first as usize;
        let flows = self.apps.connections[first..].iter().take_while(of_app);
        self.done += flows.count() as u64;
    }
}
