//! Fat tree: k pods of k/2 edge and k/2 aggregation switches under (k/2)^2 cores.
//!
//! Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008. Names and addresses: hosts `h<pod><edge><j>` at
//! 10.pod.edge.(j+2), edge `se<pod><i>`, aggregation `sa<pod><i>`, core `sc<i><j>`; above k = 10 the indices are
//! separated by `_`. Core `sc<i><j>` connects to `sa<pod><i>` of every pod.
//!
//! The variant with fewer cores is the "two-core fat tree" of a course project (`experiments/studies/ecmp_fat_tree`). What it
//! does not use is absent, not down: a failed link means a fault of the fabric, and an idle one would count in means
//! over links.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size};

crate::choice! {
    /// How much of the tree above the edge is cabled.
    pub enum Cores {
        /// All of it.
        Full = "full",
        /// Every edge switch only to the first ("left") aggregation switch of its pod, and so only the first k/2 cores:
        /// two of four at k = 4. The other switches are there without any cable.
        Two = "two",
    }
}

crate::kind! {
    /// k-ary fat tree: k^3/4 hosts at full bisection bandwidth.
    pub struct FatTree: "topology" / "fat_tree", source "Al-Fares, Loukissas, Vahdat, SIGCOMM 2008" {
        /// Ports per switch; even.
        pub k: u64 = 4, range 2..=128;
        /// How much of the tree above the edge is cabled.
        pub cores: Cores = Cores::Full;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Shape for FatTree {
    fn size(&self) -> Result<Size, Fault> {
        if self.k % 2 == 1 {
            return Err(Fault::new(
                "topology.k",
                format!(
                    "{} is odd; a fat tree needs an even number of ports: {} or {}",
                    self.k,
                    self.k - 1,
                    self.k + 1
                ),
            ));
        }
        let k = self.k;
        // How many aggregation switches of each pod have cables.
        let used = self.used_aggregations();
        Ok(Size {
            hosts: k * k * k / 4,
            switches: 5 * k * k / 4,
            cables: k * k * k / 4 + 2 * used * k * k / 2,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        self.size()?;
        let used = self.used_aggregations() as usize;
        let half = (self.k / 2) as u32;
        let k = self.k as u32;
        let name = |prefix: &str, indices: &[u32]| {
            let text: Vec<String> = indices.iter().map(u32::to_string).collect();
            format!("{prefix}{}", text.join(if k > 10 { "_" } else { "" }))
        };
        let mut b = Builder::new(&self.link);
        let mut hosts = Vec::new();
        for (pod, edge, j) in
            (0..k).flat_map(|p| (0..half).flat_map(move |e| (0..half).map(move |j| (p, e, j))))
        {
            let address = [10, pod as u8, edge as u8, (j + 2) as u8];
            hosts.push(b.node(
                name("h", &[pod, edge, j]),
                NodeKind::Host,
                0,
                Some(pod),
                address,
            ));
        }
        let mut layer = |prefix: &str, level: u32, offset: u32| -> Vec<_> {
            (0..k)
                .flat_map(|pod| (0..half).map(move |i| (pod, i)))
                .map(|(pod, i)| {
                    let address = [10, pod as u8, (i + offset) as u8, 1];
                    b.node(
                        name(prefix, &[pod, i]),
                        NodeKind::Switch,
                        level,
                        Some(pod),
                        address,
                    )
                })
                .collect()
        };
        let edges = layer("se", 1, 0);
        let aggregations = layer("sa", 2, half);
        let cores: Vec<_> = (0..half)
            .flat_map(|i| (0..half).map(move |j| (i, j)))
            .map(|(i, j)| {
                b.node(
                    name("sc", &[i, j]),
                    NodeKind::Switch,
                    3,
                    None,
                    [10, k as u8, (i + 1) as u8, (j + 1) as u8],
                )
            })
            .collect();
        for (h, &host) in hosts.iter().enumerate() {
            b.cable(host, edges[h / half as usize]);
        }
        for pod in 0..k as usize {
            for e in 0..half as usize {
                for a in 0..used {
                    b.cable(
                        edges[pod * half as usize + e],
                        aggregations[pod * half as usize + a],
                    );
                }
            }
        }
        for pod in 0..k as usize {
            for i in 0..used {
                for j in 0..half as usize {
                    b.cable(
                        aggregations[pod * half as usize + i],
                        cores[i * half as usize + j],
                    );
                }
            }
        }
        b.build(&self.overrides)
    }
}

impl FatTree {
    fn used_aggregations(&self) -> u64 {
        match self.cores {
            Cores::Full => self.k / 2,
            Cores::Two => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::kinds::Describe;
    use crate::paths::path_count;
    use crate::routing::shortest::Shortest;
    use crate::topology::tests::{cables, topology};
    use serde_json::json;

    #[test]
    fn nodes_and_links_are_named_as_in_the_paper() {
        let network = topology(json!({ "kind": "fat_tree" })).build(0).unwrap();
        let find = |name: &str| network.nodes.iter().find(|n| n.name == name).unwrap();
        assert_eq!(find("h311").address, [10, 3, 1, 3]);
        assert_eq!(find("se31").address, [10, 3, 1, 1]);
        assert_eq!(find("sa31").address, [10, 3, 3, 1]);
        assert_eq!(find("sc10").address, [10, 4, 2, 1]);
        let cables = cables(&network);
        for cable in ["h000>se00", "se00>sa01", "sa31>sc10"] {
            assert!(cables.iter().any(|c| c == cable), "{cable}");
        }
        assert!(!cables.iter().any(|c| c == "sa30>sc10"));
        // Ports: the first half down, the last half up.
        let out: Vec<_> = network
            .out(NodeId(16))
            .iter()
            .map(|&l| network.link_name(l))
            .collect();
        assert_eq!(out, ["se00>h000", "se00>h001", "se00>sa00", "se00>sa01"]);
    }

    #[test]
    fn indices_of_large_trees_are_separated() {
        let network = topology(json!({ "kind": "fat_tree", "k": 12 }))
            .build(0)
            .unwrap();
        assert_eq!(
            (
                network.nodes[0].name.as_str(),
                network.nodes[431].name.as_str()
            ),
            ("h0_0_0", "h11_5_5")
        );
    }

    #[test]
    fn the_two_core_tree_has_two_paths_between_pods() {
        // 16 host cables, 8 edges with one each, 4 left aggregation switches with two cores each.
        let network = topology(json!({ "kind": "fat_tree", "cores": "two" }))
            .build(0)
            .unwrap();
        assert_eq!(
            (network.nodes.len(), network.links.len() / 2),
            (36, 16 + 8 + 8)
        );
        let routes = Shortest::defaults().routes(&network).unwrap();
        assert_eq!(path_count(&network, &routes, NodeId(0), NodeId(15)), 2);
        let used = cables(&network)
            .iter()
            .filter(|c| c.contains("sc"))
            .cloned()
            .collect::<Vec<_>>();
        assert!(
            used.iter()
                .all(|c| c.ends_with("sc00") || c.ends_with("sc01")),
            "{used:?}"
        );
    }
}
