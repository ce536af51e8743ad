//! The network card of a host, shared among those who want to send.
//!
//! A card never drops its own host's packets. It holds a few packets; a flow that finds it full waits in the card's
//! list and is served in turn, one packet a round, when half of that has left (as byte queue limits with fair queueing
//! do in Linux).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::host::{Hosts, SourceEnd};
use crate::multipath;
use crate::packet::{Kind, Packet};
use crate::sender::{Sender, Sent};
use crate::stream::Stream;
use crate::wire::Wire;

/// Full packets that a card holds before senders have to wait.
const CARD_PACKETS: u64 = 16;

/// Who waits for room in a card.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Card {
    waiting: VecDeque<u32>,
    is_armed: bool,
}

impl Hosts {
    /// Longest backlog of the card at `link`, ps, at which flows still add to it.
    pub(crate) fn card_room(&self, link: u32, wire: &Wire) -> u64 {
        let class = wire.ports.class(link);
        CARD_PACKETS * class.transmit_time(u64::from(self.mtu) + class.overhead)
    }

    /// Sends what the flow may send; if the card is full, the flow waits for it.
    #[inline]
    pub(crate) fn pump(&mut self, flow: u32, wire: &mut Wire) {
        let mut is_full = false;
        match &mut self.sources[flow as usize] {
            SourceEnd::None => {}
            SourceEnd::Tcp(sender) => {
                // Whoever waits is served in turn, not before the others.
                if !sender.waits_for_card {
                    is_full = loop {
                        match send_one(sender, &mut self.streams, wire) {
                            Sent::One => {}
                            Sent::Nothing => break false,
                            Sent::NoRoom => break true,
                        }
                    };
                    sender.waits_for_card = is_full;
                }
                sender.set_timer(wire);
                if is_full {
                    let (link, node) = (sender.address.link, sender.address.node);
                    self.wait_for_card(flow, link, node, wire);
                }
            }
            SourceEnd::Udp(source) => {
                let was_done = source.is_done;
                if !source.waits_for_card {
                    is_full = loop {
                        match source.send_next(wire) {
                            Sent::One => {}
                            Sent::Nothing => break false,
                            Sent::NoRoom => break true,
                        }
                    };
                    source.waits_for_card = is_full;
                }
                let (is_done, link, node) =
                    (source.is_done, source.address.link, source.address.node);
                self.done += u64::from(is_done && !was_done);
                if is_full {
                    self.wait_for_card(flow, link, node, wire);
                }
            }
        }
    }

    fn wait_for_card(&mut self, flow: u32, link: u32, node: u32, wire: &mut Wire) {
        let card = &mut self.cards[link as usize];
        card.waiting.push_back(flow);
        if !card.is_armed {
            card.is_armed = true;
            self.arm_card(link, node, wire);
        }
    }

    fn arm_card(&self, link: u32, node: u32, wire: &mut Wire) {
        let half = self.card_room(link, wire) / 2;
        let at = (wire.ports.port(link).busy_until - half).max(wire.now + 1);
        wire.schedule(Packet::local(Kind::CardReady, node, link, at));
    }

    /// Half of what the card held has left: one packet for each that waits, in turn.
    pub(crate) fn serve_card(&mut self, link: u32, node: u32, wire: &mut Wire) {
        let card = link as usize;
        self.cards[card].is_armed = false;
        while let Some(flow) = self.cards[card].waiting.pop_front() {
            let sent = match &mut self.sources[flow as usize] {
                SourceEnd::None => Sent::Nothing,
                SourceEnd::Tcp(sender) => {
                    let sent = send_one(sender, &mut self.streams, wire);
                    sender.waits_for_card = sent != Sent::Nothing;
                    sender.set_timer(wire);
                    sent
                }
                SourceEnd::Udp(source) => {
                    let was_done = source.is_done;
                    let sent = source.send_next(wire);
                    source.waits_for_card = sent != Sent::Nothing;
                    self.done += u64::from(source.is_done && !was_done);
                    sent
                }
            };
            match sent {
                Sent::One => self.cards[card].waiting.push_back(flow),
                Sent::Nothing => {}
                Sent::NoRoom => {
                    self.cards[card].waiting.push_front(flow);
                    break;
                }
            }
        }
        if !self.cards[card].waiting.is_empty() {
            self.cards[card].is_armed = true;
            self.arm_card(link, node, wire);
        }
    }
}

/// One segment of a sender, which may be a subflow of one of `streams`.
#[inline]
fn send_one(sender: &mut Sender, streams: &mut [Option<Box<Stream>>], wire: &mut Wire) -> Sent {
    if sender.mapping.is_none() {
        return sender.send_next(wire);
    }
    let stream = streams[sender.address.owner as usize].as_mut();
    multipath::send_one(sender, stream.expect("a subflow has a connection"), wire)
}
