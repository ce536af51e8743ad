//! The flow level: how flows share the links of a network, without packets.
//!
//! [`sharing`] gives the rates of flows whose paths are known; [`bound`] applies it to a scenario.

pub mod bound;
pub mod sharing;
