//! Lattices: what mesh, torus and ring have in common.
//!
//! A switch sits at every point of a box and is cabled to the next one along each dimension; a torus also joins the
//! last to the first. A dimension of two would join them twice: its one cable is enough. The last dimension counts
//! fastest.

use crate::error::Fault;
use crate::network::{LinkConfig, Network, Override};
use crate::topology::{Size, hosts_on_switches};

/// Switches that a lattice may have.
const MOST: u64 = 65_536;

/// A box of switches with as many hosts at each.
#[derive(Debug)]
pub(crate) struct Lattice<'a> {
    pub(crate) dimensions: &'a [u64],
    pub(crate) is_closed: bool,
    pub(crate) hosts_per_switch: u64,
    pub(crate) link: &'a LinkConfig,
    pub(crate) overrides: &'a [Override],
}

impl Lattice<'_> {
    /// Sizes by formula: along a dimension of length d there are d - 1 steps, d if it is closed and longer than two.
    pub(crate) fn size(&self) -> Result<Size, Fault> {
        let fault = |message: String| Err(Fault::new("topology.dimensions", message));
        if self.dimensions.is_empty() {
            return fault("is empty; give the lengths of the sides: [4, 4]".to_owned());
        }
        if let Some(at) = self.dimensions.iter().position(|&d| d == 0) {
            return Err(Fault::new(
                format!("topology.dimensions[{at}]"),
                "0 is no length; the least is 1",
            ));
        }
        let switches = self
            .dimensions
            .iter()
            .fold(1_u64, |all, &d| all.saturating_mul(d));
        if switches > MOST {
            return fault(format!("make {switches} switches; the most is {MOST}"));
        }
        let cables: u64 = self
            .dimensions
            .iter()
            .map(|&d| switches / d * self.steps(d))
            .sum();
        let hosts = switches * self.hosts_per_switch;
        Ok(Size {
            hosts,
            switches,
            cables: hosts + cables,
            host_rate: self.link.rate,
        })
    }

    fn steps(&self, length: u64) -> u64 {
        length - 1 + u64::from(self.is_closed && length > 2)
    }

    pub(crate) fn build(&self) -> Result<Network, Fault> {
        let switches = self.size()?.switches;
        let places: Vec<Vec<u64>> = (0..switches).map(|s| self.place(s)).collect();
        let is_wide = self.dimensions.iter().any(|&d| d > 10);
        let names: Vec<_> = places
            .iter()
            .map(|place| {
                let text: Vec<String> = place.iter().map(u64::to_string).collect();
                (
                    format!("s{}", text.join(if is_wide { "_" } else { "" })),
                    None,
                )
            })
            .collect();
        let mut edges = Vec::new();
        for (s, place) in places.iter().enumerate() {
            let mut stride = 1;
            for (axis, &length) in self.dimensions.iter().enumerate().rev() {
                if place[axis] < self.steps(length) {
                    let next = if place[axis] + 1 < length {
                        s as u64 + stride
                    } else {
                        s as u64 - (length - 1) * stride
                    };
                    edges.push((s as u32, next as u32));
                }
                stride *= length;
            }
        }
        let hosts = vec![self.hosts_per_switch; switches as usize];
        hosts_on_switches(self.link, &names, &hosts, &edges, self.overrides)
    }

    /// Coordinates of the n-th switch.
    fn place(&self, mut n: u64) -> Vec<u64> {
        let mut place: Vec<u64> = self
            .dimensions
            .iter()
            .rev()
            .map(|&length| {
                let here = n % length;
                n /= length;
                here
            })
            .collect();
        place.reverse();
        place
    }
}
