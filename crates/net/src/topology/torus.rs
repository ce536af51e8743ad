//! Torus: a grid of switches whose last row is joined to the first, in every dimension.
//!
//! Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5; `lattice.rs` has the
//! construction. Names: switches `s` and their coordinates (separated by `_` above ten), hosts `h<switch number>_<j>`.

use crate::error::Fault;
use crate::lattice::Lattice;
use crate::network::{LinkConfig, Network, Override};
use crate::topology::{Shape, Size};

crate::kind! {
    /// A grid of switches whose sides are closed to rings, of any number of dimensions.
    pub struct Torus: "topology" / "torus", source "Dally and Towles, 2004" {
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

impl Torus {
    fn lattice(&self) -> Lattice<'_> {
        Lattice {
            dimensions: &self.dimensions,
            is_closed: true,
            hosts_per_switch: self.hosts_per_switch,
            link: &self.link,
            overrides: &self.overrides,
        }
    }
}

impl Shape for Torus {
    fn size(&self) -> Result<Size, Fault> {
        self.lattice().size()
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        self.lattice().build()
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::paths::hops;
    use crate::routing::shortest::Shortest;
    use crate::topology::tests::topology;
    use crate::{kinds::Describe, network::Network};
    use serde_json::json;

    fn built(dimensions: serde_json::Value) -> Network {
        topology(json!({ "kind": "torus", "dimensions": dimensions }))
            .build(0)
            .unwrap()
    }

    #[test]
    fn every_switch_has_two_neighbours_a_dimension() {
        let network = built(json!([4, 5, 3]));
        assert_eq!(network.links.len() / 2, 60 + 3 * 60);
        assert!((60..120).all(|s| network.out(NodeId(s)).len() == 7));
    }

    #[test]
    fn a_side_of_two_has_one_cable() {
        // 2 x 4: four rings of two are four single cables, and two rings of four.
        assert_eq!(built(json!([2, 4])).links.len() / 2, 8 + 4 + 2 * 4);
    }

    #[test]
    fn the_way_goes_round_the_shorter_side() {
        let network = built(json!([8]));
        let routes = Shortest::defaults().routes(&network).unwrap();
        let far: Vec<_> = (1..8)
            .map(|h| hops(&network, &routes, NodeId(0), NodeId(h)).unwrap() - 2)
            .collect();
        assert_eq!(far, [1, 2, 3, 4, 3, 2, 1]);
    }
}
