//! Star: hosts around one switch.
//!
//! Names: hosts `h<i>`, the switch `s`; addresses count from 10.0.0.1 for hosts, the switch has 10.128.0.1.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, name, switch_address};

crate::kind! {
    /// Hosts around one switch.
    pub struct Star: "topology" / "star", source "" {
        /// Hosts.
        pub hosts: u64 = 8, range 1..=65536;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Shape for Star {
    fn size(&self) -> Result<Size, Fault> {
        Ok(Size {
            hosts: self.hosts,
            switches: 1,
            cables: self.hosts,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        let mut b = Builder::new(&self.link);
        let hosts: Vec<_> = (0..self.hosts)
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
        let switch = b.node("s", NodeKind::Switch, 1, None, switch_address(0));
        for host in hosts {
            b.cable(host, switch);
        }
        b.build(&self.overrides)
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::{cables, topology};
    use serde_json::json;

    #[test]
    fn all_hosts_share_the_switch() {
        assert_eq!(
            cables(
                &topology(json!({ "kind": "star", "hosts": 2 }))
                    .build(0)
                    .unwrap()
            ),
            ["h0>s", "h1>s"]
        );
    }
}
