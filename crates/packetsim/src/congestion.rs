//! Congestion control: how large the window is.
//!
//! A control of TCP sees acknowledgments, losses, timeouts and marks, and sets `cwnd` and `ssthresh`. Detecting a loss and
//! repairing it is not its business (`loss_recovery.rs`). Windows are in segments, as real numbers.

use serde::{Deserialize, Serialize};

pub mod balia;
pub mod cubic;
pub mod dcqcn;
pub mod dctcp;
pub mod hpcc;
pub mod infiniband;
pub mod lia;
pub mod none;
pub mod olia;
pub mod reno;
pub mod swift;

/// The window, in segments.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold; infinite at first.
    pub ssthresh: f64,
}

impl Window {
    /// Whether the window doubles every round trip.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start: one segment more for each that was acknowledged, not beyond `ssthresh` (RFC 5681, section 3.1).
    /// Returns the acknowledged segments that are left for congestion avoidance.
    #[inline]
    pub fn slow_start(&mut self, acked: f64) -> f64 {
        if !self.in_slow_start() {
            return acked;
        }
        let grown = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }
}

/// An acknowledgment of new data, as a control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time, ps.
    pub now: u64,
    /// Segments that it newly acknowledges (cumulatively).
    pub acked: u32,
    /// Round trip of the newest of them, ps; 0 if unknown (it was sent twice).
    pub rtt: u64,
    /// Smoothed round trip, ps; 0 before the first sample.
    pub srtt: u64,
    /// First segment not acknowledged.
    pub una: u32,
    /// Next new segment.
    pub nxt: u32,
    /// The receiver echoes congestion experienced.
    pub is_marked: bool,
    /// The window, not the application or the network card, limits the sender: only then may it grow.
    pub is_limited: bool,
}

/// What coupled controls know of a subflow: all of a connection share a list of these (`crate::stream`).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Path {
    /// Window, segments; 0 unless the subflow is established.
    pub(crate) cwnd: f64,
    /// Smoothed round trip, ps; 0 before the first sample.
    pub(crate) srtt: f64,
    /// What the control itself publishes: OLIA the segments between its last losses.
    pub(crate) own: f64,
}

impl Path {
    /// Windows and round trips of the paths that count.
    pub(crate) fn active(paths: &[Path]) -> impl Iterator<Item = (usize, &Path)> {
        (paths.iter().enumerate()).filter(|(_, p)| p.cwnd > 0.0 && p.srtt > 0.0)
    }
}

/// What every control can do. Each call is one event of the connection.
pub(crate) trait Control {
    /// New data is acknowledged outside of loss recovery.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// The receiver echoes a mark; called for every such ACK, also in recovery, before `on_ack`.
    fn on_mark(&mut self, window: &mut Window, ack: &Ack);
    /// A loss is detected: sets `ssthresh` and `cwnd` for the recovery, once for each round trip.
    fn on_loss(&mut self, window: &mut Window, now: u64, nxt: u32);
    /// The retransmission timer expires: sets `ssthresh`; the caller sets `cwnd` to one segment.
    fn on_timeout(&mut self, window: &mut Window, flight: u32, now: u64);
    /// The loss was none: the window is being restored.
    fn on_undo(&mut self) {}
    /// Any ACK, before all others: `segments` were delivered, cumulatively or selectively.
    fn on_delivered(&mut self, _segments: u32, _ack: &Ack) {}
    /// Before every other call, of a subflow whose connection has several: `paths` as they are, `own` the one of this
    /// control. Where it is never called (one path), a coupled control is Reno.
    fn couple(&mut self, _own: usize, _paths: &mut [Path]) {}
    /// Whether it wants to be told of the other subflows.
    fn is_coupled(&self) -> bool {
        false
    }
    /// Whether packets are ECN-capable and every mark is echoed as it is (RFC 8257), not until it is answered (RFC 3168).
    fn needs_precise_marks(&self) -> bool {
        false
    }
}

/// The list: a kind is one line. Those of TCP stand with the state of one sender that is made from them; the others
/// belong to a transport of their own, whose engine reads them.
macro_rules! controls {
    (
        $(#[doc = $doc:expr])*
        tcp { $($kind:ident($config:ty => $state:ty)),* $(,)? }
        others { $($other:ident($other_config:ty)),* $(,)? }
    ) => {
        weft_net::room! {
            $(#[doc = $doc])*
            pub enum Congestion { $($kind($config),)* $($other($other_config),)* }
        }

        /// The state of one sender's control.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Controller { $($kind($state),)* }

        impl Congestion {
            /// Whether a sender of TCP can have it.
            pub(crate) fn is_for_tcp(&self) -> bool {
                !matches!(self, $(Self::$other(_))|*)
            }

            /// A sender's controller at the start of its connection. Panics unless [`Self::is_for_tcp`].
            pub(crate) fn controller(&self) -> Controller {
                match self {
                    $(Self::$kind(config) => Controller::$kind(<$state>::new(config)),)*
                    $(Self::$other(_) => unreachable!("refused when the experiment was read"),)*
                }
            }
        }

        // An enum, not a trait object: the call is inlined on the path of every ACK.
        impl Control for Controller {
            #[inline]
            fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$kind(control) => control.on_ack(window, ack),)* }
            }
            fn on_mark(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Self::$kind(control) => control.on_mark(window, ack),)* }
            }
            fn on_loss(&mut self, window: &mut Window, now: u64, nxt: u32) {
                match self { $(Self::$kind(control) => control.on_loss(window, now, nxt),)* }
            }
            fn on_timeout(&mut self, window: &mut Window, flight: u32, now: u64) {
                match self { $(Self::$kind(control) => control.on_timeout(window, flight, now),)* }
            }
            fn on_undo(&mut self) {
                match self { $(Self::$kind(control) => control.on_undo(),)* }
            }
            #[inline]
            fn on_delivered(&mut self, segments: u32, ack: &Ack) {
                match self { $(Self::$kind(control) => control.on_delivered(segments, ack),)* }
            }
            #[inline]
            fn couple(&mut self, own: usize, paths: &mut [Path]) {
                match self { $(Self::$kind(control) => control.couple(own, paths),)* }
            }
            fn is_coupled(&self) -> bool {
                match self { $(Self::$kind(control) => control.is_coupled(),)* }
            }
            fn needs_precise_marks(&self) -> bool {
                match self { $(Self::$kind(control) => control.needs_precise_marks(),)* }
            }
        }
    };
}

controls! {
    /// The congestion control of every sender: `[congestion]`.
    tcp {
        Reno(reno::Reno => reno::State),
        Cubic(cubic::Cubic => cubic::State),
        Dctcp(dctcp::Dctcp => dctcp::State),
        Lia(lia::Lia => lia::State),
        Olia(olia::Olia => olia::State),
        Balia(balia::Balia => balia::State),
    }
    others {
        None(none::None),
        Infiniband(infiniband::Infiniband),
        Dcqcn(dcqcn::Dcqcn),
        Hpcc(hpcc::Hpcc),
        Swift(swift::Swift),
    }
}
