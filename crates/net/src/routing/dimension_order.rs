//! Dimension order: on a mesh, a torus or a ring, first along one side to the destination's place, then along the next.
//!
//! Source: Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 8. On a mesh it cannot
//! deadlock; on a torus it can, round one side, unless packets change lanes. Coordinates follow from the numbers of the switches, as
//! `lattice.rs` lays them: the last side counts fastest. On a closed side the way is the shorter one, of two equal ones that which
//! counts up.

use crate::error::Fault;
use crate::ids::{LinkId, NodeId};
use crate::network::Network;
use crate::route_builder;
use crate::routes::Routes;

crate::kind! {
    /// One path: along the first dimension, then the second, and so on (XY routing); for mesh, torus and ring.
    pub struct DimensionOrder: "routing" / "dimension_order", source "Dally and Towles, 2004, chapter 8" {
        /// Lengths of the sides, as in `topology.dimensions`; a ring has one.
        pub dimensions: Vec<u64>;
    }
}

impl DimensionOrder {
    /// One next hop for each host.
    ///
    /// # Errors
    /// `routing.dimensions`: they are not those of the fabric.
    pub(super) fn routes(&self, network: &Network) -> Result<Routes, Fault> {
        let switches = network.nodes.len() - network.hosts;
        let fault = |text: String| Fault::new("routing.dimensions", text);
        if self.dimensions.iter().product::<u64>() != switches as u64
            || self.dimensions.contains(&0)
        {
            return Err(fault(format!(
                "{:?} make no box of the {switches} switches that there are; write those of the topology",
                self.dimensions
            )));
        }
        let link = |from: u64, to: u64| {
            let end = NodeId::from(network.hosts + to as usize);
            let mut out = network
                .out(NodeId::from(network.hosts + from as usize))
                .iter();
            out.find(|l| network.links[l.index()].dst == end).copied()
        };
        // Every step that the way may take must be a cable.
        let mut missing = None;
        let routes = route_builder::from_hops(network, |node, host| {
            if network.is_host(node) {
                return up(network, network.out(node).iter().take(1).copied());
            }
            let home = network
                .out(host)
                .first()
                .map(|l| network.links[l.index()].dst);
            let Some(home) = home.filter(|&h| h != node) else {
                let mut out = network.out(node).iter();
                return up(
                    network,
                    out.find(|l| network.links[l.index()].dst == host).copied(),
                );
            };
            let number = |n: NodeId| (n.index() - network.hosts) as u64;
            let (from, to) = (number(node), number(home));
            let next = self.next(from, to, |a, b| link(a, b).is_some());
            let found = link(from, next);
            if found.is_none() {
                missing.get_or_insert((node, NodeId::from(network.hosts + next as usize)));
            }
            up(network, found)
        });
        match missing {
            None => Ok(routes),
            Some((a, b)) => {
                let name = |n: NodeId| network.nodes[n.index()].name.as_str();
                let message = format!(
                    "{:?} would have a cable between {} and {}; this fabric is no mesh or torus of these sides",
                    self.dimensions,
                    name(a),
                    name(b)
                );
                Err(fault(message))
            }
        }
    }

    /// The switch after `from` on the way to `to`.
    fn next(&self, from: u64, to: u64, has_cable: impl Fn(u64, u64) -> bool) -> u64 {
        let mut stride: u64 = self.dimensions.iter().product();
        for &length in &self.dimensions {
            stride /= length;
            let (here, there) = (from / stride % length, to / stride % length);
            if here == there {
                continue;
            }
            let first = from - here * stride;
            let is_closed = length > 2 && has_cable(first + (length - 1) * stride, first);
            let ahead = (there + length - here) % length;
            let is_up = if is_closed {
                ahead <= length - ahead
            } else {
                there > here
            };
            let place = if is_up { here + 1 } else { here + length - 1 } % length;
            return first + place * stride;
        }
        to
    }
}

/// The link, unless it is down.
fn up(network: &Network, link: impl IntoIterator<Item = LinkId>) -> Vec<LinkId> {
    let links = link.into_iter();
    links.filter(|l| network.links[l.index()].is_up).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::hops;
    use crate::topology::tests::topology;
    use serde_json::json;

    fn way(network: &Network, routes: &Routes, src: u32, dst: u32) -> Vec<String> {
        let mut node = NodeId(src);
        let mut names = Vec::new();
        while node != NodeId(dst) {
            let [link] = *routes.next_hops(node, NodeId(dst)) else {
                panic!()
            };
            node = network.links[link.index()].dst;
            names.push(network.nodes[node.index()].name.clone());
        }
        names
    }

    #[test]
    fn the_first_side_comes_first() {
        let network = topology(json!({ "kind": "mesh", "dimensions": [3, 4] }))
            .build(0)
            .unwrap();
        let routes = DimensionOrder {
            dimensions: vec![3, 4],
        }
        .routes(&network)
        .unwrap();
        assert_eq!(
            way(&network, &routes, 0, 11),
            ["s00", "s10", "s20", "s21", "s22", "s23", "h11_0"]
        );
        assert_eq!(
            way(&network, &routes, 11, 0),
            ["s23", "s13", "s03", "s02", "s01", "s00", "h0_0"]
        );
    }

    #[test]
    fn on_a_torus_ways_are_the_shortest() {
        let network = topology(json!({ "kind": "torus", "dimensions": [4, 5] }))
            .build(0)
            .unwrap();
        let routes = DimensionOrder {
            dimensions: vec![4, 5],
        }
        .routes(&network)
        .unwrap();
        let shortest = crate::routing::shortest::tables(&network);
        for (src, dst) in (0..20).flat_map(|s| (0..20).map(move |d| (NodeId(s), NodeId(d)))) {
            assert_eq!(
                hops(&network, &routes, src, dst),
                hops(&network, &shortest, src, dst)
            );
        }
    }

    #[test]
    fn sides_that_are_not_the_fabrics_are_refused() {
        let network = topology(json!({ "kind": "mesh", "dimensions": [3, 4] }))
            .build(0)
            .unwrap();
        let fault = |dimensions: Vec<u64>| {
            DimensionOrder { dimensions }
                .routes(&network)
                .unwrap_err()
                .to_string()
        };
        assert!(
            fault(vec![3, 3])
                .starts_with("routing.dimensions: [3, 3] make no box of the 12 switches")
        );
        assert!(fault(vec![4, 3]).contains("would have a cable between"));
    }
}
