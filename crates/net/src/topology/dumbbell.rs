//! Dumbbell: two switches with hosts and one link between them.
//!
//! The usual bottleneck of congestion-control papers. Names: hosts `l<i>` and `r<i>`,
//! switches `sl` and `sr`; addresses count from 10.0.0.1 for hosts (left first) and 10.128.0.1 for switches.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, name, switch_address};

crate::kind! {
    /// Hosts on two sides of one bottleneck.
    pub struct Dumbbell: "topology" / "dumbbell", source "" {
        /// Hosts on the left.
        pub left: u64 = 2, range 1..=65536;
        /// Hosts on the right.
        pub right: u64 = 2, range 1..=65536;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// The link between the switches, whole; left out, as `link`.
        pub bottleneck: Option<LinkConfig> = None;
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Shape for Dumbbell {
    fn size(&self) -> Result<Size, Fault> {
        let hosts = self.left + self.right;
        Ok(Size {
            hosts,
            switches: 2,
            cables: hosts + 1,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        let mut b = Builder::new(&self.link);
        let mut side = |prefix: &str, count: u64, pod: u32, before: u64| -> Vec<_> {
            let host = |i| {
                b.node(
                    name(prefix, &[i], false),
                    NodeKind::Host,
                    0,
                    Some(pod),
                    host_address(before + i),
                )
            };
            (0..count).map(host).collect()
        };
        let left = side("l", self.left, 0, 0);
        let right = side("r", self.right, 1, self.left);
        let sl = b.node("sl", NodeKind::Switch, 1, Some(0), switch_address(0));
        let sr = b.node("sr", NodeKind::Switch, 1, Some(1), switch_address(1));
        for host in left {
            b.cable(host, sl);
        }
        for host in right {
            b.cable(host, sr);
        }
        b.cable_with(sl, sr, self.bottleneck.as_ref().unwrap_or(&self.link));
        b.build(&self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::{cables, topology};
    use serde_json::json;

    #[test]
    fn one_link_joins_the_sides() {
        let network =
            topology(json!({ "kind": "dumbbell", "left": 1, "bottleneck": { "rate": 7 } }))
                .build(0)
                .unwrap();
        assert_eq!(cables(&network), ["l0>sl", "r0>sr", "r1>sr", "sl>sr"]);
        assert_eq!(network.links[6].rate.0, 7);
    }
}
