"""Line: a run's number over a swept number, mean over repeats with its 95 % t band.

The axis is logarithmic where the swept values are spaced by ratio. Words on it are joined in the plan's order.
"""

import json
from typing import Any

import polars as pl

from weft.errors import ResultsError
from weft.published.marks import REMARK, layer, marks
from weft.report.figure.drawing import MOST_COLOURS, Figure, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.kind import Ask
from weft.report.figure.mean import axis_title, limits, means, over_keys, over_repeats, words
from weft.report.folder import Folder
from weft.report.quantity import common_unit, is_geometric, quantity, swept_numbers

MOST_TICKS = 12
"""Swept values that are written at the axis as the file has them."""
MOST_BANDS = 5
"""Lines of a chart above which bands hide each other, and every point has a bar in place of them."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw `y` over the swept key `x`, a line per `by`, a chart per `facet`."""
    import altair as alt

    assert ask.y is not None and ask.x is not None
    found = means(folder, ask.y, ask.x, ask.by, ask.facet)
    table, shown, groups, one = found.table, found.shown, found.groups, found.is_single
    if len(groups) > MOST_COLOURS:
        raise ResultsError(f"line: {len(groups)} values of {ask.by} are too many lines; use a heat map")
    said = marks(folder, ask.y, (ask.facet, ask.x, ask.by), shown.factor)
    said, _ = _axis(said, found.places, ask.x)
    table, x = _axis(table, found.places, ask.x)
    ends, cut = limits(table, shown.column, "low", "high")
    ends[1] = max(ends[1], *said["published"].to_list(), 0.0)
    scale = alt.Scale(domain=ends, nice=True)
    title = axis_title(ask.y, shown)
    colour = {"color": group_colour("group", groups, ask.by)} if ask.by else {}
    tooltip: list[Any] = [
        alt.Tooltip("word:N", title=ask.x),
        *([alt.Tooltip("group:N", title=ask.by)] if ask.by else []),
        alt.Tooltip(field=shown.column, type="quantitative", format=".4~g"),
        *([] if one else [alt.Tooltip("low:Q", format=".4~g"), alt.Tooltip("high:Q", format=".4~g")]),
        "runs:Q",
        "cells:N",
    ]

    def chart(of: Any) -> Any:
        base = of("table").encode(x=x, **colour)
        line = base.mark_line(point=alt.OverlayMarkDef(size=34)).encode(
            y=alt.Y(field=shown.column, type="quantitative", title=title, scale=scale), tooltip=tooltip
        )
        layers = [line]
        if not one:
            low = alt.Y("low:Q", title=title, scale=scale)
            band = (
                base.mark_rule(opacity=0.5, clip=True)
                if len(groups) > MOST_BANDS
                else base.mark_area(opacity=0.16, clip=True)
            )
            layers.insert(0, band.encode(y=low, y2="high:Q"))
        if said.height:
            # Filled with the colour of its line: two lines have marks of their own at one place.
            layers.append(layer(of("published").encode(x=x, **colour), alt.Y("published:Q", scale=scale)))
        return alt.layer(*layers) if len(layers) > 1 else line

    caption = f"{words(ask.y, shown)} of a run, {over_repeats(one)}{cut}{found.remark}"
    tables: dict[str, pl.DataFrame] = {"table": table} | ({"published": said} if said.height else {})
    caption += REMARK * bool(said.height)
    return Figure(
        slug("line", ask.y, ask.x, ask.by, ask.facet),
        ask.title or f"{words(ask.y, shown)} {over_keys('over', ask.x, ask.by, ask.facet)}",
        caption,
        found.facets.finish(found.facets.chart(chart), tables),
        tables,
    )


def _axis(table: pl.DataFrame, places: list[str], key: str) -> tuple[pl.DataFrame, Any]:
    """The table with numbers in `place`, beside the words they were, and its axis."""
    import altair as alt

    numbers = swept_numbers(places)
    named = table.with_columns(pl.col("place").alias("word"))
    if numbers is None:
        axis = alt.Axis(labelAngle=0 if sum(map(len, places)) < 90 else -40, labelLimit=220)
        return named, alt.X("place:O", title=key, sort=places, axis=axis)
    values, unit = numbers
    is_log = is_geometric(values)
    shown = quantity(f"x_{unit}" if unit else "x", max(map(abs, values)))
    number = {word: value * shown.factor for word, value in zip(places, values, strict=True)}
    scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False, nice=False, padding=12)
    named = named.with_columns(pl.col("place").replace_strict(number, return_dtype=pl.Float64))
    if len(places) > MOST_TICKS:
        title = f"{key} ({shown.unit})" if unit else key
        return named, alt.X("place:Q", title=_log(title, is_log), scale=scale)
    # Each value is written as the file has it: 64 KiB, not 65.5 kB.
    written = common_unit(places)
    title = f"{key} ({written})" if written else key
    said = json.dumps(
        [word.removesuffix(f" {written}") for _, word in sorted((value, word) for word, value in number.items())]
    )
    ticks = sorted(number.values())
    label = f"{said}[round(datum.index * {max(1, len(ticks) - 1)})]"
    axis = alt.Axis(values=ticks, labelExpr=label, labelOverlap="greedy", labelSeparation=10, labelFlush=True)
    return named, alt.X("place:Q", title=_log(title, is_log), scale=scale, axis=axis)


def _log(title: str, is_log: bool) -> str:
    return f"{title}, logarithmic" if is_log else title
