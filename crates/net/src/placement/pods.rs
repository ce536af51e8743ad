//! Whole pods.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;

crate::kind! {
    /// The hosts of some pods of a fabric that has pods.
    pub struct Pods: "placement" / "pods", source "" {
        /// Their numbers.
        pub pods: Vec<u64>;
    }
}

impl Pods {
    pub(super) fn hosts(&self, network: &Network) -> Result<Vec<NodeId>, Fault> {
        let pod = |h: NodeId| network.nodes[h.index()].pod.map(u64::from);
        let refuse = |message| Err(Fault::new("placement.pods", message));
        let Some(last) = network.host_ids().filter_map(pod).max() else {
            return refuse(
                "this topology has no pods; take kind = \"list\" or \"share\"".to_owned(),
            );
        };
        if let Some(unknown) = self.pods.iter().find(|&&p| p > last) {
            return refuse(format!("there is no pod {unknown}; pods are 0 to {last}"));
        }
        let is_in = |&h: &NodeId| pod(h).is_some_and(|p| self.pods.contains(&p));
        Ok(network.host_ids().filter(is_in).collect())
    }
}
