//! Load balancing: which of several equal next hops a packet takes.
//!
//! It lives here and not in a simulator because the flow level and the emulation need the same choice. A kind gives
//! every switch a [`SwitchState`], plain data that belongs to that switch alone; [`SwitchState::choose`] is asked once
//! per packet and hop, with the *entropy* of the packet's five-tuple, which is computed once per flow and direction.

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::ids::{LinkId, NodeId};
use crate::network::Network;
use crate::random::{mix, stream_key};

pub mod drill;
pub mod ecmp;
pub mod flowlet;
pub mod reps;
pub mod spray;
pub mod static_choice;

crate::room! {
    /// How switches spread packets over equal paths: `[load_balance]`.
    pub enum LoadBalance {
        Static(static_choice::StaticChoice),
        Ecmp(ecmp::Ecmp),
        Spray(spray::Spray),
        Flowlet(flowlet::Flowlet),
        Drill(drill::Drill),
        Reps(reps::Reps),
    }
}

/// What names a flow in its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FiveTuple {
    /// IPv4 address of the sender.
    pub src: [u8; 4],
    /// IPv4 address of the receiver.
    pub dst: [u8; 4],
    /// Port of the sender.
    pub src_port: u16,
    /// Port of the receiver.
    pub dst_port: u16,
    /// Protocol number: 6 for TCP, 17 for UDP.
    pub protocol: u8,
}

impl FiveTuple {
    /// The tuple of the packets that come back.
    #[must_use]
    pub fn reverse(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            ..self
        }
    }

    /// A hash in which every bit of the tuple reaches every bit.
    pub fn mixed(&self) -> u32 {
        let addresses =
            u64::from(u32::from_be_bytes(self.src)) << 32 | u64::from(u32::from_be_bytes(self.dst));
        let rest = u64::from(self.src_port) << 24
            | u64::from(self.dst_port) << 8
            | u64::from(self.protocol);
        (mix(mix(addresses) ^ rest) >> 32) as u32
    }
}

/// What one switch (or host with several links) remembers in order to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SwitchState {
    /// By destination.
    Static(static_choice::State),
    /// By hash of the five-tuple.
    Ecmp(ecmp::State),
    /// By hash into buckets, each of which has its place among the hops.
    Buckets(ecmp::Buckets),
    /// A random hop for every packet.
    Random(spray::Random),
    /// The next hop for every packet.
    RoundRobin(spray::RoundRobin),
    /// A random hop for every burst.
    Flowlet(Box<flowlet::State>),
    /// The least loaded of a few.
    Drill(Box<drill::State>),
}

/// What a choice may depend on beside the packet.
#[derive(Clone, Copy, Debug)]
pub struct Moment<B> {
    /// When the packet arrives, ps.
    pub now: u64,
    /// Time until the port of a link has sent what it holds, ps.
    pub backlog: B,
}

const _: () = assert!(size_of::<SwitchState>() <= 48);

impl LoadBalance {
    /// Whether the parameters go together.
    ///
    /// # Errors
    /// A fault at the key that does not.
    pub fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Ecmp(e) => e.check(),
            Self::Static(_)
            | Self::Spray(_)
            | Self::Flowlet(_)
            | Self::Drill(_)
            | Self::Reps(_) => Ok(()),
        }
    }

    /// The hash of a five-tuple that packets carry.
    pub fn entropy(&self, tuple: &FiveTuple) -> u32 {
        match self {
            Self::Ecmp(e) => e.entropy(tuple),
            Self::Static(_)
            | Self::Spray(_)
            | Self::Flowlet(_)
            | Self::Drill(_)
            | Self::Reps(_) => tuple.mixed(),
        }
    }

    /// Whether all packets of a flow (in one direction) take one path.
    pub fn is_per_flow(&self) -> bool {
        match self {
            Self::Static(_) => true,
            Self::Ecmp(e) => !e.hashes_sequence(),
            Self::Spray(_) | Self::Flowlet(_) | Self::Drill(_) | Self::Reps(_) => false,
        }
    }

    /// Whether the choice depends on the queues of the moment, so that it cannot be made ahead of the packet's turn.
    pub fn needs_queues(&self) -> bool {
        matches!(self, Self::Drill(_))
    }

    /// Whether switches hash the sequence number, as in the path diversity study.
    pub fn hashes_sequence(&self) -> bool {
        matches!(self, Self::Ecmp(e) if e.hashes_sequence())
    }

    /// What senders do, where they give each packet an entropy of its own.
    pub fn reps(&self) -> Option<&reps::Reps> {
        match self {
            Self::Reps(r) => Some(r),
            _ => None,
        }
    }

    /// What a switch allocates for all `hosts` of the network, bytes.
    pub fn switch_bytes(&self, hosts: u64) -> u64 {
        match self {
            Self::Ecmp(_) | Self::Static(_) | Self::Drill(_) | Self::Reps(_) => 0,
            Self::Flowlet(f) => f.switch_bytes(),
            Self::Spray(s) => s.switch_bytes(hosts),
        }
    }

    /// The state of `node` at the start: the same for the same seed and name, whatever the rest of the network.
    pub fn switch(&self, seed: u64, network: &Network, node: NodeId) -> SwitchState {
        let key = |name: &str| stream_key(seed, &format!("load_balance/{name}"));
        let own = key(&network.nodes[node.index()].name);
        match self {
            Self::Static(_) => SwitchState::Static(static_choice::State::new(own)),
            Self::Ecmp(e) => e.switch(own, key("")),
            Self::Spray(s) => s.switch(own),
            Self::Flowlet(f) => f.switch(own),
            Self::Drill(d) => d.switch(own),
            Self::Reps(r) => r.switch(own),
        }
    }
}

impl SwitchState {
    /// The hop for a packet to `dst` on an idle network at time 0. Panics if `hops` is empty.
    #[inline]
    pub fn choose(&mut self, entropy: u32, dst: NodeId, hops: &[LinkId]) -> LinkId {
        let idle = Moment {
            now: 0,
            backlog: |_| 0,
        };
        self.choose_at(entropy, dst, hops, idle)
    }

    /// The hop for a packet to `dst`. Panics if `hops` is empty.
    #[inline]
    pub fn choose_at(
        &mut self,
        entropy: u32,
        dst: NodeId,
        hops: &[LinkId],
        moment: Moment<impl Fn(LinkId) -> u64>,
    ) -> LinkId {
        if let [only] = *hops {
            return only;
        }
        let index = match self {
            Self::Drill(s) => s.choose(hops, moment.backlog),
            _ => self.choose_path(entropy, dst, hops.len() as u32, moment.now),
        };
        hops[index as usize]
    }

    /// One of `n` hops, or whole paths, of which nothing is known but their number. Panics for DRILL, which needs queues.
    #[inline]
    pub fn choose_path(&mut self, entropy: u32, dst: NodeId, n: u32, now: u64) -> u32 {
        match self {
            _ if n == 1 => 0,
            Self::Static(s) => s.choose(dst, n),
            Self::Ecmp(s) => s.choose(entropy, n),
            Self::Buckets(s) => s.choose(entropy, n),
            Self::Random(s) => s.choose(n),
            Self::RoundRobin(s) => s.choose(dst, n),
            Self::Flowlet(s) => s.choose(entropy, n, now),
            Self::Drill(_) => unreachable!("DRILL chooses by queue"),
        }
    }
}

/// Maps 32 uniform bits to `0..n`: the high half of a product, which costs no division. The bias is below n / 2^32.
#[inline(always)]
pub(crate) fn scale(bits: u32, n: u32) -> u32 {
    ((u64::from(bits) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::kinds::Describe;
    use crate::topology::Topology;

    pub(crate) fn network() -> Network {
        Topology::FatTree(Describe::defaults()).build(0).unwrap()
    }

    pub(crate) fn hops(n: u32) -> Vec<LinkId> {
        (100..100 + n).map(LinkId).collect()
    }

    /// A tuple of the host pair with these numbers.
    pub(crate) fn tuple(i: u32) -> FiveTuple {
        FiveTuple {
            src: [10, 0, 0, 2],
            dst: [10, 1, 0, 2],
            src_port: 32_768 + i as u16,
            dst_port: 5201,
            protocol: 6,
        }
    }

    pub(crate) fn kind(text: &str) -> LoadBalance {
        LoadBalance::from_table(
            serde_json::from_str::<serde_json::Value>(text)
                .unwrap()
                .as_object()
                .unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn one_hop_is_no_choice() {
        let network = network();
        for text in [
            r#"{"kind":"static"}"#,
            r#"{"kind":"ecmp"}"#,
            r#"{"kind":"spray"}"#,
            r#"{"kind":"flowlet"}"#,
            r#"{"kind":"drill"}"#,
            r#"{"kind":"reps"}"#,
        ] {
            let mut state = kind(text).switch(1, &network, NodeId(20));
            let before = state.clone();
            assert_eq!(state.choose(7, NodeId(3), &hops(1)), LinkId(100));
            assert_eq!(state, before, "and costs no random number");
        }
    }

    #[test]
    fn a_switch_chooses_alike_in_every_run_and_unlike_its_neighbour() {
        let network = network();
        for text in [
            r#"{"kind":"static"}"#,
            r#"{"kind":"ecmp"}"#,
            r#"{"kind":"spray"}"#,
            r#"{"kind":"ecmp","buckets":8}"#,
            r#"{"kind":"flowlet"}"#,
            r#"{"kind":"drill"}"#,
            r#"{"kind":"reps"}"#,
        ] {
            let balance = kind(text);
            let run = |seed, node| -> Vec<LinkId> {
                let mut state = balance.switch(seed, &network, NodeId(node));
                (0..64)
                    .map(|i| state.choose(balance.entropy(&tuple(i)), NodeId(i % 16), &hops(4)))
                    .collect()
            };
            assert_eq!(run(1, 20), run(1, 20), "{text}");
            assert_ne!(run(1, 20), run(1, 21), "{text}");
            assert_ne!(run(1, 20), run(2, 20), "{text}");
        }
    }

    #[test]
    fn every_kind_spreads_evenly() {
        // 64,000 choices among 5 hops: chi-square with 4 degrees of freedom exceeds 23.5 once in 10^4 seeds.
        let network = network();
        for text in [
            r#"{"kind":"static"}"#,
            r#"{"kind":"ecmp"}"#,
            r#"{"kind":"ecmp","seeds":"shared"}"#,
            r#"{"kind":"spray"}"#,
            r#"{"kind":"spray","order":"round_robin"}"#,
        ] {
            let balance = kind(text);
            let mut state = balance.switch(1, &network, NodeId(20));
            let mut counts = [0_i32; 5];
            for i in 0..64_000 {
                let tuple = FiveTuple {
                    src_port: i as u16,
                    dst_port: (i >> 4) as u16,
                    ..tuple(0)
                };
                counts[(state.choose(balance.entropy(&tuple), NodeId(i), &hops(5)).0 - 100)
                    as usize] += 1;
            }
            let chi: f64 = counts
                .iter()
                .map(|c| f64::from((c - 12_800) * (c - 12_800)) / 12_800.0)
                .sum();
            assert!(chi < 23.5, "{text}: {counts:?}");
        }
    }
}
