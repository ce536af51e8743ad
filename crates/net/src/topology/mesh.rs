//! Mesh: a grid of switches of any number of dimensions.
//!
//! Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5; `lattice.rs` has the
//! construction. Names: switches `s` and their coordinates (separated by `_` above ten), hosts `h<switch number>_<j>`.

use crate::error::Fault;
use crate::lattice::Lattice;
use crate::network::{LinkConfig, Network, Override};
use crate::topology::{Shape, Size};

crate::kind! {
    /// A grid of switches of any number of dimensions, each cabled to its neighbours.
    pub struct Mesh: "topology" / "mesh", source "Dally and Towles, 2004" {
        /// Length of each side: [4, 4] are 16 switches, [3, 3, 3] are 27.
        pub dimensions: Vec<u64> = vec![4, 4];
        /// Hosts at each switch.
        pub hosts_per_switch: u64 = 1, range 1..=1024;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Mesh {
    fn lattice(&self) -> Lattice<'_> {
        Lattice {
            dimensions: &self.dimensions,
            is_closed: false,
            hosts_per_switch: self.hosts_per_switch,
            link: &self.link,
            overrides: &self.overrides,
        }
    }
}

impl Shape for Mesh {
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
    fn neighbours_differ_by_one_in_one_coordinate() {
        let network = topology(json!({ "kind": "mesh", "dimensions": [2, 3] }))
            .build(0)
            .unwrap();
        assert_eq!(
            cables(&network)[6..],
            [
                "s00>s01", "s00>s10", "s01>s02", "s01>s11", "s02>s12", "s10>s11", "s11>s12"
            ]
        );
    }

    #[test]
    fn a_cube_has_as_many_cables_as_edges() {
        // 3 x 3 x 3: in each of three directions 9 lines of 2 steps.
        let network = topology(json!({ "kind": "mesh", "dimensions": [3, 3, 3] }))
            .build(0)
            .unwrap();
        assert_eq!(network.links.len() / 2, 27 + 3 * 9 * 2);
    }

    #[test]
    fn sides_without_length_are_refused() {
        for (sides, text) in [
            (
                json!([]),
                "topology.dimensions: is empty; give the lengths of the sides: [4, 4]",
            ),
            (
                json!([3, 0]),
                "topology.dimensions[1]: 0 is no length; the least is 1",
            ),
            (
                json!([300, 300]),
                "topology.dimensions: make 90000 switches; the most is 65536",
            ),
        ] {
            let fault = topology(json!({ "kind": "mesh", "dimensions": sides }))
                .size()
                .unwrap_err();
            assert_eq!(fault.to_string(), text);
        }
    }
}
