//! WHAT is simulated: networks, routes and flows. This crate knows no simulator.
//!
//! The map, in the order in which things are built: [`topology`] gives a [`network`], [`routing`] its forwarding
//! tables, [`workload`] (with [`flow_size`]) the flows, [`transport`] what carries them, [`load_balance`] the choice
//! among equal next hops. [`scenario`] is all of that together, and [`results`] the tables that every backend fills.
//! [`mod@kinds`] is how all of these describe themselves.

pub mod cdf;
mod cut;
mod declare;
mod digraph;
pub mod error;
pub mod failure;
pub mod flow_path;
pub mod flow_size;
pub mod forwarding;
pub mod ideal_fct;
pub mod idle_times;
pub mod ids;
pub mod kinds;
mod lattice;
pub mod load_balance;
mod many_paths;
mod nearest;
pub mod network;
mod parts;
pub mod paths;
pub mod placement;
mod ports;
pub mod random;
mod random_graph;
pub mod results;
mod route_builder;
pub mod routes;
pub mod routing;
pub mod scenario;
pub mod shaper;
pub mod source_routes;
pub mod spread;
pub mod subflows;
pub mod survey;
pub mod topology;
pub mod transport;
pub mod units;
pub mod workload;
pub mod workload_plan;
mod yen;

/// All kinds of all rooms of this crate, room by room, and the records that they use.
pub fn kinds() -> Vec<kinds::Kind> {
    use kinds::Describe;

    [
        topology::Topology::kinds(),
        routing::Routing::kinds(),
        load_balance::LoadBalance::kinds(),
        transport::Transport::kinds(),
        workload::Workload::kinds(),
        flow_size::FlowSize::kinds(),
        placement::Placement::kinds(),
        vec![
            network::LinkConfig::describe(),
            network::Loss::describe(),
            network::Override::describe(),
            topology::custom::Cable::describe(),
            workload_plan::WorkloadKeys::describe(),
            failure::Failure::describe(),
        ],
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::kinds::ValueType;

    fn check(value: &ValueType, rooms: &BTreeSet<&str>, records: &BTreeSet<&str>, place: &str) {
        match value {
            ValueType::Table { record } => assert!(records.contains(record), "{place}: {record}"),
            // Rooms of the simulators.
            ValueType::Room {
                room: "congestion" | "receive",
            } => {}
            ValueType::Room { room } => assert!(rooms.contains(room), "{place}: {room}"),
            ValueType::List { of } => check(of, rooms, records, place),
            _ => {}
        }
    }

    #[test]
    fn kinds_are_complete_and_documented() {
        let kinds = super::kinds();
        let rooms: BTreeSet<_> = kinds.iter().map(|k| k.room).collect();
        let records: BTreeSet<_> = kinds
            .iter()
            .filter(|k| k.room == "record")
            .map(|k| k.name)
            .collect();
        let names: BTreeSet<_> = kinds.iter().map(|k| (k.room, k.name)).collect();
        assert_eq!(names.len(), kinds.len(), "no kind is listed twice");
        for kind in &kinds {
            assert!(!kind.doc.is_empty(), "{}", kind.name);
            for parameter in &kind.parameters {
                let place = format!("{}.{}", kind.name, parameter.name);
                assert!(!parameter.doc.is_empty(), "{place}");
                check(&parameter.value, &rooms, &records, &place);
            }
        }
    }
}
