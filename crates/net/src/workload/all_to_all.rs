//! All to all: every host sends to every other, all at once (the shuffle of MapReduce).

use crate::error::Fault;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::kind! {
    /// Every host sends to every other at once.
    pub struct AllToAll: "workload" / "all_to_all", source "" {
        /// Payload bytes of each flow; left out, flows are endless and `backend.until` must be a time.
        pub size: Option<Bytes> = None, at least 1;
    }
}

impl Generate for AllToAll {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        need_hosts(size.hosts, 2, "all to all")?;
        Ok(size.hosts * (size.hosts - 1))
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let hosts = || context.network.host_ids();
        let pairs = hosts().flat_map(|src| {
            hosts()
                .filter(move |&dst| dst != src)
                .map(move |dst| (src, dst))
        });
        Ok(pairs
            .map(|(src, dst)| context.upload(src, dst, self.size.map(|s| s.0)))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::tests::{ends, flows};
    use serde_json::json;

    #[test]
    fn three_hosts_have_six_flows() {
        let flows = flows(3, json!({ "kind": "all_to_all" }));
        assert_eq!(
            ends(&flows),
            [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
        );
    }
}
