//! None: a full queue drops, as `[queue]` says.

weft_net::kind! {
    /// Links send whatever happens behind them; a full queue drops.
    pub struct None: "flow_control" / "none", source "" {
    }
}
