"""Axes: how `[sweep]` is read.

    [sweep]
    "load_balance.kind" = ["ecmp", "spray"]                                      # a list of values
    "topology.link.rate" = { from = "1 Gbps", to = "100 Gbps", steps = 5, scale = "log" }   # a range
    zip = [["topology.k", "queue.capacity"]]                                     # axes that go together
    exclude = [{ "load_balance.kind" = "spray", "topology.k" = [4, 8] }]         # cells that are left out
    repeats = 10                                                                 # or until an interval is narrow

Every other key of the section is an axis.
"""

import difflib
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from weft import units
from weft.errors import Fault
from weft.experiment import path as dotted
from weft.experiment.document import Document
from weft.experiment.path import Path
from weft.experiment.sections import SECTIONS
from weft.experiment.values import said, suggestion
from weft.sweep import Axis, Sweep, columns_of, is_same

NOT_AXES = ("repeats", "zip", "exclude")
RANGE_KEYS = ("from", "to", "steps", "scale")
SCALES = ("linear", "log")
NO_PLACE = ("sweep", "report", "analysis", "published", "objective", "space", "search")
"""Sections that say what is done with an experiment; no key of theirs can be varied."""
MOST_STEPS = 100_000
DIGITS = 4
"""Significant digits of the values between the ends of a logarithmic range: 3.162 Gbps."""


def read_sweep(document: Document, faults: list[Fault]) -> Sweep:
    """The sweep of a document without its repeats. What is wrong with it goes into `faults`."""
    section = document.value.get("sweep")
    if not isinstance(section, Mapping):
        return Sweep()
    before = len(faults)
    # In the order of the file, which a parsed table need not have.
    keys = sorted((key for key in section if key not in NOT_AXES), key=lambda key: _line(document, key))
    axes = tuple(axis for key in keys if (axis := _axis(document, key, section[key], faults)) is not None)
    zipped = _zipped(document, section.get("zip", []), axes, keys, faults)
    excluded = _excluded(document, section.get("exclude", []), Sweep(axes).columns, faults)
    sweep = Sweep(axes, 1, zipped, excluded)
    if excluded and len(faults) == before and next(sweep.cells(), None) is None:
        faults.append(document.fault(("sweep", "exclude"), "leaves no cell; exclude fewer"))
    return sweep if len(faults) == before else Sweep(axes)


def _line(document: Document, key: str) -> int:
    return document.locate(("sweep", key))[1] or 0


def _axis(document: Document, key: str, values: Any, faults: list[Fault]) -> Axis | None:
    where: Path = ("sweep", key)
    path = dotted.read(key)
    if path is None or (path[0] not in SECTIONS and path != ("seed",)) or path[0] in NO_PLACE:
        words = difflib.get_close_matches(key, NOT_AXES, 1)
        way_out = f'did you mean "{words[0]}"?' if words else 'an axis is a dotted key, like "load_balance.kind"'
        faults.append(document.fault(where, f"names no key; {way_out}", value=key))
        return None
    if path == ("seed",):
        faults.append(document.fault(where, "is no axis; for runs with other seeds use repeats", value=values))
        return None
    if isinstance(values, dict) and values.keys() & set(RANGE_KEYS):
        values = _range(document, where, values, faults)
        if values is None:
            return None
    if not isinstance(values, list):
        like = "[{ kind = ... }]" if isinstance(values, dict) else f"[{said(values)}]"
        message = f"{said(values)} is no list; an axis lists its values, like {like}, or is a range, {_range_like()}"
        faults.append(document.fault(where, message, value=values, expected="a list or a range"))
    elif not values:
        faults.append(document.fault(where, "is an empty list; an axis has at least one value", value=values))
    elif repeated := [
        value for place, value in enumerate(values) if any(is_same(value, other) for other in values[:place])
    ]:
        message = f"{said(repeated[0])} is listed twice; for several runs of a cell use repeats"
        faults.append(document.fault(where, message, value=repeated[0]))
    else:
        return Axis(key, tuple(values))
    return None


def _range_like() -> str:
    return 'like { from = "1 Gbps", to = "100 Gbps", steps = 5, scale = "log" }'


def _range(document: Document, where: Path, table: Mapping[str, Any], faults: list[Fault]) -> list[Any] | None:
    """The values of a range, or None with what is wrong in `faults`."""
    before = len(faults)
    for key in table:
        if key not in RANGE_KEYS:
            way_out, nearest = suggestion(key, RANGE_KEYS, "its keys")
            faults.append(document.fault((*where, key), f"a range has no such key; {way_out}", nearest=nearest))
    for key in ("from", "to", "steps"):
        if key not in table:
            faults.append(document.fault((*where, key), f"is required in a range, {_range_like()}"))
    scale, steps = table.get("scale", "linear"), table.get("steps")
    if scale not in SCALES:
        faults.append(document.fault((*where, "scale"), f'{said(scale)} is no scale; expected "linear" or "log"'))
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or not 2 <= steps <= MOST_STEPS):
        message = f"{said(steps)} is no number of values, both ends included; expected 2 to {MOST_STEPS:,}"
        faults.append(document.fault((*where, "steps"), message, value=steps))
    if len(faults) > before:
        return None
    assert isinstance(steps, int)
    try:
        return spread(table["from"], table["to"], steps, scale)
    except ValueError as error:
        faults.append(document.fault(where, str(error), value=table))
        return None


def spread(first: Any, last: Any, steps: int, scale: str) -> list[Any]:
    """`steps` values from `first` to `last`, both included, evenly on a linear or logarithmic scale.

    Both are numbers, or texts of one unit family. Whole numbers and quantities stay whole in their base unit; values
    inside a logarithmic range have four significant digits unless they are whole. Raises ValueError with a sentence.

    >>> spread("1 Gbps", "100 Gbps", 3, "log"), spread(1, 9, 3, "linear")
    (['1 Gbps', '10 Gbps', '100 Gbps'], [1, 5, 9])
    """
    low, write_low = quantity_of(first)
    high, write_high = quantity_of(last)
    if write_low.noun != write_high.noun:
        raise ValueError(f"goes from {write_low.noun} to {write_high.noun}; both ends are of one kind")
    if low == high:
        raise ValueError(f"begins and ends at {said(first)}; an axis with one value is a list, [{said(first)}]")
    if scale == "log" and (low <= 0 or high <= 0):
        raise ValueError("is logarithmic, so that both ends lie above 0")
    whole = write_low.is_whole and write_high.is_whole
    values: list[Any] = []
    for step in range(steps):
        exact = _between(low, high, step, steps, scale)
        values.append(write_low.write(Fraction(round(exact)) if whole else exact))
    values[0], values[-1] = first, last
    if len({repr(value) for value in values}) < steps:
        distinct = len({repr(value) for value in values})
        raise ValueError(f"has {steps} steps but only {distinct} different whole values; use fewer steps")
    return values


def _between(low: Fraction, high: Fraction, step: int, steps: int, scale: str) -> Fraction:
    if scale == "linear":
        return low + (high - low) * step / (steps - 1)
    ratio = high / low
    step_ratio = Fraction(float(ratio) ** (1 / (steps - 1))).limit_denominator(1000)
    if step_ratio ** (steps - 1) == ratio:
        return low * step_ratio**step  # 128 KiB between 64 KiB and 256 KiB, not 131100 B
    return Fraction(f"{float(low) * float(ratio) ** (step / (steps - 1)):.{DIGITS}g}")


class Writer:
    """How the values of a range are written: as the ends are. `noun` says of what kind they are."""

    def __init__(self, noun: str, is_whole: bool, family: units.Family | None = None, suffix: str = "") -> None:
        self.noun, self.is_whole, self._family, self._suffix = noun, is_whole, family, suffix

    @property
    def is_plain(self) -> bool:
        """Whether values are plain numbers or numbers of packets, which a person counts one by one."""
        return self._family is None

    def write(self, value: Fraction) -> Any:
        """A value in its base unit as a person writes it."""
        if self._family is not None:
            return self._family.format(int(value))
        if self._suffix:
            return f"{int(value)} {self._suffix}"
        return int(value) if self.is_whole else float(f"{float(value):.12g}")

    def write_short(self, value: Fraction) -> Any:
        """As `write`, but quantities in the largest unit in which they are at least one: 83.47 us, not 83470 ns."""
        for unit in self._family.written if self._family is not None else ():
            assert self._family is not None
            text = f"{float(value) / self._family.units[unit]:.6g}"
            if float(text) >= 1 and Fraction(text) * self._family.units[unit] == value:
                return f"{text} {unit}"
        return self.write(value)

    def scale(self, largest: Fraction) -> tuple[int, str]:
        """Base units of the unit in which a person reads values up to `largest`, and its name."""
        if self._family is None:
            return 1, self._suffix
        decimal = [unit for unit in self._family.written if "i" not in unit]
        chosen = next((unit for unit in decimal if self._family.units[unit] <= largest), decimal[-1])
        return self._family.units[chosen], chosen


def quantity_of(value: Any) -> tuple[Fraction, Writer]:
    """A number or a quantity in its base unit, and how such values are written. Raises ValueError with a sentence."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value), Writer("a number", True)
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(value), Writer("a number", False)
    if isinstance(value, str):
        for family in units.FAMILIES.values():
            try:
                return Fraction(family.parse(value)), Writer(f"a {family.noun}", True, family)
            except units.UnitError:
                continue
        try:
            capacity = units.parse_capacity(value)
        except units.UnitError:
            pass
        else:
            return Fraction(capacity["packets"]), Writer("packets", True, suffix="packets")
    raise ValueError(f"{said(value)} is no number and no quantity; a range is {_range_like()}")


def _zipped(
    document: Document, written: Any, axes: tuple[Axis, ...], keys: list[str], faults: list[Fault]
) -> tuple[tuple[str, ...], ...]:
    where: Path = ("sweep", "zip")
    like = 'zip = [["topology.k", "queue.capacity"]]'
    groups: list[Any] = written if isinstance(written, list) else [None]
    if any(not isinstance(group, list) or any(not isinstance(key, str) for key in group) for group in groups):
        faults.append(document.fault(where, f"is a list of groups of axes, like {like}", value=written))
        return ()
    lengths = {axis.key: len(axis.values) for axis in axes}
    seen: set[str] = set()
    for group in groups:
        if len(group) < 2:
            faults.append(document.fault(where, f"a group has at least two axes, like {like}", value=group))
        for key in group:
            if key not in keys:
                way_out, nearest = suggestion(key, keys, "axes")
                faults.append(document.fault(where, f"{said(key)} is no axis; {way_out}", value=key, nearest=nearest))
            elif key in seen:
                faults.append(document.fault(where, f"{said(key)} is in it twice", value=key))
            seen.add(key)
        if len({lengths[key] for key in group if key in lengths}) > 1:
            told = ", ".join(f"{key} has {lengths[key]}" for key in group if key in lengths)
            faults.append(document.fault(where, f"axes that go together have as many values each; {told}"))
    return tuple(tuple(group) for group in groups)


def _excluded(
    document: Document, written: Any, columns: Mapping[str, tuple[Any, ...]], faults: list[Fault]
) -> tuple[Mapping[str, tuple[Any, ...]], ...]:
    where: Path = ("sweep", "exclude")
    like = 'exclude = [{ "load_balance.kind" = "spray", "topology.k" = [4, 8] }]'
    rules: list[Any] = written if isinstance(written, list) else [None]
    if any(not isinstance(rule, dict) or not rule for rule in rules):
        faults.append(document.fault(where, f"is a list of tables, like {like}", value=written))
        return ()
    read = []
    for rule in rules:
        # A dotted key need not be quoted in TOML: { topology.k = 4 } is a table in a table.
        flat = {name: part for key, value in rule.items() for name, part in columns_of(key, value)}
        flat |= {key: value for key, value in _lists(rule)}
        values: dict[str, tuple[Any, ...]] = {}
        for key, value in flat.items():
            chosen = tuple(value) if isinstance(value, list) else (value,)
            if key not in columns:
                way_out, nearest = suggestion(key, columns, "swept keys")
                faults.append(document.fault(where, f"{said(key)} is not swept; {way_out}", value=key, nearest=nearest))
                continue
            for one in chosen:
                if not any(is_same(one, known) for known in columns[key]):
                    known = ", ".join(said(value) for value in columns[key][:8])
                    message = f"{said(one)} is no value of {key}; it has {known}"
                    faults.append(document.fault(where, message, value=one))
            values[key] = chosen
        read.append(values)
    return tuple(read)


def _lists(table: Mapping[str, Any], above: str = "") -> list[tuple[str, list[Any]]]:
    """The lists in nested tables with their dotted keys."""
    found = []
    for key, value in table.items():
        if isinstance(value, list):
            found.append((f"{above}{key}", value))
        elif isinstance(value, dict):
            found += _lists(value, f"{above}{key}.")
    return found
