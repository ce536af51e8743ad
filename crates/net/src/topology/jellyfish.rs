//! Jellyfish: switches joined at random, and hosts at what ports are left.
//!
//! Source: Singla, Hong, Popa, Godfrey, NSDI 2012; `random_graph.rs` has the construction. Hosts are spread as evenly as
//! they go: 780 on 245 switches are four at each of the first 45 and three at the others. `expand` adds switches
//! one after another by the paper's rule: each takes out random cables and joins both ends, no other cable changes; so
//! the fabric with one more is the old one but for these. Names: hosts `h<switch>_<j>`, switches `s<i>`; addresses
//! count from 10.0.0.1 for hosts and 10.128.0.1 for switches.

use crate::error::Fault;
use crate::network::{LinkConfig, Network, Override};
use crate::random::stream;
use crate::random_graph::{self, Graph};
use crate::topology::{Shape, Size, hosts_on_switches};

crate::kind! {
    /// Switches of equal size joined at random; each run draws its own graph.
    pub struct Jellyfish: "topology" / "jellyfish", source "Singla, Hong, Popa, Godfrey, NSDI 2012" {
        /// Hosts, spread evenly over the switches.
        pub hosts: u64 = 16, range 1..=1000000;
        /// Switches.
        pub switches: u64 = 20, range 1..=65536;
        /// Ports of each switch.
        pub ports: u64 = 4, range 1..=1024;
        /// Ports of each switch for other switches; left out, all that its hosts leave free.
        pub network_ports: Option<u64> = None, at least 1;
        /// Switches that are added afterwards, one by one, each joined into random cables.
        pub expand: u64 = 0, range 0..=65536;
        /// Hosts at each added switch.
        pub expand_hosts: u64 = 0, range 0..=1024;
        /// Draws the graph in place of the experiment's seed: the same one in every repeat.
        pub graph_seed: Option<u64> = None;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Jellyfish {
    /// Hosts at each switch, added ones last.
    fn hosts_at(&self) -> Vec<u64> {
        let (each, more) = (self.hosts / self.switches, self.hosts % self.switches);
        (0..self.switches)
            .map(|s| each + u64::from(s < more))
            .chain((0..self.expand).map(|_| self.expand_hosts))
            .collect()
    }

    /// Ports for other switches of each switch, added ones last.
    fn degrees(&self) -> Result<Vec<u64>, Fault> {
        self.hosts_at()
            .into_iter()
            .enumerate()
            .map(|(s, hosts)| {
                let needed = hosts + self.network_ports.unwrap_or(0);
                if needed > self.ports {
                    let others = match self.network_ports {
                        Some(r) => format!(" and {r} to other switches"),
                        None => String::new(),
                    };
                    let way_out = if (s as u64) < self.switches {
                        self.fewer_hosts()
                    } else {
                        // An added switch takes out whole cables, so it needs two ports for others.
                        let most = self.ports.saturating_sub(self.network_ports.unwrap_or(2));
                        format!("take expand_hosts = {most} or fewer")
                    };
                    let message = format!(
                        "switch {s} has {} ports, which is not enough for {hosts} hosts{others}; {way_out}",
                        self.ports
                    );
                    return Err(Fault::new("topology.ports", message));
                }
                Ok(self.network_ports.unwrap_or(self.ports - hosts))
            })
            .collect()
    }

    /// The way out where hosts leave too few ports: as many as leave each switch one, and all together a tree.
    fn fewer_hosts(&self) -> String {
        let (n, all) = (self.switches, self.switches * self.ports);
        let most = match self.network_ports {
            Some(r) => n * self.ports.saturating_sub(r),
            None if n == 1 => self.ports,
            None => (all - n).min(all.saturating_sub(2 * (n - 1))),
        };
        match most {
            0 => "take more ports".to_owned(),
            most => format!("take hosts = {most} or fewer, or more ports"),
        }
    }

    /// Why the switches cannot be joined, with the key to change and the way out.
    fn impossible(&self, degrees: &[u64], reason: &str) -> Fault {
        let n = self.switches;
        if degrees.iter().any(|&d| d >= n) {
            let message = format!("{reason}; take network_ports = {}", n - 1);
            return Fault::new("topology.network_ports", message);
        }
        if degrees.iter().all(|&d| d > 0) && degrees.iter().sum::<u64>() / 2 >= n - 1 {
            return Fault::new("topology", reason);
        }
        match self.network_ports {
            // One port each joins pairs; two make a ring.
            Some(_) => Fault::new(
                "topology.network_ports",
                format!("{reason}; take network_ports = 2 or more"),
            ),
            None => Fault::new(
                "topology.ports",
                format!("{reason}; {}", self.fewer_hosts()),
            ),
        }
    }

    fn graph(&self, seed: u64) -> Result<Graph, Fault> {
        let degrees = self.degrees()?;
        let (first, added) = degrees.split_at(self.switches as usize);
        // Two streams, so that the graph that is expanded is the same as without.
        let seed = self.graph_seed.unwrap_or(seed);
        // A single switch has nobody to be joined with.
        let first = if self.switches == 1 { &[0] } else { first };
        let mut graph = random_graph::connected(first, &mut stream(seed, "topology/jellyfish"))
            .map_err(|reason| Fault::new("topology", reason))?;
        let mut random = stream(seed, "topology/jellyfish/expand");
        for &ports in added {
            graph.expand(ports, &mut random);
        }
        Ok(graph)
    }
}

impl Shape for Jellyfish {
    fn size(&self) -> Result<Size, Fault> {
        let degrees = self.degrees()?;
        let (first, added) = degrees.split_at(self.switches as usize);
        if let Some(reason) = random_graph::impossible(first) {
            return Err(self.impossible(first, &reason));
        }
        // Every cable that a new switch takes out makes two; it needs cables whose ends it does not know yet.
        let mut cables = if self.switches == 1 {
            0
        } else {
            first.iter().sum::<u64>() / 2
        };
        for (i, &ports) in added.iter().enumerate() {
            if ports < 2 {
                let message = format!(
                    "{ports} ports for other switches are not enough to join an added switch: 2 are"
                );
                return Err(Fault::new("topology.expand_hosts", message));
            }
            let there = self.switches + i as u64;
            if 2 * (ports / 2) > there / 2 {
                let message = format!(
                    "a switch with {ports} ports is added to {there}; that takes {} others at least, so that enough cables join two that it does not yet know",
                    4 * (ports / 2)
                );
                return Err(Fault::new("topology.expand", message));
            }
            cables += ports / 2;
        }
        let hosts = self.hosts + self.expand * self.expand_hosts;
        Ok(Size {
            hosts,
            switches: self.switches + self.expand,
            cables: hosts + cables,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, seed: u64) -> Result<Network, Fault> {
        let size = self.size()?;
        let graph = self.graph(seed)?;
        if size.cables != size.hosts + graph.edges.len() as u64 {
            let message = "an added switch found no cable between two switches that it did not know yet; add fewer ports, or begin with more switches";
            return Err(Fault::new("topology.expand", message));
        }
        let names: Vec<_> = (0..size.switches)
            .map(|s| (format!("s{s}"), None))
            .collect();
        hosts_on_switches(
            &self.link,
            &names,
            &self.hosts_at(),
            &graph.edges,
            &self.overrides,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{cables, topology};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn built(table: Value, seed: u64) -> Network {
        topology(table).build(seed).unwrap()
    }

    #[test]
    fn sixteen_hosts_use_every_port_of_twenty_switches() {
        // 16 switches with a host and 3 network ports, 4 with 4: (48 + 16) / 2 = 32 cables, as many as the fat tree of
        // k = 4.
        for seed in 0..50 {
            let network = built(json!({ "kind": "jellyfish" }), seed);
            assert_eq!(
                (network.hosts, network.nodes.len(), network.links.len() / 2),
                (16, 36, 16 + 32)
            );
            assert!((16..36).all(|s| network.out(crate::ids::NodeId(s)).len() == 4));
        }
    }

    #[test]
    fn hosts_that_do_not_divide_are_spread_evenly() {
        // 780 = 45 x 4 + 200 x 3; network ports 45 x 10 + 200 x 11 = 2650, 1325 cables.
        let table = json!({ "kind": "jellyfish", "hosts": 780, "switches": 245, "ports": 14 });
        let network = built(table, 3);
        assert_eq!((network.hosts, network.links.len() / 2), (780, 780 + 1325));
        let at = |s: usize| {
            network
                .nodes
                .iter()
                .filter(|n| n.name.starts_with(&format!("h{s}_")))
                .count()
        };
        assert_eq!([at(0), at(44), at(45), at(244)], [4, 4, 3, 3]);
    }

    #[test]
    fn a_seed_is_a_graph_and_another_one_is_another() {
        let table = json!({ "kind": "jellyfish" });
        assert_eq!(
            cables(&built(table.clone(), 1)),
            cables(&built(table.clone(), 1))
        );
        assert_ne!(cables(&built(table.clone(), 1)), cables(&built(table, 2)));
        let fixed = json!({ "kind": "jellyfish", "graph_seed": 9 });
        assert_eq!(cables(&built(fixed.clone(), 1)), cables(&built(fixed, 2)));
    }

    #[test]
    fn an_added_switch_changes_only_the_cables_that_it_joins() {
        let sets = [0, 1, 2].map(|n| {
            let table = json!({ "kind": "jellyfish", "expand": n, "expand_hosts": 1, "hosts": 40, "switches": 20, "ports": 8 });
            cables(&built(table, 4)).into_iter().collect::<BTreeSet<_>>()
        });
        for pair in sets.windows(2) {
            // Seven ports are left beside the host: three cables go, six come, and the host's own.
            let (gone, come) = (
                pair[0].difference(&pair[1]).count(),
                pair[1].difference(&pair[0]).count(),
            );
            assert_eq!((gone, come), (3, 7));
        }
    }

    #[test]
    fn what_cannot_be_built_says_why() {
        for (table, text) in [
            (
                json!({ "hosts": 100 }),
                "topology.ports: switch 0 has 4 ports, which is not enough for 5 hosts; take hosts = 42 or fewer, or more ports",
            ),
            (
                json!({ "hosts": 80 }),
                "topology.ports: switch 0 has no port left for another switch; take hosts = 42 or fewer, or more ports",
            ),
            (
                json!({ "hosts": 60 }),
                "topology.ports: 20 ports between switches make 10 cables, and 20 switches need 19 to be connected; take hosts = 42 or fewer, or more ports",
            ),
            (
                json!({ "hosts": 3, "switches": 3, "ports": 9 }),
                "topology.network_ports: a switch has 8 ports for other switches, and there are only 2 others; take network_ports = 2",
            ),
            (
                json!({ "network_ports": 4 }),
                "topology.ports: switch 0 has 4 ports, which is not enough for 1 hosts and 4 to other switches; take more ports",
            ),
            (
                json!({ "network_ports": 1 }),
                "topology.network_ports: 20 ports between switches make 10 cables, and 20 switches need 19 to be connected; take network_ports = 2 or more",
            ),
            (
                json!({ "expand": 1, "expand_hosts": 5 }),
                "topology.ports: switch 20 has 4 ports, which is not enough for 5 hosts; take expand_hosts = 2 or fewer",
            ),
            (
                json!({ "expand": 1, "expand_hosts": 3 }),
                "topology.expand_hosts: 1 ports for other switches are not enough to join an added switch: 2 are",
            ),
        ] {
            let mut table = table;
            table["kind"] = "jellyfish".into();
            assert_eq!(topology(table).size().unwrap_err().to_string(), text);
        }
        // The way out is one, and the least.
        let with = |hosts: u64| topology(json!({ "kind": "jellyfish", "hosts": hosts })).size();
        assert!(with(42).is_ok() && with(43).is_err());
    }
}
