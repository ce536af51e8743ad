//! The 5-host 4-switch mesh: four switches in a square, two hosts at the first.
//!
//! Source: the graph of a thesis on InfiniBand congestion control (`experiments/studies/infiniband_congestion`): H1
//! and H5 hang on SW1, H2, H3 and H4 on SW2, SW3 and SW4; the square SW1-SW2-SW4-SW3. Two of its cables are faster
//! than the hosts' (`fast`, SW1-SW3 and SW2-SW4), the other two (`slow`) as the file of the thesis has them. Its
//! forwarding tables are those of `routing.kind = "static_table"`; shortest paths leave a choice between opposite
//! corners.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, switch_address};

crate::kind! {
    /// Five hosts at four switches in a square.
    pub struct Mesh5: "topology" / "mesh5", source "the InfiniBand congestion control thesis (experiments/studies)" {
        /// Links of the hosts, and all others where these say nothing.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// SW1-SW3 and SW2-SW4, whole; left out, as `link`.
        pub fast: Option<LinkConfig> = None;
        /// SW1-SW2 and SW3-SW4, whole; left out, as `link`.
        pub slow: Option<LinkConfig> = None;
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

/// Which switch each host hangs on.
const HOSTS: [usize; 5] = [0, 1, 2, 3, 0];

impl Shape for Mesh5 {
    fn size(&self) -> Result<Size, Fault> {
        Ok(Size {
            hosts: 5,
            switches: 4,
            cables: 9,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        let mut b = Builder::new(&self.link);
        let hosts = [0, 1, 2, 3, 4].map(|i| {
            b.node(
                format!("H{}", i + 1),
                NodeKind::Host,
                0,
                None,
                host_address(i),
            )
        });
        let switches = [0, 1, 2, 3].map(|i| {
            b.node(
                format!("SW{}", i + 1),
                NodeKind::Switch,
                1,
                None,
                switch_address(i),
            )
        });
        for (host, switch) in hosts.into_iter().zip(HOSTS) {
            b.cable(host, switches[switch]);
        }
        for (i, j, config) in [
            (0, 2, &self.fast),
            (1, 3, &self.fast),
            (0, 1, &self.slow),
            (2, 3, &self.slow),
        ] {
            b.cable_with(
                switches[i],
                switches[j],
                config.as_ref().unwrap_or(&self.link),
            );
        }
        b.build(&self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::{cables, topology};
    use serde_json::json;

    #[test]
    fn four_switches_make_a_square() {
        let network = topology(json!({ "kind": "mesh5", "fast": { "rate": 40 } }))
            .build(0)
            .unwrap();
        assert_eq!(
            cables(&network),
            [
                "H1>SW1", "H2>SW2", "H3>SW3", "H4>SW4", "H5>SW1", "SW1>SW3", "SW2>SW4", "SW1>SW2",
                "SW3>SW4"
            ]
        );
        assert_eq!(network.links.iter().filter(|l| l.rate.0 == 40).count(), 4);
    }
}
