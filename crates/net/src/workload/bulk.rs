//! Bulk transfers of an application: what iperf does between the hosts that it is placed on.

use crate::error::Fault;
use crate::ids::NodeId;
use crate::placement::Placement;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::kind! {
    /// The first half of an application's hosts send to the second half, host by host, over some connections each.
    pub struct Bulk: "workload" / "bulk", source "iperf3" {
        /// Which hosts the application runs on.
        pub place: Placement = Placement::All(crate::kinds::Describe::defaults());
        /// Connections of each pair.
        pub streams: u64 = 1, range 1..=1000;
        /// Payload bytes of each connection; left out, endless.
        pub size: Option<Bytes> = None, at least 1;
    }
}

impl Generate for Bulk {
    fn flow_count(
        &self,
        size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        need_hosts(size.hosts, 2, "bulk transfers")?;
        // Of all hosts: a placement on fewer is known when the fabric is built.
        let hosts = match &self.place {
            Placement::List(list) => list.hosts.len() as u64,
            Placement::Share(share) => size.hosts / share.applications,
            _ => size.hosts,
        };
        Ok((hosts / 2).saturating_mul(self.streams))
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let hosts = placed(&self.place, context, 2)?;
        let (senders, receivers) = hosts.split_at(hosts.len() / 2);
        let pairs = senders.iter().zip(receivers);
        Ok(pairs
            .flat_map(|(&src, &dst)| (0..self.streams).map(move |_| (src, dst)))
            .map(|(src, dst)| context.upload(src, dst, self.size.map(|s| s.0)))
            .collect())
    }
}

/// The hosts of a placement, at least so many of them.
pub(super) fn placed(
    place: &Placement,
    context: &Context<'_>,
    least: usize,
) -> Result<Vec<NodeId>, Vec<Fault>> {
    let hosts = place.hosts(context.network).map_err(|faults| {
        let under = |f: Fault| f.in_section("workload.place");
        faults.into_iter().map(under).collect::<Vec<_>>()
    })?;
    if hosts.len() < least {
        let message = format!(
            "{} hosts are placed; at least {least} are needed",
            hosts.len()
        );
        return Err(vec![Fault::new("workload.place", message)]);
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use crate::workload::tests::{ends, fault, flows};
    use serde_json::json;

    #[test]
    fn the_first_half_sends_to_the_second() {
        let list = json!({ "kind": "list", "hosts": ["h5", "h1", "h2", "h7"] });
        let workload = json!({ "kind": "bulk", "place": list, "streams": 2 });
        assert_eq!(ends(&flows(8, workload)), [(5, 2), (5, 2), (1, 7), (1, 7)]);
    }

    #[test]
    fn a_place_that_is_too_small_is_refused() {
        let list = json!({ "kind": "list", "hosts": ["h5"] });
        assert_eq!(
            fault(8, json!({ "kind": "bulk", "place": list })),
            "workload.place: 1 hosts are placed; at least 2 are needed"
        );
        let list = json!({ "kind": "list", "hosts": ["h5", "h99"] });
        assert!(
            fault(8, json!({ "kind": "bulk", "place": list }))
                .starts_with("workload.place.hosts[1]: there is no host")
        );
    }
}
