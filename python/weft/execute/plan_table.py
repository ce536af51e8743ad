"""`plan.parquet`: one row per run, with a column per swept key.

Written when the runs have ended, also by an interruption, so that no data stack is loaded while they simulate; resuming
does not need it.
"""

import io
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import whole
from weft.experiment.experiment import Experiment
from weft.sweep import Run

if TYPE_CHECKING:
    import polars as pl

CHUNK = 10_000
"""Runs that are held as Python objects at once."""


def plan_frame(experiment: Experiment, runs: Iterable[Run] | None = None) -> "pl.DataFrame":
    """Columns run, cell, repeat, seed, and one per swept key (null where a cell does not have the key)."""
    import polars as pl

    schema = {name: dtype_of(values) for name, values in experiment.sweep.columns.items()}
    if runs is not None and not schema:
        # Without axes the columns are those that the runs bring: the trials of a search.
        runs = list(runs)
        brought: dict[str, list[Any]] = {}
        for run in runs:
            for name, value in run.cell.swept.items():
                brought.setdefault(name, []).append(value)
        schema = {name: dtype_of(values) for name, values in brought.items()}
    rows = iter(experiment.plan() if runs is None else runs)
    frames = [_frame([], schema)]
    while chunk := list(itertools.islice(rows, CHUNK)):
        frames.append(_frame(chunk, schema))
    return pl.concat(frames)


def write_plan(experiment: Experiment, directory: Path, runs: Iterable[Run] | None = None) -> None:
    """Writes `plan.parquet`; `runs` are those of the experiment's plan if not given.

    Raises OSError.
    """
    table = io.BytesIO()
    plan_frame(experiment, runs).write_parquet(table)
    whole.put(directory / "plan.parquet", table.getvalue())


def column(name: str, values: list[Any], dtype: Any = None) -> "pl.Series":
    """A column of one type: as it is if all values agree, real if all are numbers, else text as in the file."""
    import polars as pl

    dtype = dtype if dtype is not None else dtype_of(value for value in values if value is not None)
    if dtype == pl.Float64:
        return pl.Series(name, [None if value is None else float(value) for value in values], dtype=dtype)
    if dtype == pl.String:
        said = [
            None if value is None else str(value).lower() if isinstance(value, bool) else str(value) for value in values
        ]
        return pl.Series(name, said, dtype=dtype)
    return pl.Series(name, values, dtype=dtype)


def dtype_of(values: Iterable[Any]) -> Any:
    """The type of a column with these values."""
    import polars as pl

    types = {type(value) for value in values}
    if types == {int, float}:
        return pl.Float64
    dtypes = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    return dtypes.get(next(iter(types)), pl.String) if len(types) == 1 else pl.String


def _frame(runs: list[Run], schema: Mapping[str, Any]) -> "pl.DataFrame":
    import polars as pl

    swept = [run.cell.swept for run in runs]
    return pl.DataFrame(
        [
            pl.Series("run", [run.name for run in runs], dtype=pl.String),
            pl.Series("cell", [run.cell.index for run in runs], dtype=pl.Int64),
            pl.Series("repeat", [run.repeat for run in runs], dtype=pl.Int64),
            pl.Series("seed", [run.seed for run in runs], dtype=pl.Int64),
            *(column(name, [row.get(name) for row in swept], dtype) for name, dtype in schema.items()),
        ]
    )
