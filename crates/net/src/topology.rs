//! Topologies: the list, and what each must offer.
//!
//! Each kind's head comment says how it names its nodes; a link is always called `src>dst`. Hosts are numbered first, and
//! cables are laid from the hosts upwards, so that a switch's first ports lead down.

use crate::error::Fault;
use crate::network::Network;
use crate::units::Rate;

pub mod binary_tree;
pub mod custom;
pub mod dumbbell;
pub mod fat_tree;
pub mod leaf_spine;
pub mod star;

crate::room! {
    /// The shape of the network: `[topology]`.
    pub enum Topology {
        FatTree(fat_tree::FatTree),
        LeafSpine(leaf_spine::LeafSpine),
        BinaryTree(binary_tree::BinaryTree),
        Dumbbell(dumbbell::Dumbbell),
        Star(star::Star),
        Custom(custom::Custom),
    }
}

/// How many of each a topology has, known before anything is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Hosts.
    pub hosts: u64,
    /// Switches.
    pub switches: u64,
    /// Cables (each is two directed links).
    pub cables: u64,
    /// Rate at which a host can send, overrides aside: what `load` is a share of.
    pub host_rate: Rate,
}

/// What every topology can do.
pub trait Shape {
    /// Hosts, switches and cables, by formula: nothing is built, so that a size beyond the memory is refused first.
    ///
    /// # Errors
    /// Parameters that make no network (an odd `k`), at their key.
    fn size(&self) -> Result<Size, Fault>;

    /// The network. `seed` is the experiment's; only random topologies use it.
    ///
    /// # Errors
    /// As [`Shape::size`], and for overrides that match nothing.
    fn build(&self, seed: u64) -> Result<Network, Fault>;
}

impl Topology {
    fn shape(&self) -> &dyn Shape {
        match self {
            Self::FatTree(t) => t,
            Self::LeafSpine(t) => t,
            Self::BinaryTree(t) => t,
            Self::Dumbbell(t) => t,
            Self::Star(t) => t,
            Self::Custom(t) => t,
        }
    }
    /// See [`Shape::size`].
    ///
    /// # Errors
    /// As there.
    pub fn size(&self) -> Result<Size, Fault> {
        self.shape().size()
    }
    /// See [`Shape::build`].
    ///
    /// # Errors
    /// As there.
    pub fn build(&self, seed: u64) -> Result<Network, Fault> {
        self.shape().build(seed)
    }
}

/// `prefix` and the indices, joined by `_` where one of them may have two digits.
fn name(prefix: &str, indices: &[u64], is_wide: bool) -> String {
    let text: Vec<String> = indices.iter().map(u64::to_string).collect();
    format!("{prefix}{}", text.join(if is_wide { "_" } else { "" }))
}

/// Address of a fabric's n-th host, where position means nothing: from 10.0.0.1 on.
fn host_address(n: u64) -> [u8; 4] {
    (0x0a00_0001 + n as u32).to_be_bytes()
}

/// Address of a fabric's n-th switch, where position means nothing: from 10.128.0.1 on.
fn switch_address(n: u64) -> [u8; 4] {
    (0x0a80_0001 + n as u32).to_be_bytes()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::kinds::Describe;
    use crate::paths::hops;
    use crate::routing::shortest::Shortest;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    pub(crate) fn topology(table: Value) -> Topology {
        Topology::from_table(table.as_object().unwrap()).unwrap()
    }

    /// The cables of a network by name, `a>b` as they were laid.
    pub(crate) fn cables(network: &Network) -> Vec<String> {
        (0..network.links.len())
            .step_by(2)
            .map(|l| network.link_name(crate::ids::LinkId::from(l)))
            .collect()
    }

    #[test]
    fn every_topology_is_as_large_as_it_says_and_connected() {
        let links = json!([{ "a": "x", "b": "s" }, { "a": "y", "b": "t" }, { "a": "s", "b": "t" }]);
        for table in [
            json!({ "kind": "fat_tree", "k": 2 }),
            json!({ "kind": "fat_tree", "k": 6 }),
            json!({ "kind": "fat_tree", "k": 12, "cores": "two" }),
            json!({ "kind": "leaf_spine" }),
            json!({ "kind": "leaf_spine", "leaves": 11, "spines": 3, "hosts_per_leaf": 12 }),
            json!({ "kind": "binary_tree" }),
            json!({ "kind": "binary_tree", "hosts": 2 }),
            json!({ "kind": "dumbbell", "left": 3, "right": 2 }),
            json!({ "kind": "star", "hosts": 5 }),
            json!({ "kind": "custom", "links": links }),
        ] {
            let topology = topology(table.clone());
            let (size, network) = (topology.size().unwrap(), topology.build(1).unwrap());
            let built = [
                network.hosts,
                network.nodes.len() - network.hosts,
                network.links.len() / 2,
            ];
            assert_eq!(
                built.map(|n| n as u64),
                [size.hosts, size.switches, size.cables],
                "{table}"
            );
            let addresses: BTreeSet<_> = network.nodes.iter().map(|n| n.address).collect();
            assert_eq!(
                addresses.len(),
                network.nodes.len(),
                "{table}: addresses are unique"
            );
            let routes = Shortest::defaults().routes(&network).unwrap();
            for dst in network.host_ids() {
                assert!(
                    hops(&network, &routes, NodeId(0), dst).is_some(),
                    "{table}: {dst:?}"
                );
            }
        }
    }

    #[test]
    fn a_link_that_is_named_differs() {
        let slow =
            json!([{ "links": "h0>s", "rate": 5 }, { "links": "h1", "delay": 7, "failed": true }]);
        let link = json!({ "switch_latency": 100 });
        let network =
            topology(json!({ "kind": "star", "hosts": 2, "link": link, "overrides": slow }))
                .build(0)
                .unwrap();
        let rates: Vec<_> = network.links.iter().map(|l| l.rate.0).collect();
        assert_eq!(rates, [5, 10_000_000_000, 10_000_000_000, 10_000_000_000]);
        // Both directions of h1's cable: 7 ps, and 100 more into the switch.
        assert_eq!(
            network.links[2..]
                .iter()
                .map(|l| l.delay.0)
                .collect::<Vec<_>>(),
            [107, 7]
        );
        assert_eq!(
            network.links.iter().map(|l| l.is_up).collect::<Vec<_>>(),
            [true, true, false, false]
        );
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_a_fault() {
        let fault =
            topology(json!({ "kind": "star", "overrides": [{ "links": "x>*", "rate": 5 }] }))
                .build(0)
                .unwrap_err();
        assert_eq!(
            fault.to_string(),
            "topology.overrides[0].links: \"x>*\" matches no link; a link is called h0>s"
        );
    }
}
