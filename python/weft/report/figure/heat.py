"""Heat map: a run's number over two swept keys, mean over repeats."""

from typing import Any

import polars as pl

from weft.report.figure.drawing import Figure, slug
from weft.report.figure.kind import Ask
from weft.report.figure.mean import axis_title, means, words
from weft.report.folder import Folder
from weft.report.quantity import common_unit

STEP, LEAST_STEP = 30, 12
"""Pixels of a row, where rows are few and where they are many."""
MOST_HEIGHT = 560


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw `y` as colour over the swept keys `x` and `by`, a chart per `facet`."""
    import altair as alt

    assert ask.x is not None and ask.y is not None and ask.by is not None
    found = means(folder, ask.y, ask.x, ask.by, ask.facet)
    shown, columns, rows = found.shown, found.places, found.groups
    table = found.table.rename({"place": "x", "group": "y"})
    title = axis_title(ask.y, shown)
    unit, row_unit = common_unit(columns), common_unit(rows)
    letters = (max(map(len, columns)) - len(unit)) * len(columns)
    angle = 0 if letters < (90 if ask.facet is None else 30) else -40
    colour = alt.Color(
        field=shown.column,
        type="quantitative",
        title=title,
        scale=alt.Scale(interpolate="lab", zero=False),
        legend=alt.Legend(gradientLength=240, gradientThickness=10, direction="horizontal", titleLimit=320),
    )

    def chart(of: Any) -> Any:
        step = max(LEAST_STEP, min(STEP, MOST_HEIGHT // len(rows)))
        drawn = of("table").mark_rect().properties(height=alt.Step(step))
        return drawn.encode(
            x=alt.X(
                "x:O",
                title=_with(ask.x, unit),
                sort=columns,
                scale=alt.Scale(domain=columns),
                axis=alt.Axis(labelAngle=angle, **_short(unit), labelOverlap="greedy", labelLimit=160),
            ),
            y=alt.Y(
                "y:O",
                title=_with(ask.by, row_unit),
                sort=rows,
                scale=alt.Scale(domain=rows),
                axis=alt.Axis(labelLimit=140, labelOverlap="greedy", **_short(row_unit)),
            ),
            color=colour,
            tooltip=[
                alt.Tooltip("x:O", title=ask.x),
                alt.Tooltip("y:O", title=ask.by),
                alt.Tooltip(field=shown.column, type="quantitative", title=title, format=".4~g"),
                "runs:Q",
                "cells:N",
            ],
        )

    absent = len(columns) * len(rows) * len(found.facets.words) - table.height
    caption = f"{words(ask.y, shown)} of a run, mean over repeats.{' Blank: no such cell, or no value.' * (absent > 0)}"
    tables: dict[str, pl.DataFrame] = {"table": table}
    keys = f"{ask.x} and {ask.by}" + (f", for each {ask.facet}" if ask.facet else "")
    # Labels of rows are as wide as their text, and the title stands beside them.
    margin = min(140, 7 * (max(map(len, rows)) - len(row_unit))) + 45
    return Figure(
        slug("heat", ask.y, ask.x, ask.by, ask.facet),
        ask.title or f"{words(ask.y, shown)} over {keys}",
        caption + found.remark,
        found.facets.finish(found.facets.chart(chart), tables, least=16 * len(columns), margin=margin),
        tables,
    )


def _with(key: str | None, unit: str) -> str:
    return f"{key} ({unit})" if unit else str(key)


def _short(unit: str) -> dict[str, Any]:
    """Labels without the unit that stands in the title."""
    return {"labelExpr": "split(datum.label, ' ')[0]"} if unit else {}
