//! All hosts, in the order of the topology.

crate::kind! {
    /// Every host of the fabric.
    pub struct All: "placement" / "all", source "" {}
}
