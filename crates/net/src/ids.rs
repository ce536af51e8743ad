//! Identifiers: small integers that cannot be confused with each other.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[doc = $doc:expr])* $name:ident) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into an array.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            #[inline]
            fn from(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 of one thing"))
            }
        }
    };
}

id! {
    /// A host or a switch. Hosts come first: `0..hosts` are hosts, the rest are switches.
    NodeId
}
id! {
    /// A directed link, which is also the egress port at its source. Links come in pairs:
    /// `2i` and `2i + 1` are the two directions of one cable.
    LinkId
}
id! {
    /// A flow of the scenario, in the order of the `flows` table.
    FlowId
}

impl LinkId {
    /// The other direction of the same cable.
    #[inline]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}
