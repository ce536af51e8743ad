//! Linear forwarding tables: the output port of every switch for every LID, as a subnet manager writes them.
//!
//! The text format of the Mellanox InfiniBand models (`.fdbs`): one row per switch, `0: 255 1 2 0 0 3`; the place in the row is the destination's
//! LID from 0 on, the value the number of an output port, 255 none. A first line that names the file, blank lines and what
//! follows `#` are skipped. LIDs count the hosts from 1 in the order of the topology (`lids` names another); ports count the cables of a switch from
//! 0 in the order in which the topology lays them; rows are the switches in order (`switches` names another).
//! Holes and circles are refused.

use std::collections::BTreeMap;

use crate::error::Fault;
use crate::ids::{LinkId, NodeId};
use crate::kinds::FilePath;
use crate::network::Network;
use crate::route_builder;
use crate::routes::Routes;
use crate::routing::static_table::{check, connected};

crate::kind! {
    /// Forwarding tables read from a `.fdbs` file: a row of output ports per switch, by LID.
    pub struct LinearTable: "routing" / "linear_table", source "InfiniBand Architecture Specification, volume 1, 14.2.5; Mellanox OMNeT++ models" {
        /// The file.
        pub file: FilePath;
        /// The switch of each row, by its number; left out, in the order of the topology.
        pub switches: Option<Vec<String>> = None;
        /// The host of each LID, from 1 on; left out, in the order of the topology.
        pub lids: Option<Vec<String>> = None;
    }
}

/// The value that is no port.
const NO_PORT: usize = 255;

/// Rows by number: the port for each LID.
type Rows = BTreeMap<usize, Vec<usize>>;

impl LinearTable {
    /// The tables of the file.
    ///
    /// # Errors
    /// `routing.file`: it cannot be read, a row is malformed or missing, a port does not exist, or the tables loop or end;
    /// `routing.switches`, `routing.lids`: a name that there is not.
    pub(super) fn routes(&self, network: &Network) -> Result<Routes, Fault> {
        let path = &self.file.0;
        let fault = |text: String| Fault::new("routing.file", format!("{path}: {text}"));
        let text = std::fs::read_to_string(path)
            .map_err(|e| Fault::new("routing.file", format!("cannot read {path}: {e}")))?;
        let rows = parse(&text).map_err(fault)?;
        let switches = named(
            network,
            "routing.switches",
            self.switches.as_deref(),
            network.hosts..network.nodes.len(),
        )?;
        let lids = named(
            network,
            "routing.lids",
            self.lids.as_deref(),
            0..network.hosts,
        )?;
        let mut ports = BTreeMap::new();
        for (number, &switch) in switches.iter().enumerate() {
            let name = &network.nodes[switch.index()].name;
            let row = rows.get(&number).ok_or_else(|| {
                fault(format!("there is no row {number}, which is that of {name}"))
            })?;
            let out = network.out(switch);
            for (lid, &host) in (1..).zip(&lids) {
                let port = row.get(lid).copied().unwrap_or(NO_PORT);
                if port == NO_PORT {
                    continue;
                }
                let link = out.get(port).ok_or_else(|| {
                    let most = out.len() - 1;
                    fault(format!("row {number} ({name}) sends LID {lid} to port {port}; its ports are 0 to {most}"))
                })?;
                ports.insert((switch, host), *link);
            }
        }
        if let Some(number) = rows.keys().find(|&&n| n >= switches.len()) {
            return Err(fault(format!(
                "row {number} is of no switch; there are {}",
                switches.len()
            )));
        }
        let routes =
            route_builder::from_hops(network, |node, host| match ports.get(&(node, host)) {
                Some(&link) if network.links[link.index()].is_up => vec![link],
                Some(_) => Vec::new(),
                None if network.is_host(node) => connected(network, node, host),
                None => Vec::<LinkId>::new(),
            });
        check(network, &routes).map_err(|message| {
            let is_hole = message.ends_with("has no entry");
            let hint = if is_hole {
                " (255, or a row that is too short)"
            } else {
                ""
            };
            fault(format!("{message}{hint}"))
        })?;
        Ok(routes)
    }
}

/// The nodes of a list of names, or all of them.
fn named(
    network: &Network,
    key: &str,
    names: Option<&[String]>,
    all: std::ops::Range<usize>,
) -> Result<Vec<NodeId>, Fault> {
    let Some(names) = names else {
        return Ok(all.map(NodeId::from).collect());
    };
    let find = |(i, name): (usize, &String)| {
        let found = all.clone().find(|&n| network.nodes[n].name == *name);
        found.map(NodeId::from).ok_or_else(|| {
            let example = &network.nodes[all.start].name;
            Fault::new(
                format!("{key}[{i}]"),
                format!("there is no {name:?}; one is called {example}"),
            )
        })
    };
    names.iter().enumerate().map(find).collect()
}

/// The rows of the text, or what is wrong with a line.
fn parse(text: &str) -> Result<Rows, String> {
    let mut rows = Rows::new();
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let malformed =
            || format!("line {number}: {content:?} is no row like \"0: 255 1 2 0 0 3\"");
        let Some((row, ports)) = content.split_once(':') else {
            // The format begins with the name of the file.
            if rows.is_empty() {
                continue;
            }
            return Err(malformed());
        };
        let row = row.trim().parse().map_err(|_| malformed())?;
        let ports: Result<Vec<usize>, _> = ports.split_whitespace().map(str::parse).collect();
        if rows.insert(row, ports.map_err(|_| malformed())?).is_some() {
            return Err(format!("line {number}: row {row} stands there twice"));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::topology;
    use serde_json::json;

    /// The tables of the InfiniBand congestion control thesis.
    const THESIS: &str =
        "thesis.fdbs\n0: 255 1 2 0 0 3\n1: 255 2 1 0 0 2\n2: 255 0 0 1 2 0\n3: 255 0 0 2 1 0\n";

    /// Its fabric, with the cables in the order of their ports.
    fn network() -> Network {
        let cables = [
            ("SW1", "SW3"),
            ("SW2", "SW4"),
            ("H1", "SW1"),
            ("H2", "SW2"),
            ("H3", "SW3"),
            ("H4", "SW4"),
            ("SW1", "SW2"),
            ("SW3", "SW4"),
            ("H5", "SW1"),
        ];
        let links: Vec<_> = cables
            .iter()
            .map(|(a, b)| json!({ "a": a, "b": b }))
            .collect();
        let switches = ["SW1", "SW3", "SW2", "SW4"];
        let network = topology(json!({ "kind": "custom", "links": links }))
            .build(0)
            .unwrap();
        // The switches appear in this order, so that rows must be named.
        let names = network.nodes[network.hosts..]
            .iter()
            .map(|n| n.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), switches);
        network
    }

    fn routes(text: &str) -> Result<Routes, Fault> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("weft-fdbs-{}-{number}", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let path = file.to_str().unwrap().to_owned();
        let switches = ["SW1", "SW2", "SW3", "SW4"].map(str::to_owned).to_vec();
        let table = LinearTable {
            file: FilePath(path.clone()),
            switches: Some(switches),
            lids: None,
        };
        let found = table.routes(&network());
        std::fs::remove_file(file).unwrap();
        found.map_err(|f| Fault::new(f.key, f.message.replace(&path, "FILE")))
    }

    #[test]
    fn packets_go_where_the_rows_say() {
        let (network, routes) = (network(), routes(THESIS).unwrap());
        let way = |src: u32, dst: u32| {
            let mut node = NodeId(src);
            let mut names = vec![network.nodes[src as usize].name.clone()];
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
        assert_eq!(way(1, 3), "H2-SW2-SW4-H4");
        assert_eq!(way(2, 3), "H3-SW3-SW4-H4");
        assert_eq!(way(4, 2), "H5-SW1-SW3-H3");
        assert_eq!(way(3, 0), "H4-SW4-SW2-SW1-H1");
    }

    #[test]
    fn holes_circles_and_ports_that_are_not_there_are_refused() {
        let message = |from: &str, to: &str| routes(&THESIS.replace(from, to)).unwrap_err().message;
        assert_eq!(
            message("3: 255 0 0 2 1 0", "3: 255 0 0 2 255 0"),
            "FILE: H1 to H4: SW4 has no entry (255, or a row that is too short)"
        );
        assert_eq!(
            message("3: 255 0 0 2 1 0\n", ""),
            "FILE: there is no row 3, which is that of SW4"
        );
        assert_eq!(
            message("2: 255 0 0 1 2 0", "2: 255 0 0 1 0 0"),
            "FILE: H1 to H4 leads round in a circle: SW1 > SW3 > SW1"
        );
        assert_eq!(
            message("1 2 0 0 3", "1 2 0 0 4"),
            "FILE: row 0 (SW1) sends LID 5 to port 4; its ports are 0 to 3"
        );
        assert_eq!(
            message("3: 255", "3: x"),
            "FILE: line 5: \"3: x 0 0 2 1 0\" is no row like \"0: 255 1 2 0 0 3\""
        );
        assert_eq!(
            message("3: 255", "2: 255"),
            "FILE: line 5: row 2 stands there twice"
        );
    }
}
