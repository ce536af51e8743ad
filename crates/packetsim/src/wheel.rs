//! What will happen, for engines that handle one event after another: a wheel of short windows, the one that is open sorted.
//!
//! Everything that crosses between nodes takes longer than a window, so that only a node's own events may fall into the open one;
//! they are put in their place. A window of a small fabric holds an event or two, one of a large fabric thousands: both
//! cost one step into a list and one out of a sorted array. What lies beyond the wheel (a start, a slow link) waits in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens: at one time and node, events come in the order of their class, then their id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<P> {
    pub(crate) time: u64,
    /// Class and id.
    key: u64,
    /// What it is about.
    pub(crate) packet: P,
}

impl<P> Event<P> {
    pub(crate) fn new(time: u64, class: u8, id: u32, packet: P) -> Self {
        let key = u64::from(class) << 32 | u64::from(id);
        Self { time, key, packet }
    }
    #[inline]
    pub(crate) fn class(&self) -> u8 {
        (self.key >> 32) as u8
    }
    #[inline]
    pub(crate) fn id(&self) -> u32 {
        self.key as u32
    }
    #[inline]
    fn order(&self) -> (u64, u64) {
        (self.time, self.key)
    }
}

/// By time, for the heap.
#[derive(Clone, Copy, Debug)]
struct Far<P>(Event<P>);

impl<P> PartialEq for Far<P> {
    fn eq(&self, other: &Self) -> bool {
        self.0.order() == other.0.order()
    }
}
impl<P> Eq for Far<P> {}
impl<P> PartialOrd for Far<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<P> Ord for Far<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.order().cmp(&other.0.order())
    }
}

/// Windows of the wheel.
const WINDOWS: u64 = 512;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot<P> {
    event: Event<P>,
    next: u32,
}

/// The events to come.
#[derive(Debug)]
pub(crate) struct Calendar<P> {
    /// A window is `2^shift` ps.
    shift: u32,
    /// The window that is open.
    window: u64,
    /// First event of each window of the wheel, and which are not empty.
    heads: [u32; WINDOWS as usize],
    filled: [u64; (WINDOWS / 64) as usize],
    slots: Vec<Slot<P>>,
    vacant: u32,
    far: BinaryHeap<Reverse<Far<P>>>,
    /// The open window, last first.
    open: Vec<Event<P>>,
}

impl<P: Copy> Calendar<P> {
    /// Empty, with windows no longer than `lookahead` ps.
    pub(crate) fn new(lookahead: u64) -> Self {
        Self {
            shift: lookahead.max(1).ilog2(),
            window: 0,
            heads: [NONE; WINDOWS as usize],
            filled: [0; (WINDOWS / 64) as usize],
            slots: Vec::new(),
            vacant: NONE,
            far: BinaryHeap::new(),
            open: Vec::new(),
        }
    }

    /// Adds an event that is not before those that were taken.
    #[inline]
    pub(crate) fn push(&mut self, event: Event<P>) {
        let window = event.time >> self.shift;
        if window <= self.window {
            self.insert(event);
        } else if window - self.window < WINDOWS {
            self.link(window, event);
        } else {
            self.far.push(Reverse(Far(event)));
        }
    }

    /// Takes the first event, if it is before `boundary`.
    #[inline]
    pub(crate) fn pop(&mut self, boundary: u64) -> Option<Event<P>> {
        loop {
            if let Some(&event) = self.open.last() {
                if event.time >= boundary {
                    return None;
                }
                self.open.pop();
                return Some(event);
            }
            let window = self.next_window()?;
            // A boundary before it must not open it: what the boundary sets would come too late.
            if window << self.shift >= boundary {
                return None;
            }
            self.open_window(window);
        }
    }

    /// Whether nothing will happen.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.next_window().is_none()
    }

    /// All events, in no order.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event<P>> {
        let mut linked = Vec::new();
        for &head in &self.heads {
            let mut at = head;
            while at != NONE {
                linked.push(&self.slots[at as usize].event);
                at = self.slots[at as usize].next;
            }
        }
        let far = self.far.iter().map(|f| &f.0.0);
        self.open.iter().chain(linked).chain(far)
    }

    #[inline]
    fn link(&mut self, window: u64, event: Event<P>) {
        let at = (window % WINDOWS) as usize;
        let slot = Slot {
            event,
            next: self.heads[at],
        };
        let place = if self.vacant == NONE {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let place = self.vacant;
            self.vacant = self.slots[place as usize].next;
            self.slots[place as usize] = slot;
            place
        };
        self.heads[at] = place;
        self.filled[at / 64] |= 1 << (at % 64);
    }

    /// Into the open window, at its place.
    #[inline]
    fn insert(&mut self, event: Event<P>) {
        let order = event.order();
        let mut at = self.open.len();
        while at > 0 && self.open[at - 1].order() < order {
            at -= 1;
        }
        self.open.insert(at, event);
    }

    /// The next window that holds something.
    #[inline]
    fn next_window(&self) -> Option<u64> {
        let far = self.far.peek().map(|f| f.0.0.time >> self.shift);
        let near = self.next_filled();
        match (near, far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    #[inline]
    fn next_filled(&self) -> Option<u64> {
        let start = (self.window + 1) % WINDOWS;
        let (word, bit) = ((start / 64) as usize, start % 64);
        let words = self.filled.len();
        let first = self.filled[word] >> bit;
        if first != 0 {
            return Some(self.window + 1 + u64::from(first.trailing_zeros()));
        }
        for step in 1..=words {
            let at = (word + step) % words;
            let mut found = self.filled[at];
            if step == words {
                found &= (1_u64 << bit) - 1;
            }
            if found != 0 {
                let distance = step as u64 * 64 - bit + u64::from(found.trailing_zeros());
                return Some(self.window + 1 + distance);
            }
        }
        None
    }

    fn open_window(&mut self, window: u64) {
        self.window = window;
        let at = (window % WINDOWS) as usize;
        let mut place = self.heads[at];
        self.heads[at] = NONE;
        self.filled[at / 64] &= !(1 << (at % 64));
        while place != NONE {
            let slot = self.slots[place as usize];
            self.slots[place as usize].next = self.vacant;
            self.vacant = place;
            self.open.push(slot.event);
            place = slot.next;
        }
        while let Some(far) = self.far.peek()
            && far.0.0.time >> self.shift <= window
        {
            let Some(Reverse(Far(event))) = self.far.pop() else {
                break;
            };
            self.open.push(event);
        }
        if self.open.len() > 1 {
            self.open
                .sort_unstable_by_key(|event| Reverse(event.order()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::random::stream;

    #[test]
    fn events_come_in_order_whatever_their_distance() {
        let mut random = stream(1, "calendar");
        let mut calendar = Calendar::new(50_000);
        let mut now = 0;
        let mut pending = Vec::new();
        for id in 0..20_000 {
            let reach = [1_000, 100_000, 20_000_000, 200_000_000][random.below(4) as usize];
            let time = now + random.below(reach);
            calendar.push(Event::new(time, 4, id, ()));
            pending.push((time, id));
            if random.below(2) == 0 {
                let event = calendar.pop(u64::MAX).unwrap();
                let first = *pending.iter().min().unwrap();
                assert_eq!((event.time, event.id()), first);
                pending.retain(|&p| p != first);
                now = event.time;
            }
            assert_eq!(calendar.events().count(), pending.len());
            if pending.len() > 300 {
                while let Some(event) = calendar.pop(now + 1_000_000) {
                    now = event.time;
                    pending.retain(|&p| p != (event.time, event.id()));
                }
            }
        }
        pending.sort_unstable();
        for first in pending {
            let event = calendar.pop(u64::MAX).unwrap();
            assert_eq!((event.time, event.id()), first);
        }
        assert!(calendar.is_empty());
    }

    #[test]
    fn a_boundary_lets_nothing_pass() {
        let mut calendar = Calendar::new(50_000);
        for time in [10, 70_000, 70_001] {
            calendar.push(Event::new(time, 4, 0, ()));
        }
        assert_eq!(calendar.pop(70_001).unwrap().time, 10);
        assert_eq!(calendar.pop(70_001).unwrap().time, 70_000);
        assert!(calendar.pop(70_001).is_none());
        // What is set at the boundary comes before what was there.
        calendar.push(Event::new(70_001, 0, 0, ()));
        assert_eq!(calendar.pop(u64::MAX).unwrap().class(), 0);
    }
}
