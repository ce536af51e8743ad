//! One client of an application: its next query, drawn (`rpc`) or from its script (`trace`).

use serde::{Deserialize, Serialize};
use weft_net::flow_size::Draw;
use weft_net::random::Stream;
use weft_net::scenario::Scenario;
use weft_net::workload::rpc::Rpc;
use weft_net::workload::{Request, Workload};

/// A query that has not been answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Query {
    pub(crate) number: u64,
    pub(crate) started: u64,
    /// Messages that have not arrived.
    pub(crate) waiting: u32,
    /// The connections that it uses.
    pub(crate) flows: Vec<u32>,
}

/// What a client has to do that follows a trace.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Script {
    /// The next request of the scenario, and the one after the last.
    pub(crate) next: u32,
    pub(crate) end: u32,
    /// It waits for answers.
    pub(crate) is_closed: bool,
}

impl Script {
    pub(crate) fn rest<'a>(&self, scenario: &'a Scenario) -> &'a [Request] {
        &scenario.requests[self.next as usize..self.end as usize]
    }
}

/// One client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct App {
    pub(crate) node: u32,
    pub(crate) workload: u32,
    /// Its first connection; those of `rpc` follow one another, server by server.
    pub(crate) first: u32,
    /// How many it has.
    pub(crate) connections: u64,
    /// In place of drawing.
    pub(crate) script: Option<Script>,
    /// When its last query was answered, ps.
    pub(crate) answered: Option<u64>,
    pub(crate) random: Stream,
    pub(crate) issued: u64,
    pub(crate) open: Vec<Query>,
    pub(crate) stop: u64,
    pub(crate) is_over: bool,
}

impl App {
    /// Whether there is no query left at `now`.
    pub(crate) fn is_through(&self, scenario: &Scenario, now: u64) -> bool {
        let has_asked_all = match &self.script {
            Some(script) => script.next == script.end,
            None => rpc(scenario, self)
                .requests
                .is_some_and(|most| self.issued >= most),
        };
        has_asked_all || now >= self.stop
    }

    /// Whether queries come by the clock.
    pub(crate) fn is_open_loop(&self, scenario: &Scenario) -> bool {
        match &self.script {
            Some(script) => !script.is_closed,
            None => rpc(scenario, self).rate.is_some(),
        }
    }

    /// When the next query comes, ps: after a think time, or the gap of an open loop. Only asked where there is one.
    pub(crate) fn next_at(&mut self, scenario: &Scenario, now: u64) -> u64 {
        if let Some(script) = &self.script {
            let next = &script.rest(scenario)[0];
            return if script.is_closed {
                now + next.think.map_or(0, |t| t.0)
            } else {
                next.at.0
            };
        }
        let rpc = rpc(scenario, self);
        now + match rpc.rate {
            Some(rate) => ((self.random.exponential() * 1e12 / rate + 0.5) as u64).max(1),
            None => rpc.think.0,
        }
    }

    /// The messages of the next query of a script.
    pub(crate) fn follow(&mut self, scenario: &Scenario) -> Vec<(u32, u64)> {
        let Some(script) = &mut self.script else {
            return Vec::new();
        };
        let rest = script.rest(scenario);
        let is_of_query = |r: &&Request| (r.at, r.query) == (rest[0].at, rest[0].query);
        let messages: Vec<_> = (rest.iter().take_while(is_of_query))
            .map(|r| (r.flow.0, r.size))
            .collect();
        script.next += messages.len() as u32;
        messages
    }

    /// Draws the messages of a query: the connections and how large the values are.
    pub(crate) fn draw(&mut self, scenario: &Scenario, values: &dyn Draw) -> Vec<(u32, u64)> {
        let rpc = rpc(scenario, self);
        let is_get = self.random.uniform() < rpc.gets;
        // The first places of a shuffle, which need no shuffle of the rest.
        let mut servers: Vec<u32> = (0..rpc.servers as u32).collect();
        for place in 0..rpc.fan_out as usize {
            let other = place + self.random.below((servers.len() - place) as u64) as usize;
            servers.swap(place, other);
        }
        servers.truncate(rpc.fan_out as usize);
        let each = rpc.connections();
        let flow = |server| self.first + server * each + u32::from(!is_get && each == 2);
        let flows: Vec<u32> = servers.into_iter().map(flow).collect();
        let sizes: Vec<u64> = flows
            .iter()
            .map(|_| values.draw(&mut self.random))
            .collect();
        flows.into_iter().zip(sizes).collect()
    }
}

fn rpc<'a>(scenario: &'a Scenario, app: &App) -> &'a Rpc {
    match &scenario.workloads[app.workload as usize].kind {
        Workload::Rpc(rpc) => rpc,
        _ => unreachable!("applications are rpc"),
    }
}
