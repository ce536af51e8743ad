//! Flow sizes: how many bytes a flow carries, as a distribution.

use crate::error::Fault;
use crate::random::Stream;

pub mod fixed;

crate::room! {
    /// How large flows are: `size = { kind = ..., ... }` of a workload.
    pub enum FlowSize {
        Fixed(fixed::Fixed),
    }
}

crate::room_parameter!(FlowSize => "flow_size");

/// A distribution ready to draw from.
pub trait Draw {
    /// Bytes of one flow, at least 1.
    fn draw(&self, random: &mut Stream) -> u64;
    /// Its mean in bytes, exact.
    fn mean(&self) -> f64;
}

impl FlowSize {
    /// Reads what must be read (a CDF file) and gives the distribution.
    ///
    /// # Errors
    /// A file that is missing or is no CDF, with its line.
    pub fn distribution(&self) -> Result<Box<dyn Draw>, Fault> {
        match self {
            Self::Fixed(f) => Ok(Box::new(f.clone())),
        }
    }
}
