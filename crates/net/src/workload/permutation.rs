//! Permutation: every host sends to one other, and nobody receives twice.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::random::stream;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate};

crate::kind! {
    /// A random permutation without fixed points.
    pub struct Permutation: "workload" / "permutation", source "Al-Fares et al., SIGCOMM 2008, section 5" {
        /// Payload bytes of each flow; left out, flows are endless and `backend.until` must be a time.
        pub size: Option<Bytes> = None, at least 1;
    }
}

impl Generate for Permutation {
    fn flow_count(&self, size: &Size, _start: Time, _stop: Option<Time>) -> Result<u64, Fault> {
        Ok(size.hosts)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let n = context.network.hosts;
        if n < 2 {
            return Err(vec![Fault::new(
                "workload",
                "a permutation needs at least two hosts",
            )]);
        }
        // Redraw until no host sends to itself: on average e = 2.7 draws, every such permutation equally likely.
        let mut random = stream(
            context.seed,
            &format!("workload/{}/permutation", context.name),
        );
        let mut to: Vec<u32> = (0..n as u32).collect();
        while to.iter().enumerate().any(|(i, &t)| i as u32 == t) {
            random.shuffle(&mut to);
        }
        Ok(to
            .iter()
            .enumerate()
            .map(|(i, &t)| {
                context.upload(NodeId::from(i), NodeId(t), self.size.map(|s| s.0), i as u32)
            })
            .collect())
    }
}
