//! The packet-level, discrete-event simulator.
//!
//! The map: [`simulation`] chooses an engine by [`flow_control`]. `lossless` has a map of its own. The other is for queues that drop:
//! `engine` opens windows of time from the `calendar` and lets nodes handle their events; the `wire` moves
//! packets through `port`s (`bucket`: shaped ones) under a [`queue`] discipline; a `host` gives them, through the [`receive`] side, to the ends of
//! flows, which `opening` makes, `network_card` lets send and `closing` ends. For TCP these are `sender` (`entropy`, `handshake`, `timers`, `acknowledgment`,
//! `scoreboard`, `rtt`, `loss_recovery`, [`congestion`]) and `receiver` (`receiver_handshake`, `islands`), for UDP `datagram`. `multipath`, `stream`,
//! `inbox` and `mapping` join the subflows of a connection; `app` and its `client`s, `messages`, `requests` and `subflow_messages` are of applications. `probe` samples;
//! `ending` ends the run after `conservation`; a `tap` on ports feeds a `capture`: `segment_header` and `mptcp_options` say what a
//! `frame` holds, `pcapng` how it is kept. For both engines, [`outcome`] makes `flow_table` and `tables`.

mod acknowledgment;
mod address;
mod app;
mod bucket;
mod calendar;
mod capture;
mod client;
mod closing;
pub mod config;
pub mod congestion;
mod conservation;
mod datagram;
mod ending;
mod engine;
mod entropy;
mod ethernet;
pub mod flow_control;
mod flow_table;
mod frame;
mod handshake;
mod host;
mod inbox;
mod islands;
mod loss_recovery;
mod lossless;
mod mapping;
mod messages;
mod mptcp_options;
mod multipath;
mod network_card;
mod opening;
pub mod outcome;
mod packet;
mod pcapng;
mod port;
mod prefetch;
mod probe;
pub mod queue;
pub mod receive;
mod receiver;
mod receiver_handshake;
mod record;
mod requests;
mod rtt;
pub mod schedule;
mod scoreboard;
mod segment_header;
mod segments;
mod sender;
mod sha256;
pub mod simulation;
mod stream;
mod subflow_messages;
mod tables;
mod tap;
mod timers;
mod trace_table;
mod turns;
mod wear;
mod wheel;
mod window;
mod wire;

use flow_control::FlowControl;

pub use config::Config;
pub use outcome::{Outcome, Summary};
pub use simulation::Simulation;

/// The kinds of all rooms of this crate.
pub fn kinds() -> Vec<weft_net::kinds::Kind> {
    use weft_net::kinds::Describe;

    [
        queue::Queue::kinds(),
        congestion::Congestion::kinds(),
        receive::Receive::kinds(),
        FlowControl::kinds(),
        vec![
            flow_control::credit::LaneWeight::describe(),
            flow_control::credit::LaneMap::describe(),
            flow_control::credit::CreditPort::describe(),
            flow_control::pfc::Storm::describe(),
        ],
    ]
    .concat()
}

/// Bytes that a run needs beside its scenario, an estimate from above: state of ports and connections, the packets in
/// flight, the tables at the end. Measured on fat trees from k = 4 to 32 (benches/README.md). Where links are lossless the packets
/// wait instead of being dropped, as many as buffers hold: `flow_control` says how many, in `switches` and at the ends of links.
pub fn memory_bytes(flow_control: &FlowControl, switches: u64, links: u64, subflows: u64) -> u64 {
    let waiting = match flow_control {
        FlowControl::None(_) => 0,
        FlowControl::Credit(credit) => {
            let packets = 1 + credit.input_buffer / 34;
            links * credit.lanes * (400 + packets * 64)
        }
        FlowControl::Pfc(pfc) => {
            let packets = pfc.buffer.0 / 1_500;
            links * pfc.classes * 320 + switches * packets * 52
        }
    };
    4_000_000 + links * 1_200 + subflows * 3_500 + waiting
}
