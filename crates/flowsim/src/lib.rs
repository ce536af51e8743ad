//! The flow level: how flows share the links of a network, without packets.
//!
//! [`engine::Simulation`] runs a scenario: arrivals, completions, and rates in between that [`sharing`] gives. [`bound`]
//! shares among all flows at once: what a fabric can give.

pub mod active;
pub mod bound;
pub mod config;
pub mod engine;
mod outcome;
mod probe;
pub mod sharing;
mod startup;
mod ways;

pub use engine::Simulation;
pub use outcome::{Outcome, Summary};

/// Every kind of the rooms of this crate.
pub fn kinds() -> Vec<weft_net::kinds::Kind> {
    sharing::Sharing::kinds()
}
