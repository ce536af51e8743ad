"""What bar and line share: one value per run, averaged over the repeats of each (x, by) with its t interval."""

from collections.abc import Sequence

import polars as pl

from weft.report.figure.observation import Observations, labelled, run_values
from weft.report.folder import Cell, Folder
from weft.report.quantity import Quantity, quantity
from weft.statistics.interval import mean_interval


def means(
    folder: Folder, cells: Sequence[Cell], y: str, x: str, by: str
) -> tuple[pl.DataFrame, Quantity, Observations]:
    """Columns place (x), group (by), the mean in the quantity's column, low, high (null for one run), runs."""
    observations = run_values(cells, y)
    frame = labelled(folder, observations, cells, [x, by])
    largest = observations.frame["value"].abs().max()
    assert isinstance(largest, float)
    shown = quantity(observations.name, largest)
    rows = []
    places = frame.select(pl.col(f"key/{x}").alias("place"), pl.col(f"key/{by}").alias("group"), "value")
    for (place, group), part in places.group_by(["place", "group"], maintain_order=True):
        interval = mean_interval([value * shown.factor for value in part["value"].to_list()])
        rows.append((place, group, interval.mean, interval.low, interval.high, interval.n))
    schema = {"place": pl.String, "group": pl.String, shown.column: pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema={**schema, "runs": pl.Int64}, orient="row"), shown, observations


def limits(table: pl.DataFrame, column: str, low: str, high: str) -> tuple[list[float], str]:
    """Ends of an axis that shows the means and, as far as there is room, their intervals; and the remark if cut.

    Two or three repeats can give intervals ten times as long as the means are large.

    >>> table = pl.DataFrame({"mean": [10.0, 8.0], "low": [9.0, -50.0], "high": [11.0, 66.0]})
    >>> limits(table, "mean", "low", "high")
    ([0.0, 15.0], ' Intervals that reach beyond the axis are cut.')
    """
    means = table[column].to_list()
    lows = [value for value in table[low].to_list() if value is not None] + means
    highs = [value for value in table[high].to_list() if value is not None] + means
    room = 0.5 * max(map(abs, means))
    bottom, top = min(0.0, *means), max(0.0, *means)
    if bottom < 0:
        bottom = max(min(lows), bottom - room)
    top = min(max(highs), top + room) if top > 0 else top
    is_cut = min(lows) < bottom or max(highs) > top
    return [bottom, top or 1.0], " Intervals that reach beyond the axis are cut." if is_cut else ""


def words(y: str, shown: Quantity) -> str:
    """What is averaged, in words: the summary of a metric beside its name.

    >>> words("fct.p99", quantity("fct_ns", 1.0))
    'Flow completion time (p99)'
    """
    summary = y.rpartition(".")[2] if "." in y else ""
    return f"{shown.title} ({summary})" if summary in ("p50", "p99", "min", "max", "sum") else shown.title
