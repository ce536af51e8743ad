//! Static tables: the next hops of every switch, read from a file.
//!
//! One line per entry: `switch destination next [next ...]`, separated by spaces, tabs or commas; what follows `#` is
//! a comment. `switch` and `destination` (a host) may contain `*`, which stands for any text; of several entries the
//! last counts. Several next hops are equally good, and `load_balance` chooses. A switch reaches its own hosts without
//! an entry. Tables that lead round in a circle, or to a switch that does not know further, are refused.

use std::collections::BTreeMap;

use crate::error::Fault;
use crate::ids::{LinkId, NodeId};
use crate::kinds::FilePath;
use crate::network::{Network, matches};
use crate::route_builder;
use crate::routes::Routes;

crate::kind! {
    /// Forwarding tables read from a file: `switch destination next [next ...]` per line.
    pub struct StaticTable: "routing" / "static_table", source "" {
        /// The file.
        pub file: FilePath;
    }
}

/// Faulty lines that are named one by one.
const MOST_NAMED: usize = 5;

impl StaticTable {
    /// The tables of the file.
    ///
    /// # Errors
    /// `routing.file`: it cannot be read, a line names what is not there, or the tables loop or end.
    pub(super) fn routes(&self, network: &Network) -> Result<Routes, Fault> {
        let path = &self.file.0;
        let fault = |text: String| Fault::new("routing.file", text);
        let text =
            std::fs::read_to_string(path).map_err(|e| fault(format!("cannot read {path}: {e}")))?;
        let entries = parse(&text, network).map_err(|found| {
            let more = found.len().saturating_sub(MOST_NAMED);
            let mut lines: Vec<String> = found
                .into_iter()
                .take(MOST_NAMED)
                .map(|(line, text)| format!("line {line}: {text}"))
                .collect();
            if more > 0 {
                lines.push(format!("and {more} lines more"));
            }
            fault(format!("{path}: {}", lines.join("; ")))
        })?;
        let routes =
            route_builder::from_hops(network, |node, host| match entries.get(&(node, host)) {
                Some(links) => links.clone(),
                None => connected(network, node, host),
            });
        check(network, &routes).map_err(|text| fault(format!("{path}: {text}")))?;
        Ok(routes)
    }
}

/// What a node knows by itself: a switch its own hosts, a host with one link that link.
pub(super) fn connected(network: &Network, node: NodeId, host: NodeId) -> Vec<LinkId> {
    let out = network
        .out(node)
        .iter()
        .copied()
        .filter(|l| network.links[l.index()].is_up);
    if network.is_host(node) && network.out(node).len() == 1 {
        return out.collect();
    }
    out.filter(|l| network.links[l.index()].dst == host)
        .collect()
}

type Entries = BTreeMap<(NodeId, NodeId), Vec<LinkId>>;

/// The entries, or every faulty line by number.
fn parse(text: &str, network: &Network) -> Result<Entries, Vec<(usize, String)>> {
    let named = |pattern: &str, of: std::ops::Range<usize>| -> Vec<NodeId> {
        of.map(NodeId::from)
            .filter(|n| matches(pattern, &network.nodes[n.index()].name))
            .collect()
    };
    let (mut entries, mut faults) = (Entries::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = content
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|w| !w.is_empty())
            .collect();
        let [node, destination, next @ ..] = &words[..] else {
            if !words.is_empty() {
                faults.push((
                    number,
                    format!("{content:?} is not \"switch destination next\""),
                ));
            }
            continue;
        };
        // A host with several interfaces has a table, too.
        let (nodes, hosts) = (
            named(node, 0..network.nodes.len()),
            named(destination, 0..network.hosts),
        );
        if nodes.is_empty() {
            faults.push((number, format!("{node:?} is no switch")));
        } else if hosts.is_empty() {
            faults.push((number, format!("{destination:?} is no host")));
        } else if next.is_empty() {
            faults.push((number, format!("{} has no next hop", words.join(" "))));
        }
        for &at in &nodes {
            let mut links = Vec::new();
            for name in next {
                let is_it =
                    |l: &&LinkId| network.nodes[network.links[l.index()].dst.index()].name == *name;
                match network.out(at).iter().find(is_it) {
                    Some(&link) if network.links[link.index()].is_up => links.push(link),
                    Some(_) => {}
                    None => faults.push((
                        number,
                        format!("{} has no link to {name:?}", network.nodes[at.index()].name),
                    )),
                }
            }
            links.sort_unstable();
            links.dedup();
            for &host in hosts.iter().filter(|&&h| h != at) {
                entries.insert((at, host), links.clone());
            }
        }
    }
    if faults.is_empty() {
        Ok(entries)
    } else {
        Err(faults)
    }
}

/// Refuses tables that do not lead from every host to every other whatever hop is chosen. A link that is down is no
/// fault of the file: what leads only there has no way.
pub(super) fn check(network: &Network, routes: &Routes) -> Result<(), String> {
    let has_failed = network.links.iter().any(|l| !l.is_up);
    let name = |n: NodeId| network.nodes[n.index()].name.as_str();
    for dst in network.host_ids() {
        // 0: not seen; 1: on the way that is being followed; 2: leads to the destination.
        let mut state = vec![0_u8; network.nodes.len()];
        state[dst.index()] = 2;
        for src in network.host_ids() {
            let mut stack = vec![(src, 0)];
            while let Some(&(node, at)) = stack.last() {
                if state[node.index()] == 2 {
                    stack.pop();
                    continue;
                }
                state[node.index()] = 1;
                let hops = routes.next_hops(node, dst);
                if hops.is_empty() && !has_failed {
                    return Err(format!(
                        "{} to {}: {} has no entry",
                        name(src),
                        name(dst),
                        name(node)
                    ));
                }
                let Some(link) = hops.get(at) else {
                    state[node.index()] = 2;
                    stack.pop();
                    continue;
                };
                stack.last_mut().expect("not empty").1 += 1;
                let next = network.links[link.index()].dst;
                if state[next.index()] == 1 {
                    let from = stack.iter().position(|s| s.0 == next).expect("on the way");
                    let round: Vec<_> = stack[from..]
                        .iter()
                        .map(|s| name(s.0))
                        .chain([name(next)])
                        .collect();
                    return Err(format!(
                        "{} to {} leads round in a circle: {}",
                        name(src),
                        name(dst),
                        round.join(" > ")
                    ));
                }
                if network.is_host(next) && next != dst {
                    return Err(format!(
                        "{} to {}: {} sends to {}, which forwards nothing",
                        name(src),
                        name(dst),
                        name(node),
                        name(next)
                    ));
                }
                stack.push((next, 0));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::topology;
    use serde_json::json;

    /// The tables of the InfiniBand thesis: rows of ports, here by name.
    const THESIS: &str = "
        SW1 H2 SW2   # port 2
        SW1 H3,H4 SW3
        SW1 H3 SW3
        SW1 H4 SW3
        SW2 H1 SW1
        SW2 H5 SW1
        SW2 H3 SW4
        SW2 H4 SW4
        SW3 H1 SW1
        SW3 H2 SW1
        SW3 H5 SW1
        SW3 H4 SW4
        SW4 *  SW2
        SW4 H3 SW3
        SW4 H4 H4
    ";

    fn routes(text: &str) -> Result<Routes, Fault> {
        let network = topology(json!({ "kind": "mesh5" })).build(0).unwrap();
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let file =
            std::env::temp_dir().join(format!("weft-table-{}-{number}.txt", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let path = file.to_str().unwrap().to_owned();
        let found = StaticTable {
            file: FilePath(path.clone()),
        }
        .routes(&network);
        std::fs::remove_file(file).unwrap();
        found.map_err(|f| Fault::new(f.key, f.message.replace(&path, "FILE")))
    }

    #[test]
    fn packets_go_where_the_file_says() {
        let text = THESIS.replace("SW1 H3,H4 SW3\n", "");
        let (network, routes) = (
            topology(json!({ "kind": "mesh5" })).build(0).unwrap(),
            routes(&text).unwrap(),
        );
        let way = |src: u32, dst: u32| {
            let mut node = NodeId(src);
            let mut names = vec![network.nodes[node.index()].name.clone()];
            while node != NodeId(dst) {
                let [link] = *routes.next_hops(node, NodeId(dst)) else {
                    panic!()
                };
                node = network.links[link.index()].dst;
                names.push(network.nodes[node.index()].name.clone());
            }
            names.join("-")
        };
        assert_eq!(way(0, 3), "H1-SW1-SW3-SW4-H4");
        assert_eq!(way(3, 0), "H4-SW4-SW2-SW1-H1");
        assert_eq!(way(4, 2), "H5-SW1-SW3-H3");
        assert_eq!(way(4, 0), "H5-SW1-H1");
    }

    #[test]
    fn faulty_lines_are_named() {
        let text = "SW9 H1 SW1\nSW1 H9 SW2\nSW1 H2\nSW1 H2 SW4\nSW1";
        assert_eq!(
            routes(text).unwrap_err().to_string(),
            "routing.file: FILE: line 1: \"SW9\" is no switch; line 2: \"H9\" is no host; line 3: SW1 H2 has no next hop; \
             line 4: SW1 has no link to \"SW4\"; line 5: \"SW1\" is not \"switch destination next\""
        );
    }

    #[test]
    fn tables_that_lead_nowhere_or_round_are_refused() {
        let without = THESIS
            .replace("SW1 H3,H4 SW3\n", "")
            .replace("SW3 H2 SW1", "");
        assert_eq!(
            routes(&without).unwrap_err().message,
            "FILE: H3 to H2: SW3 has no entry"
        );
        let round = THESIS
            .replace("SW1 H3,H4 SW3\n", "")
            .replace("SW3 H4 SW4", "SW3 H4 SW1");
        assert_eq!(
            routes(&round).unwrap_err().message,
            "FILE: H1 to H4 leads round in a circle: SW1 > SW3 > SW1"
        );
    }
}
