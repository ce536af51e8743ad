//! What happens in a fabric of credits, in the order in which it does at one time; `wheel.rs` keeps it.

use super::Packet;
use crate::wheel;

/// What an event is. At one time and node, what arrives comes before what the node does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Class {
    /// The head of a packet may leave the input buffer of a switch. Id: the link that it came over.
    Head,
    /// The tail of a packet is at a host. Id: the link.
    Tail,
    /// A flow starts. Id: the flow.
    Start,
    /// The last packet of a flow has left the buffer of its host. Id: the flow.
    Drained,
    /// A port may go on. Id: the link at whose start it is.
    Port,
}

const CLASSES: [Class; 5] = [
    Class::Head,
    Class::Tail,
    Class::Start,
    Class::Drained,
    Class::Port,
];

/// Something that happens to a packet.
pub(super) type Event = wheel::Event<Packet>;

/// The events to come.
pub(super) type Calendar = wheel::Calendar<Packet>;

/// An event of that class at a node.
#[inline]
pub(super) fn event(time: u64, node: u32, class: Class, id: u32, packet: Packet) -> Event {
    Event::new(time, node, class as u8, id, packet)
}

/// The class of an event.
#[inline]
pub(super) fn class_of(event: &Event) -> Class {
    CLASSES[usize::from(event.class())]
}
