//! Two multi-homed hosts and the paths between them: each host has several network interfaces.
//!
//! Source: the preliminary test of the path diversity study (`experiments/studies`): a client and a server with two 10
//! Mb/s interfaces each; a router on the client's side joins two paths, so that full-mesh MPTCP gets 19.1 Mb/s of
//! TCP's 9.78. Names: `client`, `server`; path `i` is `client - r<i> - server`, or with a shared router every path
//! goes through `r` and then `p<i>`. A host with several interfaces is one node with several links; its address is
//! that of the first one.

use crate::error::Fault;
use crate::network::{Builder, LinkConfig, Network, NodeKind, Override};
use crate::topology::{Shape, Size, host_address, switch_address};

crate::kind! {
    /// Two hosts with several interfaces each, and as many paths between them.
    pub struct TwoPaths: "topology" / "two_paths", source "the path diversity study (experiments/studies)" {
        /// Paths, and interfaces of each host.
        pub paths: u64 = 2, range 1..=64;
        /// One router joins the client's interfaces before the paths part: any of them leads to any path.
        pub shared_router: bool = true;
        /// Every link.
        pub link: LinkConfig = crate::kinds::Describe::defaults();
        /// Links that differ.
        pub overrides: Vec<Override> = Vec::new();
    }
}

impl Shape for TwoPaths {
    fn size(&self) -> Result<Size, Fault> {
        let (paths, shared) = (self.paths, u64::from(self.shared_router));
        // Two cables between the same nodes would have one name: behind a shared router each path has a switch per
        // interface on either side.
        Ok(Size {
            hosts: 2,
            switches: paths + shared * (1 + paths),
            cables: (2 + 2 * shared) * paths,
            host_rate: self.link.rate,
        })
    }

    fn build(&self, _seed: u64) -> Result<Network, Fault> {
        let mut b = Builder::new(&self.link);
        let client = b.node("client", NodeKind::Host, 0, None, host_address(0));
        let server = b.node("server", NodeKind::Host, 0, None, host_address(1));
        let mut count = 0;
        let mut switch = |b: &mut Builder, name: String, level: u32| {
            count += 1;
            b.node(
                name,
                NodeKind::Switch,
                level,
                None,
                switch_address(count - 1),
            )
        };
        let paths: Vec<_> = (0..self.paths)
            .map(|i| switch(&mut b, format!("p{i}"), 1))
            .collect();
        let near = self.shared_router.then(|| {
            let interfaces: Vec<_> = (0..self.paths)
                .map(|i| switch(&mut b, format!("i{i}"), 1))
                .collect();
            (switch(&mut b, "r".to_owned(), 2), interfaces)
        });
        match &near {
            None => {
                for &path in &paths {
                    b.cable(client, path);
                }
            }
            Some((router, interfaces)) => {
                for &interface in interfaces {
                    b.cable(client, interface);
                }
                for &interface in interfaces {
                    b.cable(interface, *router);
                }
                for &path in &paths {
                    b.cable(*router, path);
                }
            }
        }
        for &path in &paths {
            b.cable(path, server);
        }
        b.build(&self.overrides)
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
    fn a_router_joins_every_interface_to_every_path() {
        for (shared, paths) in [(true, 4), (false, 2)] {
            let network = topology(json!({ "kind": "two_paths", "shared_router": shared }))
                .build(0)
                .unwrap();
            let routes = Shortest::defaults().routes(&network).unwrap();
            assert_eq!(path_count(&network, &routes, NodeId(0), NodeId(1)), paths);
            assert_eq!([0, 1].map(|h| network.out(NodeId(h)).len()), [2, 2]);
        }
        let network = topology(json!({ "kind": "two_paths", "shared_router": false }))
            .build(0)
            .unwrap();
        assert_eq!(
            cables(&network),
            ["client>p0", "client>p1", "p0>server", "p1>server"]
        );
    }
}
