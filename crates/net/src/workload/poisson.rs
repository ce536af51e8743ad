//! Poisson: flows arrive at random times between random hosts, at a given load.
//!
//! Source: the usual open-loop traffic of data-center papers (Alizadeh et al., SIGCOMM 2013, section 5). The load counts payload
//! alone: headers and retransmissions come on top. Times, hosts and sizes have a random stream each, so that another size
//! distribution of the same mean sees the same arrivals.

use crate::error::Fault;
use crate::flow_size::FlowSize;
use crate::ids::NodeId;
use crate::topology::Size;
use crate::units::Time;
use crate::workload::{Context, Flow, Generate, need_hosts};

crate::kind! {
    /// Arrivals at random times, between two different hosts drawn at random. Ends at `flows` or at `stop`.
    pub struct Poisson: "workload" / "poisson", source "Alizadeh et al., SIGCOMM 2013, section 5" {
        /// Payload offered, as a share of the rate of all hosts' links together.
        pub load: f64, range 0.000001..=10.0;
        /// How large flows are: `{ kind = "websearch" }`.
        pub size: FlowSize;
        /// How many flows arrive; left out, as many as come until `stop`.
        pub flows: Option<u64> = None, range 1..=1000000000;
    }
}

impl Poisson {
    /// Mean time between arrivals, ps, where all hosts together send at `rate` bits per second.
    fn gap(&self, rate: f64) -> Result<f64, Vec<Fault>> {
        let size = self.size.distribution();
        let size = size.map_err(|faults| {
            faults
                .into_iter()
                .map(|f| f.in_section("workload.size"))
                .collect::<Vec<_>>()
        })?;
        Ok(size.mean() * 8e12 / (self.load * rate))
    }

    fn must_end(&self, stop: Option<Time>) -> Result<(), Fault> {
        if self.flows.is_some() || stop.is_some() {
            return Ok(());
        }
        Err(Fault::new(
            "workload.flows",
            "is left out, so arrivals would never end; give flows = 1000, or stop = \"1 s\"",
        ))
    }
}

impl Generate for Poisson {
    fn flow_count(&self, size: &Size, start: Time, stop: Option<Time>) -> Result<u64, Vec<Fault>> {
        need_hosts(size.hosts, 2, "random pairs")?;
        self.must_end(stop)?;
        let gap = self.gap(size.hosts as f64 * size.host_rate.0 as f64)?;
        let expected = stop.map_or(u64::MAX, |stop| (stop.since(start).0 as f64 / gap) as u64);
        Ok(expected.min(self.flows.unwrap_or(u64::MAX)))
    }

    fn flows(&self, context: &Context<'_>) -> Result<Vec<Flow>, Vec<Fault>> {
        self.must_end(context.stop)?;
        let network = context.network;
        let cards = network
            .host_ids()
            .flat_map(|h| network.out(h))
            .map(|l| &network.links[l.index()]);
        let rate: f64 = cards.filter(|l| l.is_up).map(|l| l.rate.0 as f64).sum();
        if rate == 0.0 {
            return Err(vec![Fault::new(
                "workload.load",
                "no host has a link that is up",
            )]);
        }
        let gap = self.gap(rate)?;
        let size = self.size.distribution()?;
        let (mut times, mut hosts, mut sizes) = (
            context.stream("times"),
            context.stream("hosts"),
            context.stream("sizes"),
        );
        let n = network.hosts as u64;
        let mut now = context.start;
        let mut flows = Vec::new();
        while self.flows.is_none_or(|most| (flows.len() as u64) < most) {
            now += Time((times.exponential() * gap + 0.5) as u64);
            if context.stop.is_some_and(|stop| now >= stop) {
                break;
            }
            let src = hosts.below(n);
            // One of the others: a draw among n - 1, counted on from the source.
            let dst = (src + 1 + hosts.below(n - 1)) % n;
            let bytes = size.draw(&mut sizes);
            flows.push(Flow {
                start: now,
                ..context.upload(NodeId(src as u32), NodeId(dst as u32), Some(bytes))
            });
        }
        Ok(flows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::{fault, flows, try_flows};
    use serde_json::json;

    #[test]
    fn arrivals_offer_the_load() {
        // 16 hosts at 10 Gbps, half of it in flows of 100 kB: 80e9 / 8e5 = 100,000 flows a second, one every 10 us.
        let workload = json!({ "kind": "poisson", "load": 0.5, "size": { "kind": "fixed", "bytes": 100_000 }, "flows": 40_000 });
        let flows = flows(16, workload);
        let span = flows.last().unwrap().start.since(Time::from_us(5)).0 as f64;
        // The mean gap has a relative standard error of 1 / sqrt(40,000) = 0.5 %.
        assert!((span / 40_000.0 / 1e7 - 1.0).abs() < 0.025, "{span}");
        // Every host sends a sixteenth: 2500, standard deviation 48; gaps are exponential: a share of 1/e exceeds the mean.
        let from = |host| flows.iter().filter(|f| f.src == NodeId(host)).count();
        assert!((0..16).all(|h| from(h).abs_diff(2500) < 5 * 49));
        let long = flows
            .windows(2)
            .filter(|w| w[1].start.since(w[0].start) > Time::from_us(10))
            .count();
        assert!((long as f64 / 40_000.0 - 0.3679).abs() < 0.0125, "{long}");
    }

    #[test]
    fn arrivals_end_at_the_stop() {
        // 16 x 10 Gbps x 0.1 in flows of 1 MB: 2000 a second; in 100 ms about 200.
        let workload = json!({ "kind": "poisson", "load": 0.1, "size": { "kind": "fixed", "bytes": 1_000_000 } });
        let flows = try_flows(16, workload.clone(), Some(Time::from_ms(100))).unwrap();
        assert!((130..=270).contains(&flows.len()), "{}", flows.len());
        assert!(flows.iter().all(|f| f.start < Time::from_ms(100)));
        assert!(
            fault(16, workload)
                .starts_with("workload.flows: is left out, so arrivals would never end")
        );
    }

    #[test]
    fn a_fault_of_the_size_is_found() {
        let workload = json!({ "kind": "poisson", "load": 1, "size": { "kind": "uniform", "min": 9, "max": 8 }, "flows": 1 });
        assert_eq!(
            fault(16, workload),
            "workload.size.max: 8 bytes is less than the min of 9"
        );
        let workload =
            json!({ "kind": "poisson", "load": 1, "size": { "kind": "fixed" }, "flows": 1 });
        assert_eq!(fault(16, workload), "workload.size.bytes: is required");
    }

    #[test]
    fn every_line_of_a_bad_file_is_named() {
        let path = std::env::temp_dir().join(format!("weft-poisson-{}.cdf", std::process::id()));
        std::fs::write(&path, "10 x\n20 30 40\n30 100\n").unwrap();
        let size = json!({ "kind": "empirical", "file": path });
        let faults = try_flows(
            16,
            json!({ "kind": "poisson", "load": 1, "size": size, "flows": 1 }),
            None,
        )
        .unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(faults.len(), 2);
        assert!(
            faults[0].key == "workload.size.file" && faults[0].message.contains("line 1: "),
            "{faults:?}"
        );
        assert!(
            faults[1].message.contains("line 2: \"20 30 40\" is not"),
            "{faults:?}"
        );
    }
}
