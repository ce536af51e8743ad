//! What will happen, for engines that handle one event after another: a wheel of short windows.
//!
//! Everything that crosses between nodes takes longer than a window, so that what is in a window is known when it opens, but for what a
//! node sets itself. So nodes are handled one after another, each to the end of the window: its state is in the cache, and what it sets
//! itself has only its own few events to be put among. Whatever lies beyond the wheel (a start, a timer) waits in a heap. Events lie in
//! chunks from a last-in-first-out pool, so that recycled memory is still in cache.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::prefetch::prefetch;

/// Something that happens: at one node, events come in the order of time, class, id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<P> {
    pub(crate) time: u64,
    /// Node (24 bits), class (8) and id (32).
    key: u64,
    /// What it is about.
    pub(crate) packet: P,
}

impl<P> Event<P> {
    pub(crate) fn new(time: u64, node: u32, class: u8, id: u32, packet: P) -> Self {
        let key = u64::from(node) << 40 | u64::from(class) << 32 | u64::from(id);
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
    pub(crate) fn node(&self) -> u32 {
        (self.key >> 40) as u32
    }
}

/// By time, for the heap.
#[derive(Clone, Copy, Debug)]
struct Far<P>(Event<P>);

impl<P> PartialEq for Far<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
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
        (self.0.time, self.0.key).cmp(&(other.0.time, other.0.key))
    }
}

/// Windows of the wheel.
const WINDOWS: u64 = 512;
/// Events of a chunk.
const CHUNK: usize = 16;
/// How many events ahead an event is fetched.
const FETCHED: usize = 20;
const NONE: u32 = u32::MAX;

/// The chunks of a window: only the newest may be part full.
#[derive(Clone, Copy, Debug)]
struct Slot {
    newest: u32,
    fill: u32,
}

const EMPTY: Slot = Slot {
    newest: NONE,
    fill: CHUNK as u32,
};

/// The place of an event in the open window, as a number: node, time since the window began, class, id, and where it lies.
type Place = u128;

/// The events to come.
#[derive(Debug)]
pub(crate) struct Calendar<P> {
    /// A window is `2^shift` ps.
    shift: u32,
    /// The window that is open, and until when: to its end, or to the boundary that cuts it.
    window: u64,
    closing: u64,
    /// By window of the wheel: its events, and whether there are any.
    slots: [Slot; WINDOWS as usize],
    filled: [u64; (WINDOWS / 64) as usize],
    /// The chunks one after another, and the one behind each.
    events: Vec<Event<P>>,
    behind: Vec<u32>,
    vacant: u32,
    far: BinaryHeap<Reverse<Far<P>>>,
    /// What the open window held when it was opened, and the places of what is left of it, last first.
    open: Vec<Event<P>>,
    places: Vec<Place>,
    /// What the node whose turn it is has set itself in the open window, last first.
    own: Vec<Place>,
}

impl<P: Copy + Default> Calendar<P> {
    /// Empty, with windows no longer than `lookahead` ps.
    pub(crate) fn new(lookahead: u64) -> Self {
        Self {
            shift: lookahead.max(1).ilog2().min(31),
            window: 0,
            closing: 0,
            slots: [EMPTY; WINDOWS as usize],
            filled: [0; (WINDOWS / 64) as usize],
            events: Vec::new(),
            behind: Vec::new(),
            vacant: NONE,
            far: BinaryHeap::new(),
            open: Vec::new(),
            places: Vec::new(),
            own: Vec::new(),
        }
    }

    /// Adds what happens at another node, or before the run: never in the open window.
    #[inline]
    pub(crate) fn push(&mut self, event: Event<P>) {
        debug_assert!(
            event.time >= self.closing,
            "an event falls into the open window"
        );
        let window = event.time >> self.shift;
        if window - self.window < WINDOWS {
            self.link(window, event);
        } else {
            self.far.push(Reverse(Far(event)));
        }
    }

    /// Adds what a node sets itself while it has its turn; it has no packet.
    #[inline]
    pub(crate) fn push_own(&mut self, time: u64, node: u32, class: u8, id: u32) {
        let event = Event::new(time, node, class, id, P::default());
        if time >= self.closing {
            return self.push(event);
        }
        let place = self.place(&event, NONE);
        let mut at = self.own.len();
        while at > 0 && self.own[at - 1] < place {
            at -= 1;
        }
        self.own.insert(at, place);
    }

    /// Takes the next event before `boundary`: of the nodes of the open window, one after another.
    #[inline]
    pub(crate) fn pop(&mut self, boundary: u64) -> Option<Event<P>> {
        loop {
            match (self.places.last(), self.own.last()) {
                (Some(there), Some(own)) if there < own => return self.take(),
                (_, Some(&own)) => {
                    self.own.pop();
                    let start = self.window << self.shift;
                    let key = (own >> 104 << 40 | own >> 32 & 0xff_ffff_ffff) as u64;
                    return Some(Event {
                        time: start + u64::from((own >> 72) as u32),
                        key,
                        packet: P::default(),
                    });
                }
                (Some(_), None) => return self.take(),
                (None, None) => {}
            }
            let window = self.next_window()?;
            if (window << self.shift).max(self.closing) >= boundary {
                return None;
            }
            self.open(window, boundary);
        }
    }

    /// What will be taken after so many others, as far as is known: of what the open window held when it was opened.
    #[inline]
    pub(crate) fn ahead(&self, count: usize) -> Option<&Event<P>> {
        let at = self.places.len().checked_sub(count + 1)?;
        Some(&self.open[self.places[at] as u32 as usize])
    }

    #[inline]
    fn take(&mut self) -> Option<Event<P>> {
        let place = self.places.pop()?;
        // Places are in order, the events behind them are not.
        if let Some(at) = self.places.len().checked_sub(FETCHED) {
            prefetch(&self.open[self.places[at] as u32 as usize]);
        }
        Some(self.open[place as u32 as usize])
    }

    /// Whether all that happens before the open window's end has happened.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.places.is_empty() && self.own.is_empty()
    }

    /// Whether nothing will happen.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_at_rest() && self.next_window().is_none()
    }

    /// All events that have a packet, in no order.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event<P>> {
        let open = self.places.iter().map(|&p| &self.open[p as u32 as usize]);
        let linked = self.slots.iter().flat_map(move |slot| {
            let some = |slot: Slot| (slot.newest != NONE).then_some(slot);
            let chunks = std::iter::successors(some(*slot), move |s| some(self.older(s)));
            chunks.flat_map(move |s| self.chunk(s))
        });
        let far = self.far.iter().map(|f| &f.0.0);
        open.chain(linked).chain(far)
    }

    #[inline]
    fn place(&self, event: &Event<P>, at: u32) -> Place {
        let since = event.time - (self.window << self.shift);
        let (node, what) = (event.key >> 40, event.key & 0xff_ffff_ffff);
        let high = u128::from(node << 32 | since);
        high << 72 | u128::from(what) << 32 | u128::from(at)
    }

    /// The events of the newest chunk of a slot.
    #[inline]
    fn chunk(&self, slot: Slot) -> &[Event<P>] {
        let start = slot.newest as usize * CHUNK;
        &self.events[start..start + slot.fill as usize]
    }

    /// The slot without its newest chunk.
    #[inline]
    fn older(&self, slot: &Slot) -> Slot {
        Slot {
            newest: self.behind[slot.newest as usize],
            fill: CHUNK as u32,
        }
    }

    #[inline]
    fn link(&mut self, window: u64, event: Event<P>) {
        let at = (window % WINDOWS) as usize;
        let mut slot = self.slots[at];
        if slot.fill == CHUNK as u32 {
            slot = Slot {
                newest: self.new_chunk(slot.newest),
                fill: 0,
            };
            self.filled[at / 64] |= 1 << (at % 64);
        }
        self.events[slot.newest as usize * CHUNK + slot.fill as usize] = event;
        slot.fill += 1;
        self.slots[at] = slot;
    }

    fn new_chunk(&mut self, behind: u32) -> u32 {
        if self.vacant == NONE {
            let nothing = Event {
                time: 0,
                key: 0,
                packet: P::default(),
            };
            self.events.extend([nothing; CHUNK]);
            self.behind.push(NONE);
            self.vacant = self.behind.len() as u32 - 1;
        }
        let chunk = self.vacant;
        self.vacant = std::mem::replace(&mut self.behind[chunk as usize], behind);
        chunk
    }

    /// The next window that holds something: the open one where a boundary has cut it.
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
        let start = self.window % WINDOWS;
        let (word, bit) = ((start / 64) as usize, start % 64);
        let words = self.filled.len();
        let first = self.filled[word] >> bit;
        if first != 0 {
            return Some(self.window + u64::from(first.trailing_zeros()));
        }
        for step in 1..=words {
            let at = (word + step) % words;
            let mut found = self.filled[at];
            if step == words {
                found &= (1_u64 << bit) - 1;
            }
            if found != 0 {
                let distance = step as u64 * 64 - bit + u64::from(found.trailing_zeros());
                return Some(self.window + distance);
            }
        }
        None
    }

    /// Opens a window as far as `boundary`.
    fn open(&mut self, window: u64, boundary: u64) {
        self.window = window;
        let end = (window + 1) << self.shift;
        self.closing = end.min(boundary);
        self.open.clear();
        let at = (window % WINDOWS) as usize;
        let mut slot = std::mem::replace(&mut self.slots[at], EMPTY);
        self.filled[at / 64] &= !(1 << (at % 64));
        while slot.newest != NONE {
            let start = slot.newest as usize * CHUNK;
            let chunk = &self.events[start..start + slot.fill as usize];
            self.open.extend_from_slice(chunk);
            let older = self.older(&slot);
            self.behind[slot.newest as usize] = self.vacant;
            self.vacant = slot.newest;
            slot = older;
        }
        if self.closing < end {
            let (closing, mut later) = (self.closing, Vec::new());
            self.open.retain(|e| {
                e.time < closing || {
                    later.push(*e);
                    false
                }
            });
            later.into_iter().for_each(|e| self.link(window, e));
        }
        while let Some(far) = self.far.peek()
            && far.0.0.time < self.closing
        {
            let Some(Reverse(Far(event))) = self.far.pop() else {
                break;
            };
            self.open.push(event);
        }
        let mut places = std::mem::take(&mut self.places);
        let here = self.open.iter().enumerate();
        places.extend(here.map(|(at, event)| self.place(event, at as u32)));
        places.sort_unstable_by(|a, b| b.cmp(a));
        self.places = places;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::random::stream;

    /// Windows are of 32768 ps: the power of two below.
    const LOOKAHEAD: u64 = 50_000;

    #[test]
    fn each_node_has_its_events_in_order_and_every_window_its_own() {
        let mut random = stream(1, "calendar");
        let mut calendar: Calendar<u32> = Calendar::new(LOOKAHEAD);
        let mut last = [(0, 0); 5];
        let (mut window, mut taken, mut set) = (0, 0, 100);
        for id in 0..set {
            let time = random.below(200_000_000);
            calendar.push(Event::new(time, id % 5, 4, id, id));
        }
        while let Some(event) = calendar.pop(u64::MAX) {
            let node = (event.key >> 40) as usize;
            assert!(last[node] < (event.time, event.id()), "{event:?}");
            last[node] = (event.time, event.id());
            assert!(event.time >> 15 >= window, "a window that is over");
            window = event.time >> 15;
            taken += 1;
            for _ in 0..random.below(4) * u64::from(set < 20_000) {
                let reach = [1_000, 100_000, 20_000_000, 200_000_000][random.below(4) as usize];
                // To oneself at any time, to others beyond the lookahead.
                if random.below(2) == 0 {
                    let time = event.time + 1 + random.below(reach);
                    calendar.push_own(time, node as u32, 6, set);
                } else {
                    let time = event.time + LOOKAHEAD + random.below(reach);
                    calendar.push(Event::new(time, set % 5, 4, set, set));
                }
                set += 1;
            }
        }
        assert_eq!((taken, calendar.events().count()), (set, 0));
        assert!(calendar.is_empty() && set >= 20_000);
    }

    #[test]
    fn a_boundary_lets_nothing_pass() {
        let mut calendar = Calendar::new(LOOKAHEAD);
        for (time, node) in [(70_001, 0), (10, 1), (70_000, 1)] {
            calendar.push(Event::new(time, node, 4, 0, ()));
        }
        assert_eq!(calendar.pop(70_001).unwrap().time, 10);
        assert_eq!(calendar.pop(70_001).unwrap().time, 70_000);
        assert!(calendar.pop(70_001).is_none() && calendar.is_at_rest());
        assert_eq!(calendar.events().count(), 1);
        // What is set at the boundary comes before what was there.
        calendar.push_own(70_001, 0, 0, 7);
        assert_eq!(calendar.pop(u64::MAX).unwrap().class(), 0);
        assert_eq!(calendar.pop(u64::MAX).unwrap().class(), 4);
        assert!(calendar.is_empty());
    }

    #[test]
    fn a_node_has_its_turn_to_the_end_of_the_window() {
        let mut calendar = Calendar::new(LOOKAHEAD);
        for (time, node) in [(5, 1), (1, 1), (2, 0)] {
            calendar.push(Event::new(time, node, 4, node, ()));
        }
        assert_eq!(calendar.pop(u64::MAX).unwrap().time, 2);
        calendar.push_own(32_767, 0, 6, 9);
        calendar.push_own(32_768, 0, 6, 9);
        let times = std::iter::from_fn(|| calendar.pop(u64::MAX).map(|e| e.time));
        assert_eq!(times.collect::<Vec<_>>(), [32_767, 1, 5, 32_768]);
    }
}
