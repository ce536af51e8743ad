"""The sweep: cells (every combination of the axes) and runs (every cell, repeated with other seeds).

Seeds are paired: a repeat has the same seed in every cell, so that cells differ in nothing but the swept keys. Repeat 0
has the experiment's own seed, so that any run of a sweep can be done again alone with `--set seed=`.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weft.errors import Fault
from weft.experiment import path as dotted
from weft.experiment.document import Document
from weft.experiment.path import NoSuchPlace, Path
from weft.experiment.values import said


@dataclass(frozen=True)
class Axis:
    """A swept key and its values, as the file gives them."""

    key: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Cell:
    """One combination: `chosen` has a value for each axis, `swept` the plan's columns."""

    index: int
    chosen: Mapping[str, Any]

    @property
    def swept(self) -> dict[str, Any]:
        """One value per swept key; a table gives one for each of its keys: `transport.kind`, `transport.subflows`."""
        return {name: value for key, chosen in self.chosen.items() for name, value in _columns(key, chosen)}

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
class Sweep:
    """Axes in the order of the file; without axes there is one cell."""

    axes: tuple[Axis, ...] = ()
    repeats: int = 1

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(len(axis.values) for axis in self.axes)

    def cell(self, index: int) -> Cell:
        """The cell at `index`; the last axis varies fastest."""
        chosen = {}
        for axis in reversed(self.axes):
            index, place = divmod(index, len(axis.values))
            chosen[axis.key] = axis.values[place]
        return Cell(self._index(chosen), {axis.key: chosen[axis.key] for axis in self.axes})

    def cells(self) -> Iterator[Cell]:
        """All cells, one at a time."""
        for index, values in enumerate(itertools.product(*(axis.values for axis in self.axes))):
            yield Cell(index, {axis.key: value for axis, value in zip(self.axes, values, strict=True)})

    def _index(self, chosen: Mapping[str, Any]) -> int:
        index = 0
        for axis in self.axes:
            index = index * len(axis.values) + axis.values.index(chosen[axis.key])
        return index


def read_axes(document: Document, faults: list[Fault]) -> tuple[Axis, ...]:
    """The axes of `[sweep]`: every key but `repeats`. What is wrong with them goes into `faults`."""
    section = document.value.get("sweep")
    if not isinstance(section, Mapping):
        return ()
    axes = []
    # In the order of the file, which a parsed table need not have.
    keys = sorted((key for key in section if key != "repeats"), key=lambda key: document.locate(("sweep", key))[1] or 0)
    for key in keys:
        values = section[key]
        where: Path = ("sweep", key)
        path = dotted.read(key)
        if path is None or path[0] in ("sweep", "report", "name"):
            message = 'names no key; an axis is a dotted key, like "load_balance.kind"'
            faults.append(document.fault(where, message, value=key))
        elif path == ("seed",):
            faults.append(document.fault(where, "is no axis; for runs with other seeds use repeats", value=values))
        elif not isinstance(values, list):
            like = "[{ kind = ... }]" if isinstance(values, dict) else f"[{said(values)}]"
            message = f"{said(values)} is no list; an axis lists its values, like {like}"
            faults.append(document.fault(where, message, value=values, expected="a list"))
        elif not values:
            faults.append(document.fault(where, "is an empty list; an axis has at least one value", value=values))
        elif repeated := [value for place, value in enumerate(values) if _same_before(values, place)]:
            message = f"{said(repeated[0])} is listed twice; for several runs of a cell use repeats"
            faults.append(document.fault(where, message, value=repeated[0]))
        else:
            axes.append(Axis(key, tuple(values)))
    return tuple(axes)


def tables_of(document: Document, cell: Cell) -> tuple[dict[str, Any], dict[Path, Path], list[tuple[str, str]]]:
    """The tables of one cell without the sweep, where each axis put its value, and axes that could not be put."""
    tables: object = {key: value for key, value in document.value.items() if key != "sweep"}
    put: dict[Path, Path] = {}
    failed = []
    for key, value in cell.chosen.items():
        path = dotted.read(key)
        assert path is not None
        path = dotted.named(tables, path)
        try:
            tables = dotted.put(tables, path, value)
        except NoSuchPlace as error:
            failed.append((key, f"names no key: {error}"))
            continue
        put[path] = ("sweep", key)
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


def _columns(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _columns(f"{key}.{name}", part)
    elif isinstance(value, bool | int | float | str):
        yield key, value
    else:
        yield key, json.dumps(value)


def _same_before(values: list[Any], place: int) -> bool:
    # 1 and true, and 1 and 1.0, are different values of a file.
    return any(other == values[place] and type(other) is type(values[place]) for other in values[:place])
