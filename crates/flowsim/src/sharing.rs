//! Sharing: the rates of flows that cross links of limited capacity.
//!
//! A kind is told what has changed and gives everybody's rate anew, touching as few as it can.

use crate::active::Active;

pub mod alpha_fair;
pub mod divided;
mod filling;
pub mod max_min;

weft_net::room! {
    /// How flows share links in the flow-level simulator: `[sharing]`.
    pub enum Sharing {
        MaxMin(max_min::MaxMin),
        AlphaFair(alpha_fair::AlphaFair),
    }
}

/// What changed since rates were shared last.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Subflows that are new, or whose limit is.
    pub slots: Vec<u32>,
    /// Links of subflows that have ended.
    pub links: Vec<u32>,
}

impl Change {
    /// Nothing.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.links.clear();
    }
}

/// A kind at work: what it remembers between changes.
#[derive(Clone, Debug)]
pub enum Sharer {
    /// Levels.
    MaxMin(max_min::Levels),
    /// Prices.
    AlphaFair(alpha_fair::Prices),
}

impl Sharing {
    /// For an empty network.
    pub fn sharer(&self, active: &Active) -> Sharer {
        match self {
            Self::MaxMin(_) => Sharer::MaxMin(max_min::Levels::default()),
            Self::AlphaFair(kind) => Sharer::AlphaFair(alpha_fair::Prices::new(kind, active)),
        }
    }
}

impl Sharer {
    /// Shares anew after `change`; returns the slots whose rates are written anew, each once, in an order that follows from
    /// what happened.
    pub fn share(&mut self, active: &mut Active, change: &Change) -> &[u32] {
        match self {
            Self::MaxMin(levels) => levels.share(active, change),
            Self::AlphaFair(prices) => prices.share(active, change),
        }
    }
}
