//! Fills [`Routes`] from the distances of all nodes to groups of hosts.
//!
//! Hosts that hang on the same switches form a group: one search from those switches serves them all, and only the
//! switches themselves tell the hosts apart. Hosts with one link that hang on the same switch forward alike, so they
//! are one *class*; every switch, and every host with more links, is a class of its own.

use std::collections::BTreeMap;

use crate::ids::{LinkId, NodeId};
use crate::network::Network;
use crate::routes::Routes;
use crate::routes::{Entry, Runs};

/// A node out of reach.
pub(crate) const UNREACHABLE: u32 = u32::MAX;

/// Builds tables in which a node forwards to every neighbour switch that `distances` puts closer to the target, by
/// the smallest distance. `distances` is asked once per group of hosts: from the switches on
/// which the group hangs (by links that are up) it fills the distance of every switch, where all were [`UNREACHABLE`].
pub(crate) fn routes(
    network: &Network,
    mut distances: impl FnMut(&[NodeId], &mut [u32]),
) -> Routes {
    let (group_of, groups) = groups(network);
    let (class_of, classes) = classes(network);
    let mut sets = Sets::new(network, classes.len());
    // One more than there are nodes: what a port leads to that must not be used is always out of reach.
    let mut distance = vec![UNREACHABLE; network.nodes.len() + 1];
    // Class by class, so that the rows can be read off.
    let mut entries = vec![Entry::NONE; classes.len() * groups.len()];
    for (g, roots) in groups.iter().enumerate() {
        distance.fill(UNREACHABLE);
        distances(roots, &mut distance);
        for (c, &node) in classes.iter().enumerate() {
            entries[c * groups.len() + g] = sets.towards(network, c, node, &distance);
        }
    }
    let mut rows = BTreeMap::new();
    let row_of_class: Vec<u32> = classes
        .iter()
        .enumerate()
        .map(|(c, &node)| {
            let direct = direct(network, node, c, &mut sets);
            let row = runs(
                &entries[c * groups.len()..(c + 1) * groups.len()],
                &group_of,
                &direct,
            );
            let next = rows.len() as u32;
            *rows.entry(row).or_insert(next)
        })
        .collect();
    let mut in_order = vec![Runs::new(); rows.len()];
    for (row, number) in rows {
        in_order[number as usize] = row;
    }
    let row_of: Vec<u32> = class_of.iter().map(|&c| row_of_class[c as usize]).collect();
    Routes::compress(network, &in_order, &row_of, sets.sets, sets.links)
}

/// Builds tables from the links that each node uses for each host, as `hops` says them; those of other nodes must not be
/// among them. Every node has a row of its own, unless two are the same.
pub(crate) fn from_hops(
    network: &Network,
    mut hops: impl FnMut(NodeId, NodeId) -> Vec<LinkId>,
) -> Routes {
    let mut sets = Sets::new(network, network.nodes.len());
    let mut rows = BTreeMap::new();
    let mut row_of = Vec::with_capacity(network.nodes.len());
    for node in (0..network.nodes.len()).map(NodeId::from) {
        let out = network.out(node);
        let mut row = Runs::new();
        for host in network.host_ids() {
            let mut ports: Vec<u32> = hops(node, host)
                .into_iter()
                .map(|l| {
                    out.iter()
                        .position(|&o| o == l)
                        .expect("a link of the node") as u32
                })
                .collect();
            ports.sort_unstable();
            let entry = sets.entry(network, node.index(), node, &ports);
            if row.last().is_none_or(|last: &(u32, Entry)| last.1 != entry) {
                row.push((host.0, entry));
            }
        }
        let next = rows.len() as u32;
        row_of.push(*rows.entry(row).or_insert(next));
    }
    let mut in_order = vec![Runs::new(); rows.len()];
    for (row, number) in rows {
        in_order[number as usize] = row;
    }
    let mut routes = Routes::compress(network, &in_order, &row_of, sets.sets, sets.links);
    routes.tells_hosts_apart = true;
    routes
}

fn is_up(network: &Network, link: LinkId) -> bool {
    network.links[link.index()].is_up
}

/// The group of every host, and the switches of every group.
fn groups(network: &Network) -> (Vec<u32>, Vec<Vec<NodeId>>) {
    let mut known = BTreeMap::new();
    let mut groups = Vec::new();
    let group_of = network
        .host_ids()
        .map(|host| {
            let out = network
                .out(host)
                .iter()
                .filter(|l| is_up(network, l.reverse()));
            let mut roots: Vec<_> = out
                .map(|l| network.links[l.index()].dst)
                .filter(|&n| !network.is_host(n))
                .collect();
            roots.sort_unstable();
            roots.dedup();
            *known.entry(roots).or_insert_with_key(|roots| {
                groups.push(roots.clone());
                groups.len() as u32 - 1
            })
        })
        .collect();
    (group_of, groups)
}

/// The class of every node, and the node that stands for it.
fn classes(network: &Network) -> (Vec<u32>, Vec<NodeId>) {
    let mut known = BTreeMap::new();
    let mut classes = Vec::new();
    let class_of = (0..network.nodes.len())
        .map(|n| {
            let node = NodeId::from(n);
            let key = match network.out(node) {
                [one]
                    if network.is_host(node)
                        && !network.is_host(network.links[one.index()].dst) =>
                {
                    (network.links[one.index()].dst, is_up(network, *one))
                }
                _ => (node, true),
            };
            // A switch has a class of its own beside that of its hosts.
            *known
                .entry((key, network.is_host(node)))
                .or_insert_with(|| {
                    classes.push(node);
                    classes.len() as u32 - 1
                })
        })
        .collect();
    (class_of, classes)
}

/// Hosts that hang on `node` itself, with their ports, in the order of hosts.
fn direct(network: &Network, node: NodeId, class: usize, sets: &mut Sets) -> Vec<(u32, Entry)> {
    let mut ports = BTreeMap::<u32, Vec<u32>>::new();
    for (port, &link) in network.out(node).iter().enumerate() {
        let dst = network.links[link.index()].dst;
        if network.is_host(dst) && is_up(network, link) {
            ports.entry(dst.0).or_default().push(port as u32);
        }
    }
    ports
        .into_iter()
        .map(|(host, ports)| (host, sets.entry(network, class, node, &ports)))
        .collect()
}

/// A class's entries by group, with its direct hosts laid over them, as runs over hosts.
fn runs(by_group: &[Entry], group_of: &[u32], direct: &[(u32, Entry)]) -> Runs {
    let mut runs = Runs::new();
    let mut direct = direct.iter().peekable();
    for (host, &group) in group_of.iter().enumerate() {
        let entry = match direct.next_if(|d| d.0 as usize == host) {
            Some(&(_, entry)) => entry,
            None => by_group[group as usize],
        };
        if runs.last().is_none_or(|last| last.1 != entry) {
            runs.push((host as u32, entry));
        }
    }
    runs
}

/// Sets of ports that are no range, each stored once per node.
struct Sets {
    /// Where each lies in `links`.
    sets: Vec<(u32, u32)>,
    links: Vec<LinkId>,
    /// The switch at the end of each of `links`; out of range where the link is down or leads to a host.
    neighbours: Vec<u32>,
    /// Where the ports of each node begin in `links`.
    first_port: Vec<u32>,
    /// Per class, its sets in the order of their links.
    of_class: Vec<Vec<u32>>,
    scratch: Vec<u32>,
}

impl Sets {
    fn new(network: &Network, classes: usize) -> Self {
        let nodes = (0..network.nodes.len()).map(NodeId::from);
        let links: Vec<LinkId> = nodes
            .clone()
            .flat_map(|n| network.out(n).iter().copied())
            .collect();
        let neighbour = |link: &LinkId| match &network.links[link.index()] {
            link if link.is_up && !network.is_host(link.dst) => link.dst.0,
            _ => network.nodes.len() as u32,
        };
        let mut next = 0;
        let mut begin = |node| {
            let first = next;
            next += network.out(node).len() as u32;
            first
        };
        let first_port = nodes.map(&mut begin).collect();
        Self {
            sets: Vec::new(),
            neighbours: links.iter().map(neighbour).collect(),
            first_port,
            links,
            of_class: vec![Vec::new(); classes],
            scratch: Vec::new(),
        }
    }

    /// The ports of `node` to the neighbour switches that are closest to the target and closer than `node` is.
    fn towards(
        &mut self,
        network: &Network,
        class: usize,
        node: NodeId,
        distance: &[u32],
    ) -> Entry {
        // A host takes the closest switch, whatever its own distance.
        let mut best = if network.is_host(node) {
            UNREACHABLE
        } else {
            distance[node.index()]
        };
        let mut ports = std::mem::take(&mut self.scratch);
        ports.clear();
        let first = self.first_port[node.index()] as usize;
        let neighbours = &self.neighbours[first..first + network.out(node).len()];
        for (port, &neighbour) in neighbours.iter().enumerate() {
            let there = distance[neighbour as usize];
            if there < best {
                best = there;
                ports.clear();
                ports.push(port as u32);
            } else if there == best && !ports.is_empty() {
                ports.push(port as u32);
            }
        }
        let entry = self.entry(network, class, node, &ports);
        self.scratch = ports;
        entry
    }

    /// The entry for ascending `ports`.
    fn entry(&mut self, network: &Network, class: usize, node: NodeId, ports: &[u32]) -> Entry {
        let [first, .., last] = *ports else {
            let single = ports
                .first()
                .map_or(Some(Entry::NONE), |&p| Entry::range(p, 1));
            return single.unwrap_or_else(|| self.scattered(network, class, node, ports));
        };
        let is_range = last - first + 1 == ports.len() as u32;
        match Entry::range(first, ports.len() as u32) {
            Some(range) if is_range => range,
            _ => self.scattered(network, class, node, ports),
        }
    }

    fn scattered(&mut self, network: &Network, class: usize, node: NodeId, ports: &[u32]) -> Entry {
        let out = network.out(node);
        let (sets, links) = (&self.sets, &self.links);
        let links_of = |set: u32| {
            let (start, length) = sets[set as usize];
            links[start as usize..(start + length) as usize]
                .iter()
                .copied()
        };
        let wanted = || ports.iter().map(|&p| out[p as usize]);
        match self.of_class[class].binary_search_by(|&set| links_of(set).cmp(wanted())) {
            Ok(at) => Entry::set(self.of_class[class][at] as usize),
            Err(at) => {
                let number = self.sets.len();
                self.sets
                    .push((self.links.len() as u32, ports.len() as u32));
                self.links.extend(ports.iter().map(|&p| out[p as usize]));
                self.of_class[class].insert(at, number as u32);
                Entry::set(number)
            }
        }
    }
}
