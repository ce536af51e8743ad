//! Ring: switches in a circle. A torus of one dimension.
//!
//! Names: switches `s<i>`, hosts `h<switch>_<j>`. Three switches are the least that make a ring.

use crate::error::Fault;
use crate::lattice::Lattice;
use crate::network::{LinkConfig, Network, Override};
use crate::topology::{Shape, Size};

crate::kind! {
    /// Switches in a circle: two ways between any two.
    pub struct Ring: "topology" / "ring", source "" {
        /// Switches.
        pub switches: u64 = 8, range 3..=65536;
        /// Hosts at each switch.
        pub hosts_per_switch: u64 = 1, range 1..=1024;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Ring {
    fn lattice(&self) -> Lattice<'_> {
        Lattice {
            dimensions: std::slice::from_ref(&self.switches),
            is_closed: true,
            hosts_per_switch: self.hosts_per_switch,
            link: &self.link,
            overrides: &self.overrides,
        }
    }
}

impl Shape for Ring {
    fn size(&self) -> Result<Size, Fault> {
        self.lattice().size()
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        self.lattice().build()
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::tests::{cables, topology};
    use serde_json::json;

    #[test]
    fn the_last_switch_is_joined_to_the_first() {
        let network = topology(json!({ "kind": "ring", "switches": 3 }))
            .build(0)
            .unwrap();
        assert_eq!(cables(&network)[3..], ["s0>s1", "s1>s2", "s2>s0"]);
    }
}
