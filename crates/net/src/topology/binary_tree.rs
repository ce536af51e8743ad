//! Binary tree: two hosts under every lowest switch, and half as many switches on every level above.
//!
//! Source: the baseline of a course project (`experiments/studies/ecmp_fat_tree`): 16 hosts under 8, 4, 2 and 1 switches. Names:
//! hosts `h<i>`, switches `s<level>_<i>`, level 1 next to the hosts; addresses count from 10.0.0.1 for hosts and 10.128.0.1 for
//! switches, lowest level first.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, name, switch_address};

crate::kind! {
    /// A binary tree of switches, two hosts under each of the lowest: one path between any two hosts.
    pub struct BinaryTree: "topology" / "binary_tree", source "" {
        /// Hosts; a power of two.
        pub hosts: u64 = 16, range 2..=65536;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links between switches, whole; left out, as `link`.
        pub trunk: Option<LinkConfig> = None;
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Shape for BinaryTree {
    fn size(&self) -> Result<Size, Fault> {
        let hosts = self.hosts;
        if !hosts.is_power_of_two() {
            let above = hosts.next_power_of_two();
            let message = format!("{hosts} is no power of two; take {} or {above}", above / 2);
            return Err(Fault::new("topology.hosts", message));
        }
        // hosts/2 + ... + 1 switches; every node but the top one has a cable upwards.
        Ok(Size {
            hosts,
            switches: hosts - 1,
            cables: 2 * hosts - 2,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        self.size()?;
        let mut b = Builder::new(&self.link);
        let mut below: Vec<_> = (0..self.hosts)
            .map(|i| {
                b.node(
                    name("h", &[i], false),
                    NodeKind::Host,
                    0,
                    None,
                    host_address(i),
                )
            })
            .collect();
        let (mut level, mut switches) = (0_u64, 0);
        let mut cables = Vec::new();
        while below.len() > 1 {
            level += 1;
            let here: Vec<_> = (0..below.len() as u64 / 2)
                .map(|i| {
                    let address = switch_address(switches + i);
                    b.node(
                        name("s", &[level, i], true),
                        NodeKind::Switch,
                        level as u32,
                        None,
                        address,
                    )
                })
                .collect();
            switches += here.len() as u64;
            cables.extend(
                below
                    .iter()
                    .enumerate()
                    .map(|(i, &child)| (child, here[i / 2], level)),
            );
            below = here;
        }
        for (child, parent, level) in cables {
            let is_trunk = level > 1;
            b.cable_with(
                child,
                parent,
                self.trunk
                    .as_ref()
                    .filter(|_| is_trunk)
                    .unwrap_or(&self.link),
            );
        }
        b.build(&self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Describe;
    use crate::topology::tests::{cables, topology};
    use serde_json::json;

    #[test]
    fn sixteen_hosts_have_8_4_2_1_switches() {
        let network = topology(json!({ "kind": "binary_tree", "trunk": { "rate": 2_000_000 } }))
            .build(0)
            .unwrap();
        let on_level = |l: u32| network.nodes.iter().filter(|n| n.level == l).count();
        assert_eq!([0, 1, 2, 3, 4, 5].map(on_level), [16, 8, 4, 2, 1, 0]);
        let cables = cables(&network);
        assert_eq!(
            (cables[0].as_str(), cables[16].as_str()),
            ("h0>s1_0", "s1_0>s2_0")
        );
        assert_eq!(cables.last().unwrap(), "s3_1>s4_0");
        assert_eq!(
            network
                .links
                .iter()
                .filter(|l| l.rate.0 == 2_000_000)
                .count(),
            2 * 14
        );
    }

    #[test]
    fn other_numbers_of_hosts_are_refused() {
        let tree = BinaryTree {
            hosts: 12,
            ..BinaryTree::defaults()
        };
        assert_eq!(
            tree.size().unwrap_err().to_string(),
            "topology.hosts: 12 is no power of two; take 8 or 16"
        );
    }
}
