"""What a metric is: a value per flow or link of one run, and one number for the run."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from weft.errors import ResultsError
from weft.statistics.quantile import quantile

if TYPE_CHECKING:
    import polars as pl

Tables: TypeAlias = "Mapping[str, pl.DataFrame]"
"""The tables of one run by name: `flows`, `links`, `queues`, `paths`, `samples`, `nodes`."""

SUMMARIES: "dict[str, Callable[[pl.Series], float]]" = {
    "mean": lambda values: _number(values.mean()),
    "sum": lambda values: _number(values.sum()),
    "min": lambda values: _number(values.min()),
    "p50": lambda values: quantile(values.to_list(), 0.5),
    "p99": lambda values: quantile(values.to_list(), 0.99),
    "max": lambda values: _number(values.max()),
}
"""From the values of a run to its one number."""

UNKNOWN_COLUMN = "the manifest of the run says what its backend cannot know; the packet backend fills every column"


@dataclass(frozen=True)
class Metric:
    """A quantity computed from the tables of one run.

    `series` gives a value per `entity`, without nulls; a metric of the whole run gives a series of one value.
    `unit` is empty for a ratio and `share` for a ratio that is read as per cent.
    `better` says which direction is an improvement.
    """

    name: str
    title: str
    unit: Literal["", "share", "bps", "ns", "packets"]
    entity: Literal["flow", "link", "queue", "host", "core", "run"]
    better: Literal["higher", "lower"]
    summary: str
    source: str

    def series(self, tables: Tables) -> "pl.Series":
        """A value per entity, by the function of the metric's name in the file of its name."""
        module = importlib.import_module(f"weft.metric.{self.name}")
        series: pl.Series = getattr(module, self.name)(tables)
        return series

    @property
    def column(self) -> str:
        """Name of a column that holds it, with the unit."""
        return f"{self.name}_{self.unit}" if self.unit else self.name

    def value(self, tables: Tables, summary: str | None = None) -> float:
        """One number for the run: by `summary` (mean, sum, min, p50, p99, max) or the metric's usual one.

        Raises ResultsError if a table or column is missing, or nothing has a value.
        """
        chosen = summary or self.summary
        if chosen not in SUMMARIES:
            raise ResultsError(f"{self.name}.{chosen}: no such summary; there are {', '.join(SUMMARIES)}")
        values = self.series(tables)
        if values.is_empty():
            raise ResultsError(f"{self.name}: no {self.entity} has a value")
        return SUMMARIES[chosen](values)


def columns(tables: Tables, table: str, *names: str) -> "pl.DataFrame":
    """Columns of a table, or ResultsError that names what is missing and how to have it."""
    if table not in tables:
        way_out = "set `paths = true` under [measure]" if table == "paths" else "run the experiment again"
        raise ResultsError(f"{table}: the run has no such table; {way_out}")
    frame = tables[table]
    if absent := [name for name in names if name not in frame.columns]:
        raise ResultsError(f"{table}.{absent[0]}: no such column; {UNKNOWN_COLUMN}")
    import polars as pl

    # Not `select`: its query costs more than a thousand flows, and a sweep asks many thousand times.
    return pl.DataFrame([frame.get_column(name) for name in names])


def known(tables: Tables, table: str, *names: str) -> "pl.DataFrame":
    """Columns of a table of which every value must be known: a null is a ResultsError."""
    frame = columns(tables, table, *names)
    for name in names:
        if nulls := frame[name].null_count():
            raise ResultsError(f"{table}.{name}: {nulls} of {frame.height} values are null; {UNKNOWN_COLUMN}")
    return frame


def _number(value: object) -> float:
    assert isinstance(value, int | float), value
    return float(value)
