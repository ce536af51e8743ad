"""Rules across keys: what each value alone may be, but not together with the others.

A rule is a function from the spec of a cell to the faults it finds, as (path, message). A new rule is one function in
`RULES`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weft.experiment.path import Path
from weft.experiment.sections import FLOWS_DONE
from weft.kinds import catalogue
from weft.units import TIME

Found = Iterator[tuple[Path, str]]


def endless_flows_need_an_end(spec: Mapping[str, Any]) -> Found:
    """A flow without a size never finishes, so that the run needs a time at which it ends."""
    if spec["backend"].get("until") != FLOWS_DONE:
        return
    for index, workload in enumerate(spec["workload"]):
        kind = catalogue()["workload"].get(workload.get("kind", ""))
        if kind and "size" in kind.parameters and "size" not in workload:
            yield (
                ("workload", index, "size"),
                'is left out, so its flows are endless and never done; give a size, like "25 MiB", or end the run with '
                'backend.until = "5 s"',
            )
        if workload.get("kind") == "rpc" and not {"requests", "stop"} & workload.keys():
            yield (
                ("workload", index, "requests"),
                "is left out, so its clients never stop asking; give requests = 1000, or end the run with "
                'backend.until = "5 s"',
            )


def the_window_lies_inside_the_run(spec: Mapping[str, Any]) -> Found:
    """Warm-up and cool-down leave something to measure; a cool-down needs to know when the run ends."""
    until, measure = spec["backend"].get("until"), spec["measure"]
    warmup, cooldown = measure.get("warmup", 0), measure.get("cooldown", 0)
    if until == FLOWS_DONE:
        if cooldown:
            yield (
                ("measure", "cooldown"),
                'needs a run that ends at a known time; write backend.until = "5 s" in place of "flows done"',
            )
        return
    if until is not None and warmup + cooldown >= until:
        what = "warmup and cooldown take" if warmup and cooldown else "warmup takes" if warmup else "cooldown takes"
        taken, end = TIME.format(warmup + cooldown), TIME.format(until)
        message = f"{what} {taken}; the run ends at {end}, so nothing is measured"
        yield ("measure", "warmup" if warmup >= cooldown else "cooldown"), message


def the_limit_lies_behind_the_end(spec: Mapping[str, Any]) -> Found:
    """A run that would be cut before its end."""
    until, limit = spec["backend"].get("until"), spec["backend"].get("limit")
    if isinstance(until, int) and limit is not None and limit < until:
        yield ("backend", "limit"), f"{TIME.format(limit)} is before the end of the run, until = {TIME.format(until)}"


def samples_need_an_interval(spec: Mapping[str, Any]) -> Found:
    """Metrics without `every` would silently not be sampled; an interval beyond the run samples nothing."""
    measure, until = spec["measure"], spec["backend"].get("until")
    every = measure.get("every")
    if "metrics" in measure and every is None:
        yield ("measure", "metrics"), 'is sampled at an interval; add every = "10 ms"'
    if every is not None and isinstance(until, int) and every > until:
        yield (
            ("measure", "every"),
            f"{TIME.format(every)} is longer than the run, {TIME.format(until)}: nothing would be sampled",
        )
    if "metrics" in measure and not measure["metrics"]:
        yield (
            ("measure", "metrics"),
            "is an empty list; leave it out to sample everything, or leave out `every` to sample nothing",
        )


def workloads_have_names_of_their_own(spec: Mapping[str, Any]) -> Found:
    """Random streams and tables go by the name."""
    seen: dict[str, int] = {}
    for index, workload in enumerate(spec["workload"]):
        name = workload.get("name")
        if name in seen:
            message = f'two workloads are called "{name}" (the other is workload[{seen[name]}]); give each its own name'
            yield ("workload", index, "name"), message
        elif name is not None:
            seen[name] = index


def workloads_stop_after_they_start(spec: Mapping[str, Any]) -> Found:
    """A workload that ends before it begins."""
    for index, workload in enumerate(spec["workload"]):
        start, stop = workload.get("start", 0), workload.get("stop")
        if stop is not None and stop <= start:
            yield ("workload", index, "stop"), f"{TIME.format(stop)} is not after start, {TIME.format(start)}"


def thresholds_of_red_rise(spec: Mapping[str, Any]) -> Found:
    """Between the two the probability rises."""
    queue = spec["queue"]
    low, high = queue.get("min_threshold"), queue.get("max_threshold")
    # As capacities (ecn_ramp) they have a unit, which the simulator compares.
    if isinstance(low, dict) or isinstance(high, dict):
        return
    if low is not None and high is not None and low >= high:
        yield ("queue", "max_threshold"), f"{high:g} is not above min_threshold, {low:g}"


def timeouts_lie_below_the_largest(spec: Mapping[str, Any]) -> Found:
    """A smallest or first timeout above the largest would never be used."""
    own = [("workload", index, "transport") for index, w in enumerate(spec["workload"]) if "transport" in w]
    for place in [("transport",), *own]:
        table: Any = spec
        for part in place:
            table = table.get(part, {}) if isinstance(table, Mapping) else table[part]
        most = table.get("rto_max")
        for key in ("rto_min", "rto_initial"):
            value = table.get(key)
            if isinstance(value, int) and isinstance(most, int) and value > most:
                message = f"{TIME.format(value)} is above rto_max = {TIME.format(most)}, so it would never be used"
                yield (*place, key), message


RULES: tuple[Callable[[Mapping[str, Any]], Found], ...] = (
    endless_flows_need_an_end,
    the_window_lies_inside_the_run,
    the_limit_lies_behind_the_end,
    samples_need_an_interval,
    workloads_have_names_of_their_own,
    workloads_stop_after_they_start,
    thresholds_of_red_rise,
    timeouts_lie_below_the_largest,
)
