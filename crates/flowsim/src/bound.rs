//! The bound of a fabric: what each flow of a scenario would get if all sent at once and shared fairly.
//!
//! A flow may be split into equal subflows with ports of their own, each of which the load balancing puts on a path;
//! they share links as flows do, so that a flow's rate is the sum of theirs. No headers, no losses, no slow start.

use weft_net::error::Fault;
use weft_net::ids::FlowId;
use weft_net::scenario::Scenario;

use crate::sharing::max_min;

/// Bits per second on the wire that each flow gets under max-min fairness, with so many subflows. A flow without a way
/// gets 0. Links that fail during the run are up here.
///
/// # Errors
/// A fault at `load_balance.kind` where packets are balanced one by one, so that a flow has no path.
pub fn rates(scenario: &Scenario, subflows: u16) -> Result<Vec<f64>, Fault> {
    let paths = paths(scenario, subflows)?;
    let capacities: Vec<f64> = scenario
        .network
        .links
        .iter()
        .map(|l| l.rate.0 as f64)
        .collect();
    let each = max_min::rates(&paths, &capacities);
    Ok(each
        .chunks(usize::from(subflows))
        .map(|of_flow| of_flow.iter().sum())
        .collect())
}

/// The links of every subflow, flow by flow.
///
/// # Errors
/// As [`rates`].
pub fn paths(scenario: &Scenario, subflows: u16) -> Result<Vec<Vec<u32>>, Fault> {
    (0..scenario.flows.len())
        .flat_map(|flow| (0..subflows).map(move |s| (FlowId::from(flow), s)))
        .map(|(flow, subflow)| {
            let path = scenario.subflow_path(flow, subflow.into()).ok_or_else(|| {
                let message = "balances packet by packet, so that a flow has no path of its own; take static or ecmp";
                Fault::new("load_balance.kind", message)
            })?;
            Ok(path.into_iter().map(|l| l.0).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scenario(balance: &str, pairs: &[&str]) -> Scenario {
        let spec = json!({
            "topology": { "kind": "dumbbell", "left": 3, "right": 3, "bottleneck": { "rate": 3_000_000_000_u64 } },
            "load_balance": { "kind": balance },
            "workload": [{ "kind": "pairs", "pairs": pairs, "size": 1 }],
        });
        Scenario::build(spec.as_object().unwrap()).unwrap()
    }

    #[test]
    fn flows_share_the_bottleneck_whatever_their_subflows() {
        let scenario = scenario("ecmp", &["l0>r0", "l1>r1", "l2>r0", "r2>l2"]);
        for subflows in [1, 2, 5] {
            let rates = rates(&scenario, subflows).unwrap();
            for (rate, expected) in rates.iter().zip([1e9, 1e9, 1e9, 3e9]) {
                assert!((rate / expected - 1.0).abs() < 1e-12, "{rates:?}");
            }
        }
    }

    #[test]
    fn sprayed_flows_have_no_path() {
        let fault = rates(&scenario("spray", &["l0>r0"]), 1).unwrap_err();
        assert!(
            fault
                .to_string()
                .starts_with("load_balance.kind: balances packet by packet"),
            "{fault}"
        );
    }
}
