"""ECDF: the share of flows with at most a value.

The flows of all repeats of a cell are pooled. Above `MOST_POINTS` values a curve is drawn through its quantiles.
"""

from typing import TYPE_CHECKING

import polars as pl

from weft.report.figure.drawing import MOST_COLOURS, Figure, drawn_cells, finish, slug
from weft.report.figure.kind import Ask
from weft.report.figure.observation import each_value, labelled, pooled
from weft.report.folder import Folder
from weft.report.quantity import quantity

if TYPE_CHECKING:
    import altair as alt

MOST_POINTS = 250
LOG_FROM = 50.0
"""Largest over smallest value from which the axis is logarithmic."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw the distribution of `y`, a curve per `by` (the cell)."""
    import altair as alt

    assert ask.y is not None
    by = ask.by or "cell"
    cells, selection = drawn_cells(folder, MOST_COLOURS)
    observations = each_value(cells, ask.y)
    frame = labelled(folder, observations, cells, [by])
    smallest, largest = observations.frame["value"].min(), observations.frame["value"].max()
    assert isinstance(smallest, float) and isinstance(largest, float)
    shown = quantity(observations.name, largest)
    groups = frame[f"key/{by}"].unique(maintain_order=True).to_list()
    curves, is_thinned = [], False
    for group in groups:
        values = frame.filter(pl.col(f"key/{by}") == group)["value"].sort()
        points = staircase(values, MOST_POINTS)
        is_thinned |= values.len() > MOST_POINTS
        curves.append(
            points.select(pl.lit(group).alias("group"), (pl.col("value") * shown.factor).alias(shown.column), "share")
        )
    table = pl.concat(curves)
    is_log = smallest > 0 and largest / smallest > LOG_FROM
    x = alt.X(
        field=shown.column,
        type="quantitative",
        title=shown.axis + (", logarithmic" if is_log else ""),
        scale=alt.Scale(type="log") if is_log else alt.Scale(zero=False, nice=True),
    )
    chart = (
        alt.Chart(alt.NamedData("table"))
        .mark_line(interpolate="step-after")
        .encode(
            x=x,
            y=alt.Y("share:Q", title=f"Share of {observations.entity}s", axis=alt.Axis(format="%")),
            order=alt.Order("share:Q"),
            color=group_colour("group", groups, by),
            tooltip=[
                alt.Tooltip("group:N", title=by),
                alt.Tooltip(field=shown.column, type="quantitative", title=shown.axis, format=".4~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    runs = frame.select("cell", "repeat").n_unique()
    caption = (
        f"{shown.title} of {frame.height:,} {observations.entity}s in {runs} {'run' if runs == 1 else 'runs'}, "
        f"repeats pooled.{selection}"
        + (f" Each curve is thinned to {MOST_POINTS} quantiles." if is_thinned else "")
        + pooled(folder, by)
        + observations.remark
    )
    title = ask.title or f"{shown.title}: distribution over {observations.entity}s"
    tables = {"table": table}
    return Figure(slug("ecdf", ask.y, ask.by), title, caption, finish(chart, tables), tables)


def staircase(ordered: pl.Series, most: int) -> pl.DataFrame:
    """Steps of the ECDF of sorted values (columns value, share), from share 0; at most about `most` of them.

    >>> staircase(pl.Series([1.0, 2.0]), 10).rows()
    [(1.0, 0.0), (1.0, 0.5), (2.0, 1.0)]
    """
    n = ordered.len()
    ranks = list(range(1, n + 1)) if n <= most else sorted({round(1 + i * (n - 1) / (most - 1)) for i in range(most)})
    first = float(ordered[0])
    return pl.DataFrame(
        {
            "value": [first, *(float(ordered[rank - 1]) for rank in ranks)],
            "share": [0.0, *(rank / n for rank in ranks)],
        }
    )


def group_colour(field: str, groups: list[str], title: str | None = None, symbol: str = "stroke") -> "alt.Color":
    """Colour by group in the given order, the key `title` above the legend; one group needs no legend."""
    import altair as alt

    # As many columns as the drawing is wide: a legend that is cut would hide a cell.
    room = 7 * max(map(len, groups)) + 40
    legend = alt.Legend(
        title=None if title in (None, "cell") else title,
        symbolType=symbol,
        columns=alt.ExprRef(f"max(1, floor(width / {room}))"),
    )
    scale = alt.Scale(domain=groups)
    return alt.Color(field=field, type="nominal", scale=scale, legend=None if len(groups) == 1 else legend)
