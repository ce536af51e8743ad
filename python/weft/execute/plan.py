"""`plan.parquet`: one row per run, with a column per swept key.

Written when the runs have ended, also by an interruption, so that no data stack is loaded while they simulate; resuming
does not need it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.experiment.experiment import Experiment

if TYPE_CHECKING:
    import polars as pl


def plan_frame(experiment: Experiment) -> "pl.DataFrame":
    """Columns run, cell, repeat, seed, and one per swept key (null where a cell does not have the key)."""
    import polars as pl

    columns: dict[str, list[Any]] = {"run": [], "cell": [], "repeat": [], "seed": []}
    for cell in experiment.cells():
        columns |= {name: [] for name in cell.swept if name not in columns}
    for run in experiment.plan():
        row = {"run": run.name, "cell": run.cell.index, "repeat": run.repeat, "seed": run.seed, **run.cell.swept}
        for name, values in columns.items():
            values.append(row.get(name))
    return pl.DataFrame({name: column(name, values) for name, values in columns.items()})


def column(name: str, values: list[Any]) -> "pl.Series":
    """A column of one type: as it is if all values agree, real if all are numbers, else text as in the file."""
    import polars as pl

    types = {type(value) for value in values if value is not None}
    if types == {int, float}:
        return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)
    if len(types) > 1:
        said = [
            None if value is None else str(value).lower() if isinstance(value, bool) else str(value) for value in values
        ]
        return pl.Series(name, said, dtype=pl.String)
    dtypes = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}
    return pl.Series(name, values, dtype=dtypes[next(iter(types), str)])


def write_plan(experiment: Experiment, directory: Path) -> None:
    """Writes `plan.parquet` beside and renames it."""
    beside = directory / ".plan.parquet.part"
    plan_frame(experiment).write_parquet(beside)
    beside.replace(directory / "plan.parquet")
