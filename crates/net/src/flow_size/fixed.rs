//! Every flow has the same size.

use crate::flow_size::Draw;
use crate::random::Stream;
use crate::units::Bytes;

crate::kind! {
    /// One size for all flows.
    pub struct Fixed: "flow_size" / "fixed", source "" {
        /// Payload bytes.
        pub bytes: Bytes, at least 1;
    }
}

impl Draw for Fixed {
    fn draw(&self, _random: &mut Stream) -> u64 {
        self.bytes.0
    }
    fn mean(&self) -> f64 {
        self.bytes.0 as f64
    }
}
