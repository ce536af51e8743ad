//! PFC: a switch whose buffer fills pauses the port that fills it, class by class.
//!
//! The buffer of a switch is shared by all its ports, but for the headroom of each lossless (port, class): room for what still
//! comes between the decision to pause and its effect. A class of an ingress port may hold so much that its share of the buffer
//! is below a threshold (`xoff`), by default alpha times what is left of the buffer (Choudhury and Hahne, IEEE/ACM ToN
//! 1998); above it the port on the other side is paused, below `xoff` minus `xon_offset` it may go on.
//! `ethernet/` says how it acts.

use weft_net::error::Fault;
use weft_net::units::{Bytes, Rate, Time};

weft_net::choice! {
    /// Which class of a port sends next.
    pub enum Scheduler {
        /// The highest that may.
        Strict = "strict",
        /// In turn, in proportion to `weights` (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995).
        Drr = "drr",
    }
}

weft_net::choice! {
    /// What the watchdog does with a queue that has been paused for too long.
    pub enum WatchdogAction {
        /// Drops what is in it and what comes, until the pause ends.
        Drop = "drop",
        /// Sends in spite of the pause.
        Forward = "forward",
    }
}

weft_net::kind! {
    /// A host whose card sends pauses without reason.
    pub struct Storm: "record" / "storm", source "Guo et al., RDMA over commodity Ethernet at scale, SIGCOMM 2016" {
        /// Name of the host.
        pub host: String;
        /// The class that it pauses.
        pub priority: u64 = 0, range 0..=7;
        /// From when on.
        pub from: Time = Time::ZERO;
        /// Until when; left out, to the end.
        pub until: Option<Time> = None;
    }
}

weft_net::record_parameter!(Storm);

weft_net::kind! {
    /// Priority flow control over switches with a shared buffer and classes.
    pub struct Pfc: "flow_control" / "pfc", source "IEEE 802.1Qbb; Guo et al., SIGCOMM 2016" {
        /// Classes of each port, from 0 on; under `strict` the highest number goes first.
        pub classes: u64 = 1, range 1..=8;
        /// Classes that pause; left out, all. The others drop what finds no room.
        pub lossless: Option<Vec<u64>> = None;
        /// Buffer of a switch, headroom included.
        pub buffer: Bytes = Bytes(16 << 20), at least 1000;
        /// Bytes of an ingress class at which it pauses; left out, `alpha` times what is free.
        pub xoff: Option<Bytes> = None, at least 1;
        /// Share of the free buffer that an ingress class may hold before it pauses, and a lossy egress queue before it drops.
        pub alpha: f64 = 0.125, range 0.0009765625..=64.0;
        /// So far below the threshold the pause ends.
        pub xon_offset: Bytes = Bytes(3000);
        /// Room of each lossless ingress class for what comes after the pause; left out, what the link needs: twice
        /// its delay, two packets, the pause frames, and `response_time`, all at its rate, and a packet where nothing is left to share.
        pub headroom: Option<Bytes> = None;
        /// From the arrival of a pause until the port obeys.
        pub response_time: Time = Time::ZERO;
        /// Which class of a port sends next.
        pub scheduler: Scheduler = Scheduler::Strict;
        /// Shares of the classes under `drr`, from class 0 on; left out, equal.
        pub weights: Vec<u64> = Vec::new();
        /// A queue paused for so long is a storm; left out, nobody watches.
        pub watchdog: Option<Time> = None, at least 1;
        /// What is done about it.
        pub watchdog_action: WatchdogAction = WatchdogAction::Drop;
        /// Hosts that pause without reason.
        pub storms: Vec<Storm> = Vec::new();
        /// A ring of ports that have waited for each other for so long is a deadlock, and the run ends.
        pub deadlock_after: Time = Time::from_ms(1), at least 1;
    }
}

/// A pause frame with preamble and gap: 64 + 20 bytes.
pub const PAUSE_WIRE_BYTES: u64 = 84;

impl Pfc {
    /// Whether class `c` pauses.
    pub fn is_lossless(&self, class: u64) -> bool {
        self.lossless.as_ref().is_none_or(|l| l.contains(&class))
    }

    /// Bytes of headroom of a lossless class of a port whose link has this rate and delay, and packets of `mtu` bytes on the wire.
    pub fn headroom(&self, rate: Rate, delay: Time, mtu: u64) -> u64 {
        let fixed = self.headroom.map(|h| h.0);
        fixed.unwrap_or_else(|| self.needed(rate, delay, mtu) + mtu)
    }

    /// What comes at most between the decision to pause and its effect: while the pause waits for the packet before it (and pauses of
    /// other classes), crosses the link and is obeyed, then the packet that has been begun, and what is on the wire.
    pub fn needed(&self, rate: Rate, delay: Time, mtu: u64) -> u64 {
        let late = 2 * u128::from(delay.0) + u128::from(self.response_time.0);
        let on_the_way = (late * u128::from(rate.0)).div_ceil(8_000_000_000_000) as u64;
        on_the_way + 2 * mtu + self.classes * PAUSE_WIRE_BYTES
    }

    /// What does not go together.
    ///
    /// # Errors
    /// Every fault, at its key.
    pub fn check(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let classes = self.classes;
        for (i, &class) in self.lossless.iter().flatten().enumerate() {
            if class >= classes {
                let message = format!(
                    "{class} is no class; there are {classes} (flow_control.classes), from 0 on"
                );
                faults.push(Fault::new(format!("flow_control.lossless[{i}]"), message));
            }
        }
        if !self.weights.is_empty() {
            if self.scheduler == Scheduler::Strict {
                let message = "strict serves the highest class first, whatever the weights; leave them out, or set scheduler = \"drr\"";
                faults.push(Fault::new("flow_control.weights", message));
            } else if self.weights.len() as u64 != classes || self.weights.contains(&0) {
                let message = format!(
                    "{:?}: expected {classes} numbers above 0, one for each class",
                    self.weights
                );
                faults.push(Fault::new("flow_control.weights", message));
            }
        }
        faults
    }
}
