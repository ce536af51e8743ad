//! Fat tree: k pods of k/2 edge and k/2 aggregation switches under (k/2)^2 cores.
//!
//! Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008. Names and addresses: hosts `h<pod><edge><j>` at
//! 10.pod.edge.(j+2), edge `se<pod><i>`, aggregation `sa<pod><i>`, core `sc<i><j>`; above k = 10 the indices are
//! separated by `_`. Core `sc<i><j>` connects to `sa<pod><i>` of every pod.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size};

crate::kind! {
    /// k-ary fat tree: k^3/4 hosts at full bisection bandwidth.
    pub struct FatTree: "topology" / "fat_tree", source "Al-Fares, Loukissas, Vahdat, SIGCOMM 2008" {
        /// Ports per switch; even.
        pub k: u64 = 4, range 2..=128;
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
        Ok(Size {
            hosts: k * k * k / 4,
            switches: 5 * k * k / 4,
            cables: 3 * k * k * k / 4,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        self.size()?;
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
                for a in 0..half as usize {
                    b.cable(
                        edges[pod * half as usize + e],
                        aggregations[pod * half as usize + a],
                    );
                }
            }
        }
        for pod in 0..k as usize {
            for i in 0..half as usize {
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
