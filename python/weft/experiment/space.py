"""The space: how `[space]` and `[search]` are read.

    [space]
    "queue.kind" = ["drop_tail", "red"]                                                # a list
    "queue.capacity" = { from = "10 packets", to = "500 packets", scale = "log" }      # any value of a range
    "workload[0].load" = { from = 0.1, to = 0.9, step = 0.1 }                          # some values of a range
    "topology.link.rate" = { from = "1 Gbps", to = "100 Gbps", steps = 5, scale = "log" }

    [search]
    trials = 60

A key is checked as an axis of a sweep is: its values are put into the experiment, the ends of a range and every value
of a list, in all combinations where these are few. A value that is wrong in every combination is a fault; one that is
wrong beside some others only (a lower threshold above the upper one) makes those trials fail.
"""

import difflib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from weft.errors import Fault
from weft.experiment import path as dotted
from weft.experiment.axes import DIGITS, MOST_STEPS, NO_PLACE, SCALES, Writer, quantity_of, spread
from weft.experiment.check import check_value
from weft.experiment.document import Document
from weft.experiment.objective import Objective
from weft.experiment.path import Path
from weft.experiment.sections import SECTION, SECTIONS
from weft.experiment.values import said, suggestion
from weft.kinds import catalogue
from weft.sweep import Cell, is_same

RANGE_KEYS = ("from", "to", "step", "steps", "scale")
LIKE = 'a list of values, or a range like { from = "10 us", to = "1 ms", scale = "log" }'

MOST_CORNERS = 256
"""Combinations of ends and values that are checked before anything runs; of more, each alone."""

STRIDE = 0.1
"""Distance to the neighbours on a range without steps, as a share of it."""


@dataclass(frozen=True)
class Choice:
    """A key with some values. `is_ordered`: they are steps of a range, so that one is nearer than another."""

    key: str
    values: tuple[Any, ...]
    is_ordered: bool = False

    @property
    def corners(self) -> tuple[Any, ...]:
        """What is checked before anything runs."""
        return (self.values[0], self.values[-1]) if self.is_ordered else self.values

    def value(self, place: float) -> Any:
        """The value at a place, which is its number."""
        return self.values[int(place)]

    def neighbours(self, place: float) -> list[float]:
        """The places beside a step; every other place where there is no order."""
        if self.is_ordered:
            return [beside for beside in (place - 1, place + 1) if 0 <= beside < len(self.values)]
        return [float(other) for other in range(len(self.values)) if other != place]


@dataclass(frozen=True)
class Interval:
    """A key with every value between two, in base units. `is_counted`: whole numbers, each of them a value."""

    key: str
    low: Fraction
    high: Fraction
    is_log: bool
    writer: Writer = field(repr=False, compare=False)
    ends: tuple[Any, Any]

    @property
    def corners(self) -> tuple[Any, ...]:
        """What is checked before anything runs."""
        return self.ends

    @property
    def is_counted(self) -> bool:
        """Whether a person counts its values one by one; quantities have four significant digits instead."""
        return self.writer.is_whole and self.writer.is_plain

    def value(self, place: float) -> Any:
        """The value at a place, as a person writes it."""
        if place <= self.low:
            return self.ends[0]
        if place >= self.high:
            return self.ends[1]
        exact = Fraction(f"{place:.{DIGITS}g}") if not self.is_counted else Fraction(round(place))
        return self.writer.write_short(Fraction(round(exact)) if self.writer.is_whole else exact)

    def neighbours(self, place: float) -> list[float]:
        """The places a tenth of the range below and above, at least one apart where values are counted."""
        low, high = float(self.low), float(self.high)
        if self.is_log:
            ratio = (high / low) ** STRIDE
            beside = [place / ratio, place * ratio]
        else:
            beside = [place - STRIDE * (high - low), place + STRIDE * (high - low)]
        if self.is_counted:
            beside = [float(min(round(beside[0]), round(place) - 1)), float(max(round(beside[1]), round(place) + 1))]
        found = [min(max(other, low), high) for other in beside]
        return [other for other in found if not is_same(self.value(other), self.value(place))]


Dimension: TypeAlias = Choice | Interval


@dataclass(frozen=True)
class Search:
    """What a file says of a search; without `[objective]` or `[space]` there is none to do."""

    objective: Objective | None = None
    space: tuple[Dimension, ...] = ()
    sampler: str = "tpe"
    trials: int = 60
    batch: int = 4
    prune: bool = True
    neighbours: int = 20
    written: Mapping[str, Any] = field(default_factory=dict)
    """The sections with their defaults, as a file has them."""
    warnings: tuple[str, ...] = ()


FaultsOf: TypeAlias = Callable[[Cell], list[Fault]]


def read_search(
    document: Document,
    objective: Objective | None,
    faults_of: FaultsOf,
    spec_of: Callable[[Cell], Mapping[str, Any]],
    faults: list[Fault],
) -> Search:
    """Objective, space and settings of a document; what is wrong goes into `faults`.

    `faults_of` gives the faults of the experiment with some values put in, `spec_of` what it then is in base units.
    """
    sections = [name for name in ("objective", "space", "search") if name in document.value]
    if not sections:
        return Search()
    before = len(faults)
    space = tuple(_space(document, spec_of, faults))
    settings = _settings(document, faults)
    warnings: list[str] = []
    if space:
        warnings = _check_corners(space, faults_of, faults)
    if objective is not None and space and len(faults) == before:
        _check_sampler(document, objective, space, settings, faults)
    written: dict[str, Any] = {}
    if objective is not None:
        written["objective"] = objective.written
    if space:
        written["space"] = {dimension.key: document.value["space"][dimension.key] for dimension in space}
    return Search(objective, space, **settings, written=written | {"search": settings}, warnings=tuple(warnings))


def _settings(document: Document, faults: list[Fault]) -> dict[str, Any]:
    kind = catalogue()[SECTION]["search"]
    section = document.value.get("search", {})
    settings = {name: parameter.default for name, parameter in kind.parameters.items()}
    if not isinstance(section, Mapping):
        faults.append(document.fault(("search",), f"{said(section)} is no section; write [search] above its keys"))
        return settings
    for key, value in section.items():
        where: Path = ("search", key)
        if key not in kind.parameters:
            way_out, nearest = suggestion(key, kind.parameters, "its keys")
            message = f'[search] has no key "{key}"; {way_out}'
            faults.append(document.fault(where, message, value=value, nearest=nearest))
            continue
        parameter = kind.parameters[key]
        found, wrong = check_value(document, parameter, parameter.value, value, where)
        faults += wrong
        settings[key] = settings[key] if found is None else found
    return settings


def _space(
    document: Document, spec_of: Callable[[Cell], Mapping[str, Any]], faults: list[Fault]
) -> Iterator[Dimension]:
    section = document.value.get("space", {})
    if not isinstance(section, Mapping):
        faults.append(document.fault(("space",), f"{said(section)} is no section; write [space] above its keys"))
        return
    if "space" in document.value and not section:
        faults.append(document.fault(("space",), f"is empty; give each key that may be varied {LIKE}"))
    # In the order of the file, which a parsed table need not have.
    for key in sorted(section, key=lambda key: document.locate(("space", key))[1] or 0):
        path = dotted.read(key)
        if path is None or (path[0] not in SECTIONS and path != ("seed",)) or path[0] in NO_PLACE:
            close = difflib.get_close_matches(key, catalogue()[SECTION]["search"].parameters, 1)
            way_out = (
                f"{close[0]} belongs under [search]" if close else 'a key is dotted and quoted, like "queue.capacity"'
            )
            faults.append(document.fault(("space", key), f"names no key; {way_out}", value=key))
        elif path == ("seed",):
            message = "is nothing to search for: a good seed is luck; for several seeds use repeats under [sweep]"
            faults.append(document.fault(("space", key), message, value=section[key]))
        elif (dimension := _dimension(document, key, section[key], spec_of, faults)) is not None:
            yield dimension


def _dimension(
    document: Document,
    key: str,
    written: Any,
    spec_of: Callable[[Cell], Mapping[str, Any]],
    faults: list[Fault],
) -> Dimension | None:
    where: Path = ("space", key)
    if isinstance(written, Mapping) and written.keys() & set(RANGE_KEYS):
        return _range(document, key, written, spec_of, faults)
    if not isinstance(written, list):
        faults.append(document.fault(where, f"{said(written)} is no list and no range; expected {LIKE}", value=written))
    elif len(written) < 2:
        what = "is an empty list" if not written else f"has one value, {said(written[0])}"
        message = f"{what}; there is nothing to choose: give two values, or set the key in its own section"
        faults.append(document.fault(where, message, value=written))
    elif repeated := [value for place, value in enumerate(written) if any(is_same(value, x) for x in written[:place])]:
        faults.append(document.fault(where, f"{said(repeated[0])} is listed twice", value=repeated[0]))
    else:
        return Choice(key, tuple(written))
    return None


def _range(
    document: Document,
    key: str,
    table: Mapping[str, Any],
    spec_of: Callable[[Cell], Mapping[str, Any]],
    faults: list[Fault],
) -> Dimension | None:
    where: Path = ("space", key)
    before = len(faults)
    for name in table:
        if name not in RANGE_KEYS:
            way_out, nearest = suggestion(name, RANGE_KEYS, "its keys")
            faults.append(document.fault((*where, name), f"a range has no such key; {way_out}", nearest=nearest))
    for name in ("from", "to"):
        if name not in table:
            faults.append(document.fault((*where, name), f"is required in a range; expected {LIKE}"))
    scale, step, steps = table.get("scale", "linear"), table.get("step"), table.get("steps")
    if scale not in SCALES:
        faults.append(document.fault((*where, "scale"), f'{said(scale)} is no scale; expected "linear" or "log"'))
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or not 2 <= steps <= MOST_STEPS):
        message = f"{said(steps)} is no number of values, both ends included; expected 2 to {MOST_STEPS:,}"
        faults.append(document.fault((*where, "steps"), message, value=steps))
    if step is not None and (steps is not None or scale == "log"):
        message = "goes with from and to alone; with steps, or on a logarithmic scale, leave it out"
        faults.append(document.fault((*where, "step"), message, value=step))
    if len(faults) > before:
        return None
    try:
        return _between(key, table["from"], table["to"], scale, step, steps, spec_of)
    except ValueError as error:
        faults.append(document.fault(where, str(error), value=table))
        return None


def _between(
    key: str,
    first: Any,
    last: Any,
    scale: str,
    step: Any,
    steps: int | None,
    spec_of: Callable[[Cell], Mapping[str, Any]],
) -> Dimension:
    """The dimension of a range. Raises ValueError with a sentence."""
    low, writer = quantity_of(first)
    high, other = quantity_of(last)
    if writer.noun != other.noun:
        raise ValueError(f"goes from {writer.noun} to {other.noun}; both ends are of one kind")
    if low >= high:
        raise ValueError(f"is empty: from {said(first)} is not below to {said(last)}")
    if scale == "log" and low <= 0:
        raise ValueError("is logarithmic, so that both ends lie above 0")
    if steps is not None:
        return Choice(key, tuple(spread(first, last, steps, scale)), is_ordered=True)
    # Whole ends do not say whether 0.5 may lie between them; the key does.
    is_whole = writer.is_whole and other.is_whole
    if writer.noun == "a number" and is_whole:
        path = dotted.named(spec_of(Cell(0, {})), dotted.read(key) or ())
        is_whole = not isinstance(dotted.get(spec_of(Cell(0, {key: first}, "space")), path), float)
    writer = Writer("a number", is_whole) if writer.noun == "a number" else writer
    if step is None:
        return Interval(key, low, high, scale == "log", writer, (first, last))
    stride, its_writer = quantity_of(step)
    if its_writer.noun != writer.noun or stride <= 0:
        raise ValueError(f"has the step {said(step)}; expected {writer.noun} above 0")
    count = (high - low) / stride if writer.is_whole else Fraction(round((high - low) / stride, 9))
    if count.denominator != 1:
        reached = writer.write(low + math.floor(count) * stride)
        raise ValueError(f"does not arrive at to = {said(last)}: its last value would be {said(reached)}; change step")
    if count + 1 > MOST_STEPS:
        raise ValueError(f"has {int(count) + 1:,} values; at most {MOST_STEPS:,}, or leave step out")
    values = [writer.write(low + place * stride) for place in range(int(count) + 1)]
    return Choice(key, (first, *values[1:-1], last), is_ordered=True)


def corners(space: Sequence[Dimension]) -> Iterator[dict[str, Any]]:
    """What is checked of a space: every combination of ends and values, or each alone where these are many."""
    if math.prod(len(dimension.corners) for dimension in space) <= MOST_CORNERS:
        keys = [dimension.key for dimension in space]
        for values in itertools.product(*(dimension.corners for dimension in space)):
            yield dict(zip(keys, values, strict=True))
        return
    for dimension in space:
        for value in dimension.corners:
            yield {dimension.key: value}


def _check_corners(space: Sequence[Dimension], faults_of: FaultsOf, faults: list[Fault]) -> list[str]:
    """Faults of values that are wrong in every corner; a warning where only some combinations are wrong."""
    known = {(fault.key, fault.message) for fault in faults}
    tried: list[tuple[dict[str, Any], list[Fault]]] = [
        (chosen, faults_of(Cell(number, chosen, "space"))) for number, chosen in enumerate(corners(space))
    ]
    bad = [(chosen, found) for chosen, found in tried if found]
    never: dict[tuple[str, str], Fault] = {}
    for dimension in space:
        for value in dimension.corners:
            of_value = [found for chosen, found in tried if is_same(chosen.get(dimension.key), value)]
            if of_value and all(of_value):
                # What all of these have in common is what is wrong with the value.
                common = set.intersection(*({(fault.key, fault.message) for fault in found} for found in of_value))
                never |= {
                    (fault.key, fault.message): fault
                    for fault in of_value[0]
                    if not common or (fault.key, fault.message) in common
                }
    faults += [fault for name, fault in never.items() if name not in known]
    if never or not bad:
        return []
    chosen, found = bad[0]
    example = ", ".join(f"{key} = {said(value)}" for key, value in chosen.items())
    return [
        f"{len(bad)} of the {len(tried)} corners of the space are no valid experiments, like {example} "
        f"({found[0].key}: {found[0].message}); trials there fail"
    ]


def _check_sampler(
    document: Document,
    objective: Objective,
    space: Sequence[Dimension],
    settings: Mapping[str, Any],
    faults: list[Fault],
) -> None:
    where: Path = ("search", "sampler")
    intervals = [dimension for dimension in space if isinstance(dimension, Interval)]
    match settings["sampler"]:
        case "grid":
            for dimension in intervals:
                message = "has no steps, so that a grid has no end; add steps = 5"
                faults.append(document.fault(("space", dimension.key), message))
            points = math.prod(len(dimension.values) for dimension in space if isinstance(dimension, Choice))
            if not intervals and points > settings["trials"]:
                message = (
                    f"{settings['trials']} are fewer than the {points:,} points of the grid; raise it, or give fewer"
                )
                faults.append(document.fault(("search", "trials"), message, value=settings["trials"]))
        case "cma_es":
            ordered = [dimension for dimension in space if isinstance(dimension, Interval) or dimension.is_ordered]
            if len(ordered) < 2:
                message = "cma_es adapts the shape of a cloud over two ranges or more; use tpe"
                faults.append(document.fault(where, message, value="cma_es"))
            if objective.constraints or len(objective.goals) > 1:
                what = "constraints" if objective.constraints else "second objective"
                faults.append(document.fault(where, f"cma_es knows no {what}; use tpe", value="cma_es"))
        case "nsga2" if len(objective.goals) == 1:
            message = "nsga2 is for two objectives; add also = { metric = ... } under [objective], or use tpe"
            faults.append(document.fault(where, message, value="nsga2"))
