//! Topologies: the list, and what each must offer.
//!
//! Each kind's head comment says how it names its nodes; a link is always called `src>dst`. Hosts are numbered first, and
//! cables are laid from the hosts upwards, so that a switch's first ports lead down.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::units::Rate;

pub mod binary_tree;
pub mod custom;
pub mod dragonfly;
pub mod dumbbell;
pub mod fat_tree;
pub mod jellyfish;
pub mod leaf_spine;
pub mod mesh;
pub mod mesh5;
pub mod random_regular;
pub mod ring;
pub mod star;
pub mod torus;
pub mod two_paths;
pub mod xpander;

crate::room! {
    /// The shape of the network: `[topology]`.
    pub enum Topology {
        FatTree(fat_tree::FatTree),
        LeafSpine(leaf_spine::LeafSpine),
        BinaryTree(binary_tree::BinaryTree),
        Dumbbell(dumbbell::Dumbbell),
        Star(star::Star),
        Jellyfish(jellyfish::Jellyfish),
        RandomRegular(random_regular::RandomRegular),
        Xpander(xpander::Xpander),
        Mesh(mesh::Mesh),
        Torus(torus::Torus),
        Ring(ring::Ring),
        Dragonfly(dragonfly::Dragonfly),
        Mesh5(mesh5::Mesh5),
        TwoPaths(two_paths::TwoPaths),
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
            Self::Jellyfish(t) => t,
            Self::RandomRegular(t) => t,
            Self::Xpander(t) => t,
            Self::Mesh(t) => t,
            Self::Torus(t) => t,
            Self::Ring(t) => t,
            Self::Dragonfly(t) => t,
            Self::Mesh5(t) => t,
            Self::TwoPaths(t) => t,
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

/// Switches with hosts on them: hosts `h<switch>_<j>` first, each switch's together, then the switches with these names and
/// pods; cables of the hosts, then `edges` between switches. Addresses count from 10.0.0.1 and 10.128.0.1.
pub(crate) fn hosts_on_switches(
    link: &LinkConfig,
    switches: &[(String, Option<u32>)],
    hosts: &[u64],
    edges: &[(u32, u32)],
    overrides: &[Override],
) -> Result<Network, Fault> {
    let mut b = Builder::new(link);
    let mut homes = Vec::new();
    for (s, (&count, (_, pod))) in hosts.iter().zip(switches).enumerate() {
        for j in 0..count {
            let address = host_address(homes.len() as u64);
            let label = name("h", &[s as u64, j], true);
            homes.push((b.node(label, NodeKind::Host, 0, *pod, address), s));
        }
    }
    let ids: Vec<_> = switches
        .iter()
        .enumerate()
        .map(|(s, (label, pod))| {
            let address = switch_address(s as u64);
            b.node(label.as_str(), NodeKind::Switch, 1, *pod, address)
        })
        .collect();
    for (host, s) in homes {
        b.cable(host, ids[s]);
    }
    for &(a, z) in edges {
        b.cable(ids[a as usize], ids[z as usize]);
    }
    b.build(overrides)
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
            json!({ "kind": "jellyfish" }),
            json!({ "kind": "jellyfish", "hosts": 78, "switches": 25, "ports": 14 }),
            json!({ "kind": "jellyfish", "hosts": 40, "ports": 6, "expand": 3, "expand_hosts": 2 }),
            json!({ "kind": "jellyfish", "hosts": 5, "switches": 1, "ports": 5 }),
            json!({ "kind": "random_regular" }),
            json!({ "kind": "random_regular", "switches": 1 }),
            json!({ "kind": "xpander" }),
            json!({ "kind": "xpander", "degree": 1, "lift": 1 }),
            json!({ "kind": "mesh" }),
            json!({ "kind": "mesh", "dimensions": [12, 1, 2], "hosts_per_switch": 3 }),
            json!({ "kind": "torus" }),
            json!({ "kind": "torus", "dimensions": [2, 3, 4] }),
            json!({ "kind": "ring" }),
            json!({ "kind": "dragonfly" }),
            json!({ "kind": "dragonfly", "a": 3, "p": 1, "h": 1, "groups": 3 }),
            json!({ "kind": "mesh5" }),
            json!({ "kind": "two_paths" }),
            json!({ "kind": "two_paths", "shared_router": false, "paths": 3 }),
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
