"""Box plot: median, quartiles, whiskers to the last value within 1.5 times the interquartile range, and what is beyond.

Source: Tukey, "Exploratory data analysis", 1977. The five numbers are computed here, so that the page does not carry
every flow; outliers above `MOST_OUTLIERS` per box are thinned.
"""

from typing import Any

import polars as pl

from weft.report.figure.bar import FLAT, least_width, offset, place_axis
from weft.report.figure.drawing import Figure, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.facet import facets, next_axis
from weft.report.figure.kind import Ask
from weft.report.figure.mean import over_keys
from weft.report.figure.observation import each_value, grouped, in_order, numbered, pooled, thinned
from weft.report.folder import Folder
from weft.report.quantity import LOG_FROM, quantity

MOST_OUTLIERS = 60
MOST_POINTS = 6000
"""Outliers of all boxes together."""
MOST_BOXES = 60
"""Places on the axis; more than these cannot be told apart."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw boxes of `y` over flows: one per value of `x`, beside each other per `by`, a chart per `facet`.

    Without `x` there is a box per cell, or with a facet per value of the first other axis.
    """
    import altair as alt

    assert ask.y is not None
    x = ask.x or (next_axis(folder, (ask.by, ask.facet)) if ask.facet else None) or "cell"
    by = ask.by if ask.by != x else None
    cells = grouped(folder, [ask.facet, x, by])
    small = facets(folder, ask.facet, cells)
    places, selection = thinned(in_order(folder, x, (words[1] for words in cells)), MOST_BOXES, f"values of {x}")
    cells = {words: alike for words, alike in cells.items() if words[0] in small.words and words[1] in places}
    groups = in_order(folder, by, (words[2] for words in cells))
    values = each_value(cells, ask.y, folder)
    shown = quantity(values.name, values.magnitude)
    boxes, outliers, is_thinned = [], [], False
    found = values.groups()
    most = max(4, min(MOST_OUTLIERS, MOST_POINTS // len(found)))
    for words, runs in found.items():
        five, beyond = five_numbers(pl.concat([series for *_, series in runs]) * shown.factor)
        is_thinned |= len(beyond) > most
        beyond = beyond[:: -(-len(beyond) // most)] if beyond else []
        count = sum(series.len() for *_, series in runs)
        boxes.append((*words, *five, count, len(runs), numbered(cell for cell, *_ in runs)))
        outliers += [(*words, value) for value in beyond]
    names = ["low", "q1", "median", "q3", "high", "n"]
    keys = {"facet": pl.String, "place": pl.String, "group": pl.String}
    unused = [name for name, key in (("facet", ask.facet), ("group", by)) if key is None]
    schema = [*keys, *names, "runs", "cells"]
    table = pl.DataFrame(boxes, schema=schema, orient="row").drop(unused)
    beyond_table = pl.DataFrame(outliers, schema={**keys, shown.column: pl.Float64}, orient="row").drop(unused)
    colour = group_colour("group", groups, by, "square") if by else alt.value(FLAT)
    tooltip: list[Any] = [
        alt.Tooltip("place:N", title=x),
        *([alt.Tooltip("group:N", title=by)] if by else []),
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in names),
        "cells:N",
    ]
    # With an offset Vega-Lite centres a bar only at its own width.
    size: Any = {} if by else {"width": {"band": 0.32 if len(places) <= 14 else 0.6}}

    is_log = values.smallest > 0 and values.largest / values.smallest > LOG_FROM
    scale = alt.Scale(type="log", nice=False, padding=8) if is_log else alt.Scale(zero=False)
    title = shown.axis + (", logarithmic" if is_log else "")

    def chart(of: Any) -> Any:
        base = of("boxes").encode(x=place_axis(x, places), color=colour)
        y = alt.Y("low:Q", title=title, scale=scale)
        whisker = base.mark_rule(strokeWidth=1.2).encode(y=y, y2="high:Q")
        box = base.mark_bar(**size, fillOpacity=0.4, filled=True).encode(
            y=alt.Y("q1:Q", title=title, scale=scale), y2="q3:Q", tooltip=tooltip
        )
        middle = base.mark_tick(thickness=2.5, **size).encode(
            y=alt.Y("median:Q", title=title, scale=scale), tooltip=tooltip
        )
        points = (
            of("outliers")
            .mark_point(size=22, filled=True, opacity=0.55)
            .encode(
                x=place_axis(x, places),
                y=alt.Y(field=shown.column, type="quantitative", title=title, scale=scale),
                color=colour,
            )
        )
        layers = [whisker, box, middle, points]
        return alt.layer(*(layer.encode(xOffset=offset(groups)) for layer in layers) if by else layers)

    caption = (
        f"{shown.title} of {values.count:,} {values.entity}s in {len(values.parts):,} runs, repeats pooled: median, "
        "quartiles, whiskers to the last value within 1.5 interquartile ranges."
        + (f" Beyond them at most {most} points per box are drawn." if is_thinned else "")
        + selection
        + pooled(folder, cells, x, by, ask.facet)
        + small.remark
        + values.remark
    )
    tables = {"boxes": table, "outliers": beyond_table}
    spec = small.finish(small.chart(chart), tables, least=least_width(places, groups))
    return Figure(
        slug("box", ask.y, ask.x, ask.by, ask.facet),
        ask.title or f"{shown.title} {over_keys('by', x, by, ask.facet)}",
        caption,
        spec,
        tables,
    )


def five_numbers(values: pl.Series) -> tuple[tuple[float, float, float, float, float], list[float]]:
    """Whisker, quartile, median, quartile, whisker; and the values beyond the whiskers in order.

    >>> five_numbers(pl.Series([1.0, 2.0, 3.0, 4.0, 100.0]))
    ((1.0, 2.0, 3.0, 4.0, 4.0), [100.0])
    """
    low, median, high = (_quantile(values, share) for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (high - low)
    is_inside = values.is_between(low - reach, high + reach)
    inside = values.filter(is_inside)
    beyond: list[float] = values.filter(~is_inside).sort().to_list()
    return (_real(inside.min()), low, median, high, _real(inside.max())), beyond


def _quantile(values: pl.Series, share: float) -> float:
    # Linear between order statistics: type 7, as statistics/quantile.py, but for tens of millions of values.
    return _real(values.quantile(share, "linear"))


def _real(value: object) -> float:
    assert isinstance(value, int | float), value
    return float(value)
