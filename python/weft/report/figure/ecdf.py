"""ECDF: the share of flows with at most a value.

The flows of all repeats of a cell are pooled. Above `MOST_POINTS` values a curve is drawn through its quantiles.
"""

from typing import TYPE_CHECKING, Any

import polars as pl

from weft.report.figure.curve import curves_of
from weft.report.figure.drawing import Figure, slug
from weft.report.figure.kind import Ask
from weft.report.folder import Folder
from weft.report.quantity import LOG_FROM, quantity

if TYPE_CHECKING:
    import altair as alt

MOST_POINTS = 250


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw the distribution of `y`, a curve per `by`, a chart per `facet`.

    Without `by` there is a curve per cell, or with a facet per value of the first other axis.
    """
    import altair as alt

    assert ask.y is not None
    found = curves_of(folder, ask)
    values, groups, by = found.values, found.groups, found.by
    shown = quantity(values.name, values.largest)
    parts, is_thinned = [], False
    for (panel, group), runs in values.groups().items():
        ordered = pl.concat([series for *_, series in runs]).sort()
        is_thinned |= ordered.len() > MOST_POINTS
        parts.append(
            staircase(ordered, MOST_POINTS).select(
                pl.lit(panel).alias("facet"),
                pl.lit(group).alias("group"),
                (pl.col("value") * shown.factor).alias(shown.column),
                "share",
            )
        )
    table = pl.concat(parts).drop([] if ask.facet else ["facet"])
    is_log = values.smallest > 0 and values.largest / values.smallest > LOG_FROM
    x = alt.X(
        field=shown.column,
        type="quantitative",
        title=shown.axis + (", logarithmic" if is_log else ""),
        scale=alt.Scale(type="log", nice=False, padding=8) if is_log else alt.Scale(zero=False, nice=True),
    )

    def chart(of: Any) -> Any:
        return (
            of("table")
            .mark_line(interpolate="step-after")
            .encode(
                x=x,
                y=alt.Y("share:Q", title=f"Share of {values.entity}s", axis=alt.Axis(format="%")),
                order=alt.Order("share:Q"),
                color=group_colour("group", groups, by),
                tooltip=[
                    alt.Tooltip("group:N", title=by),
                    alt.Tooltip(field=shown.column, type="quantitative", title=shown.axis, format=".4~g"),
                    alt.Tooltip("share:Q", format=".1%"),
                ],
            )
        )

    count = len(values.parts)
    caption = (
        f"{shown.title} of {values.count:,} {values.entity}s in {count:,} {'run' if count == 1 else 'runs'}, "
        "repeats pooled." + (f" Each curve is thinned to {MOST_POINTS} quantiles." if is_thinned else "") + found.remark
    )
    title = ask.title or f"{shown.title}: distribution over {values.entity}s"
    tables = {"table": table}
    spec = found.facets.finish(found.facets.chart(chart), tables)
    return Figure(slug("ecdf", ask.y, ask.by, ask.facet), title, caption, spec, tables)


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
        columns=alt.ExprRef(f"max(1, floor(page / {room}))"),
    )
    scale = alt.Scale(domain=groups)
    return alt.Color(field=field, type="nominal", scale=scale, legend=None if len(groups) == 1 else legend)
