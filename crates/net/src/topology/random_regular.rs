//! Random regular graph: every switch has the same number of hosts and of other switches.
//!
//! Source: Bollobás, Random Graphs (2001), chapter 2; as a fabric Singla et al., NSDI 2012, and Valadarsky et al.,
//! CoNEXT 2016. `random_graph.rs` has the construction. Names and addresses as in a Jellyfish: hosts `h<switch>_<j>`,
//! switches `s<i>`.

use crate::error::Fault;
use crate::network::{LinkConfig, Network, Override};
use crate::random::stream;
use crate::random_graph;
use crate::topology::{Shape, Size, hosts_on_switches};

crate::kind! {
    /// A random graph in which every switch has as many neighbours; each run draws its own.
    pub struct RandomRegular: "topology" / "random_regular", source "Bollobás, Random Graphs, 2001" {
        /// Switches.
        pub switches: u64 = 20, range 1..=65536;
        /// Other switches that each is joined with.
        pub degree: u64 = 4, range 1..=1024;
        /// Hosts at each switch.
        pub hosts_per_switch: u64 = 1, range 1..=1024;
        /// Draws the graph in place of the experiment's seed: the same one in every repeat.
        pub graph_seed: Option<u64> = None;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Shape for RandomRegular {
    fn size(&self) -> Result<Size, Fault> {
        let (switches, degree) = (self.switches, self.degree);
        if switches * degree % 2 == 1 {
            let message = format!(
                "{degree} is odd, and so is the number of switches, {switches}: one port would be left; change one of them"
            );
            return Err(Fault::new("topology.degree", message));
        }
        if let Some(reason) = random_graph::impossible(&vec![degree; switches as usize]) {
            return Err(Fault::new("topology.degree", reason));
        }
        let hosts = switches * self.hosts_per_switch;
        let cables = if switches == 1 {
            0
        } else {
            switches * degree / 2
        };
        Ok(Size {
            hosts,
            switches,
            cables: hosts + cables,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, seed: u64) -> Result<Network, Fault> {
        self.size()?;
        let degrees =
            vec![if self.switches == 1 { 0 } else { self.degree }; self.switches as usize];
        let mut random = stream(self.graph_seed.unwrap_or(seed), "topology/random_regular");
        let graph = random_graph::connected(&degrees, &mut random)
            .map_err(|reason| Fault::new("topology.degree", reason))?;
        let names: Vec<_> = (0..self.switches)
            .map(|s| (format!("s{s}"), None))
            .collect();
        let hosts = vec![self.hosts_per_switch; self.switches as usize];
        hosts_on_switches(&self.link, &names, &hosts, &graph.edges, &self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::topology::tests::topology;
    use serde_json::json;

    #[test]
    fn every_switch_has_as_many_neighbours() {
        let table = json!({ "kind": "random_regular", "switches": 246, "degree": 11, "hosts_per_switch": 3 });
        let network = topology(table).build(1).unwrap();
        assert_eq!(network.links.len() / 2, 246 * 3 + 246 * 11 / 2);
        assert!((738..984).all(|s| network.out(NodeId(s)).len() == 14));
    }

    #[test]
    fn an_odd_sum_is_refused() {
        let table = json!({ "kind": "random_regular", "switches": 5, "degree": 3 });
        let text = topology(table).size().unwrap_err().to_string();
        assert!(
            text.starts_with("topology.degree: 3 is odd, and so is the number of switches, 5"),
            "{text}"
        );
    }
}
