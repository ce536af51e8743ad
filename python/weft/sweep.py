"""The sweep: cells (every combination of the axes) and runs (every cell, repeated with other seeds).

Seeds are paired: a repeat has the same seed in every cell, so that cells differ in nothing but the swept keys. Repeat 0
has the experiment's own seed, so that any run of a sweep can be done again alone with `--set seed=`. How `[sweep]` is
read from a file is experiment/axes.py.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from weft.experiment import path as dotted
from weft.experiment.document import Document
from weft.experiment.path import NoSuchPlace, Path
from weft.experiment.values import said


@dataclass(frozen=True)
class Axis:
    """A swept key and its values, as the file gives them; a range gives the values that it stands for."""

    key: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Cell:
    """One combination: `chosen` has a value for each axis, `swept` the plan's columns.

    `index` is its place in the product of all axes, which excluded cells leave as it is. `section` is where the file
    has the keys: a trial of a search is a cell of `[space]`.
    """

    index: int
    chosen: Mapping[str, Any]
    section: str = "sweep"

    @property
    def swept(self) -> dict[str, Any]:
        """One value per swept key; a table gives one for each of its keys: `transport.kind`, `transport.subflows`."""
        names = [name for key, chosen in self.chosen.items() for name, _ in columns_of(key, chosen)]
        values = {name: value for key, chosen in self.outer_first() for name, value in columns_of(key, chosen)}
        return {name: values[name] for name in names}

    def outer_first(self) -> list[tuple[str, Any]]:
        """The axes in the order in which they take effect.

        A whole table (`topology`) comes before a key in it (`topology.link.rate`), wherever the file has them: else the
        table would put back what the key has changed.
        """
        return sorted(self.chosen.items(), key=lambda axis: len(dotted.read(axis[0]) or ()))

    def __str__(self) -> str:
        return ", ".join(f"{name} = {said(value)}" for name, value in self.swept.items())


@dataclass(frozen=True)
class Run:
    """One run of the plan. `name` is the hash that its folder carries."""

    name: str
    cell: Cell
    repeat: int
    seed: int


@dataclass(frozen=True)
class Until:
    """Repeats until an interval is narrow enough: see `weft.execute.plan.UntilNarrow` for the rule.

    `half_width` is a share of the mean (`relative`), or in the metric's unit (bps, ns, packets).
    """

    metric: str
    half_width: float
    relative: bool = True
    confidence: float = 0.95
    least: int = 5
    most: int = 100
    written: Mapping[str, Any] | None = None
    """As the file has it."""


@dataclass(frozen=True)
class Sweep:
    """Axes in the order of the file; without axes there is one cell.

    `zipped` are groups of keys whose axes go together, value by value. A cell is left out when one of `excluded`
    names, for each of its columns, the value that the cell has there.
    """

    axes: tuple[Axis, ...] = ()
    repeats: int | Until = 1
    zipped: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[Mapping[str, tuple[Any, ...]], ...] = ()

    @property
    def fewest(self) -> int:
        """Repeats that every cell has at least."""
        return self.repeats.least if isinstance(self.repeats, Until) else self.repeats

    @property
    def most(self) -> int:
        """Repeats that a cell has at most."""
        return self.repeats.most if isinstance(self.repeats, Until) else self.repeats

    @cached_property
    def size(self) -> int:
        """Number of cells."""
        whole = math.prod(len(group[0].values) for group in self._groups)
        return sum(1 for _ in self.cells()) if self.excluded else whole

    @cached_property
    def columns(self) -> dict[str, tuple[Any, ...]]:
        """The plan's columns and the values that the axes give them; a table that lacks a key gives it none."""
        found: dict[str, dict[str, Any]] = {}
        for axis in self.axes:
            for value in axis.values:
                for name, part in columns_of(axis.key, value):
                    found.setdefault(name, {}).setdefault(repr(part), part)
        return {name: tuple(values.values()) for name, values in found.items()}

    def cells(self) -> Iterator[Cell]:
        """All cells, one at a time; the last axis varies fastest."""
        for index, places in enumerate(itertools.product(*(range(len(group[0].values)) for group in self._groups))):
            cell = self._cell(index, places)
            if not self._is_excluded(cell):
                yield cell

    def cell(self, index: int) -> Cell:
        """The cell at `index`, excluded or not."""
        places: list[int] = []
        rest = index
        for group in reversed(self._groups):
            rest, place = divmod(rest, len(group[0].values))
            places.insert(0, place)
        return self._cell(index, places)

    def _cell(self, index: int, places: Sequence[int]) -> Cell:
        chosen = {
            axis.key: axis.values[place] for group, place in zip(self._groups, places, strict=True) for axis in group
        }
        return Cell(index, {axis.key: chosen[axis.key] for axis in self.axes})

    @cached_property
    def _groups(self) -> list[tuple[Axis, ...]]:
        """The axes that vary together, each group at the place of its first."""
        together = {key: group for group in self.zipped for key in group}
        by_key = {axis.key: axis for axis in self.axes}
        groups = dict.fromkeys(together.get(axis.key, (axis.key,)) for axis in self.axes)
        return [tuple(by_key[key] for key in group) for group in groups]

    def _is_excluded(self, cell: Cell) -> bool:
        if not self.excluded:
            return False
        swept = cell.swept
        return any(
            all(key in swept and any(is_same(swept[key], value) for value in values) for key, values in rule.items())
            for rule in self.excluded
        )


def tables_of(document: Document, cell: Cell) -> tuple[dict[str, Any], dict[Path, Path], list[tuple[str, str]]]:
    """The tables of one cell without the sweep, where each axis put its value, and axes that could not be put."""
    tables: object = {key: value for key, value in document.value.items() if key != "sweep"}
    put: dict[Path, Path] = {}
    failed = []
    for key, value in cell.outer_first():
        path = dotted.read(key)
        assert path is not None
        path = dotted.named(tables, path)
        try:
            tables = dotted.put(tables, path, value)
        except NoSuchPlace as error:
            failed.append((key, f"names no key: {error}"))
            continue
        put[path] = (cell.section, key)
    assert isinstance(tables, dict)
    return tables, put, failed


def seed_of(seed: int, repeat: int) -> int:
    """The seed of a repeat: the experiment's own for repeat 0, else derived from it by a stable hash (53 bits).

    >>> seed_of(7, 0), seed_of(7, 1)
    (7, 8469449567473837)
    """
    if repeat == 0:
        return seed
    digest = hashlib.blake2b(f"weft repeat {seed}/{repeat}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


def run_name(identity: Mapping[str, Any]) -> str:
    """16 hexadecimal digits that stand for a resolved experiment with its seed."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def columns_of(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The plan's columns that one value of an axis gives, with their values.

    >>> list(columns_of("transport", {"kind": "udp", "rate": "1 Gbps"}))
    [('transport.kind', 'udp'), ('transport.rate', '1 Gbps')]
    """
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from columns_of(f"{key}.{name}", part)
    elif isinstance(value, bool | int | float | str):
        yield key, value
    else:
        yield key, json.dumps(value)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of a file are the same: 1 and true, and 1 and 1.0, are not."""
    return type(one) is type(other) and bool(one == other)
