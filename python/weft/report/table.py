"""The results table: per cell the key metrics of its runs, each with a 95 % t interval over the repeats."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from weft.errors import ResultsError
from weft.metric import METRICS, SUMMARIES, Tables
from weft.metric.definition import columns
from weft.report.folder import Cell, Folder, Run
from weft.report.quantity import Quantity, quantity
from weft.statistics.interval import Interval, mean_interval

KEY_METRICS = (
    "goodput.mean",
    "fct.mean",
    "fct.p50",
    "fct.p99",
    "slowdown.mean",
    "slowdown.p99",
    "fairness.mean",
    "utilization.max",
    "drops.sum",
    "retransmissions.mean",
    "completion.mean",
)
"""Columns of the table: a metric of a run and how its flows, links or queues are summarized."""


@dataclass(frozen=True)
class Unfinished:
    """Flows of a run that have a size and did not end."""

    run: Run
    cell: Cell
    flows: int
    of: int
    reasons: dict[str, list[str]]
    """The flows by reason, as "3 h000>h110"."""


@dataclass(frozen=True)
class Numbers:
    """The key metrics of every run that is there, from one pass over the tables.

    `runs` has a row per run: cell, repeat, run and a column per key metric, null where it has no value; `missing`
    says why a metric is null in every run.
    """

    runs: pl.DataFrame
    missing: dict[str, str]
    unfinished: tuple[Unfinished, ...]
    below_ideal: int
    flows: int

    def interval(self, cell: str, metric: str) -> Interval | None:
        """Mean and interval over the repeats of a cell that have a value, or None."""
        if (cell, metric) not in self._intervals:
            frame = self._by_cell.get(cell)
            values = [] if frame is None else frame[metric].drop_nulls().to_list()
            self._intervals[cell, metric] = mean_interval(values) if values else None
        return self._intervals[cell, metric]

    @cached_property
    def _by_cell(self) -> dict[str, pl.DataFrame]:
        return {str(cell): frame for (cell,), frame in self.runs.partition_by("cell", as_dict=True).items()}

    @cached_property
    def _intervals(self) -> dict[tuple[str, str], Interval | None]:
        return {}


def collect(folder: Folder, also: Sequence[str] = ()) -> Numbers:
    """Compute the key metrics of every run, each table read once and no two runs held at once.

    `also` names what figures will ask for: a metric, a summary of one, or a column. All of it is kept in
    `folder.run_values`, so that a figure of numbers of runs reads nothing again.
    """
    rows: list[dict[str, object]] = []
    unfinished, below_ideal, flows = [], 0, 0
    keys = list(dict.fromkeys([*KEY_METRICS, *map(full_name, also)]))
    total = len(folder.done)
    for cell in folder.cells:
        for run in cell.done:
            folder.tell("runs", len(rows), total)
            tables = run.tables
            found = numbers_of(tables, keys)
            for key, value in found.items():
                folder.run_values.setdefault(key, {})[run.name] = value
            values = {key: value if isinstance(value := found[key], float) else None for key in KEY_METRICS}
            rows.append({"cell": cell.label, "repeat": run.repeat, "run": run.name} | values)
            stuck = _unfinished(run, cell, tables)
            unfinished += [stuck] if stuck else []
            frame = tables.get("flows")
            flows += frame.height if frame is not None else 0
            below_ideal += _below_ideal(frame)
    schema = {"cell": pl.String, "repeat": pl.Int64, "run": pl.String, **dict.fromkeys(KEY_METRICS, pl.Float64)}
    frame = pl.DataFrame(rows, schema=schema)
    missing = {}
    for key in KEY_METRICS:
        reasons = [value for value in folder.run_values.get(key, {}).values() if isinstance(value, str)]
        if reasons and len(reasons) == frame.height:
            missing[key] = reasons[0]
    return Numbers(frame, missing, tuple(unfinished), below_ideal, flows)


def full_name(y: str) -> str:
    """A metric with its summary written out; a column of `flows` with its table.

    >>> full_name("goodput"), full_name("fct.p99"), full_name("lost_packets"), full_name("queues.max_bytes")
    ('goodput.mean', 'fct.p99', 'flows.lost_packets', 'queues.max_bytes')
    """
    if y in METRICS:
        return f"{y}.{METRICS[y].summary}"
    return y if "." in y else f"flows.{y}"


def numbers_of(tables: Tables, names: Sequence[str]) -> dict[str, float | str]:
    """One number of a run for each full name, or the sentence that says why there is none.

    A metric is computed once for all its summaries. A column gives its mean; what is neither is left out.
    """
    found: dict[str, float | str] = {}
    series: dict[str, pl.Series | str] = {}
    for name in names:
        stem, _, last = name.partition(".")
        if stem not in series:
            series[stem] = _series(tables, stem) if stem in METRICS else ""
        values: pl.Series | str = series[stem]
        if stem not in METRICS:
            try:
                values = columns(tables, stem, last)[last].drop_nulls()
                values = values if values.len() else f"{name}: no value in it"
            except ResultsError as error:
                values = str(error)
            last = "mean"
        if isinstance(values, str):
            found[name] = values
        elif last in SUMMARIES and values.dtype.is_numeric():
            found[name] = SUMMARIES[last](values)
    return found


def _series(tables: Tables, metric: str) -> pl.Series | str:
    try:
        values = METRICS[metric].series(tables)
    except ResultsError as error:
        return str(error)
    return values if values.len() else f"{metric}: no {METRICS[metric].entity} has a value"


def columns_shown(numbers: Numbers) -> list[str]:
    """Key metrics that some run has; the share of finished flows only where it is not all of them."""
    shown = [key for key in KEY_METRICS if key not in numbers.missing and numbers.runs.height]
    finished = numbers.runs["completion.mean"].min()
    if isinstance(finished, float) and finished >= 1.0 and "completion.mean" in shown:
        shown.remove("completion.mean")
    return shown


def heading(key: str) -> tuple[str, str]:
    """Name of a column and the summary beneath it.

    >>> heading("fct.p99"), heading("fairness.mean")
    (('FCT', 'p99'), ('Jain index', ''))
    """
    name, _, summary = key.partition(".")
    metric = METRICS[name]
    return metric.title, "" if metric.entity == "run" or summary == "sum" else summary


def shown_in(numbers: Numbers, key: str) -> Quantity:
    """Unit of a column: the same for all summaries of a metric, from their largest value."""
    metric = METRICS[key.partition(".")[0]]
    return quantity(metric.column, largest(numbers, key))


def largest(numbers: Numbers, key: str) -> float:
    """Largest magnitude in the columns of a metric.

    Raises ResultsError if none of them has a value.
    """
    name = key.partition(".")[0]
    found = [numbers.runs[other].abs().max() for other in KEY_METRICS if other.partition(".")[0] == name]
    values = [value for value in found if isinstance(value, float)]
    if not values:
        raise ResultsError(f"{name}: no run has a value")
    return max(values)


def decimals(largest: float, digits: int = 4) -> int:
    """Decimals that give the largest value of a column `digits` significant ones.

    >>> decimals(19.2), decimals(0.95), decimals(12345.0), decimals(0.0)
    (2, 4, 0, 0)
    """
    return 0 if largest == 0 else max(0, min(6, digits - 1 - math.floor(math.log10(largest))))


def tidy(folder: Folder, numbers: Numbers) -> pl.DataFrame:
    """Per cell its keys and, per key metric in base units, mean, low, high and n: the table behind the table."""
    rows = []
    for cell in folder.cells:
        row: dict[str, object] = {"cell": cell.label, **{axis: str(value) for axis, value in cell.keys.items()}}
        for key in columns_shown(numbers):
            interval = numbers.interval(cell.label, key)
            name = f"{METRICS[key.partition('.')[0]].column}_{key.partition('.')[2]}"
            row[name] = interval.mean if interval else None
            row[f"{name}_low"] = interval.low if interval else None
            row[f"{name}_high"] = interval.high if interval else None
            row[f"{name}_n"] = interval.n if interval else 0
        row |= {"cell_number": int(cell.number), "runs": len(cell.done), "planned": len(cell.runs)}
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _unfinished(run: Run, cell: Cell, tables: Mapping[str, pl.DataFrame]) -> Unfinished | None:
    flows = tables.get("flows")
    if flows is None or not {"size_bytes", "fct_ns"} <= set(flows.columns):
        return None
    if flows["fct_ns"].null_count() == 0:
        return None
    stuck = flows.filter(pl.col("size_bytes").is_not_null() & pl.col("fct_ns").is_null())
    if stuck.is_empty():
        return None
    reasons: dict[str, list[str]] = {}
    for row in stuck.iter_rows(named=True):
        named = f"{row.get('flow')} {row.get('src')}>{row.get('dst')}"
        reasons.setdefault(row.get("reason") or "no reason given", []).append(named)
    reasons = dict(sorted(reasons.items(), key=lambda item: -len(item[1])))
    return Unfinished(run, cell, stuck.height, flows.height, reasons)


def _below_ideal(flows: pl.DataFrame | None) -> int:
    """Flows faster than their ideal by more than rounding: then the ideal is wrong."""
    if flows is None or not {"ideal_fct_ns", "fct_ns"} <= set(flows.columns):
        return 0
    return int((flows["fct_ns"] < flows["ideal_fct_ns"] - 1).sum())
