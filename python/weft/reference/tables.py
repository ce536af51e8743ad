"""The page of the tables: what a run writes, column by column. A test compares it with what a run does write."""

from collections.abc import Mapping
from dataclasses import dataclass

from weft.reference.markdown import table


@dataclass(frozen=True)
class Column:
    """A column; `type` is i64, f64, str or list of str, with `?` where a value may be null."""

    type: str
    meaning: str


TABLES: Mapping[str, tuple[str, Mapping[str, Column]]] = {
    "flows": (
        "One row per flow, those that never started included.",
        {
            "flow": Column("i64", "Number of the flow, from 0."),
            "workload": Column("str", "Name of its `[[workload]]`."),
            "src": Column("str", "Host that has the payload."),
            "dst": Column("str", "Host that wants it. In a fetch this one opens the connection."),
            "size_bytes": Column("i64?", "Payload; null for an endless flow."),
            "start_ns": Column("i64?", "When its first packet was sent; null if it never was."),
            "fct_ns": Column(
                "i64?", "From the first packet sent to the last payload byte received; null if unfinished."
            ),
            "acked_ns": Column("i64?", "The same until the sender knows it."),
            "closed_ns": Column("i64?", "The same until the last FIN arrived."),
            "ideal_fct_ns": Column(
                "i64?",
                "`fct_ns` of the same flow alone on an idle network, handshake included: exact over one path, over "
                "several what their narrowest cut allows. Null without an end or a way, for random datagrams, and for "
                "token buckets on several paths.",
            ),
            "delivered_bytes": Column("i64", "Payload received, each byte once."),
            "goodput_bps": Column(
                "f64?",
                "Payload received in the measured window over its length; size over `fct_ns` for a flow that finished "
                "in an experiment without warm-up.",
            ),
            "wire_bytes": Column(
                "i64", "All bytes of the flow on its first link: headers, retransmissions and control included."
            ),
            "retransmitted_bytes": Column(
                "i64", "Bytes on the wire of packets that were sent again, headers included."
            ),
            "timeouts": Column("i64", "How often the sender's retransmission timer went off."),
            "timeout_wait_ns": Column("i64", "Silence before these: nothing sent, nothing new acknowledged."),
            "lost_packets": Column("i64", "Packets of the flow that a queue or a wire dropped, in both directions."),
            "marked_packets": Column("i64", "Packets that a queue marked (ECN)."),
            "reordered_packets": Column("i64", "Packets that came to TCP after a later one (RFC 4737)."),
            "reordering_extent_mean": Column(
                "f64?",
                "How many packets had come since the first later one, that one included (RFC 4737, section 4.2.2); "
                "mean over the reordered packets, null without any.",
            ),
            "reordering_extent_max": Column("i64", "The largest of these."),
            "spurious_retransmits": Column("i64", "Segments that arrived although they had arrived before."),
            "subflows": Column("i64", "Subflows that were established; 1, but for multipath transports."),
            "available_paths": Column("i64", "Paths that the routing offered between its hosts at the start."),
            "reason": Column("str?", "Why it did not finish; null if it did, or was endless."),
            "latency_mean_ns": Column(
                "i64?",
                "Mean one-way delay of its datagrams in the measured window, or time of the queries of an application; "
                "null for TCP without one.",
            ),
            "latency_p50_ns": Column("i64?", "Median of the same."),
            "latency_p99_ns": Column("i64?", "99th percentile of the same."),
        },
    ),
    "links": (
        "One row per directed link.",
        {
            "link": Column("str", "`src>dst`."),
            "src": Column("str", "Node that sends on it."),
            "dst": Column("str", "Node at its end."),
            "rate_bps": Column("i64", "Bits per second."),
            "tx_bytes": Column("i64", "Wire bytes sent, overhead included; of the whole run."),
            "tx_packets": Column("i64", "Packets sent; of the whole run."),
            "busy_ns": Column(
                "i64",
                "Time in which it was sending; behind a token bucket, in which the tokens came that it took. "
                "Of the whole run.",
            ),
            "utilization": Column(
                "f64?", "Busy share of the measured window, 0 to 1; a token bucket's burst may come on top."
            ),
            "flows": Column("i64?", "Flows routed over it; null where packets of one flow take several paths."),
            "lost_packets": Column("i64", "Packets that the wire lost after they left the port (`loss`)."),
        },
    ),
    "queues": (
        "One row per egress queue, those of the hosts' network cards included; counts are of the whole run.",
        {
            "link": Column("str", "The link that it feeds."),
            "priority": Column("i64", "0: there is one queue per port."),
            "enqueued_packets": Column("i64", "Packets that it accepted."),
            "dropped_packets": Column("i64", "Packets that it refused."),
            "marked_packets": Column("i64", "Packets that it marked (ECN)."),
            "max_bytes": Column("i64", "Longest backlog, wire bytes, the packet in transmission included."),
            "mean_bytes": Column("f64", "Mean backlog over time, from 0 to the end of the run."),
            "mean_wait_ns": Column(
                "f64?", "Mean time from arrival to the start of transmission; null without packets."
            ),
            "paused_ns": Column("i64", "Time for which flow control stopped it; 0, for there is none yet."),
        },
    ),
    "paths": (
        "One row per flow and path that carried some of it. Per-flow balancing writes it always; where packets of one "
        "flow take several paths, only with `[measure] paths = true`.",
        {
            "flow": Column("i64", "Number of the flow."),
            "subflow": Column("i64", "0, but for multipath transports."),
            "src_port": Column("i64", "Source port of the five-tuple that was hashed."),
            "dst_port": Column("i64", "Destination port."),
            "path": Column("list of str", "Names of its links, in order."),
            "tx_bytes": Column("i64", "Wire bytes of the flow that took it."),
        },
    ),
    "samples": (
        "One row per observation, at every multiple of `[measure] every`; without `every` there is no such table.",
        {
            "time_ns": Column("i64", "Simulated time. Everything before it has happened, nothing after."),
            "metric": Column(
                "str",
                "`goodput_bps`, `subflow_goodput_bps`, `cwnd_bytes`, `srtt_ns`, `queue_bytes`, `utilization` or "
                "`sent_bps`.",
            ),
            "entity": Column(
                "str",
                "Number of the flow (`goodput_bps`, `sent_bps`, `cwnd_bytes`, `srtt_ns`), FLOW/SUBFLOW where it is "
                "multipath (`cwnd_bytes`, `srtt_ns`, `subflow_goodput_bps`), or name of the link (`queue_bytes`: ports "
                "of switches; `utilization`: all).",
            ),
            "value": Column(
                "f64", "In the unit of the metric. Goodput and utilization are of the time since the last sample."
            ),
            "error": Column("f64?", "Uncertainty of a measured value; null in a simulation."),
        },
    ),
    "nodes": (
        "One row per host and switch: what is needed to draw the fabric.",
        {
            "node": Column("str", "Name."),
            "kind": Column("str", "`host` or `switch`."),
            "level": Column("i64", "Layer, 0 for hosts."),
            "pod": Column("i64?", "Pod, where the topology has pods."),
            "address": Column("str", "IPv4 address."),
        },
    ),
}
"""By table: what a row is, and its columns in order."""


def tables() -> str:
    """The page."""
    lines = ["# Tables", ""]
    lines += [
        "Every run writes its tables as Parquet files into `OUT/runs/RUN/`; `Results` gives them as polars frames with"
    ]
    lines += ["the columns `run, cell, repeat, seed` and the swept keys in front. A column's name ends with its unit."]
    lines += ["`?` marks a column that may be null."]
    for name, (row, columns) in TABLES.items():
        lines += ["", f"## {name}", "", row, ""]
        lines += table(
            ("column", "type", "meaning"),
            [(f"`{key}`", column.type, column.meaning) for key, column in columns.items()],
        )
    return "\n".join(lines) + "\n"
