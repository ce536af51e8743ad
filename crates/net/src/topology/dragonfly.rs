//! Dragonfly: groups of routers that are all joined, and one cable between any two groups.
//!
//! Source: Kim, Dally, Scott, Abts, ISCA 2008: `a` routers a group, `p` hosts and `h` cables to other groups at each;
//! a balanced one has a = 2p = 2h. There are at most a h + 1 groups; with fewer some global ports stay free. Global
//! port k of group g (at router k / h) leads to group g + k + 1, round the circle. Names: hosts
//! `h<group>_<router>_<j>`, routers `r<group>_<i>`; the pod of a node is its group.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, name, switch_address};

crate::kind! {
    /// Groups of fully joined routers, every two groups joined by one cable.
    pub struct Dragonfly: "topology" / "dragonfly", source "Kim, Dally, Scott, Abts, ISCA 2008" {
        /// Routers of a group.
        pub a: u64 = 4, range 1..=512;
        /// Hosts at each router.
        pub p: u64 = 2, range 1..=512;
        /// Cables to other groups at each router.
        pub h: u64 = 2, range 1..=512;
        /// Groups; left out, a h + 1, the most.
        pub groups: Option<u64> = None, at least 1;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Cables between groups, whole; left out, as `link`.
        pub global: Option<LinkConfig> = None;
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Dragonfly {
    fn groups(&self) -> u64 {
        self.groups.unwrap_or(self.a * self.h + 1)
    }
}

impl Shape for Dragonfly {
    fn size(&self) -> Result<Size, Fault> {
        let (a, groups, most) = (self.a, self.groups(), self.a * self.h + 1);
        if groups > most {
            let message = format!(
                "{groups} groups cannot all be joined by the {} global ports of a group; the most is a h + 1 = {most}",
                most - 1
            );
            return Err(Fault::new("topology.groups", message));
        }
        let hosts = a * self.p * groups;
        Ok(Size {
            hosts,
            switches: a * groups,
            cables: hosts + groups * (a * (a - 1) / 2) + groups * (groups - 1) / 2,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        let size = self.size()?;
        let (a, p, groups) = (self.a, self.p, self.groups());
        let mut b = Builder::new(&self.link);
        let hosts: Vec<_> = (0..size.hosts)
            .map(|n| {
                let (router, j) = (n / p, n % p);
                let (group, i) = (router / a, router % a);
                b.node(
                    name("h", &[group, i, j], true),
                    NodeKind::Host,
                    0,
                    Some(group as u32),
                    host_address(n),
                )
            })
            .collect();
        let routers: Vec<_> = (0..size.switches)
            .map(|n| {
                let (group, i) = (n / a, n % a);
                b.node(
                    name("r", &[group, i], true),
                    NodeKind::Switch,
                    1,
                    Some(group as u32),
                    switch_address(n),
                )
            })
            .collect();
        for (n, &host) in hosts.iter().enumerate() {
            b.cable(host, routers[n / p as usize]);
        }
        let router = |group: u64, i: u64| routers[(group * a + i) as usize];
        for group in 0..groups {
            for i in 0..a {
                for j in i + 1..a {
                    b.cable(router(group, i), router(group, j));
                }
            }
        }
        let global = self.global.as_ref().unwrap_or(&self.link);
        for group in 0..groups {
            for other in group + 1..groups {
                // The port of each that leads to the other, counted round the circle of groups.
                let (there, back) = (other - group - 1, groups - (other - group) - 1);
                b.cable_with(
                    router(group, there / self.h),
                    router(other, back / self.h),
                    global,
                );
            }
        }
        b.build(&self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::kinds::Describe;
    use crate::paths::pairs_by_hops;
    use crate::routing::shortest::Shortest;
    use crate::topology::tests::topology;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn a_balanced_dragonfly_uses_every_port_and_joins_every_two_groups() {
        // a = 4, p = h = 2: 9 groups of 4 routers with 2 + 3 + 2 ports, 72 hosts; 9 x 6 local cables, 36 global ones.
        let network = topology(json!({ "kind": "dragonfly" })).build(0).unwrap();
        assert_eq!(
            (
                network.hosts,
                network.nodes.len() - 72,
                network.links.len() / 2
            ),
            (72, 36, 72 + 54 + 36)
        );
        assert!((72..108).all(|s| network.out(NodeId(s)).len() == 7));
        let pod = |n: NodeId| network.nodes[n.index()].pod;
        let joined: BTreeSet<_> = network
            .links
            .iter()
            .map(|l| (pod(l.src), pod(l.dst)))
            .filter(|(a, b)| a != b)
            .collect();
        assert_eq!(joined.len(), 9 * 8);
    }

    #[test]
    fn no_two_routers_are_further_apart_than_local_global_local() {
        let network = topology(json!({ "kind": "dragonfly" })).build(0).unwrap();
        let pairs = pairs_by_hops(&network, &Shortest::defaults().routes(&network).unwrap());
        assert_eq!(
            pairs.keys().copied().collect::<Vec<_>>(),
            [2, 3, 4, 5].map(Some)
        );
    }

    #[test]
    fn more_groups_than_global_ports_are_refused() {
        let fault = topology(json!({ "kind": "dragonfly", "groups": 10 }))
            .size()
            .unwrap_err();
        assert_eq!(
            fault.to_string(),
            "topology.groups: 10 groups cannot all be joined by the 8 global ports of a group; the most is a h + 1 = 9"
        );
    }
}
