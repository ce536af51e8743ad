"""What bar, line and heat share: one value per run, averaged over the repeats of each (x, by) with its t interval."""

from dataclasses import dataclass

import polars as pl

from weft.report.figure.facet import Facets, facets
from weft.report.figure.observation import grouped, in_order, numbered, pooled, run_values, thinned
from weft.report.folder import Folder
from weft.report.quantity import Quantity, quantity
from weft.statistics.interval import mean_interval


@dataclass(frozen=True)
class Means:
    """Means over repeats with what their figure says of them.

    `table` has place (x), group (by), the mean in the quantity's column, low and high (null for one run), runs, and
    the numbers of the cells it stands for; before them facet, where there is one. `remark` ends a caption.
    """

    table: pl.DataFrame
    shown: Quantity
    facets: Facets
    places: list[str]
    groups: list[str]
    remark: str

    @property
    def is_single(self) -> bool:
        """Whether no mean is of more than one run."""
        return self.table["runs"].max() == 1


def means(folder: Folder, y: str, x: str, by: str | None, facet: str | None, most_places: int | None = None) -> Means:
    """One number per run, averaged over the runs of each facet, place and group; of at most `most_places` places.

    Raises ResultsError if no run has a value, or for a key that there is not.
    """
    cells = grouped(folder, [facet, x, by])
    small = facets(folder, facet, cells)
    places = in_order(folder, x, (words[1] for words in cells))
    selection = ""
    if most_places is not None:
        places, selection = thinned(places, most_places, "cells" if x == "cell" else f"values of {x}")
    drawn = set(places)
    cells = {words: alike for words, alike in cells.items() if words[0] in small.words and words[1] in drawn}
    values = run_values(cells, y, folder)
    shown = quantity(values.name, values.magnitude)
    groups = in_order(folder, by, (words[2] for words in cells))
    rows = []
    for (panel, place, group), runs in values.groups().items():
        interval = mean_interval([series[0] * shown.factor for *_, series in runs])
        stands_for = numbered(cell for cell, *_ in runs)
        rows.append((panel, place, group, interval.mean, interval.low, interval.high, interval.n, stands_for))
    schema = {
        "facet": pl.String, "place": pl.String, "group": pl.String, shown.column: pl.Float64, "low": pl.Float64,
        "high": pl.Float64, "runs": pl.Int64, "cells": pl.String,
    }  # fmt: skip
    ranks = [{word: rank for rank, word in enumerate(words)} for words in (small.words, groups, places)]
    rows.sort(key=lambda row: (ranks[0][row[0]], ranks[1][row[2]], ranks[2][row[1]]))
    table = pl.DataFrame(rows, schema=schema, orient="row")
    unused = [name for name, key in (("facet", facet), ("group", by)) if key is None]
    fewest, most = int(table["runs"].min()), int(table["runs"].max())  # type: ignore[arg-type]
    remark = f" {fewest} to {most} runs each." if fewest < most else ""
    remark += selection + pooled(folder, cells, x, by, facet) + small.remark + values.remark
    return Means(table.drop(unused), shown, small, places, groups, remark)


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


def axis_title(y: str, shown: Quantity) -> str:
    """What is averaged, with its unit.

    >>> axis_title("fct.p99", quantity("fct_ns", 1e6))
    'Flow completion time (p99, ms)'
    """
    text = words(y, shown)
    if not shown.unit:
        return text
    return f"{text[:-1]}, {shown.unit})" if text.endswith(")") else f"{text} ({shown.unit})"


def over_keys(how: str, x: str, by: str | None, facet: str | None) -> str:
    """The keys of a figure, for its title.

    >>> over_keys("over", "topology.k", "queue.kind", None)
    'over topology.k by queue.kind'
    """
    text = f"{how} {x}" + (f" {'and' if how == 'by' else 'by'} {by}" if by and by != x else "")
    return text + (f", for each {facet}" if facet else "")


def over_repeats(is_single: bool) -> str:
    """How runs became a point, for a caption."""
    return "one repeat, so no interval." if is_single else "mean over repeats with 95 % t interval."
