//! Leaf and spine: two layers, every leaf cabled to every spine.
//!
//! Source: a folded Clos network (Clos 1953) as in Alizadeh and Edsall, HOTI 2013. Names: hosts `h<leaf><j>` (separated by
//! `_` above ten leaves or ten hosts a leaf), leaves `l<i>`, spines `s<i>`; addresses count from 10.0.0.1 for hosts and
//! 10.128.0.1 for switches, leaves first.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, name, switch_address};

crate::kind! {
    /// Two layers, every leaf cabled to every spine.
    pub struct LeafSpine: "topology" / "leaf_spine", source "Alizadeh and Edsall, HOTI 2013" {
        /// Leaves: switches with hosts.
        pub leaves: u64 = 4, range 1..=4096;
        /// Spines: switches that join the leaves.
        pub spines: u64 = 2, range 1..=1024;
        /// Hosts at each leaf.
        pub hosts_per_leaf: u64 = 4, range 1..=1024;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links between leaves and spines, whole; left out, as `link`.
        pub uplink: Option<LinkConfig> = None;
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Shape for LeafSpine {
    fn size(&self) -> Result<Size, Fault> {
        let hosts = self.leaves * self.hosts_per_leaf;
        Ok(Size {
            hosts,
            switches: self.leaves + self.spines,
            cables: hosts + self.leaves * self.spines,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        let mut b = Builder::new(&self.link);
        let is_wide = self.leaves > 10 || self.hosts_per_leaf > 10;
        let mut hosts = Vec::new();
        for leaf in 0..self.leaves {
            for j in 0..self.hosts_per_leaf {
                let address = host_address(leaf * self.hosts_per_leaf + j);
                hosts.push(b.node(
                    name("h", &[leaf, j], is_wide),
                    NodeKind::Host,
                    0,
                    Some(leaf as u32),
                    address,
                ));
            }
        }
        let leaves: Vec<_> = (0..self.leaves)
            .map(|i| {
                b.node(
                    name("l", &[i], false),
                    NodeKind::Switch,
                    1,
                    Some(i as u32),
                    switch_address(i),
                )
            })
            .collect();
        let spines: Vec<_> = (0..self.spines)
            .map(|i| {
                b.node(
                    name("s", &[i], false),
                    NodeKind::Switch,
                    2,
                    None,
                    switch_address(self.leaves + i),
                )
            })
            .collect();
        for (h, &host) in hosts.iter().enumerate() {
            b.cable(host, leaves[h / self.hosts_per_leaf as usize]);
        }
        let uplink = self.uplink.as_ref().unwrap_or(&self.link);
        for &leaf in &leaves {
            for &spine in &spines {
                b.cable_with(leaf, spine, uplink);
            }
        }
        b.build(&self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::{cables, topology};
    use serde_json::json;

    #[test]
    fn every_leaf_reaches_every_spine() {
        let table = json!({ "kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 1, "uplink": { "rate": 40 } });
        let network = topology(table).build(0).unwrap();
        assert_eq!(
            cables(&network),
            ["h00>l0", "h10>l1", "l0>s0", "l0>s1", "l1>s0", "l1>s1"]
        );
        let rates: Vec<_> = network.links.iter().step_by(2).map(|l| l.rate.0).collect();
        assert_eq!(rates, [10_000_000_000, 10_000_000_000, 40, 40, 40, 40]);
    }
}
