//! Failures: links and switches that die during a run, and the new routes that follow.
//!
//! A link that is down loses what is on it: packets under way when it fails, and those that its port, not knowing, sends
//! until routes avoid it. Routes change a stated time after the failure, everywhere at once, and again as long after the
//! repair. Where they find no way any more, packets are dropped at the switch that has none, and counted.

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::ids::LinkId;
use crate::kinds::Describe;
use crate::network::{Network, matches};
use crate::routes::Routes;
use crate::routing::Routing;
use crate::units::Time;

crate::kind! {
    /// A link or a switch that fails during the run. `[[failure]]`, once for each.
    pub struct Failure: "section" / "failure", source "" {
        /// What fails: `se00>sa00` one direction of a cable, `se00<>sa00` both, `sa00` a switch with all its links;
        /// `*` stands for any text.
        pub what: String;
        /// When it fails.
        pub when: Time;
        /// When it is repaired; left out, it stays down.
        pub until: Option<Time> = None;
        /// How long after a failure, and after a repair, all routes have changed.
        pub reconvergence: Time = Time::from_ms(50);
    }
}

impl Failure {
    /// Whether the pattern means a link.
    fn hits(&self, network: &Network, link: LinkId) -> bool {
        let link = &network.links[link.index()];
        let (src, dst) = (
            &network.nodes[link.src.index()].name,
            &network.nodes[link.dst.index()].name,
        );
        let joins = |a: &str, b: &str, from: &str, to: &str| {
            matches(a.trim(), from) && matches(b.trim(), to)
        };
        if let Some((a, b)) = self.what.split_once("<>") {
            joins(a, b, src, dst) || joins(a, b, dst, src)
        } else if let Some((a, b)) = self.what.split_once('>') {
            joins(a, b, src, dst)
        } else {
            matches(&self.what, src) || matches(&self.what, dst)
        }
    }
}

/// All failures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failures {
    /// When links are down: (link, from, until), by link and time; without an end `until` is the last moment there is.
    pub outages: Vec<(LinkId, Time, Time)>,
    /// The routes that follow those of the start, and from when on.
    pub changes: Vec<(Time, Routes)>,
}

impl Failures {
    /// The outages of the section `[[failure]]`, and the routes after each change.
    ///
    /// # Errors
    /// Every fault of the section; those of `routing` if it cannot route what is left.
    pub(crate) fn build(
        spec: &serde_json::Map<String, serde_json::Value>,
        network: &Network,
        routing: &Routing,
        routes: &Routes,
        seed: u64,
    ) -> Result<Self, Vec<Fault>> {
        let tables = spec.get("failure").and_then(serde_json::Value::as_array);
        let mut faults = Vec::new();
        let mut failures = Vec::new();
        for (i, table) in tables.into_iter().flatten().enumerate() {
            let empty = serde_json::Map::new();
            match Failure::from_table(table.as_object().unwrap_or(&empty))
                .and_then(|f| check(f, network))
            {
                Ok(found) => failures.push(found),
                Err(fault) => faults.push(fault.in_section(&format!("failure[{i}]"))),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut built = Self::default();
        // What routes believe: a link is down from each failure's reconvergence to that after its repair.
        let mut believed = Vec::new();
        for (failure, links) in failures {
            let until = failure.until.unwrap_or(Time(u64::MAX));
            let after = |t: Time| Time(t.0.saturating_add(failure.reconvergence.0));
            for link in links {
                built.outages.push((link, failure.when, until));
                believed.push((link, after(failure.when), after(until)));
            }
        }
        built.outages.sort_unstable();
        let mut times: Vec<Time> = believed
            .iter()
            .flat_map(|b| [b.1, b.2])
            .filter(|t| t.0 < u64::MAX)
            .collect();
        times.sort_unstable();
        times.dedup();
        let mut base = routes.places();
        for time in times {
            let mut left = network.clone();
            for (link, from, until) in &believed {
                if (*from..*until).contains(&time) {
                    left.links[link.index()].is_up = false;
                }
            }
            let mut next = routing.routes(&left, seed)?;
            next.begin_places_at(base);
            base = next.places();
            built.changes.push((time, next));
        }
        Ok(built)
    }
}

fn check(failure: Failure, network: &Network) -> Result<(Failure, Vec<LinkId>), Fault> {
    if let Some(until) = failure.until.filter(|&u| u <= failure.when) {
        let message = format!("{until} is not after the failure at {}", failure.when);
        return Err(Fault::new("section.until", message));
    }
    let links: Vec<LinkId> = (0..network.links.len())
        .map(LinkId::from)
        .filter(|&l| failure.hits(network, l))
        .collect();
    if links.is_empty() {
        let example = network.links.first().map_or(String::new(), |_| {
            let name = network.link_name(LinkId(0));
            format!(
                "; a link is called {name}, both its directions {}",
                name.replace('>', "<>")
            )
        });
        let message = format!("{:?} matches no link and no switch{example}", failure.what);
        return Err(Fault::new("section.what", message));
    }
    Ok((failure, links))
}

#[cfg(test)]
mod tests {
    use crate::ids::NodeId;
    use crate::scenario::tests::build;
    use serde_json::{Value, json};

    fn failing(
        topology: Value,
        routing: Value,
        failure: Value,
    ) -> Result<crate::scenario::Scenario, Vec<crate::error::Fault>> {
        build(json!({
            "topology": topology, "routing": routing, "failure": failure,
            "workload": [{ "kind": "permutation", "size": 1 }],
        }))
    }

    #[test]
    fn routes_change_a_stated_time_after_failure_and_repair() {
        let failure =
            json!([{ "what": "se00<>sa00", "when": 100, "until": 1000, "reconvergence": 50 }]);
        let s = failing(
            json!({ "kind": "fat_tree" }),
            json!({ "kind": "shortest" }),
            failure,
        )
        .unwrap();
        let names: Vec<_> = s
            .failures
            .outages
            .iter()
            .map(|o| (s.network.link_name(o.0), o.1.0, o.2.0))
            .collect();
        assert_eq!(
            names,
            [
                ("se00>sa00".to_owned(), 100, 1000),
                ("sa00>se00".to_owned(), 100, 1000)
            ]
        );
        let times: Vec<_> = s.failures.changes.iter().map(|c| c.0.0).collect();
        assert_eq!(times, [150, 1050]);
        // se00 is node 16: upwards two hops, one, and two again.
        let up = |epoch| s.routes_at(epoch).next_hops(NodeId(16), NodeId(15)).len();
        assert_eq!([0, 1, 2].map(up), [2, 1, 2]);
    }

    #[test]
    fn a_switch_takes_all_its_links_along() {
        let failure = json!([{ "what": "sc00", "when": 5 }]);
        let s = failing(
            json!({ "kind": "fat_tree" }),
            json!({ "kind": "k_shortest", "k": 4 }),
            failure,
        )
        .unwrap();
        assert_eq!(s.failures.outages.len(), 8);
        let lengths = |epoch| -> Vec<usize> {
            s.routes_at(epoch)
                .paths(&s.network, NodeId(0), NodeId(15))
                .iter()
                .map(Vec::len)
                .collect()
        };
        assert_eq!((lengths(0), lengths(1)), (vec![6; 4], vec![6, 6, 6, 8]));
    }

    #[test]
    fn what_fails_must_be_there() {
        let failure = json!([{ "what": "x*", "when": 5 }, { "what": "h0", "when": 5, "until": 5 }, { "when": 1 }]);
        let faults = failing(
            json!({ "kind": "star" }),
            json!({ "kind": "shortest" }),
            failure,
        )
        .unwrap_err();
        let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "failure[0].what: \"x*\" matches no link and no switch; a link is called h0>s, both its directions h0<>s",
                "failure[1].until: 5 ps is not after the failure at 5 ps",
                "failure[2].what: is required"
            ]
        );
    }
}
