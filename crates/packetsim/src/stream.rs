//! The data level of a multipath connection at the host that has the payload.
//!
//! Source: RFC 8684, section 3.3 (data sequence, data ACK, retransmission of data on other subflows). Data is counted in
//! segments, as on the subflows: a mapping covers one segment. A subflow asks for data when its window and the network
//! card have room for it, so which data goes where is decided as late as it can be. Departure: data comes from another
//! subflow only when that one's timer has expired, not when the receive window is full.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use weft_net::transport::mptcp::{Mptcp, Scheduler};

use crate::congestion::Path;
use crate::mapping::NO_DATA;
use crate::messages::Messages;
use crate::segments::segments;

/// One connection; plain data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stream {
    /// Next data segment that nobody has sent.
    next: u32,
    /// First data segment that is not acknowledged at the data level.
    una: u32,
    /// First data segment beyond the receiver's window, which all subflows share.
    edge: u32,
    /// Data segments; `u32::MAX` for an endless flow.
    total: u32,
    /// Payload of the last one.
    last_payload: u16,
    mss: u16,
    /// Of a connection of an application: what there is to send is said as it goes on.
    messages: Option<Box<Messages>>,
    /// An endless flow sends nothing after this.
    stop: u64,
    /// By subflow: data that it has not delivered in time and the others shall send.
    again: Vec<VecDeque<u32>>,
    /// Segments in `again`.
    waiting: usize,
    reinjects: bool,
    pub(crate) scheduler: Scheduler,
    /// Whose turn it is under round robin.
    pub(crate) turn: u32,
    /// By subflow: what coupled congestion control knows of it.
    pub(crate) paths: Vec<Path>,
    /// The control couples the windows.
    pub(crate) is_coupled: bool,
    /// The other subflows have been opened.
    pub(crate) has_joined: bool,
    /// A subflow could send and found no data.
    pub(crate) is_hungry: bool,
    /// Subflows whose end at this host exists.
    pub(crate) open: u32,
    /// Subflows that have been established.
    pub(crate) established: u32,
}

impl Stream {
    pub(crate) fn new(
        mptcp: &Mptcp,
        size: Option<u64>,
        stop: u64,
        mss: u16,
        subflows: u32,
        is_coupled: bool,
        has_messages: bool,
    ) -> Self {
        let (total, last_payload) = segments(size, mss);
        Self {
            next: 0,
            una: 0,
            edge: 0,
            total: if has_messages { 0 } else { total },
            last_payload,
            mss,
            messages: has_messages.then(Box::default),
            stop,
            again: vec![VecDeque::new(); subflows as usize],
            waiting: 0,
            reinjects: mptcp.reinjection,
            scheduler: mptcp.scheduler,
            turn: 0,
            paths: vec![Path::default(); subflows as usize],
            is_coupled,
            has_joined: false,
            is_hungry: false,
            open: 0,
            established: 0,
        }
    }

    // ---- messages of an application ----

    /// A message to be sent after all others.
    pub(crate) fn add_message(&mut self, bytes: u64) {
        if let Some(messages) = &mut self.messages {
            self.total = messages.add(bytes, self.total, self.mss);
        }
    }

    /// Request `number` arrives on some subflow, perhaps early or again: answers follow in the order of the numbers.
    pub(crate) fn on_request(&mut self, number: u32, bytes: u32) {
        if let Some(messages) = &mut self.messages {
            self.total = messages.answer(number, bytes, self.total, self.mss);
        }
    }

    /// First data segment that is not acknowledged: what is before it has arrived.
    pub(crate) fn reached(&self) -> u32 {
        self.una
    }

    /// The payload of data segment `data`, not acknowledged so far, if it ends a message or the flow.
    #[inline]
    pub(crate) fn end_at(&self, data: u32) -> Option<u16> {
        match &self.messages {
            None => (data == self.total - 1).then_some(self.last_payload),
            Some(_) if data == NO_DATA => None,
            Some(messages) => {
                let (end, last) = messages.end_of(data);
                (data + 1 == end).then_some(last)
            }
        }
    }

    /// The receiver has all data segments below `data` and offers `window` more.
    #[inline]
    pub(crate) fn acknowledge(&mut self, data: u32, window: u32) {
        self.una = self.una.max(data);
        self.edge = self.edge.max(data.saturating_add(window));
        if let Some(messages) = &mut self.messages {
            messages.acknowledge(self.una);
        }
    }

    /// Whether everything is acknowledged, and nothing will follow.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.una == self.total && self.messages.is_none()
    }

    /// Whether anything is acknowledged: only then is the connection fully established (RFC 8684, section 3.1).
    pub(crate) fn has_data_ack(&self) -> bool {
        self.una > 0
    }

    /// The receiver offers no window and never will.
    pub(crate) fn is_stuck(&self) -> bool {
        self.edge == 0
    }

    fn has_new(&self, now: u64) -> bool {
        self.next < self.edge.min(self.total) && now < self.stop
    }

    /// Whether some subflow could get something to send.
    #[inline]
    pub(crate) fn has_data(&self, now: u64) -> bool {
        self.waiting > 0 || self.has_new(now)
    }

    /// What subflow `number` would send next: what others have failed to deliver, else new data.
    #[inline]
    pub(crate) fn offer(&mut self, number: u32, now: u64) -> Option<u32> {
        if self.waiting > 0
            && let Some(data) = self.offer_again(number)
        {
            return Some(data);
        }
        self.has_new(now).then_some(self.next)
    }

    #[cold]
    fn offer_again(&mut self, number: u32) -> Option<u32> {
        for (origin, queue) in self.again.iter_mut().enumerate() {
            if origin == number as usize {
                continue;
            }
            while let Some(&data) = queue.front() {
                if data >= self.una {
                    return Some(data);
                }
                queue.pop_front();
                self.waiting -= 1;
            }
        }
        None
    }

    /// Subflow `number` has sent what it was offered.
    #[inline]
    pub(crate) fn take(&mut self, number: u32, data: u32) {
        if data == self.next {
            self.next += 1;
            return;
        }
        let queue = (self.again.iter_mut().enumerate())
            .find(|(origin, queue)| *origin != number as usize && queue.front() == Some(&data))
            .expect("it was offered from there")
            .1;
        queue.pop_front();
        self.waiting -= 1;
    }

    /// Subflow `number` has not delivered `data` in time: the others shall.
    pub(crate) fn reinject(&mut self, number: u32, data: u32) {
        if self.reinjects && self.again.len() > 1 && data >= self.una {
            self.again[number as usize].push_back(data);
            self.waiting += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_net::kinds::Describe;

    use super::*;

    #[test]
    fn data_that_a_subflow_failed_to_deliver_goes_to_the_others_first() {
        let mut stream = Stream::new(
            &Mptcp::defaults(),
            Some(10_000),
            u64::MAX,
            1000,
            2,
            false,
            false,
        );
        stream.acknowledge(0, 4);
        for data in 0..3 {
            assert_eq!(stream.offer(0, 0), Some(data));
            stream.take(0, data);
        }
        stream.reinject(0, 1);
        stream.reinject(0, 2);
        // Its own failures are not given back to it.
        assert_eq!((stream.offer(0, 0), stream.offer(1, 0)), (Some(3), Some(1)));
        stream.take(1, 1);
        // What has been acknowledged in the meantime is not sent; the window of four ends before segment 7.
        stream.acknowledge(3, 4);
        assert_eq!(stream.offer(1, 0), Some(3));
        for data in 3..7 {
            stream.take(1, data);
        }
        assert_eq!((stream.offer(1, 0), stream.has_data(0)), (None, false));
    }
}
