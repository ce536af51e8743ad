//! Wear: a wire that loses packets after they have left the port.

use serde::{Deserialize, Serialize};
use weft_net::network::{Link, LossKind};
use weft_net::random::Stream;

/// How a lossy wire chooses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wear {
    kind: LossKind,
    p: f64,
    /// Periodic: fraction of a loss that has built up.
    built_up: f64,
    random: Stream,
    /// Packets lost.
    pub(crate) lost: u64,
    /// Their bytes.
    pub(crate) lost_bytes: u64,
}

impl Wear {
    pub(crate) fn new(link: &Link, key: u64) -> Option<Self> {
        link.loss.as_ref().map(|loss| Self {
            kind: loss.kind,
            p: loss.p,
            built_up: 0.0,
            random: Stream::from_key(key),
            lost: 0,
            lost_bytes: 0,
        })
    }

    /// Whether the next packet is lost.
    pub(crate) fn takes(&mut self, bytes: u64) -> bool {
        let is_lost = match self.kind {
            LossKind::Random => self.random.uniform() < self.p,
            LossKind::Periodic => {
                self.built_up += self.p;
                let is_due = self.built_up >= 1.0 - 1e-9;
                if is_due {
                    self.built_up -= 1.0;
                }
                is_due
            }
        };
        if is_lost {
            self.lost += 1;
            self.lost_bytes += bytes;
        }
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use weft_net::ids::NodeId;
    use weft_net::network::Loss;
    use weft_net::units::{Rate, Time};

    use super::*;

    #[test]
    fn a_periodic_wire_loses_every_thousandth() {
        let link = Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate: Rate(1),
            delay: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: Some(Loss {
                kind: LossKind::Periodic,
                p: 1e-3,
            }),
            is_up: true,
        };
        let mut wear = Wear::new(&link, 0).expect("lossy");
        let lost: Vec<usize> = (1..=5_000).filter(|_| wear.takes(1)).collect();
        assert_eq!(lost, [1000, 2000, 3000, 4000, 5000]);
    }
}
