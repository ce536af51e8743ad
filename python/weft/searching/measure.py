"""Measuring: what a run says about the objective and its constraints."""

import math

from weft.errors import ResultsError
from weft.experiment.objective import Measure
from weft.metric import SUMMARIES, Tables
from weft.metric.workloads import of_workloads
from weft.scenario import Scenario


def value_of(measure: Measure, tables: Tables) -> float:
    """The number of a run. Raises ResultsError if it has none, or none that is finite."""
    asked = of_workloads(tables, measure.workloads, measure.name) if measure.workloads else tables
    value = measure.metric.value(asked, measure.summary)
    if not math.isfinite(value):
        raise ResultsError(f"{measure.name}: is {value}, which is better or worse than nothing")
    return value


def bottleneck(measure: Measure, scenario: Scenario) -> float:
    """The rate of the slowest link on the way of each flow that counts, summarized as the measure is, in bit/s.

    Where packets of a flow take several ways, its first and its last link count: no way is faster. Raises ResultsError
    without a flow.
    """
    import polars as pl

    links, flows = scenario.links(), scenario.flows()
    rates = links["rate_bps"]
    of_host: dict[str, list[float]] = {}
    for src, dst, rate in zip(links["src"], links["dst"], rates, strict=True):
        of_host.setdefault(src, []).append(rate)
        of_host.setdefault(dst, []).append(rate)
    slowest = []
    for workload, src, dst, path in zip(flows["workload"], flows["src"], flows["dst"], flows["path"], strict=True):
        if not measure.workloads or workload in measure.workloads:
            on_the_way = [rates[link] for link in path] if path else [max(of_host[src]), max(of_host[dst])]
            slowest.append(float(min(on_the_way)))
    if not slowest:
        raise ResultsError(f"{measure.name}: there is no flow of {', '.join(measure.workloads) or 'any workload'}")
    return SUMMARIES[measure.summary](pl.Series(slowest))
