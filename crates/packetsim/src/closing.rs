//! How flows end at their hosts, and what is counted of them.
//!
//! As long as an end exists its counts are there; when it goes they move into the flow's record.

use std::sync::Arc;

use weft_net::scenario::Scenario;
use weft_net::workload::Opener;

use crate::host::{Hosts, SinkEnd, SourceEnd};
use crate::packet::{Kind, Packet};
use crate::record::Reason;
use crate::sender::Phase;
use crate::wire::Wire;

impl Hosts {
    pub(crate) fn fail(
        &mut self,
        flow: u32,
        reason: Reason,
        wire: &mut Wire,
        scenario: &Arc<Scenario>,
    ) {
        if self.records[flow as usize].reason == Reason::None {
            self.records[flow as usize].reason = reason;
            self.retire_source(flow);
            self.retire_subflows(flow, scenario);
            self.finish(flow, wire, scenario);
        }
    }

    /// Counts the flow as done and starts those that waited for it.
    pub(crate) fn finish(&mut self, flow: u32, wire: &mut Wire, scenario: &Arc<Scenario>) {
        self.done += 1;
        let from = self.followers.partition_point(|&(leader, _)| leader < flow);
        for &(leader, follower) in &self.followers[from..] {
            if leader != flow {
                break;
            }
            let plan = &scenario.flows[follower as usize];
            let node = match plan.opener {
                Opener::Source => plan.src,
                Opener::Destination => plan.dst,
            };
            wire.calendar.push(Packet::local(
                Kind::Start,
                node.0,
                follower,
                wire.now + plan.start.0,
            ));
        }
    }

    /// Moves the counts of the source into the record and frees it.
    pub(crate) fn retire_source(&mut self, flow: u32) {
        let record = &mut self.records[flow as usize];
        match std::mem::replace(&mut self.sources[flow as usize], SourceEnd::None) {
            SourceEnd::None => {}
            SourceEnd::Tcp(sender) => {
                record.source_is_over = true;
                record.wire_bytes += sender.wire_bytes;
                record.resent_bytes += sender.resent_bytes;
                record.timeouts += sender.timeouts;
                record.timeout_wait += sender.timeout_wait;
                record.sent += sender.packets;
                record.arrived += sender.arrived;
            }
            SourceEnd::Udp(source) => {
                record.wire_bytes += source.wire_bytes;
                record.sent += source.packets;
            }
        }
    }

    pub(crate) fn retire_sink(&mut self, flow: u32) {
        let size_known = self.records[flow as usize].finished;
        let record = &mut self.records[flow as usize];
        match std::mem::replace(&mut self.sinks[flow as usize], SinkEnd::None) {
            SinkEnd::None => {}
            SinkEnd::Tcp(receiver) => {
                record.sink_is_over = true;
                if receiver.shared.is_none() {
                    record.delivered += receiver.delivered;
                }
                record.reordered += receiver.reordered;
                record.duplicates += receiver.duplicates;
                record.extents.add(&receiver.extents);
                record.sent += receiver.packets;
                record.arrived += receiver.arrived;
            }
            SinkEnd::Udp(sink) => {
                record.delivered += sink.delivered;
                record.reordered += sink.reordered;
                record.latency = sink.delays.summary();
                record.finished = size_known.min(sink.last_arrival);
            }
        }
    }

    /// Payload that the flow has delivered so far, each byte once.
    pub(crate) fn delivered(&self, flow: usize) -> u64 {
        if let Some(Some(inbox)) = self.inboxes.get(flow) {
            return inbox.delivered;
        }
        self.records[flow].delivered
            + match &self.sinks[flow] {
                SinkEnd::None => 0,
                SinkEnd::Tcp(receiver) => receiver.delivered,
                SinkEnd::Udp(sink) => sink.delivered,
            }
    }

    /// Payload that arrived so far over a subflow of a multipath flow, as long as its receiver exists.
    pub(crate) fn subflow_delivered(&self, id: usize) -> Option<u64> {
        match &self.sinks[id] {
            SinkEnd::Tcp(receiver) if receiver.shared.is_some() => Some(receiver.delivered),
            _ => None,
        }
    }

    /// Wire bytes that the source of a subflow has sent so far.
    pub(crate) fn wire_bytes(&self, id: usize) -> u64 {
        self.records[id].wire_bytes
            + match &self.sources[id] {
                SourceEnd::None => 0,
                SourceEnd::Tcp(sender) => sender.wire_bytes,
                SourceEnd::Udp(source) => source.wire_bytes,
            }
    }

    /// Whether the end of the flow that has the payload exists.
    pub(crate) fn is_open(&self, flow: usize) -> bool {
        match self.streams.get(flow) {
            Some(Some(stream)) => stream.open > 0,
            _ => !matches!(self.sources[flow], SourceEnd::None),
        }
    }

    /// The run is over: moves what is left into the records.
    pub(crate) fn retire_all(&mut self, scenario: &Scenario) {
        for flow in 0..self.records.len() {
            self.retire_source(flow as u32);
            self.retire_sink(flow as u32);
            if flow >= scenario.flows.len() {
                continue;
            }
            if let Some(Some(inbox)) = self.inboxes.get(flow) {
                self.records[flow].delivered = inbox.delivered;
            }
            if let Some(latency) = self.apps.latency(flow as u32) {
                self.records[flow].latency = Some(latency);
            }
            // The last datagram may arrive although others do not, and an endless flow has no last one.
            let record = &mut self.records[flow];
            if scenario.flows[flow].size != Some(record.delivered) {
                record.finished = u64::MAX;
            }
        }
    }

    /// The flow is open but its receiver offers no window.
    pub(crate) fn is_stuck(&self, flow: usize) -> bool {
        if let Some(Some(stream)) = self.streams.get(flow) {
            return stream.established > 0 && stream.open > 0 && stream.is_stuck();
        }
        matches!(&self.sources[flow], SourceEnd::Tcp(sender) if sender.is_stuck && sender.phase == Phase::Open)
    }
}
