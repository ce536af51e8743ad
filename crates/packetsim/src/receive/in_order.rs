//! In order of arrival: every packet goes to TCP when it arrives, as without receive offload.

weft_net::kind! {
    /// Packets go to TCP one by one, in the order in which they arrive.
    pub struct InOrder: "receive" / "in_order", source "" {}
}
