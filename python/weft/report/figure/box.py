"""Box plot: median, quartiles, whiskers to the last value within 1.5 times the interquartile range, and what is beyond.

Source: Tukey, "Exploratory data analysis", 1977. The five numbers are computed here, so that the page does not carry
every flow; outliers above `MOST_OUTLIERS` per box are thinned.
"""

from typing import Any

import polars as pl

from weft.report.figure.drawing import Figure, finish, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.kind import Ask
from weft.report.figure.observation import each_value, labelled, pooled
from weft.report.folder import Folder
from weft.report.quantity import quantity
from weft.statistics.quantile import quantile

MOST_OUTLIERS = 60


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw boxes of `y` over flows: one per value of `x` (the cell), beside each other and coloured per `by`."""
    import altair as alt

    assert ask.y is not None
    x = ask.x or "cell"
    by = ask.by or x
    cells = [cell for cell in folder.cells if cell.done]
    observations = each_value(cells, ask.y)
    frame = labelled(folder, observations, cells, [x, by])
    largest = observations.frame["value"].abs().max()
    assert isinstance(largest, float)
    shown = quantity(observations.name, largest)
    boxes, outliers, is_thinned = [], [], False
    placed = frame.select(pl.col(f"key/{x}").alias("place"), pl.col(f"key/{by}").alias("group"), "value")
    for (place, group), part in placed.group_by(["place", "group"], maintain_order=True):
        five, beyond = five_numbers([value * shown.factor for value in part["value"].to_list()])
        is_thinned |= len(beyond) > MOST_OUTLIERS
        beyond = beyond[:: -(-len(beyond) // MOST_OUTLIERS)] if beyond else []
        boxes.append((place, group, *five, part.height))
        outliers += [(place, group, value) for value in beyond]
    names = ["place", "group", "low", "q1", "median", "q3", "high", "n"]
    table = pl.DataFrame(boxes, schema=names, orient="row")
    beyond_table = pl.DataFrame(
        outliers, schema={"place": pl.String, "group": pl.String, shown.column: pl.Float64}, orient="row"
    )
    groups = table["group"].unique(maintain_order=True).to_list()
    places = table["place"].unique(maintain_order=True).to_list()
    axis = alt.X("place:N", title=None if x == "cell" else x, sort=places, axis=alt.Axis(labelAngle=0))
    colour = group_colour("group", groups, by, "square") if by != x else alt.value("#5b8db8")
    base = alt.Chart(alt.NamedData("boxes")).encode(x=axis, color=colour)
    y = alt.Y("low:Q", title=shown.axis, scale=alt.Scale(zero=False))
    tooltip = ["place:N", "group:N", *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in names[2:])]
    # With an offset Vega-Lite centres a bar only at its own width.
    size: Any = {"width": {"band": 0.32}} if by == x else {}
    whisker = base.mark_rule(strokeWidth=1.2).encode(y=y, y2="high:Q")
    box = base.mark_bar(**size, fillOpacity=0.4, filled=True).encode(
        y=alt.Y("q1:Q", title=shown.axis), y2="q3:Q", tooltip=tooltip
    )
    middle = base.mark_tick(thickness=2.5, **size).encode(y="median:Q", tooltip=tooltip)
    points = (
        alt.Chart(alt.NamedData("outliers"))
        .mark_point(size=22, filled=True, opacity=0.55)
        .encode(x=axis, y=alt.Y(field=shown.column, type="quantitative", title=shown.axis), color=colour)
    )
    if by != x:
        whisker = whisker.encode(xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.2)))
        box = box.encode(xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.2)))
        middle = middle.encode(xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.2)))
        points = points.encode(xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.2)))
    runs = frame.select("cell", "repeat").n_unique()
    caption = (
        f"{shown.title} of {frame.height:,} {observations.entity}s in {runs} runs, repeats pooled: median, quartiles, "
        "whiskers to the last value within 1.5 interquartile ranges."
        + (f" Beyond them at most {MOST_OUTLIERS} points per box are drawn." if is_thinned else "")
        + pooled(folder, x, by)
        + observations.remark
    )
    title = ask.title or f"{shown.title} by {x}" + (f" and {by}" if by != x else "")
    tables = {"boxes": table, "outliers": beyond_table}
    spec = finish(alt.layer(whisker, box, middle, points), tables)
    return Figure(slug("box", ask.y, ask.x, ask.by), title, caption, spec, tables)


def five_numbers(values: list[float]) -> tuple[tuple[float, float, float, float, float], list[float]]:
    """Whisker, quartile, median, quartile, whisker; and the values beyond the whiskers in order.

    >>> five_numbers([1.0, 2.0, 3.0, 4.0, 100.0])
    ((1.0, 2.0, 3.0, 4.0, 4.0), [100.0])
    """
    low, median, high = (quantile(values, share) for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (high - low)
    inside = [value for value in values if low - reach <= value <= high + reach]
    beyond = sorted(value for value in values if not low - reach <= value <= high + reach)
    return (min(inside), low, median, high, max(inside)), beyond
