"""Metrics: from the tables of one run to its numbers.

`METRICS` is the list: a line says what a metric is; the file of its name computes it, in the function of its name. The
file is loaded when the metric is first computed, so that the list can be read without the data stack.
"""

from weft.metric.definition import SUMMARIES, Metric, Tables

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("goodput", "Goodput", "bps", "flow", "higher", "mean", "RFC 2647, section 3.17"),
        Metric("goodput_share", "Goodput share", "share", "flow", "higher", "mean", "Singla et al., NSDI 2012"),
        Metric("throughput", "Throughput", "bps", "flow", "higher", "mean", "weft's own"),
        Metric("fct", "FCT", "ns", "flow", "lower", "mean", "Dukkipati and McKeown, CCR 2006"),
        Metric("closed", "FCT to the last FIN", "ns", "flow", "lower", "mean", "the path diversity study"),
        Metric("slowdown", "Slowdown", "", "flow", "lower", "mean", "Alizadeh et al., SIGCOMM 2013"),
        Metric("latency", "Latency", "ns", "flow", "lower", "mean", "RFC 7679; Dean and Barroso, CACM 2013"),
        Metric("completion", "Finished", "share", "run", "higher", "mean", "weft's own"),
        Metric("fairness", "Jain index", "", "run", "higher", "mean", "Jain et al., DEC TR-301, 1984"),
        Metric("payload_share", "Payload share", "share", "host", "higher", "mean", "RFC 2647 and RFC 5136"),
        Metric("utilization", "Utilization", "share", "link", "higher", "max", "RFC 5136, section 2.3"),
        Metric("drops", "Drops", "packets", "queue", "lower", "sum", "RFC 2863 (ifOutDiscards)"),
        Metric("loss", "Loss", "share", "run", "lower", "mean", "RFC 7680, section 2.3"),
        Metric("retransmissions", "Resent", "share", "run", "lower", "mean", "RFC 4898"),
        Metric("core_balance", "Core balance", "", "core", "higher", "min", "Al-Fares et al., SIGCOMM 2008"),
        Metric("excess", "Excess traffic", "share", "flow", "lower", "mean", "the path diversity study"),
        Metric("path_share", "Paths used", "share", "flow", "higher", "mean", "weft's own"),
        Metric("path_evenness", "Path evenness", "", "flow", "higher", "mean", "weft's own"),
    )
}

__all__ = ["METRICS", "SUMMARIES", "Metric", "Tables"]
