//! Bisection: every host of the first half is paired with one of the second half.
//!
//! Source: the bisection tests of a course project (`experiments/studies/ecmp_fat_tree`), which uses two different pairings.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::choice! {
    /// Who is paired with whom, of n hosts.
    pub enum Pairing {
        /// Host i with host i + n/2.
        Straight = "straight",
        /// Host i with host n - 1 - i.
        Reversed = "reversed",
        /// Each of the first half with one of the second, drawn at random.
        Random = "random",
    }
}

crate::kind! {
    /// Every host of the first half sends to its own partner in the second half.
    pub struct Bisection: "workload" / "bisection", source "" {
        /// Payload bytes of each flow; left out, flows are endless and `backend.until` must be a time.
        pub size: Option<Bytes> = None, at least 1;
        /// Who is paired with whom.
        pub pairing: Pairing = Pairing::Straight;
        /// The second half sends to the first, too.
        pub both: bool = false;
    }
}

impl Generate for Bisection {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        need_hosts(size.hosts, 2, "a bisection")?;
        if !size.hosts.is_multiple_of(2) {
            return Err(Fault::new(
                "workload",
                format!("{} hosts have no two equal halves", size.hosts),
            )
            .into());
        }
        Ok(if self.both {
            size.hosts
        } else {
            size.hosts / 2
        })
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let hosts: Vec<NodeId> = context.network.host_ids().collect();
        let (first, second) = hosts.split_at(hosts.len() / 2);
        let mut partners = second.to_vec();
        match self.pairing {
            Pairing::Straight => {}
            Pairing::Reversed => partners.reverse(),
            Pairing::Random => context.stream("pairing").shuffle(&mut partners),
        }
        let size = self.size.map(|s| s.0);
        let there = first
            .iter()
            .zip(&partners)
            .map(|(&a, &b)| context.upload(a, b, size));
        let back = first
            .iter()
            .zip(&partners)
            .map(|(&a, &b)| context.upload(b, a, size));
        Ok(if self.both {
            there.chain(back).collect()
        } else {
            there.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::tests::{ends, fault, flows};
    use serde_json::json;

    #[test]
    fn the_halves_are_paired() {
        let ends = |pairing: &str, both: bool| {
            ends(&flows(
                4,
                json!({ "kind": "bisection", "pairing": pairing, "both": both }),
            ))
        };
        assert_eq!(ends("straight", false), [(0, 2), (1, 3)]);
        assert_eq!(ends("reversed", true), [(0, 3), (1, 2), (3, 0), (2, 1)]);
        let mut partners: Vec<_> = ends("random", false).into_iter().map(|e| e.1).collect();
        partners.sort_unstable();
        assert_eq!(partners, [2, 3]);
        assert_eq!(
            fault(5, json!({ "kind": "bisection" })),
            "workload: 5 hosts have no two equal halves"
        );
    }
}
