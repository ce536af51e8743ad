//! WHAT is simulated: networks, routes and flows. This crate knows no simulator.
//!
//! The map, in the order in which things are built: [`topology`] gives a [`network`], [`routing`] its forwarding
//! tables, [`workload`] (with [`flow_size`]) the flows, [`transport`] what carries them, [`load_balance`] the choice
//! among equal next hops. [`scenario`] is all of that together, and [`results`] the tables that every backend fills.
//! [`kinds`] is how all of these describe themselves.

pub mod error;
pub mod flow_size;
pub mod ids;
pub mod kinds;
pub mod load_balance;
pub mod network;
pub mod paths;
pub mod random;
pub mod results;
pub mod routing;
pub mod scenario;
pub mod topology;
pub mod transport;
pub mod units;
pub mod workload;

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
        vec![
            network::LinkConfig::describe(),
            network::Loss::describe(),
            network::Override::describe(),
            topology::custom::Cable::describe(),
            scenario::plan::WorkloadKeys::describe(),
        ],
    ]
    .concat()
}
