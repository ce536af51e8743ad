"""Output vectors of OMNeT++ (`.vec`), as samples: what another simulator recorded over time, to be drawn beside ours.

Source: OMNeT++ Simulation Manual, appendix "Result File Formats". A `vector` line declares a number, a module, a name,
and the columns of its data (E event, T time in s, V value; without them T and V); data lines begin with that number.
"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("E", "T", "V")


def read_vec(path: str | Path) -> "pl.DataFrame":
    """The vectors of a file in the shape of the table `samples`: time_ns, metric (their name), entity (module), value.

    Values are as they were recorded; their unit is the model's. Raises ResultsError with the line that is wrong.
    """
    import polars as pl

    declared: dict[str, tuple[str, str, str]] = {}
    rows: list[tuple[int, str, str, float]] = []
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                fields = line.split()
                try:
                    if fields[:1] == ["vector"]:
                        declared[fields[1]] = _declared(line)
                    elif fields and fields[0] in declared:
                        rows.append(_row(fields, *declared[fields[0]]))
                    elif fields and fields[0].isdigit():
                        raise ValueError(f"vector {fields[0]} is not declared")
                except (ValueError, IndexError) as error:
                    raise ResultsError(
                        f"{path}:{number}: {line.strip()!r} is no line of a .vec file: {error}"
                    ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not declared:
        raise ResultsError(
            f"{path}: declares no vector; a .vec file of OMNeT++ has lines like: vector 0 Net.H4 rate ETV"
        )
    schema = {"time_ns": pl.Int64, "metric": pl.String, "entity": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("time_ns", maintain_order=True)


def _declared(line: str) -> tuple[str, str, str]:
    """Module, name and columns of a declaration; old files end with the number of values in place of columns."""
    _, _, module, name, *rest = shlex.split(line)
    columns = rest[0] if rest and not rest[0].isdigit() else "TV"
    if not set(columns) <= set(COLUMNS) or not {"T", "V"} <= set(columns):
        raise ValueError(f"its columns are {columns}, and not some of ETV with T and V")
    return module, name, columns


def _row(fields: list[str], module: str, name: str, columns: str) -> tuple[int, str, str, float]:
    seconds, value = (fields[1 + columns.index(column)] for column in ("T", "V"))
    return round(float(seconds) * 1e9), name, module, float(value)
