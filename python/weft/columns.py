"""Columns: the numbers that the tables of a run hold, known before any run, so that `[[report]]` can be checked.

Texts and lists (names, reasons, paths) are left out: they are not drawn. A test compares this with what a run writes.
"""

from collections.abc import Mapping

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "flows": (
        "flow",
        "size_bytes",
        "start_ns",
        "fct_ns",
        "acked_ns",
        "closed_ns",
        "ideal_fct_ns",
        "delivered_bytes",
        "goodput_bps",
        "wire_bytes",
        "retransmitted_bytes",
        "timeouts",
        "timeout_wait_ns",
        "lost_packets",
        "marked_packets",
        "reordered_packets",
        "reordering_extent_mean",
        "reordering_extent_max",
        "spurious_retransmits",
        "subflows",
        "available_paths",
        "latency_mean_ns",
        "latency_p50_ns",
        "latency_p99_ns",
    ),
    "links": ("rate_bps", "tx_bytes", "tx_packets", "busy_ns", "utilization", "flows", "lost_packets"),
    "queues": (
        "priority",
        "enqueued_packets",
        "dropped_packets",
        "marked_packets",
        "max_bytes",
        "mean_bytes",
        "mean_wait_ns",
        "paused_ns",
    ),
    "paths": ("flow", "subflow", "src_port", "dst_port", "tx_bytes"),
}
"""By table; the first table's columns need no table before their name: `lost_packets`, `queues.max_bytes`."""
