"""Bars: a run's number averaged over repeats, with its 95 % t interval."""

from typing import Any

import polars as pl

from weft.report.figure.drawing import Figure, finish, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.kind import Ask
from weft.report.figure.mean import means, words
from weft.report.figure.observation import pooled
from weft.report.folder import Folder


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw a bar of `y` per value of `x` (the cell), beside each other and coloured per `by`."""
    import altair as alt

    assert ask.y is not None
    x = ask.x or "cell"
    by = ask.by or x
    cells = [cell for cell in folder.cells if cell.done]
    table, shown, observations = means(folder, cells, ask.y, x, by)
    places = table["place"].unique(maintain_order=True).to_list()
    groups = table["group"].unique(maintain_order=True).to_list()
    base = alt.Chart(alt.NamedData("table")).encode(
        x=alt.X("place:N", title=None if x == "cell" else x, sort=places, axis=alt.Axis(labelAngle=0))
    )
    colour = group_colour("group", groups, by, "square") if by != x else alt.value("#5b8db8")
    # With an offset Vega-Lite centres a bar only at its own width.
    size: Any = {"width": {"band": 0.42}} if by == x else {}
    bars = base.mark_bar(opacity=0.75, **size).encode(
        y=alt.Y(field=shown.column, type="quantitative", title=f"{words(ask.y, shown)}" + _unit(shown.unit)),
        color=colour,
        tooltip=[
            "place:N",
            "group:N",
            alt.Tooltip(field=shown.column, type="quantitative", format=".4~g"),
            alt.Tooltip("low:Q", format=".4~g"),
            alt.Tooltip("high:Q", format=".4~g"),
            "runs:Q",
        ],
    )
    whiskers = (
        base.mark_rule(strokeWidth=1.6).encode(y=alt.Y("low:Q"), y2="high:Q").transform_filter("datum.low != null")
    )
    if by != x:
        bars = bars.encode(xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.2)))
        whiskers = whiskers.encode(xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.2)))
    one = table["runs"].max() == 1
    caption = (
        f"{words(ask.y, shown)} of a run, "
        + ("one repeat, so no interval." if one else "mean over repeats with 95 % t interval.")
        + pooled(folder, x, by)
        + observations.remark
    )
    title = ask.title or f"{words(ask.y, shown)} by {x}" + (f" and {by}" if by != x else "")
    tables: dict[str, pl.DataFrame] = {"table": table}
    return Figure(
        slug("bar", ask.y, ask.x, ask.by),
        title,
        caption,
        finish(bars if one else alt.layer(bars, whiskers), tables),
        tables,
    )


def _unit(unit: str) -> str:
    return f" ({unit})" if unit else ""
