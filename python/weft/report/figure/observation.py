"""The numbers behind a figure: values per flow, link or queue, or one per run, with what the cells differ in.

A `y` of `[[report]]` is a metric (`goodput`, `slowdown`), one of its summaries (`fct.p99`), a column of `flows`
(`goodput_bps`) or of another table (`queues.max_bytes`). Tables are read one run at a time, and of each only the
values are kept.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from weft.errors import ResultsError
from weft.metric import METRICS, SUMMARIES, Metric, Tables
from weft.metric.definition import columns
from weft.report.folder import Cell, Folder, Run, plain
from weft.report.table import full_name, numbers_of

TABLES = ("flows", "links", "queues", "paths")
ABSENT = "–"
"""What stands for a swept key that a cell does not have."""

Words = tuple[str, ...]
"""What a cell has at each key of a figure, as text."""


@dataclass(frozen=True)
class Values:
    """Values of runs: per run what its cell has at the keys, the cell, the repeat and a series of reals.

    `name` carries the unit.
    """

    name: str
    entity: str
    parts: tuple[tuple[Words, Cell, int, pl.Series], ...]
    left_out: tuple[str, ...]
    """Why runs are not in it, one reason per run."""

    @property
    def remark(self) -> str:
        """A sentence on the runs that are left out, or nothing."""
        if not self.left_out:
            return ""
        runs = "1 run is" if len(self.left_out) == 1 else f"{len(self.left_out):,} runs are"
        return f" {runs} left out: {self.left_out[0]}."

    @property
    def count(self) -> int:
        """How many values there are."""
        return sum(series.len() for *_, series in self.parts)

    @property
    def smallest(self) -> float:
        """The smallest value."""
        return min(float(series.min()) for *_, series in self.parts)  # type: ignore[arg-type]

    @property
    def largest(self) -> float:
        """The largest value."""
        return max(float(series.max()) for *_, series in self.parts)  # type: ignore[arg-type]

    @property
    def magnitude(self) -> float:
        """The largest distance from 0."""
        return max(abs(self.smallest), abs(self.largest))

    def groups(self) -> dict[Words, list[tuple[Cell, int, pl.Series]]]:
        """The runs by what their cells have at the keys."""
        found: dict[Words, list[tuple[Cell, int, pl.Series]]] = {}
        for words, cell, repeat, series in self.parts:
            found.setdefault(words, []).append((cell, repeat, series))
        return found


def each_value(cells: Mapping[Words, Sequence[Cell]], y: str, folder: Folder) -> Values:
    """A value per flow (link, queue) of every run of the cells.

    Raises ResultsError if no run has one.
    """
    metric, table, column = _resolve(y)

    def values(run: Run) -> pl.Series:
        tables: Tables = run.tables
        if metric is not None:
            return metric.series(tables)
        return columns(tables, table, column)[column].drop_nulls()

    entity = metric.entity if metric else table.removesuffix("s")
    return _gather(cells, metric.column if metric else column, entity, values, folder)


def run_values(cells: Mapping[Words, Sequence[Cell]], y: str, folder: Folder) -> Values:
    """One value per run of the cells, from `folder.run_values` where it is known.

    Raises ResultsError if no run has one.
    """
    stem, _, summary = y.rpartition(".")
    metric, _, column = _resolve(stem if stem in METRICS and summary in SUMMARIES else y)
    name = full_name(y)

    def value(run: Run) -> pl.Series:
        known = folder.run_values.setdefault(name, {})
        if run.name not in known:
            found = numbers_of(run.tables, [name])
            if name not in found:
                raise ResultsError(f"report.y: {y} is no number")
            known[run.name] = found[name]
        found_value = known[run.name]
        if isinstance(found_value, str):
            raise ResultsError(found_value)
        return pl.Series([found_value])

    return _gather(cells, metric.column if metric else column, "run", value, folder)


def grouped(folder: Folder, keys: Iterable[str | None]) -> dict[Words, list[Cell]]:
    """The cells with runs by what they have at the keys (nothing at None), in the plan's order.

    Raises ResultsError for a key that there is not.
    """
    keys = list(keys)
    found: dict[Words, list[Cell]] = {}
    for cell in folder.cells:
        if cell.done:
            words = tuple("" if key is None else key_word(folder, cell, key) for key in keys)
            found.setdefault(words, []).append(cell)
    return found


def in_order(folder: Folder, key: str | None, words: Iterable[str]) -> list[str]:
    """Each word once, as the axis lists its values; in the order given where no axis does."""
    distinct = list(dict.fromkeys(words))
    axis = folder.sweep.columns.get(key, ()) if folder.sweep is not None and key is not None else ()
    place = {str(plain(value)): place for place, value in enumerate(axis)}
    return sorted(distinct, key=lambda word: place.get(word, len(place)))


def key_word(folder: Folder, cell: Cell, key: str) -> str:
    """What a cell has at a key, as text: see `key_value`."""
    value = key_value(folder, cell, key)
    return ABSENT if value is None else str(value)


def key_value(folder: Folder, cell: Cell, key: str) -> object:
    """What a cell has at a key: swept, or written in its resolved experiment; `cell` is its label.

    A section that whole tables take the place of (`transport`) has the values of its keys, one after the other. Raises
    ResultsError for a key that neither has.
    """
    if key == "cell":
        return cell.label
    if key in cell.keys:
        return cell.keys[key]
    if inside := [axis for axis in folder.telling or folder.axes if axis.startswith(f"{key}.")]:
        return " ".join(str(cell.keys[axis]) for axis in inside if cell.keys[axis] is not None)
    part: object = cell.done[0].experiment if cell.done else {}
    # A dot leads into a table, [0] or its name to an entry of a list: workload[0].degree, workload.bulk.degree.
    for name in re.findall(r"[^.\[\]]+", key):
        if isinstance(part, list) and name.isdigit() and int(name) < len(part):
            part = part[int(name)]
            continue
        if isinstance(part, list) and (
            named := [one for one in part if isinstance(one, dict) and one.get("name") == name]
        ):
            part = named[0]
            continue
        if not isinstance(part, dict) or name not in part:
            swept = ", ".join(folder.axes) or "nothing"
            raise ResultsError(f'report: the experiment has no key "{key}"; swept are {swept}')
        part = part[name]
    return part if isinstance(part, int | float) and not isinstance(part, bool) else str(part)


def pooled(folder: Folder, cells: Mapping[Words, Sequence[Cell]], *keys: str | None) -> str:
    """A sentence on the swept keys that a figure does not tell apart, or nothing."""
    kinds = [
        axis
        for axis in folder.axes
        if axis not in keys and any(len({cell.keys[axis] for cell in alike}) > 1 for alike in cells.values())
    ]
    return f" Takes all values of {', '.join(kinds)} together, so the spread holds their differences." if kinds else ""


def thinned(words: Sequence[str], most: int, what: str) -> tuple[list[str], str]:
    """At most `most` of the words, evenly spaced, and the sentence that says so (or nothing)."""
    if len(words) <= most:
        return list(words), ""
    kept = [words[round(place * (len(words) - 1) / (most - 1))] for place in range(most)]
    return kept, f" {most} of {len(words):,} {what} are drawn, evenly spaced in the order of the plan."


def numbered(cells: Iterable[Cell]) -> str:
    """Numbers of cells in the plan, runs of them as ranges: which commands of the results table give a point.

    >>> numbered([])
    ''
    """
    numbers = sorted({int(cell.number) for cell in cells})
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _resolve(y: str) -> tuple[Metric | None, str, str]:
    if y in METRICS:
        return METRICS[y], "", y
    table, dot, column = y.rpartition(".")
    if not dot:
        return None, "flows", y
    if table in TABLES:
        return None, table, column
    raise ResultsError(
        f'report.y: unknown "{y}"; metrics are {", ".join(METRICS)} (a summary of one is written fct.p99); '
        f"a column is written TABLE.COLUMN with a table of {', '.join(TABLES)}"
    )


def _gather(
    cells: Mapping[Words, Sequence[Cell]],
    name: str,
    entity: str,
    values: Callable[[Run], pl.Series],
    folder: Folder,
) -> Values:
    parts, left_out, seen = [], [], 0
    total = sum(len(cell.done) for alike in cells.values() for cell in alike)
    for words, alike in cells.items():
        for cell in alike:
            for run in cell.done:
                folder.tell(f"{name} of runs", seen, total)
                seen += 1
                try:
                    series = values(run)
                except ResultsError as error:
                    left_out.append(str(error))
                    continue
                if series.is_empty():
                    left_out.append(f"{name}: no {entity} has a value")
                    continue
                if not series.dtype.is_numeric():
                    raise ResultsError(f"report.y: {name} is no number but {series.dtype}")
                parts.append((words, cell, run.repeat, series.cast(pl.Float64)))
    if not parts:
        raise ResultsError(left_out[0] if left_out else f"{name}: no finished run has it")
    return Values(name, entity, tuple(parts), tuple(left_out))
