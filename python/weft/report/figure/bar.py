"""Bars: a run's number averaged over repeats, with its 95 % t interval."""

from typing import Any

import polars as pl

from weft.published.marks import REMARK, layer, marks
from weft.report.figure.drawing import Figure, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.facet import next_axis
from weft.report.figure.kind import Ask
from weft.report.figure.mean import axis_title, limits, means, over_keys, over_repeats, words
from weft.report.folder import Folder
from weft.report.quantity import common_unit

FLAT = "#5b8db8"
"""The colour of bars and boxes that are all of one kind; readable on light and dark."""
MOST_PLACES = 100
"""Bars, or groups of them, on an axis; more of them are hairs."""
MOST_LABELS = 14
"""Words on an axis of bars above which they stand upright."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw a bar of `y` per value of `x`, beside each other and coloured per `by`, a chart per `facet`.

    Without `x` there is a bar per cell, or with a facet per value of the first other axis.
    """
    import altair as alt

    assert ask.y is not None
    x = ask.x or (next_axis(folder, (ask.by, ask.facet)) if ask.facet else None) or "cell"
    found = means(folder, ask.y, x, ask.by if ask.by != x else None, ask.facet, MOST_PLACES)
    table, shown, one = found.table, found.shown, found.is_single
    has_groups = "group" in table.columns
    colour = group_colour("group", found.groups, ask.by, "square") if has_groups else alt.value(FLAT)
    # With an offset Vega-Lite centres a bar only at its own width.
    size: Any = {} if has_groups else {"width": {"band": 0.42 if len(found.places) <= MOST_LABELS else 0.8}}
    said = marks(folder, ask.y, (ask.facet, x, ask.by if ask.by != x else None), shown.factor)
    said = said.filter(pl.col("place").is_in(found.places))
    ends, cut = limits(table, shown.column, "low", "high")
    ends[1] = max(ends[1], *said["published"].to_list(), 0.0)
    scale = alt.Scale(domain=ends, nice=True)
    tooltip: list[Any] = [
        alt.Tooltip("place:N", title=x),
        *([alt.Tooltip("group:N", title=ask.by)] if has_groups else []),
        alt.Tooltip(field=shown.column, type="quantitative", format=".4~g"),
        *([] if one else [alt.Tooltip("low:Q", format=".4~g"), alt.Tooltip("high:Q", format=".4~g")]),
        "runs:Q",
        "cells:N",
    ]

    def chart(of: Any) -> Any:
        base = of("table").encode(x=place_axis(x, found.places))
        bars = base.mark_bar(opacity=0.75, **size).encode(
            y=alt.Y(field=shown.column, type="quantitative", title=axis_title(ask.y or "", shown), scale=scale),
            color=colour,
            tooltip=tooltip,
        )
        whiskers = (
            base.mark_rule(strokeWidth=1.6 if len(found.places) <= 40 else 0.8, clip=True)
            .encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
            .transform_filter("datum.low != null")
        )
        if has_groups:
            bars, whiskers = (layer.encode(xOffset=offset(found.groups)) for layer in (bars, whiskers))
        layers = [bars] if one else [bars, whiskers]
        if said.height:
            diamonds = layer(of("published").encode(x=place_axis(x, found.places)), alt.Y("published:Q", scale=scale))
            layers.append(diamonds.encode(xOffset=offset(found.groups)) if has_groups else diamonds)
        return alt.layer(*layers) if len(layers) > 1 else bars

    caption = f"{words(ask.y, shown)} of a run, {over_repeats(one)}{cut}{found.remark}"
    title = ask.title or f"{words(ask.y, shown)} {over_keys('by', x, ask.by, ask.facet)}"
    tables: dict[str, pl.DataFrame] = {"table": table} | ({"published": said} if said.height else {})
    caption += REMARK * bool(said.height)
    spec = found.facets.finish(found.facets.chart(chart), tables, least=least_width(found.places, found.groups))
    return Figure(slug("bar", ask.y, ask.x, ask.by, ask.facet), title, caption, spec, tables)


def place_axis(x: str, places: list[str]) -> Any:
    """The horizontal axis of bars and boxes: words in the plan's order, upright where they are many or long."""
    import altair as alt

    unit = common_unit(places)
    letters = sum(len(place) - len(unit) + 2 for place in places)
    is_upright = len(places) > MOST_LABELS or letters > 110
    angle = -40 if is_upright else 0
    said: dict[str, Any] = {"labelExpr": "split(datum.label, ' ')[0]"} if unit else {}
    axis = alt.Axis(labelAngle=angle, **said, labelLimit=220, labelOverlap="greedy" if is_upright else "parity")
    title = None if x == "cell" else f"{x} ({unit})" if unit else x
    return alt.X("place:N", title=title, sort=places, scale=alt.Scale(domain=places), axis=axis)


def least_width(places: list[str], groups: list[str]) -> int:
    """Pixels that bars or boxes and the words beneath them need."""
    unit = common_unit(places)
    letters = sum(len(place) - len(unit) + 2 for place in places)
    return max(15 * len(places) * max(1, len(groups)), 7 * letters if len(places) <= MOST_LABELS else 0)


def offset(groups: list[str]) -> Any:
    """Bars and boxes of the groups of a place beside each other."""
    import altair as alt

    return alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.2, domain=groups))
