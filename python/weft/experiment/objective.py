"""The objective: how `[objective]` is read.

    [objective]
    metric = "goodput.sum"                  # what is to be as good as possible
    workload = ["h1", "h2", "h3"]           # of these flows alone; left out, of all
    constraints = [
        { metric = "goodput", workload = "victim", at_least = "95 %", of = "alone" },
        { metric = "fct.p99", at_most = "10 ms" },
    ]
    also = { metric = "drops" }             # a second objective

A constraint in per cent needs a yardstick: `alone` or `bottleneck`; a metric that is a share itself does not.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from weft import units
from weft.errors import Fault
from weft.experiment.check import check_value
from weft.experiment.document import Document
from weft.experiment.metrics import metric_fault
from weft.experiment.path import Path
from weft.experiment.sections import SECTION
from weft.experiment.values import said, suggestion
from weft.kinds import catalogue
from weft.metric import METRICS, Metric

WHERE: Path = ("objective",)

WORSE = {"maximize": "minimize", "minimize": "maximize"}

OF_FLOWS = ("completion", "fairness", "retransmissions")
"""Metrics of a whole run that are computed from its flows, so that some of these can be asked for alone."""

UNITS = {"bps": '"9 Gbps"', "ns": '"10 us"', "packets": "10", "share": '"95 %"', "": "0.9"}
"""A bound by the unit of its metric, as an example."""


@dataclass(frozen=True)
class Measure:
    """A number of a run: a metric, summarized, of the flows of some workloads (of all, if none is named)."""

    metric: Metric
    summary: str
    workloads: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As a person says it.

        >>> Measure(METRICS["fct"], "p99", ("victim",)).name
        'fct.p99 of victim'
        """
        name = self.metric.name if self.summary == self.metric.summary else f"{self.metric.name}.{self.summary}"
        return f"{name} of {', '.join(self.workloads)}" if self.workloads else name


@dataclass(frozen=True)
class Goal:
    """A measure that is to be as large or as small as possible."""

    measure: Measure
    direction: str

    @property
    def sign(self) -> float:
        """1 if larger is better, else -1."""
        return 1.0 if self.direction == "maximize" else -1.0


@dataclass(frozen=True)
class Constraint:
    """Bounds of a measure in its base unit, or as a share of a yardstick (`of`: alone, bottleneck)."""

    measure: Measure
    at_least: float | None
    at_most: float | None
    of: str | None
    text: str
    """As a person says it: "goodput of victim at least 95 % of alone"."""

    def misses(self, value: float) -> list[float]:
        """By how much a value misses each bound, as a share of the bound where that is not zero; at most 0 if kept."""
        missed = []
        if self.at_least is not None:
            missed.append((self.at_least - value) / (abs(self.at_least) or 1.0))
        if self.at_most is not None:
            missed.append((value - self.at_most) / (abs(self.at_most) or 1.0))
        return missed

    def shortfall(self, value: float) -> float:
        """The larger of `misses`."""
        return max(self.misses(value))


@dataclass(frozen=True)
class Objective:
    """One or two goals and the constraints that a point must keep; `written` is the section with its defaults."""

    goals: tuple[Goal, ...]
    constraints: tuple[Constraint, ...]
    written: Mapping[str, Any]


def read_objective(document: Document, workloads: Collection[str], faults: list[Fault]) -> Objective | None:
    """The objective of a document, None without one or with faults, which go into `faults`.

    `workloads` are the names of the experiment's workloads.
    """
    section = document.value.get("objective")
    if section is None:
        return None
    before = len(faults)
    if not isinstance(section, Mapping):
        faults.append(document.fault(WHERE, f"{said(section)} is no section; write [objective] above its keys"))
        return None
    value = _checked(document, _plain(section), faults)
    if value is None:
        return None
    goals = [_goal(document, value, WHERE, workloads, faults)]
    if "also" in value:
        goals.append(_goal(document, value["also"], (*WHERE, "also"), workloads, faults))
        if None not in goals and goals[0] == goals[1]:
            faults.append(document.fault((*WHERE, "also"), "is the first objective again; name another metric"))
    constraints = [
        _constraint(document, table, (*WHERE, "constraints", index), workloads, faults)
        for index, table in enumerate(value.get("constraints", ()))
    ]
    if len(faults) > before:
        return None
    whole = tuple(goal for goal in goals if goal)
    written = {"direction": whole[0].direction} | dict(section)
    return Objective(whole, tuple(constraint for constraint in constraints if constraint), written)


def _checked(document: Document, section: Mapping[str, Any], faults: list[Fault]) -> dict[str, Any] | None:
    """The keys of the section with their types checked, None if any is wrong."""
    before = len(faults)
    parameters = catalogue()[SECTION]["objective"].parameters
    for key in section:
        if key not in parameters:
            way_out, nearest = suggestion(key, parameters, "its keys")
            message = f'[objective] has no key "{key}"; {way_out}'
            faults.append(document.fault((*WHERE, key), message, value=section[key], nearest=nearest))
    value: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name in section:
            value[name], wrong = check_value(document, parameter, parameter.value, section[name], (*WHERE, name))
            faults += wrong
        elif parameter.required:
            message = f'is required: a metric, like "goodput"; there are {", ".join(METRICS)}'
            faults.append(document.fault((*WHERE, name), message))
    return value if len(faults) == before else None


def _plain(value: Any) -> Any:
    """One workload as a list of one, and numeric bounds as texts: what the declarations know."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    plain = {key: _plain(part) for key, part in value.items()}
    if isinstance(plain.get("workload"), str):
        plain["workload"] = [plain["workload"]]
    for key in ("at_least", "at_most"):
        if isinstance(plain.get(key), int | float) and not isinstance(plain[key], bool):
            plain[key] = str(plain[key])
    return plain


def _measure(
    document: Document, table: Mapping[str, Any], path: Path, workloads: Collection[str], faults: list[Fault]
) -> Measure | None:
    before = len(faults)
    if fault := metric_fault(document, (*path, "metric"), table["metric"]):
        faults.append(fault)
        return None
    name, _, summary = table["metric"].partition(".")
    metric = METRICS[name]
    chosen = table.get("workload") or []
    for each in chosen:
        if each not in workloads:
            way_out, nearest = suggestion(each, workloads, "workloads")
            message = f"no workload is called {said(each)}; {way_out}"
            faults.append(document.fault((*path, "workload"), message, value=each, nearest=nearest))
    if chosen and metric.entity != "flow" and name not in OF_FLOWS:
        of = "the whole run" if metric.entity == "run" else f"{metric.entity}s"
        message = f"{name} is of {of}, which all workloads share; leave workload out, or take a metric of flows"
        faults.append(document.fault((*path, "workload"), message, value=chosen))
    return Measure(metric, summary or metric.summary, tuple(chosen)) if len(faults) == before else None


def _goal(
    document: Document, table: Mapping[str, Any], path: Path, workloads: Collection[str], faults: list[Fault]
) -> Goal | None:
    measure = _measure(document, table, path, workloads, faults)
    if measure is None:
        return None
    metric = measure.metric
    usual = "maximize" if metric.better == "higher" else "minimize"
    direction = table.get("direction", usual)
    if direction == "worst":
        direction = WORSE[usual]
    # A link may be meant to be full or to be spared; every other metric has one better side.
    elif direction != usual and metric.entity != "link":
        message = (
            f"{metric.name} is better when {metric.better}, so {said(direction)} would look for the worst point; leave "
            'it out, or write direction = "worst" if that is meant'
        )
        faults.append(document.fault((*path, "direction"), message, value=direction, expected=usual))
        return None
    return Goal(measure, direction)


def _constraint(
    document: Document, table: Mapping[str, Any], path: Path, workloads: Collection[str], faults: list[Fault]
) -> Constraint | None:
    before = len(faults)
    measure = _measure(document, table, path, workloads, faults)
    of = table.get("of")
    bounds = {key: table[key] for key in ("at_least", "at_most") if key in table}
    if not bounds:
        like = UNITS[measure.metric.unit] if measure else '"9 Gbps"'
        faults.append(document.fault(path, f"has no bound; add at_least = {like}, or at_most"))
    if measure is None:
        return None
    if of == "bottleneck" and measure.metric.unit != "bps":
        message = f"bottleneck is a rate, and {measure.metric.name} is none; use goodput or throughput, or alone"
        faults.append(document.fault((*path, "of"), message, value=of))
    if of == "alone" and not measure.workloads:
        message = "alone means without the other workloads; say whose flows are meant: workload = ..."
        faults.append(document.fault((*path, "of"), message, value=of))
    read: dict[str, float] = {}
    for key, text in bounds.items():
        try:
            read[key] = bound_of(text, measure.metric, of)
        except ValueError as error:
            faults.append(document.fault((*path, key), str(error), value=text))
    if len(read) == 2 and read["at_least"] > read["at_most"]:
        message = f"{said(bounds['at_least'])} is above at_most = {said(bounds['at_most'])}; nothing keeps both"
        faults.append(document.fault((*path, "at_least"), message))
    if len(faults) > before:
        return None
    words = " and ".join(f"{key.replace('_', ' ')} {text}" for key, text in bounds.items())
    text = f"{measure.name} {words}" + (f" of {of}" if of else "")
    return Constraint(measure, read.get("at_least"), read.get("at_most"), of, text)


def bound_of(text: str, metric: Metric, of: str | None) -> float:
    """A bound in the base unit of a metric, or as a share of the yardstick `of`. Raises ValueError with a sentence.

    >>> bound_of("95 %", METRICS["goodput"], "alone"), bound_of("10 us", METRICS["fct"], None)
    (0.95, 10000.0)
    """
    like = UNITS[metric.unit]
    number, percent, rest = text.strip().partition("%")
    if of and not percent:
        raise ValueError(f'{said(text)} is no share; with of = "{of}" a bound is written like "95 %"')
    if percent and not of and metric.unit != "share":
        raise ValueError(f'{said(text)} of what? add of = "alone" or of = "bottleneck", or write a bound like {like}')
    try:
        if percent:
            if rest:
                raise ValueError
            value = float(number) / 100
        elif metric.unit == "bps":
            value = float(units.parse_rate(text))
        elif metric.unit == "ns":
            value = units.parse_time(text) / 1000
        else:
            value = float(text.removesuffix("packets") if metric.unit == "packets" else text)
    except units.UnitError as error:
        raise ValueError(str(error)) from None
    except ValueError:
        raise ValueError(f"{said(text)} is no bound of {metric.name}; expected one like {like}") from None
    if not 0 <= value < float("inf"):
        raise ValueError(f"{said(text)} is no bound of {metric.name}; expected a number, at least 0, like {like}")
    return value
