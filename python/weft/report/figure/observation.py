"""The numbers behind a figure: values per flow, link or queue, or one per run, with what the cells differ in.

A `y` of `[[report]]` is a metric (`goodput`, `slowdown`), one of its summaries (`fct.p99`), a column of `flows`
(`goodput_bps`) or of another table (`queues.max_bytes`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from weft.errors import ResultsError
from weft.metric import METRICS, SUMMARIES, Metric, Tables
from weft.metric.definition import columns
from weft.report.folder import Cell, Folder

TABLES = ("flows", "links", "queues", "paths")


@dataclass(frozen=True)
class Observations:
    """Values with their place: columns cell, repeat, value. `name` carries the unit."""

    name: str
    frame: pl.DataFrame
    entity: str
    left_out: tuple[str, ...]
    """Why runs are not in it, one reason per run."""

    @property
    def remark(self) -> str:
        """A sentence on the runs that are left out, or nothing."""
        if not self.left_out:
            return ""
        runs = "1 run is" if len(self.left_out) == 1 else f"{len(self.left_out)} runs are"
        return f" {runs} left out: {self.left_out[0]}."


def each_value(cells: Sequence[Cell], y: str) -> Observations:
    """A value per flow (link, queue) of every run of the cells.

    Raises ResultsError if no run has one.
    """
    metric, table, column = _resolve(y)

    def values(tables: Tables) -> pl.Series:
        if metric is not None:
            return metric.series(tables)
        return columns(tables, table, column)[column].drop_nulls()

    entity = metric.entity if metric else table.removesuffix("s")
    return _gather(cells, metric.column if metric else column, entity, values)


def run_values(cells: Sequence[Cell], y: str) -> Observations:
    """One value per run of the cells.

    Raises ResultsError if no run has one.
    """
    stem, _, summary = y.rpartition(".")
    chosen = summary if stem in METRICS and summary in SUMMARIES else None
    metric, table, column = _resolve(stem if chosen else y)

    def values(tables: Tables) -> pl.Series:
        if metric is not None:
            return pl.Series([metric.value(tables, chosen)])
        present = columns(tables, table, column)[column].drop_nulls()
        if present.is_empty():
            raise ResultsError(f"{table}.{column}: no value in it")
        return pl.Series([SUMMARIES["mean"](present)])

    return _gather(cells, metric.column if metric else column, "run", values)


def key_value(folder: Folder, cell: Cell, key: str) -> object:
    """What a cell has at a key: swept, or written in its resolved experiment; `cell` is its label.

    Raises ResultsError for a key that neither has.
    """
    if key == "cell":
        return cell.label
    if key in cell.keys:
        return cell.keys[key]
    part: object = (cell.done[0].manifest or {}).get("experiment", {}) if cell.done else {}
    # A dot leads into a table, [0] to an entry of a list: workload[0].degree.
    for name in re.findall(r"[^.\[\]]+", key):
        if isinstance(part, list) and name.isdigit() and int(name) < len(part):
            part = part[int(name)]
            continue
        if not isinstance(part, dict) or name not in part:
            swept = ", ".join(folder.axes) or "nothing"
            raise ResultsError(f'report: the experiment has no key "{key}"; swept are {swept}')
        part = part[name]
    return part if isinstance(part, int | float) and not isinstance(part, bool) else str(part)


def labelled(folder: Folder, observations: Observations, cells: Sequence[Cell], keys: Sequence[str]) -> pl.DataFrame:
    """Observations with one column `key/NAME` of text per key."""
    frame = observations.frame
    for key in dict.fromkeys(keys):
        words = {cell.label: str(key_value(folder, cell, key)) for cell in cells}
        frame = frame.with_columns(pl.col("cell").replace_strict(words, return_dtype=pl.String).alias(f"key/{key}"))
    return frame


def pooled(folder: Folder, *keys: str | None) -> str:
    """A sentence on the swept keys that a figure does not tell apart, or nothing."""
    if "cell" in keys:
        return ""
    kinds = [axis for axis in folder.axes if axis not in keys and len({cell.keys[axis] for cell in folder.cells}) > 1]
    return f" Takes all values of {', '.join(kinds)} together, so the spread holds their differences." if kinds else ""


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


def _gather(cells: Sequence[Cell], name: str, entity: str, values: Callable[[Tables], pl.Series]) -> Observations:
    frames, left_out = [], []
    for cell in cells:
        for run in cell.done:
            try:
                series = values(run.tables)
            except ResultsError as error:
                left_out.append(str(error))
                continue
            if series.is_empty():
                left_out.append(f"{name}: no {entity} has a value")
                continue
            if not series.dtype.is_numeric():
                raise ResultsError(f"report.y: {name} is no number but {series.dtype}")
            frames.append(
                pl.DataFrame({"value": series.cast(pl.Float64)}).select(
                    pl.lit(cell.label).alias("cell"), pl.lit(run.repeat).cast(pl.Int64).alias("repeat"), "value"
                )
            )
    if not frames:
        raise ResultsError(left_out[0] if left_out else f"{name}: no finished run has it")
    return Observations(name, pl.concat(frames), entity, tuple(left_out))
