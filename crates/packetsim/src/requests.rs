//! What the client of an application asks its server for, at the end of the connection that wants the payload.
//!
//! A request travels in a packet of its own and is sent again until data comes; the server knows those that it has had by
//! their numbers. A subflow of a multipath connection keeps those that it has sent, numbered as the connection counts them
//! and as the subflow does: when its timer goes off it sends them again, and its connection gives them to another subflow
//! (RFC 8684, section 3.3.6).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::packet::Kind;
use crate::receiver::{Receiver, Stage};
use crate::rtt::Rtt;
use crate::sender::NEVER;
use crate::wire::Wire;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Its number in the connection.
    pub(crate) number: u32,
    /// How much it asks for.
    pub(crate) bytes: u32,
    /// The segment after the last of its answer; of a multipath connection, the data segment.
    pub(crate) end: u32,
}

/// Numbers the requests of a connection.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbering {
    requests: u32,
    /// The segment after the last of all answers.
    end: u32,
}

impl Numbering {
    /// The next request, for an answer of so many bytes in so many segments.
    pub(crate) fn next(&mut self, bytes: u32, segments: u32) -> Request {
        self.end += segments;
        self.requests += 1;
        Request {
            number: self.requests - 1,
            bytes,
            end: self.end,
        }
    }
}

/// The requests that one receiver has sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Those without an answer, with their numbers in this subflow.
    asked: VecDeque<(u32, Request)>,
    /// How many there were.
    count: u32,
    /// Requests below this have been given to other subflows.
    given: u32,
    /// When they are sent again unless data has come.
    pub(crate) due: u64,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Self {
            asked: VecDeque::new(),
            count: 0,
            given: 0,
            due: NEVER,
        }
    }

    /// Whether there is any without an answer.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Everything before segment `reached` has arrived.
    fn answered(&mut self, reached: u32) {
        while self.asked.front().is_some_and(|a| a.1.end <= reached) {
            self.asked.pop_front();
        }
    }
}

impl Receiver {
    /// Asks; the request goes out at once if the connection is open.
    pub(crate) fn ask_for(&mut self, request: Request, wire: &mut Wire) {
        let own = self.requests.count;
        self.requests.count += 1;
        self.requests.asked.push_back((own, request));
        if self.can_ask() {
            self.send_request(own, request, wire);
            self.wait_for_answer(wire);
        }
    }

    /// Whether requests may be sent.
    pub(crate) fn can_ask(&self) -> bool {
        self.stage == Stage::Receiving && self.opens
    }

    fn send_request(&mut self, own: u32, request: Request, wire: &mut Wire) {
        let size = self.headers.data + self.request as u16;
        let mut packet = (self.address).packet(Kind::Request, own, size, 0, wire.now);
        packet.window = self.offer();
        packet.data = request.bytes;
        packet.sack[0] = self.next;
        packet.sack[1] = request.number;
        packet.sack[2] = self.shared.map_or(0, |s| s.data);
        self.emit(wire, packet);
    }

    /// Sends all that have no answer yet.
    pub(crate) fn send_requests(&mut self, wire: &mut Wire) {
        if !self.requests.is_waiting() {
            return;
        }
        for at in 0..self.requests.asked.len() {
            let (own, request) = self.requests.asked[at];
            self.send_request(own, request, wire);
        }
        self.wait_for_answer(wire);
    }

    fn wait_for_answer(&mut self, wire: &mut Wire) {
        self.requests.due = wire.now + self.rtt.rto();
        self.wake(wire);
    }

    /// Data has arrived, all before segment `reached`: as long as some does, nothing is wrong with the requests.
    pub(crate) fn note_answers(&mut self, reached: u32, wire: &mut Wire) {
        self.requests.answered(reached);
        self.rtt.backoff = 0;
        self.retries = 0;
        if self.requests.is_waiting() {
            self.wait_for_answer(wire);
        } else {
            self.requests.due = NEVER;
        }
    }

    /// The same where the data arrived on other subflows, at `heard` the last: nothing is known of this one.
    pub(crate) fn note_answers_elsewhere(&mut self, reached: u32, heard: u64) {
        self.requests.answered(reached);
        if self.requests.is_waiting() {
            let from_there = heard + self.rtt.rto();
            self.requests.due = self.requests.due.max(from_there);
        } else {
            self.requests.due = NEVER;
        }
    }

    /// The time for an answer is over: asks again, or gives up.
    #[cold]
    pub(crate) fn on_no_answer(&mut self, wire: &mut Wire) {
        self.requests.due = NEVER;
        self.rtt.backoff += 1;
        self.retries += 1;
        if self.retries > self.max_retries {
            self.stage = Stage::Failed;
            return;
        }
        self.try_another_way(wire.now);
        self.send_requests(wire);
    }

    /// Requests that have been sent again and not been given to the other subflows before.
    pub(crate) fn give_requests_away(&mut self) -> Vec<Request> {
        if self.rtt.backoff == 0 {
            return Vec::new();
        }
        let given = self.requests.given;
        self.requests.given = self.requests.count;
        let own = self.requests.asked.iter().filter(|a| a.0 >= given);
        own.map(|a| a.1).collect()
    }

    /// Data has arrived on this subflow: it answers.
    #[inline]
    pub(crate) fn note_life(&mut self) {
        if self.asks {
            self.rtt.backoff = 0;
            self.retries = 0;
        }
    }

    /// How good this subflow is for a request: those that answer before those that do not, then by round trip.
    pub(crate) fn rank(&self, by_rtt: bool) -> (u32, u64) {
        let Rtt { backoff, srtt, .. } = self.rtt;
        let known = if srtt == 0 { u64::MAX } else { srtt };
        (backoff, if by_rtt { known } else { 0 })
    }
}
