//! None: every source sends as fast as it can, and the flow control of the links alone holds it back.

weft_net::kind! {
    /// No congestion control: for lossless links, where flow control pushes back.
    pub struct None: "congestion" / "none", source "" {
    }
}
