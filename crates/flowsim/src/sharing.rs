//! Sharing: the rates of flows that cross links of limited capacity.

pub mod divided;
pub mod max_min;
