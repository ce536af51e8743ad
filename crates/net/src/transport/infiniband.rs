//! InfiniBand: a host adapter that moves messages between memory and the wire, packet by packet.
//!
//! Packets fill whole credits of 64 bytes. A source is held back by its wire, by the bus behind it and by the pause between two
//! packets; a sink drains its buffer at the rate of the bus, which stops for a moment again and again ("hiccups"). Source: section
//! 3.3 and the appendix of the InfiniBand congestion control thesis (experiments/studies); the pause of 243 ns is calibrated
//! against its rates of single flows: a packet every `34 x max(wire, bus) + 243 ns` is 1635 MB/s at 16 Gb/s of data and 2673 at 32.

use crate::error::Fault;
use crate::units::{Bytes, Rate, Time};

crate::kind! {
    /// Messages of an InfiniBand host adapter, without acknowledgments; needs flow control by credits.
    pub struct Infiniband: "transport" / "infiniband", source "InfiniBand Architecture Specification, volume 1" {
        /// Bytes of a full packet on the wire.
        pub packet: Bytes = Bytes(2176), range 64..=65536;
        /// How many of these are no payload (LRH, BTH and both CRCs are 26); the thesis counts whole packets.
        pub header: Bytes = Bytes(0), range 0..=4096;
        /// Service level, which chooses the virtual lane.
        pub service_level: u64 = 0, range 0..=15;
        /// Transfers per second on each lane of the bus (PCI Express 2: 5 GT/s).
        pub pcie_rate: Rate = Rate::from_gbps(5), at least 1;
        /// Lanes of the bus.
        pub pcie_lanes: u64 = 8, range 1..=32;
        /// Transfers for a byte on one lane: 10 with 8b/10b.
        pub pcie_bits_per_byte: f64 = 10.0, range 8..=16;
        /// Share that the bus needs beside the payload.
        pub pcie_overhead: f64 = 0.05, range 0..=10;
        /// Pause between two packets of a source.
        pub packet_gap: Time = Time::from_ns(243);
        /// How long a sink drains before its bus stops.
        pub hiccup_every: Time = Time::from_ns(100), at least 1;
        /// How long the bus stops.
        pub hiccup: Time = Time(12_500);
    }
}

impl Infiniband {
    /// Whether the parameters go together.
    ///
    /// # Errors
    /// A header that leaves no payload.
    pub fn check(&self) -> Result<(), Fault> {
        if self.header.0 < self.packet.0 {
            return Ok(());
        }
        let message = format!(
            "{} B leave no payload in a packet of {} B; make it smaller",
            self.header.0, self.packet.0
        );
        Err(Fault::new("transport.header", message))
    }

    /// Time that the bus needs for a credit of 64 bytes, ps.
    pub fn bus_credit(&self) -> u64 {
        let bits = 64.0 * self.pcie_bits_per_byte * (1.0 + self.pcie_overhead);
        (bits * 1e12 / (self.pcie_rate.0 as f64 * self.pcie_lanes as f64)).ceil() as u64
    }

    /// Time in which a sink drains a packet of so many credits, ps.
    pub fn drain_time(&self, credits: u64) -> u64 {
        let run = self.bus_credit() * credits;
        let share = u128::from(self.hiccup.0) * u128::from(run) / u128::from(self.hiccup_every.0);
        run + share as u64
    }

    /// Time from the start of a packet to that of the next from the same adapter, over a wire that needs `wire_credit` ps for a
    /// credit.
    pub fn packet_period(&self, credits: u64, wire_credit: u64) -> u64 {
        credits * wire_credit.max(self.bus_credit()) + self.packet_gap.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Describe;

    #[test]
    fn single_flows_have_the_rates_of_the_thesis() {
        let adapter = Infiniband::defaults();
        // 64 B x 10 bit / (5 GT/s x 8) x 1.05 = 16.8 ns a credit.
        assert_eq!(adapter.bus_credit(), 16_800);
        // 16 Gb/s: 32 ns a credit, 34 x 32 + 243 = 1331 ns, 2176 B / 1331 ns = 1635 MB/s.
        assert_eq!(adapter.packet_period(34, 32_000), 1_331_000);
        // 32 Gb/s: the bus is slower than the wire: 34 x 16.8 + 243 = 814.2 ns, 2673 MB/s.
        assert_eq!(adapter.packet_period(34, 16_000), 814_200);
        // 34 x 16.8 x 112.5 / 100 = 642.6 ns: 3386 MB/s.
        assert_eq!(adapter.drain_time(34), 642_600);
    }
}
