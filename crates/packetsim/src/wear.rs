//! Wear: a wire that loses packets after they have left the port, some of them or, while it is down, all.
//!
//! A packet is lost if the wire is down at any moment between its first bit leaving and its last bit arriving. Both are
//! known when it joins the queue, and so are all outages of a run: nothing has to be called back when a link fails.

use serde::{Deserialize, Serialize};
use weft_net::network::{Link, LossKind};
use weft_net::random::Stream;

/// How a lossy wire chooses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wear {
    /// Without an outage: how, and what share.
    loss: Option<(LossKind, f64)>,
    /// When the wire is down: (from, until), ps, in order.
    outages: Vec<(u64, u64)>,
    /// Periodic: fraction of a loss that has built up.
    built_up: f64,
    random: Stream,
    /// Packets lost.
    pub(crate) lost: u64,
    /// Their bytes.
    pub(crate) lost_bytes: u64,
}

impl Wear {
    /// The wear of a link that fails at `outages`; `None` if it loses nothing.
    pub(crate) fn new(link: &Link, key: u64, outages: Vec<(u64, u64)>) -> Option<Self> {
        (link.loss.is_some() || !outages.is_empty()).then(|| Self {
            loss: link.loss.as_ref().map(|loss| (loss.kind, loss.p)),
            outages,
            built_up: 0.0,
            random: Stream::from_key(key),
            lost: 0,
            lost_bytes: 0,
        })
    }

    /// Whether the next packet is lost, which is on the wire from `begins` to `arrives`, ps.
    pub(crate) fn takes(&mut self, bytes: u64, begins: u64, arrives: u64) -> bool {
        let is_worn = match self.loss {
            None => false,
            Some((LossKind::Random, p)) => self.random.uniform() < p,
            Some((LossKind::Periodic, p)) => {
                self.built_up += p;
                let is_due = self.built_up >= 1.0 - 1e-9;
                if is_due {
                    self.built_up -= 1.0;
                }
                is_due
            }
        };
        let is_lost = is_worn
            || self
                .outages
                .iter()
                .any(|&(from, until)| begins < until && arrives > from);
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
            latency: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: Some(Loss {
                kind: LossKind::Periodic,
                p: 1e-3,
            }),
            is_up: true,
            shaper: None,
        };
        let mut wear = Wear::new(&link, 0, Vec::new()).expect("lossy");
        let lost: Vec<usize> = (1..=5_000).filter(|_| wear.takes(1, 0, 0)).collect();
        assert_eq!(lost, [1000, 2000, 3000, 4000, 5000]);
    }

    #[test]
    fn a_wire_that_is_down_loses_what_touches_the_outage() {
        let link = Link {
            src: NodeId(0),
            dst: NodeId(1),
            rate: Rate(1),
            delay: Time::ZERO,
            latency: Time::ZERO,
            mtu: 1500,
            overhead: 0,
            loss: None,
            is_up: true,
            shaper: None,
        };
        assert!(Wear::new(&link, 0, Vec::new()).is_none());
        let mut wear = Wear::new(&link, 0, vec![(100, 200)]).expect("fails");
        for (begins, arrives, is_lost) in [
            (80, 100, false),
            (80, 101, true),
            (120, 150, true),
            (199, 230, true),
            (200, 230, false),
        ] {
            assert_eq!(
                wear.takes(1, begins, arrives),
                is_lost,
                "{begins} to {arrives}"
            );
        }
        assert_eq!(wear.lost, 3);
    }
}
