//! Stride: host i sends to host i + stride, counted around.
//!
//! Source: Al-Fares et al., SIGCOMM 2008, section 5: stride(1) stays below the edge, large strides cross the core.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::kind! {
    /// Host i sends to host (i + stride) mod n.
    pub struct Stride: "workload" / "stride", source "Al-Fares et al., SIGCOMM 2008, section 5" {
        /// How far away the receiver is, in the order of hosts.
        pub stride: u64 = 1, at least 1;
        /// Payload bytes of each flow; left out, flows are endless and `backend.until` must be a time.
        pub size: Option<Bytes> = None, at least 1;
    }
}

impl Generate for Stride {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        need_hosts(size.hosts, 2, "a stride")?;
        if self.stride.is_multiple_of(size.hosts) {
            let message = format!(
                "{} steps around {} hosts lead every host back to itself",
                self.stride, size.hosts
            );
            return Err(Fault::new("workload.stride", message).into());
        }
        Ok(size.hosts)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let n = context.network.hosts as u64;
        let to = |src: u64| NodeId(((src + self.stride % n) % n) as u32);
        Ok((0..n)
            .map(|src| context.upload(NodeId(src as u32), to(src), self.size.map(|s| s.0)))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::tests::{ends, fault, flows};
    use serde_json::json;

    #[test]
    fn the_stride_goes_around() {
        assert_eq!(
            ends(&flows(4, json!({ "kind": "stride", "stride": 3 }))),
            [(0, 3), (1, 0), (2, 1), (3, 2)]
        );
        let message = fault(4, json!({ "kind": "stride", "stride": 8 }));
        assert_eq!(
            message,
            "workload.stride: 8 steps around 4 hosts lead every host back to itself"
        );
    }
}
