//! Silent: one transfer at a time, nothing else on the network.
//!
//! Source: the silent network of the path diversity study (`experiments/studies`): every host sends once and receives
//! once, the pairs and their order are random, and the next begins a while after the last has closed.

use crate::error::Fault;
use crate::ids::{FlowId, NodeId};
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::kind! {
    /// Random pairs, one after another: each transfer has the network to itself.
    pub struct Silent: "workload" / "silent", source "the path diversity study" {
        /// Payload bytes of each flow.
        pub size: Bytes, at least 1;
        /// Pause between the close of one flow and the start of the next.
        pub gap: Time = Time::from_ms(1), at least 1000;
    }
}

impl Generate for Silent {
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
        let partners = context.derangement("permutation");
        let mut order: Vec<NodeId> = context.network.host_ids().collect();
        context.stream("order").shuffle(&mut order);
        let flow = |(i, src): (usize, NodeId)| {
            let flow = context.upload(src, partners[src.index()], Some(self.size.0));
            match i.checked_sub(1) {
                None => flow,
                Some(before) => Flow {
                    after: Some(FlowId(context.first_flow + before as u32)),
                    start: self.gap,
                    ..flow
                },
            }
        };
        Ok(order.into_iter().enumerate().map(flow).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::flows;
    use serde_json::json;

    #[test]
    fn each_flow_waits_for_the_one_before() {
        let flows = flows(4, json!({ "kind": "silent", "size": 7, "gap": 3_000 }));
        assert_eq!((flows[0].after, flows[0].start), (None, Time::from_us(5)));
        for (i, flow) in flows.iter().enumerate().skip(1) {
            // Flows of this workload begin at 100.
            assert_eq!(
                (flow.after, flow.start),
                (Some(FlowId(99 + i as u32)), Time(3_000))
            );
        }
        let mut from: Vec<_> = flows.iter().map(|f| f.src.0).collect();
        from.sort_unstable();
        assert_eq!(from, [0, 1, 2, 3]);
    }
}
