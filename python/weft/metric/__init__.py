"""Metrics: from the tables of one run to its numbers. One file per metric; `METRICS` is the list."""

from weft.metric import (
    completion,
    drops,
    fairness,
    fct,
    goodput,
    loss,
    path_evenness,
    path_share,
    retransmissions,
    slowdown,
    throughput,
    utilization,
)
from weft.metric.definition import SUMMARIES, Metric, Tables

METRICS: dict[str, Metric] = {
    module.METRIC.name: module.METRIC
    for module in (
        goodput,
        throughput,
        fct,
        slowdown,
        completion,
        fairness,
        utilization,
        drops,
        loss,
        retransmissions,
        path_share,
        path_evenness,
    )
}

__all__ = ["METRICS", "SUMMARIES", "Metric", "Tables"]
