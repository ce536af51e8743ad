//! Traces: what applications did, written by one run (`measure.trace`) and done again by another.
//!
//! CSV with a header line, the columns of `flows_file.rs` and these, in any order:
//!
//! | column | is |
//! | --- | --- |
//! | `kind` | `flow`: `src` opens a connection and sends; `fetch`: `dst` opens it and asks; `get`, `set`: a message on a connection that stays open |
//! | `start_ps` | when, picoseconds: in place of `start` or `start_ns` |
//! | `size_bytes` | payload; of a `get` or `set` the value |
//! | `request_bytes` | payload of what a `fetch` or `get` asks with |
//! | `flow` | number of the flow or connection, in whose order they are made; rows with one number are one connection |
//! | `query` | of a `get` or `set`: number of the client's query; messages of one query go out together |
//! | `think_ps` | of a `get` or `set`: time since the client's last query was answered; empty for its first |
//!
//! A row of `src`, `dst` is from where the payload is to where it goes, so that the client of a `get` is `dst`. Replayed on
//! the same fabric with the same protocols, flows have the numbers, ports and times that they had.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Fault;
use crate::ids::{FlowId, NodeId};
use crate::kinds::FilePath;
use crate::topology::Size;
use crate::units::Time;
use crate::workload::flows_file::{self, Fields, lines};
use crate::workload::{Context, Flow, Generate, HostNames, Opener, Request};

crate::choice! {
    /// When a client of a trace asks.
    pub enum Timing {
        /// When it did, however slow the answers are now: an open loop.
        Recorded = "recorded",
        /// When the last query is answered and it has thought as long as it did: a closed loop.
        ClosedLoop = "closed_loop",
    }
}

crate::kind! {
    /// What applications did: flows, fetches, and gets and sets over connections that stay open, from a file.
    /// A run with `measure.trace = true` writes such a file, `trace.csv` in its folder.
    pub struct Trace: "workload" / "trace", source "" {
        /// The file: CSV with the columns src, dst, size_bytes, start (or start_ns, start_ps) and, if wanted, kind (flow,
        /// fetch, get, set), flow, query, request_bytes, think_ps, src_port, dst_port.
        pub file: FilePath;
        /// When clients ask, where there are gets and sets.
        pub timing: Timing = Timing::Recorded;
    }
}

const COLUMNS: [&str; 5] = ["kind", "flow", "query", "request_bytes", "think_ps"];
const KINDS: [&str; 4] = ["flow", "fetch", "get", "set"];
/// Payload of a request where nothing is said: that of the kinds `fetch` and `rpc`.
const REQUEST: u64 = 100;

/// A line of the file.
struct Row {
    line: usize,
    /// Whether it is a message.
    is_message: bool,
    /// The flow, or connection.
    flow: Flow,
    id: Option<u64>,
    size: Option<u64>,
    query: Option<u64>,
    think: Option<Time>,
}

type Faults = Vec<(usize, String)>;

impl Generate for Trace {
    fn flow_count(
        &self,
        _size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        // Messages of one connection are one flow; the hosts need not be known for that.
        let text = flows_file::text(&self.file)?;
        let mut lines = lines(&text);
        let columns: Vec<&str> = lines
            .next()
            .map_or("", |l| l.1)
            .split(',')
            .map(str::trim)
            .collect();
        let mut connections = BTreeSet::new();
        let flows = lines.filter(|(_, line)| {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let field = |name: &str| {
                let at = columns.iter().position(|c| *c == name);
                at.and_then(|i| fields.get(i)).copied().unwrap_or("")
            };
            let is_message = matches!(field("kind"), "get" | "set");
            if is_message {
                let ends = ["kind", "src", "dst", "flow", "src_port", "dst_port"].map(field);
                connections.insert(ends.map(str::to_owned));
            }
            !is_message
        });
        let flows = flows.count();
        Ok((flows + connections.len()) as u64)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        self.read(context).map(|made| made.0)
    }

    fn requests(&self, context: &Context<'_>) -> Vec<Request> {
        self.read(context).map(|made| made.1).unwrap_or_default()
    }
}

impl Trace {
    fn read(&self, context: &Context<'_>) -> Result<(Vec<Flow>, Vec<Request>), Vec<Fault>> {
        let text = flows_file::text(&self.file)?;
        let rows = rows(&text, context);
        let made = rows.and_then(|rows| self.connect(rows, context));
        made.map_err(|faults| flows_file::named(&self.file, faults))
    }

    /// Flows and connections in the order of their numbers, and the messages of these.
    fn connect(
        &self,
        rows: Vec<Row>,
        context: &Context<'_>,
    ) -> Result<(Vec<Flow>, Vec<Request>), Faults> {
        let mut faults = Vec::new();
        // Without a number: a flow is one of its own, a connection is what its ends and ports say.
        let mut known = BTreeMap::new();
        let mut made: Vec<(u64, Flow)> = Vec::new();
        let mut messages = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let key = match (row.id, row.is_message) {
                (Some(id), _) => (id, None),
                (None, false) => (i as u64, None),
                (None, true) => {
                    let f = &row.flow;
                    let ends = (
                        f.src,
                        f.dst,
                        f.src_port,
                        f.dst_port,
                        f.opener == Opener::Source,
                    );
                    (0, Some(ends))
                }
            };
            let (line, at) = *known.entry(key).or_insert_with(|| {
                made.push((row.id.unwrap_or(i as u64), row.flow.clone()));
                (row.line, made.len() - 1)
            });
            let first = &mut made[at].1;
            let is_same = (
                first.src,
                first.dst,
                first.opener,
                first.src_port,
                first.dst_port,
            ) == (
                row.flow.src,
                row.flow.dst,
                row.flow.opener,
                row.flow.src_port,
                row.flow.dst_port,
            );
            if line != row.line && !(row.is_message && first.size.is_none() && is_same) {
                faults.push((
                    row.line,
                    format!("is another flow than line {line}, and has its number"),
                ));
                continue;
            }
            if row.is_message {
                first.start = first.start.min(row.flow.start);
                messages.push((at, row));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut order: Vec<usize> = (0..made.len()).collect();
        order.sort_by_key(|&i| (made[i].0, i));
        let mut place = vec![0; made.len()];
        for (to, &from) in order.iter().enumerate() {
            place[from] = to as u32;
        }
        let mut requests = Vec::with_capacity(messages.len());
        for (number, (at, row)) in messages.into_iter().enumerate() {
            let id = FlowId(context.first_flow + place[at]);
            requests.push(Request {
                client: opener(&row.flow),
                at: row.flow.start,
                query: row.query.unwrap_or(u64::MAX - number as u64),
                flow: id,
                size: row.size.unwrap_or(1),
                think: row.think,
                line: row.line,
            });
        }
        // Messages of one query keep the order of the file.
        requests.sort_by_key(|r| (r.client, r.at, r.query));
        self.check_think(&requests)?;
        let flows = order.into_iter().map(|i| made[i].1.clone()).collect();
        Ok((flows, requests))
    }

    /// In a closed loop every query of a client but its first needs to know how long it thought.
    fn check_think(&self, requests: &[Request]) -> Result<(), Faults> {
        if self.timing == Timing::Recorded {
            return Ok(());
        }
        let next = requests
            .windows(2)
            .filter(|w| w[0].client == w[1].client && w[0].query != w[1].query);
        let without = next.filter(|w| w[1].think.is_none());
        let faults: Faults = without
            .map(|w| {
                (
                    w[1].line,
                    "think_ps is empty, and timing = \"closed_loop\" needs it; take \"recorded\""
                        .to_owned(),
                )
            })
            .collect();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }
}

/// The host that opens a flow.
fn opener(flow: &Flow) -> NodeId {
    match flow.opener {
        Opener::Source => flow.src,
        Opener::Destination => flow.dst,
    }
}

/// The rows of the file, or every faulty line by number.
fn rows(text: &str, context: &Context<'_>) -> Result<Vec<Row>, Faults> {
    let mut lines = lines(text);
    let (number, header) = lines
        .next()
        .ok_or_else(|| vec![(1, "the file is empty".to_owned())])?;
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let all: Vec<&str> = flows_file::COLUMNS.into_iter().chain(COLUMNS).collect();
    flows_file::check_header(&columns, &all).map_err(|message| vec![(number, message)])?;
    let hosts = HostNames::of(context.network);
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let row =
            Fields::of(line, &columns).and_then(|fields| row(&fields, number, &hosts, context));
        match row {
            // Nothing starts after the workload's stop.
            Ok(row) if context.stop.is_some_and(|stop| row.flow.start >= stop) => {}
            Ok(row) => rows.push(row),
            Err(message) => faults.push((number, message)),
        }
    }
    if faults.is_empty() {
        Ok(rows)
    } else {
        Err(faults)
    }
}

fn row(
    fields: &Fields<'_>,
    line: usize,
    hosts: &HostNames<'_>,
    context: &Context<'_>,
) -> Result<Row, String> {
    let kind = match fields.get("kind") {
        "" => "flow",
        word => KINDS
            .into_iter()
            .find(|k| *k == word)
            .ok_or_else(|| format!("kind {word:?} is none of {}", KINDS.join(", ")))?,
    };
    let upload = flows_file::upload(fields, hosts, context)?;
    let is_message = matches!(kind, "get" | "set");
    let size = upload.size;
    if is_message && size.is_none_or(|s| s > u64::from(u32::MAX)) {
        return Err(format!("a {kind} needs a size_bytes, below 2^32"));
    }
    let request = fields.number("request_bytes")?.unwrap_or(REQUEST);
    if !(1..=1000).contains(&request) {
        return Err(format!("request_bytes {request} is not between 1 and 1000"));
    }
    let mut flow = if matches!(kind, "fetch" | "get") {
        let fetch = context.fetch(upload.src, upload.dst, size, request);
        let given = |name, port, default| {
            if fields.get(name).is_empty() {
                default
            } else {
                port
            }
        };
        Flow {
            start: upload.start,
            src_port: given("src_port", upload.src_port, fetch.src_port),
            dst_port: given("dst_port", upload.dst_port, fetch.dst_port),
            ..fetch
        }
    } else {
        upload
    };
    if is_message {
        flow.size = None;
        flow.stop = context.stop;
    }
    Ok(Row {
        line,
        is_message,
        flow,
        id: fields.number("flow")?,
        size,
        query: fields.number("query")?,
        think: fields.number("think_ps")?.map(Time),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use serde_json::json;

    fn read(text: &str, timing: Timing) -> Result<(Vec<Flow>, Vec<Request>), Faults> {
        let topology = json!({ "kind": "star", "hosts": 3 });
        let network = Topology::from_table(topology.as_object().unwrap())
            .unwrap()
            .build(0)
            .unwrap();
        let context = Context {
            network: &network,
            seed: 1,
            name: "w",
            index: 0,
            start: Time::from_us(5),
            stop: None,
            first_flow: 10,
        };
        let trace = Trace {
            file: FilePath("trace.csv".into()),
            timing,
        };
        rows(text, &context).and_then(|rows| trace.connect(rows, &context))
    }

    const RPC: &str = "kind,src,dst,size_bytes,start_ps,flow,query,think_ps\n\
        set,h1,h0,70,9,8,1,4\n\
        get,h0,h1,50,7,5,0,\n\
        get,h0,h1,60,9,5,1,4\n\
        get,h0,h2,50,8,6,0,\n\
        flow,h0,h2,500,8,7,,\n";

    #[test]
    fn messages_of_one_connection_are_one_flow_without_a_size() {
        let (flows, requests) = read(RPC, Timing::ClosedLoop).unwrap();
        let seen: Vec<_> = flows
            .iter()
            .map(|f| (f.src.0, f.dst.0, f.size, f.start.0 - 5_000_000, f.opener))
            .collect();
        let (there, back) = (Opener::Source, Opener::Destination);
        assert_eq!(
            seen,
            [
                (0, 1, None, 7, back),
                (0, 2, None, 8, back),
                (0, 2, Some(500), 8, there),
                (1, 0, None, 9, there),
            ]
        );
        let seen: Vec<_> = requests
            .iter()
            .map(|r| (r.client.0, r.at.0 - 5_000_000, r.query, r.flow.0, r.size))
            .collect();
        assert_eq!(
            seen,
            [
                (1, 7, 0, 10, 50),
                (1, 9, 1, 13, 70),
                (1, 9, 1, 10, 60),
                (2, 8, 0, 11, 50)
            ]
        );
        assert_eq!(requests[1].think, Some(Time(4)));
    }

    #[test]
    fn a_plain_file_of_flows_is_a_trace() {
        let (flows, requests) = read(
            "src,dst,size_bytes,start,kind,dst_port\nh0,h1,10,1 us,,\nh1,h0,10,2 us,fetch,\nh1,h0,10,2 us,fetch,9\n",
            Timing::Recorded,
        )
        .unwrap();
        let ports: Vec<_> = flows
            .iter()
            .map(|f| (f.src_port, f.dst_port, f.request))
            .collect();
        assert_eq!(
            (ports, requests.len()),
            (vec![(0, 5201, 0), (80, 0, 100), (80, 9, 100)], 0)
        );
    }

    #[test]
    fn every_faulty_line_is_named() {
        let faults = |text: &str| read(text, Timing::Recorded).unwrap_err();
        assert_eq!(
            faults(
                "kind,src,dst,size_bytes,start_ps\nget,h0,h33,1,0\nput,h0,h1,1,0\nset,h0,h1,,0\nget,h0,h1,1,x\n"
            ),
            [
                (
                    2,
                    "there is no host \"h33\"; hosts are called h0, h1, h2, ...".to_owned()
                ),
                (
                    3,
                    "kind \"put\" is none of flow, fetch, get, set".to_owned()
                ),
                (4, "a set needs a size_bytes, below 2^32".to_owned()),
                (5, "start_ps \"x\" is not a whole number".to_owned()),
            ]
        );
        assert_eq!(
            faults(
                "flow,kind,src,dst,size_bytes,start_ps\n1,get,h0,h1,1,0\n1,get,h0,h2,1,0\n1,flow,h0,h1,1,0\n"
            ),
            [
                (
                    3,
                    "is another flow than line 2, and has its number".to_owned()
                ),
                (
                    4,
                    "is another flow than line 2, and has its number".to_owned()
                ),
            ]
        );
        let open = RPC
            .replace("9,8,1,4", "9,8,1,")
            .replace("9,5,1,4", "9,5,1,");
        assert!(read(&open, Timing::Recorded).is_ok());
        assert_eq!(
            read(&open, Timing::ClosedLoop).unwrap_err(),
            [(
                2,
                "think_ps is empty, and timing = \"closed_loop\" needs it; take \"recorded\""
                    .to_owned()
            )]
        );
    }
}
