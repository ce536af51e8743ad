//! Flows from a file, one per line; `trace.rs` reads more than flows.
//!
//! CSV with a header line; columns in any order:
//!
//! | column | is |
//! | --- | --- |
//! | `src`, `dst` | names of hosts |
//! | `size_bytes` | payload; empty is endless |
//! | `start` | a time with its unit (`10 us`), after the start of the workload; or `start_ns` or `start_ps`, a whole number |
//! | `src_port`, `dst_port` | may be left out, or empty |

use std::collections::BTreeMap;

use crate::error::Fault;
use crate::ids::NodeId;
use crate::kinds::FilePath;
use crate::topology::Size;
use crate::units::Time;
use crate::workload::{Context, Flow, Generate, HostNames};

crate::kind! {
    /// Flows read from a CSV file with the columns src, dst, size_bytes, start (or start_ns, start_ps) and, if wanted, src_port, dst_port.
    pub struct FlowsFile: "workload" / "flows_file", source "" {
        /// The file.
        pub file: FilePath;
    }
}

pub(super) const COLUMNS: [&str; 8] = [
    "src",
    "dst",
    "size_bytes",
    "start",
    "start_ns",
    "start_ps",
    "src_port",
    "dst_port",
];

/// What the file says.
pub(super) fn text(file: &FilePath) -> Result<String, Fault> {
    let path = &file.0;
    std::fs::read_to_string(path)
        .map_err(|e| Fault::new("workload.file", format!("cannot read {path}: {e}")))
}

/// Faults of lines, with the name of the file.
pub(super) fn named(file: &FilePath, faults: Vec<(usize, String)>) -> Vec<Fault> {
    let place = |(line, message)| {
        let text = format!("{}, line {line}: {message}", file.0);
        Fault::new("workload.file", text)
    };
    faults.into_iter().map(place).collect()
}

impl Generate for FlowsFile {
    fn flow_count(
        &self,
        _size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        Ok(lines(&text(&self.file)?).count().saturating_sub(1) as u64)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        parse(&text(&self.file)?, context).map_err(|faults| named(&self.file, faults))
    }
}

/// Lines with something in them, by number.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty())
}

/// The flows, or every faulty line by number.
fn parse(text: &str, context: &Context<'_>) -> Result<Vec<Flow>, Vec<(usize, String)>> {
    let mut lines = lines(text);
    let (number, header) = lines
        .next()
        .ok_or_else(|| vec![(1, "the file is empty".to_owned())])?;
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    check_header(&columns, &COLUMNS).map_err(|message| vec![(number, message)])?;
    let hosts = HostNames::of(context.network);
    let mut tuples = BTreeMap::new();
    let (mut flows, mut faults) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let fields = Fields::of(line, &columns);
        let flow = fields
            .and_then(|fields| upload(&fields, &hosts, context))
            .and_then(|flow| {
                let is_chosen = flow.src_port != 0;
                match tuples
                    .insert((flow.src, flow.dst, flow.src_port, flow.dst_port), number)
                    .filter(|_| is_chosen)
                {
                    None => Ok(flow),
                    Some(other) => Err(format!(
                        "has hosts and ports of line {other}: their packets could not be told apart"
                    )),
                }
            });
        match flow {
            // No flow starts after the workload's stop.
            Ok(flow) if context.stop.is_some_and(|stop| flow.start >= stop) => {}
            Ok(flow) => flows.push(flow),
            Err(message) => faults.push((number, message)),
        }
    }
    if faults.is_empty() {
        Ok(flows)
    } else {
        Err(faults)
    }
}

pub(super) fn check_header(columns: &[&str], known: &[&str]) -> Result<(), String> {
    if let Some(unknown) = columns.iter().find(|c| !known.contains(c)) {
        return Err(format!(
            "unknown column {unknown:?}; the columns: {}",
            known.join(", ")
        ));
    }
    if let Some((_, twice)) = columns
        .iter()
        .enumerate()
        .find(|(i, c)| columns[..*i].contains(c))
    {
        return Err(format!("column {twice:?} occurs twice"));
    }
    if let Some(missing) = ["src", "dst", "size_bytes"]
        .iter()
        .find(|c| !columns.contains(c))
    {
        return Err(format!("column {missing:?} is missing"));
    }
    let starts = ["start", "start_ns", "start_ps"].into_iter();
    match starts.filter(|c| columns.contains(c)).collect::<Vec<_>>()[..] {
        [] => Err("column \"start\" (\"10 us\") or \"start_ns\" (10000) is missing".into()),
        [_] => Ok(()),
        [one, other, ..] => Err(format!("{one:?} and {other:?} say the same; keep one")),
    }
}

/// The fields of a line by the names of their columns.
pub(super) struct Fields<'a> {
    columns: &'a [&'a str],
    fields: Vec<&'a str>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a str, columns: &'a [&'a str]) -> Result<Self, String> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != columns.len() {
            return Err(format!(
                "{} fields; the header has {}",
                fields.len(),
                columns.len()
            ));
        }
        Ok(Self { columns, fields })
    }

    /// What stands in a column; empty if there is no such column.
    pub(super) fn get(&self, name: &str) -> &'a str {
        let at = self.columns.iter().position(|c| *c == name);
        at.map_or("", |i| self.fields[i])
    }

    /// A whole number, if there is one.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        match self.get(name) {
            "" => Ok(None),
            text => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("{name} {text:?} is not a whole number")),
            },
        }
    }
}

/// The line as an upload.
pub(super) fn upload(
    fields: &Fields<'_>,
    hosts: &HostNames<'_>,
    context: &Context<'_>,
) -> Result<Flow, String> {
    let field = |name: &str| fields.get(name);
    let host = |name: &str| -> Result<NodeId, String> { hosts.find(field(name)) };
    let port = |name: &str| match field(name) {
        "" => Ok(None),
        text => match text.parse::<u16>() {
            Ok(port) if port > 0 => Ok(Some(port)),
            _ => Err(format!("{name} {text:?} is not a port, 1 to 65535")),
        },
    };
    let (src, dst) = (host("src")?, host("dst")?);
    if src == dst {
        return Err(format!("{:?} sends to itself", field("src")));
    }
    let size = match field("size_bytes") {
        "" => None,
        text => match text.parse::<u64>() {
            Ok(size) if size > 0 => Some(size),
            _ => {
                return Err(format!(
                    "size_bytes {text:?} is not a whole number of bytes, at least 1"
                ));
            }
        },
    };
    let start =
        match field("start_ns") {
            "" => match fields.number("start_ps")? {
                Some(ps) => Time(ps),
                None => time(field("start"))?,
            },
            text => {
                let ns = text.parse::<u64>().ok().and_then(|ns| ns.checked_mul(1000));
                Time(ns.ok_or_else(|| {
                    format!("start_ns {text:?} is not a whole number of nanoseconds")
                })?)
            }
        };
    let upload = context.upload(src, dst, size);
    Ok(Flow {
        start: context.start + start,
        src_port: port("src_port")?.unwrap_or(0),
        dst_port: port("dst_port")?.unwrap_or(upload.dst_port),
        ..upload
    })
}

/// A time as in the experiment file: `10 us`, `1.5ms`.
fn time(text: &str) -> Result<Time, String> {
    let fault = || format!("start {text:?} is not a time with its unit, as in \"10 us\"");
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or_else(fault)?;
    let number: f64 = text[..end].parse().map_err(|_| fault())?;
    let unit = match text[end..].trim() {
        "s" => 1e12,
        "ms" => 1e9,
        "us" => 1e6,
        "ns" => 1e3,
        "ps" => 1.0,
        _ => return Err(fault()),
    };
    // Below 2^53 ps (2.5 hours) exact to the picosecond.
    Ok(Time((number * unit + 0.5) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::topology::Topology;
    use crate::workload::tests::try_flows;
    use serde_json::json;

    fn star() -> Network {
        Topology::from_table(json!({ "kind": "star", "hosts": 3 }).as_object().unwrap())
            .unwrap()
            .build(0)
            .unwrap()
    }

    fn read(text: &str) -> Result<Vec<Flow>, Vec<(usize, String)>> {
        let network = star();
        let start = Time::from_us(5);
        parse(
            text,
            &Context {
                network: &network,
                seed: 1,
                name: "w",
                index: 0,
                start,
                stop: None,
                first_flow: 0,
            },
        )
    }

    #[test]
    fn a_line_is_a_flow() {
        let flows =
            read("src,dst,size_bytes,start,src_port\nh0,h2,1000,1.5 us,\n\nh1, h0, , 2ms, 77\n")
                .unwrap();
        let seen: Vec<_> = flows
            .iter()
            .map(|f| (f.src.0, f.dst.0, f.size, f.start, f.src_port, f.dst_port))
            .collect();
        assert_eq!(
            seen,
            [
                (0, 2, Some(1000), Time::from_ns(6_500), 0, 5201),
                (1, 0, None, Time::from_us(2_005), 77, 5201),
            ]
        );
        assert_eq!(
            read("start_ns,src,dst,size_bytes,dst_port\n7,h0,h1,1,80").unwrap()[0].start,
            Time::from_ns(5_007)
        );
    }

    #[test]
    fn every_faulty_line_is_named() {
        let faults = read(
            "src,dst,size_bytes,start,src_port\nh0,h9,1,0 s,\nh0,h1,0,0 s,\nh0,h1,1,5,\nh0,h1,1\nh0,h0,1,0 s,\nh0,h1,1,0 s,70000\n\
             h0,h1,1,0 s,9\nh0,h1,1,0 s,9\nh0,h1,1,0 s,\nh0,h1,1,0 s,\n",
        )
        .unwrap_err();
        let expected = [
            (2, "there is no host \"h9\"; did you mean \"h0\"?"),
            (
                3,
                "size_bytes \"0\" is not a whole number of bytes, at least 1",
            ),
            (
                4,
                "start \"5\" is not a time with its unit, as in \"10 us\"",
            ),
            (5, "3 fields; the header has 5"),
            (6, "\"h0\" sends to itself"),
            (7, "src_port \"70000\" is not a port, 1 to 65535"),
            (
                9,
                "has hosts and ports of line 8: their packets could not be told apart",
            ),
        ];
        assert_eq!(faults, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn the_header_is_checked() {
        let fault = |text: &str| read(text).unwrap_err().swap_remove(0).1;
        assert!(
            fault("src,dst,bytes,start")
                .starts_with("unknown column \"bytes\"; the columns: src, ")
        );
        assert_eq!(fault("src,size_bytes,start"), "column \"dst\" is missing");
        assert!(fault("src,dst,size_bytes").starts_with("column \"start\""));
        assert_eq!(fault(""), "the file is empty");
    }

    #[test]
    fn a_missing_file_is_a_fault() {
        let faults = try_flows(
            3,
            json!({ "kind": "flows_file", "file": "/nowhere/flows.csv" }),
            None,
        )
        .unwrap_err();
        assert!(
            faults[0]
                .to_string()
                .starts_with("workload.file: cannot read /nowhere/flows.csv: ")
        );
    }
}
