//! Pairs: exactly the flows that are written down.

use crate::error::Fault;
use crate::topology::Size;
use crate::units::{Bytes, Time};
use crate::workload::{Context, Flow, Generate, HostNames};

crate::kind! {
    /// One flow for each pair in a list.
    pub struct Pairs: "workload" / "pairs", source "" {
        /// Who sends to whom: `["h000>h101", ...]`; a pair may occur several times.
        pub pairs: Vec<String>;
        /// Payload bytes of each flow; left out, flows are endless and `backend.until` must be a time.
        pub size: Option<Bytes> = None, at least 1;
    }
}

impl Generate for Pairs {
    fn flow_count(
        &self,
        _size: &Size,
        _start: Time,
        _stop: Option<Time>,
    ) -> Result<u64, Vec<Fault>> {
        Ok(self.pairs.len() as u64)
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        let names = HostNames::of(context.network);
        let mut faults = Vec::new();
        let mut flows = Vec::new();
        for (i, pair) in self.pairs.iter().enumerate() {
            let ends = pair
                .split_once('>')
                .ok_or_else(|| format!("{pair:?} is not \"source>destination\""));
            let ends = ends.and_then(|(a, b)| Ok((names.find(a.trim())?, names.find(b.trim())?)));
            match ends {
                Ok((src, dst)) if src == dst => {
                    faults.push(Fault::new(
                        format!("workload.pairs[{i}]"),
                        format!("{pair:?} sends to itself"),
                    ));
                }
                Ok((src, dst)) => flows.push(context.upload(src, dst, self.size.map(|s| s.0))),
                Err(message) => faults.push(Fault::new(format!("workload.pairs[{i}]"), message)),
            }
        }
        if faults.is_empty() {
            Ok(flows)
        } else {
            Err(faults)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::tests::{ends, flows, try_flows};
    use serde_json::json;

    #[test]
    fn flows_are_those_of_the_list() {
        let pairs = json!({ "kind": "pairs", "pairs": ["h0>h2", "h2 > h1", "h0>h2"] });
        assert_eq!(ends(&flows(3, pairs)), [(0, 2), (2, 1), (0, 2)]);
    }

    #[test]
    fn every_faulty_pair_is_named() {
        let pairs = json!({ "kind": "pairs", "pairs": ["h0>h2", "h0-h1", "h1>h1", "h0>h9"] });
        let faults: Vec<_> = try_flows(3, pairs, None)
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            faults,
            [
                "workload.pairs[1]: \"h0-h1\" is not \"source>destination\"",
                "workload.pairs[2]: \"h1>h1\" sends to itself",
                "workload.pairs[3]: there is no host \"h9\"; did you mean \"h0\"?",
            ]
        );
    }
}
