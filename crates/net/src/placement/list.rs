//! Hosts by name, in the order of the list.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;
use crate::workload::HostNames;

crate::kind! {
    /// The hosts that are named.
    pub struct List: "placement" / "list", source "" {
        /// Their names, each once.
        pub hosts: Vec<String>;
    }
}

impl List {
    pub(super) fn hosts(&self, network: &Network) -> Result<Vec<NodeId>, Vec<Fault>> {
        let names = HostNames::of(network);
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for (i, name) in self.hosts.iter().enumerate() {
            let mut refuse =
                |message| faults.push(Fault::new(format!("placement.hosts[{i}]"), message));
            match names.find(name) {
                Ok(host) if found.contains(&host) => refuse(format!("{name} is listed twice")),
                Ok(host) => found.push(host),
                Err(message) => refuse(message),
            }
        }
        if faults.is_empty() {
            Ok(found)
        } else {
            Err(faults)
        }
    }
}
