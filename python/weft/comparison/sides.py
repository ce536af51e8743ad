"""Sides: what is compared with what, and which cells and repeats of the two belong together.

A side is a folder, or one level of a swept key inside a folder. Cells of two sides match if every swept key of either
has the same value in both. A key that one side does not sweep has its value in the resolved experiment of its runs, so
a folder with an extra axis matches where it can.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from weft.errors import ResultsError
from weft.experiment import path as dotted
from weft.experiment.values import suggestion
from weft.results import Results
from weft.words import count


@dataclass(frozen=True)
class Repeat:
    """A planned run of a cell."""

    results: Results = field(repr=False)
    run: str
    seed: int | None

    @property
    def is_done(self) -> bool:
        """Whether its tables are there."""
        return self.run in self.results.manifests

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the run says about itself; empty if it is not there."""
        return self.results.manifests.get(self.run, {})

    @property
    def failure(self) -> str:
        """Why it has no results, if weft run noted it; else empty."""
        try:
            noted = json.loads((self.results.directory / "failures" / f"{self.run}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        return str(noted.get("message") or noted.get("kind") or "") if isinstance(noted, dict) else ""


@dataclass(frozen=True)
class Cell:
    """The runs of a side that differ in their seed only; `values` has the swept keys as the plan gives them."""

    values: Mapping[str, Any]
    repeats: tuple[Repeat, ...]

    @property
    def done(self) -> tuple[Repeat, ...]:
        """The repeats whose tables are there."""
        return tuple(repeat for repeat in self.repeats if repeat.is_done)

    @cached_property
    def experiment(self) -> Mapping[str, Any]:
        """The resolved experiment of a finished run; empty if none says it."""
        found = next((repeat.manifest.get("experiment") for repeat in self.done), None)
        return found if isinstance(found, Mapping) else {}

    def value(self, axis: str) -> object:
        """The value of a key in one spelling ("1 Gbps" is "1000 Mbps", 8 is 8.0); None where the cell has none."""
        path = dotted.read(axis)
        resolved = None if path is None else dotted.get(self.experiment, dotted.named(self.experiment, path))
        found = self.values.get(axis) if resolved is None or isinstance(resolved, Mapping) else resolved
        if isinstance(found, bool | str | None):
            return found
        return float(found) if isinstance(found, int | float) else json.dumps(found)


@dataclass(frozen=True)
class Side:
    """One of the things compared."""

    label: str
    axes: tuple[str, ...]
    cells: tuple[Cell, ...]
    way_out: str = (
        "run one of them with values of the other, or compare the values of a key inside one folder: "
        "weft compare DIR --over KEY"
    )
    """What to do if none of its cells matches."""

    @property
    def repeats(self) -> tuple[Repeat, ...]:
        """All planned runs."""
        return tuple(repeat for cell in self.cells for repeat in cell.repeats)


@dataclass(frozen=True)
class Matched:
    """Cells of a reference and of another side that belong together, and what has no counterpart."""

    axes: tuple[str, ...]
    pairs: tuple[tuple[Cell, Cell], ...]
    only_reference: tuple[Cell, ...]
    only_other: tuple[Cell, ...]


@dataclass(frozen=True)
class Pairing:
    """How the repeats of two matched cells stand to each other.

    `pairs` holds the finished runs of equal seed; with `is_paired` false the two sides are independent samples.
    """

    is_paired: bool
    pairs: tuple[tuple[Repeat, Repeat], ...]
    note: str


def of_folders(folders: Mapping[str, Results]) -> list[Side]:
    """A side per folder, by the name it is shown with."""
    return [Side(label, tuple(results.swept), tuple(_cells(results))) for label, results in folders.items()]


def of_levels(results: Results, over: str, reference: str | None) -> list[Side]:
    """A side per level of `over` (a swept key, or the start of several: `transport`), the reference first.

    Raises ResultsError if nothing of that name is swept, it has one level only, or `reference` is none of them.
    """
    columns = [name for name in results.swept if name == over or name.startswith(f"{over}.")]
    if not columns:
        known = suggestion(over, results.swept, "swept are")[0]
        raise ResultsError(f'--over "{over}": {results.directory} does not sweep it; {known}')
    axes = tuple(name for name in results.swept if name not in columns)
    levels: dict[str, list[Cell]] = {}
    for cell in _cells(results):
        name = said_cell({column: cell.values[column] for column in columns}, bare=True)
        levels.setdefault(name, []).append(Cell({axis: cell.values[axis] for axis in axes}, cell.repeats))
    if len(levels) < 2:
        raise ResultsError(f'--over "{over}": it has one value only, {next(iter(levels))}; nothing to compare')
    if reference is not None and reference not in levels:
        known = suggestion(reference, levels, "its values are")[0]
        raise ResultsError(f'--reference "{reference}": no value of {over}; {known}')
    names = list(levels) if reference is None else [reference, *(name for name in levels if name != reference)]
    section = over.partition(".")[0]
    way_out = f"keys that change together are compared together: --over {section}"
    return [Side(name, axes, tuple(levels[name]), way_out) for name in names]


def match(reference: Side, other: Side) -> Matched:
    """The cells that belong together, in the reference's order.

    Raises ResultsError if there are none.
    """
    axes = tuple(dict.fromkeys([*reference.axes, *other.axes]))
    partners: dict[tuple[object, ...], Cell] = {}
    only_other = []
    for cell in other.cells:
        key = tuple(cell.value(axis) for axis in axes)
        if key in partners:
            only_other.append(cell)
        else:
            partners[key] = cell
    pairs, only_reference = [], []
    for cell in reference.cells:
        partner = partners.pop(tuple(cell.value(axis) for axis in axes), None)
        if partner is None:
            only_reference.append(cell)
        else:
            pairs.append((cell, partner))
    only_other += partners.values()
    if not pairs:
        raise ResultsError(
            f"no cell of {other.label} matches one of {reference.label}: {reference.label} has "
            f"{_axes_said(reference, axes)}; {other.label} has {_axes_said(other, axes)}; {other.way_out}"
        )
    return Matched(axes, tuple(pairs), tuple(only_reference), tuple(only_other))


def pair(reference: Cell, other: Cell, common: bool = False) -> Pairing:
    """Pair repeats by seed if both planned the same seeds, each once; else they are independent samples.

    With `common`, repeats whose seed only one of them has are left out, and the others paired.
    """
    ours, theirs = ([repeat.seed for repeat in cell.repeats] for cell in (reference, other))
    by_seed = {repeat.seed: repeat for repeat in other.done}
    pairs = tuple((repeat, by_seed[repeat.seed]) for repeat in reference.done if repeat.seed in by_seed)
    is_once = len(set(ours)) == len(ours) and len(set(theirs)) == len(theirs) and None not in ours
    if is_once and set(ours) == set(theirs):
        left_out = len(ours) - len(pairs)
        missing = f"; {left_out} left out, of which a run is missing" if left_out else ""
        return Pairing(True, pairs, f"paired by seed: {count(len(pairs), 'repeat')}{missing}")
    shared = len(set(ours) & set(theirs)) if is_once else 0
    if not shared:
        return Pairing(False, (), "unpaired (Welch), since the seeds differ; runs with the same seeds are paired")
    counts = f"{len(ours)} and {len(theirs)} repeats, {count(shared, 'seed')} in both"
    if common:
        return Pairing(True, pairs, f"paired by seed: {count(len(pairs), 'repeat')} that both have ({counts})")
    return Pairing(False, (), f"unpaired (Welch), since the repeats differ ({counts}); --common pairs those in both")


def said_value(value: object) -> str:
    """A value of a swept key as in the file.

    >>> said_value(True), said_value(8.0), said_value("ecmp")
    ('true', '8', 'ecmp')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def said_cell(values: Mapping[str, Any], bare: bool = False) -> str:
    """The values of a cell for a person; `bare` leaves the keys away.

    >>> said_cell({"load_balance.kind": "ecmp", "topology.k": 8})
    'load_balance.kind = ecmp, topology.k = 8'
    """
    said = {name: said_value(value) for name, value in values.items() if value is not None}
    if not bare:
        return ", ".join(f"{name} = {value}" for name, value in said.items())
    return " ".join(said.values()) or "none"


def _cells(results: Results) -> list[Cell]:
    grouped: dict[object, list[dict[str, Any]]] = {}
    for row in results.plan.iter_rows(named=True):
        grouped.setdefault(row["cell"], []).append(row)
    cells = []
    for rows in grouped.values():
        rows.sort(key=lambda row: int(row["repeat"]))
        repeats = tuple(Repeat(results, str(row["run"]), row["seed"]) for row in rows)
        cells.append(Cell({axis: rows[0][axis] for axis in results.swept}, repeats))
    return cells


def _axes_said(side: Side, axes: Sequence[str]) -> str:
    if not axes:
        return "no swept key"
    said = []
    for axis in axes:
        found = (cell.value(axis) for cell in side.cells)
        values = list(dict.fromkeys("none" if value is None else said_value(value) for value in found))
        more = ", ..." if len(values) > 6 else ""
        said.append(f"{axis} = {', '.join(values[:6])}{more}")
    return "; ".join(said)
