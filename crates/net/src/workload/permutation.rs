//! Permutation: every host sends to one other, and nobody receives twice.

use crate::error::Fault;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::kind! {
    /// A random permutation without fixed points.
    pub struct Permutation: "workload" / "permutation", source "Al-Fares et al., SIGCOMM 2008, section 5" {
        /// Payload bytes of each flow; left out, flows are endless and `backend.until` must be a time.
        pub size: Option<Bytes> = None, at least 1;
    }
}

impl Generate for Permutation {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        need_hosts(size.hosts, 2, "a permutation")?;
        Ok(size.hosts)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let hosts = context.network.host_ids();
        let partners = context.derangement("permutation");
        Ok(hosts
            .zip(partners)
            .map(|(src, dst)| context.upload(src, dst, self.size.map(|s| s.0)))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::tests::{ends, fault, flows};
    use serde_json::json;

    #[test]
    fn everybody_sends_once_and_receives_once() {
        let flows = flows(64, json!({ "kind": "permutation", "size": 7 }));
        let (from, mut to): (Vec<_>, Vec<_>) = ends(&flows).into_iter().unzip();
        to.sort_unstable();
        assert_eq!((from, to), ((0..64).collect(), (0..64).collect()));
        assert!(flows.iter().all(|f| f.size == Some(7) && f.src != f.dst));
    }

    #[test]
    fn one_host_has_nobody_to_send_to() {
        assert_eq!(
            fault(1, json!({ "kind": "permutation" })),
            "workload: a permutation: at least 2 hosts are needed; the topology has 1"
        );
    }
}
