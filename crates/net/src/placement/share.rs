//! A share of the hosts: several applications side by side, or interleaved.
//!
//! Source: the placement test of the course report on ECMP fat trees (`experiments/studies`): applications that stay in their
//! own pods against applications that share paths.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::network::Network;

crate::choice! {
    /// How hosts are dealt to applications.
    pub enum How {
        /// Neighbours together: each application has its own part of the fabric.
        Apart = "apart",
        /// In turn: applications meet under every switch.
        Mixed = "mixed",
    }
}

crate::kind! {
    /// One of several equal shares of the hosts, in the order of the topology; hosts that are left over stay idle.
    pub struct Share: "placement" / "share", source "the course report on ECMP fat trees" {
        /// How many shares there are.
        pub applications: u64, at least 1;
        /// Which of them, from 0.
        pub application: u64;
        /// How hosts are dealt.
        pub how: How = How::Apart;
    }
}

impl Share {
    pub(super) fn hosts(&self, network: &Network) -> Result<Vec<NodeId>, Fault> {
        let (n, i) = (self.applications as usize, self.application as usize);
        if i >= n {
            let message = format!("{i} is too large: {n} applications are 0 to {}", n - 1);
            return Err(Fault::new("placement.application", message));
        }
        let hosts: Vec<NodeId> = network.host_ids().collect();
        let each = hosts.len() / n;
        Ok(match self.how {
            How::Apart => hosts[i * each..(i + 1) * each].to_vec(),
            How::Mixed => hosts.into_iter().skip(i).step_by(n).take(each).collect(),
        })
    }
}
