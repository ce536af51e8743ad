//! Round-trip time and retransmission timeout.
//!
//! Source: RFC 6298. Departure: the clock granularity G is zero, since simulated time is exact.

use serde::{Deserialize, Serialize};
use weft_net::transport::tcp::Tcp;

/// The estimator of one connection; times in ps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rtt {
    /// Smoothed round-trip time; 0 before the first sample.
    pub(crate) srtt: u64,
    rttvar: u64,
    /// Smallest sample.
    pub(crate) min: u64,
    /// Timeouts since the last sample: the timeout doubles with each.
    pub(crate) backoff: u32,
    rto_min: u64,
    rto_initial: u64,
    rto_max: u64,
}

impl Rtt {
    pub(crate) fn new(tcp: &Tcp) -> Self {
        Self {
            srtt: 0,
            rttvar: 0,
            min: u64::MAX,
            backoff: 0,
            rto_min: tcp.rto_min.0,
            rto_initial: tcp.rto_initial.0,
            rto_max: tcp.rto_max.0,
        }
    }

    /// A sample (RFC 6298, section 2.2 and 2.3: alpha 1/8, beta 1/4).
    pub(crate) fn sample(&mut self, rtt: u64) {
        self.min = self.min.min(rtt);
        if self.srtt == 0 {
            self.srtt = rtt.max(1);
            self.rttvar = rtt / 2;
        } else {
            self.rttvar = self.rttvar - self.rttvar / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
        }
    }

    /// The timeout now, back-off included.
    pub(crate) fn rto(&self) -> u64 {
        let base = if self.srtt == 0 {
            self.rto_initial
        } else {
            (self.srtt + 4 * self.rttvar).max(self.rto_min)
        };
        base.saturating_mul(1 << self.backoff.min(30))
            .min(self.rto_max)
    }
}

#[cfg(test)]
mod tests {
    use weft_net::kinds::Describe;
    use weft_net::units::Time;

    use super::*;

    #[test]
    fn the_timeout_follows_rfc_6298() {
        let mut rtt = Rtt::new(&Tcp {
            rto_min: Time::from_ms(1),
            ..Tcp::defaults()
        });
        assert_eq!(rtt.rto(), Time::from_s(1).0);
        // First sample R: SRTT = R, RTTVAR = R/2, RTO = 3 R.
        rtt.sample(Time::from_ms(8).0);
        assert_eq!(rtt.rto(), Time::from_ms(24).0);
        // Second sample 16: RTTVAR = 3/4 4 + 1/4 8 = 5, SRTT = 7/8 8 + 1/8 16 = 9, RTO = 29.
        rtt.sample(Time::from_ms(16).0);
        assert_eq!(rtt.rto(), Time::from_ms(29).0);
        rtt.backoff = 2;
        assert_eq!(rtt.rto(), Time::from_ms(116).0);
    }
}
