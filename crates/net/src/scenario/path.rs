//! The path of a flow, where balancing is per flow: what the packets will do, without sending any.

use crate::ids::{FlowId, LinkId, NodeId};
use crate::load_balance::FiveTuple;
use crate::scenario::Scenario;
use crate::transport::Transport;
use crate::workload::Flow;

impl Scenario {
    /// The five-tuple of the packets that carry the payload of `flow`; those that come back have its reverse.
    pub fn five_tuple(&self, flow: FlowId) -> FiveTuple {
        let flow = &self.flows[flow.index()];
        FiveTuple {
            src: self.network.nodes[flow.src.index()].address,
            dst: self.network.nodes[flow.dst.index()].address,
            src_port: flow.src_port,
            dst_port: flow.dst_port,
            protocol: match self.workloads[flow.workload as usize].transport {
                Transport::Tcp(_) => 6,
                Transport::Udp(_) => 17,
            },
        }
    }

    /// The links that the payload of `flow` takes, in order: the choices of the same states that the packets meet.
    /// `None` where packets are balanced one by one; empty where there is no way.
    pub fn flow_path(&self, flow: FlowId) -> Option<Vec<LinkId>> {
        let Flow { src, dst, .. } = self.flows[flow.index()];
        self.load_balance
            .is_per_flow()
            .then(|| self.chosen_path(src, dst, &self.five_tuple(flow)))
    }

    /// The links that acknowledgments of `flow` take, as [`Scenario::flow_path`].
    pub fn reverse_path(&self, flow: FlowId) -> Option<Vec<LinkId>> {
        let Flow { src, dst, .. } = self.flows[flow.index()];
        self.load_balance
            .is_per_flow()
            .then(|| self.chosen_path(dst, src, &self.five_tuple(flow).reverse()))
    }

    fn chosen_path(&self, src: NodeId, dst: NodeId, tuple: &FiveTuple) -> Vec<LinkId> {
        let entropy = self.load_balance.entropy(tuple);
        self.walk(src, dst, |node, hops| match *hops {
            [only] => only,
            _ => self
                .load_balance
                .switch(self.seed, &self.network, node)
                .choose(entropy, dst, hops),
        })
    }

    /// One of the shortest paths, the first by the ids of its links; empty where there is no way.
    pub fn first_path(&self, src: NodeId, dst: NodeId) -> Vec<LinkId> {
        self.walk(src, dst, |_, hops| hops[0])
    }

    fn walk(
        &self,
        src: NodeId,
        dst: NodeId,
        mut choose: impl FnMut(NodeId, &[LinkId]) -> LinkId,
    ) -> Vec<LinkId> {
        let mut path = Vec::new();
        let mut node = src;
        while node != dst {
            let hops = self.routes.next_hops(node, dst);
            // Chosen hops can lead into a dead end only if the tables are wrong: distances fall at every hop.
            if hops.is_empty() {
                return Vec::new();
            }
            let link = choose(node, hops);
            path.push(link);
            node = self.network.links[link.index()].dst;
        }
        path
    }
}
