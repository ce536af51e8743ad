"""The results table: per cell the key metrics of its runs, each with a 95 % t interval over the repeats."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from weft.errors import ResultsError
from weft.metric import METRICS
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
        values = self.runs.filter(pl.col("cell") == cell)[metric].drop_nulls().to_list()
        return mean_interval(values) if values else None


def collect(folder: Folder) -> Numbers:
    """Compute the key metrics of every run."""
    rows: list[dict[str, object]] = []
    reasons: dict[str, str] = {}
    unfinished, below_ideal, flows = [], 0, 0
    for cell in folder.cells:
        for run in cell.done:
            tables = run.tables
            row: dict[str, object] = {"cell": cell.label, "repeat": run.repeat, "run": run.name}
            for key in KEY_METRICS:
                name, _, summary = key.partition(".")
                try:
                    row[key] = METRICS[name].value(tables, summary)
                except ResultsError as error:
                    row[key] = None
                    reasons.setdefault(key, str(error))
            rows.append(row)
            found = _unfinished(run, cell, tables)
            unfinished += [found] if found else []
            frame = tables.get("flows")
            flows += frame.height if frame is not None else 0
            below_ideal += _below_ideal(frame)
    schema = {"cell": pl.String, "repeat": pl.Int64, "run": pl.String, **dict.fromkeys(KEY_METRICS, pl.Float64)}
    frame = pl.DataFrame(rows, schema=schema)
    missing = {key: reason for key, reason in reasons.items() if frame[key].null_count() == frame.height}
    return Numbers(frame, missing, tuple(unfinished), below_ideal, flows)


def columns_shown(numbers: Numbers) -> list[str]:
    """Key metrics that some run has; the share of finished flows only where it is not all of them."""
    shown = [key for key in KEY_METRICS if key not in numbers.missing]
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
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _unfinished(run: Run, cell: Cell, tables: Mapping[str, pl.DataFrame]) -> Unfinished | None:
    flows = tables.get("flows")
    if flows is None or not {"size_bytes", "fct_ns"} <= set(flows.columns):
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
    return flows.filter(pl.col("fct_ns") < pl.col("ideal_fct_ns") - 1).height
