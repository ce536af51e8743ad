"""Time series by end: what each sender, receiver or workload had over time, a curve each, a panel per cell.

The sum over the flows of a host is what a person reads beside its link: four flows into one receiver are one curve.
"""

from typing import Any

import polars as pl

from weft.errors import ResultsError
from weft.report.figure.drawing import MOST_COLOURS, Figure, drawn_cells, finish, slug, titled
from weft.report.figure.kind import Ask
from weft.report.figure.series import MOST_POINTS, SAMPLED, binned, sampled_cells, samples_of, scaled
from weft.report.folder import Folder

ENDS = {"src": "sender", "dst": "receiver", "workload": "workload"}
"""What `by` may be in a figure of samples, and how it is called."""

MOST_SMALL = 24
"""Panels, each of few curves."""

HEIGHT = 150


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw the samples of `y` summed over the flows of each sender, receiver or workload."""
    import altair as alt

    assert ask.y is not None and ask.by is not None
    y, by = ask.y, ask.by
    cells, selection = drawn_cells(folder, MOST_SMALL)
    cells, unsampled = sampled_cells(cells, y)
    parts, is_thinned, names = [], False, dict[str, None]()
    for cell in cells:
        flows = cell.done[0].tables["flows"].select(pl.col("flow").cast(pl.String), pl.col(by).cast(pl.String))
        samples = samples_of(cell.done[0], y).join(flows, left_on="entity", right_on="flow")
        totals = samples.group_by("time_ns", by).agg(pl.col("value").sum()).sort("time_ns")
        for name in flows[by].unique(maintain_order=True).to_list():
            of_one = totals.filter(pl.col(by) == name).select("time_ns", "value")
            if of_one.is_empty():
                continue
            names[name] = None
            thin, thinned = binned(of_one, pl.col("value").mean(), MOST_POINTS if len(cells) <= 4 else MOST_POINTS // 2)
            is_thinned |= thinned
            parts.append(thin.with_columns(pl.lit(cell.label).alias("cell"), pl.lit(name).alias("name")))
    if len(names) > MOST_COLOURS:
        raise ResultsError(f"series by {by}: {len(names)} curves are too many; at most {MOST_COLOURS} are drawn")
    table, time, shown = scaled(pl.concat(parts), SAMPLED[y].name)
    colour = alt.Color(
        "name:N",
        scale=alt.Scale(domain=sorted(names)),
        legend=alt.Legend(title=ENDS[by], symbolType="stroke", orient="top", direction="horizontal"),
    )
    # Curves often lie on each other, where hosts share evenly: the later ones are thinner, so that all can be seen.
    widths = [round(3.2 - 2.1 * place / max(1, len(names) - 1), 2) for place in range(len(names))]
    width = alt.StrokeWidth("name:N", scale=alt.Scale(domain=sorted(names), range=widths), legend=None)
    panels: list[Any] = []
    for cell in cells:
        base = alt.Chart(alt.NamedData("table")).transform_filter(alt.datum.cell == cell.label)
        lines = base.mark_line().encode(
            x=alt.X(field=time.column, type="quantitative", title=time.axis, scale=alt.Scale(nice=False)),
            y=alt.Y(field=shown.column, type="quantitative", title=shown.axis),
            color=colour,
            strokeWidth=width,
            tooltip=[
                "name:N",
                alt.Tooltip(field=time.column, type="quantitative", title=time.axis, format=".4~g"),
                alt.Tooltip(field=shown.column, type="quantitative", title=shown.axis, format=".4~g"),
            ],
        )
        panels.append(titled(lines.properties(height=HEIGHT), cell, cells))
    chart = (
        alt.concat(*panels, columns=1)
        .resolve_scale(color="shared", x="shared", y="shared")
        .add_params(alt.param("panel", value=300))
    )
    caption = f"Sum over the flows of each {ENDS[by]}, in the first repeat of each cell.{selection}{unsampled}"
    caption += " Thinned to equal steps of time, the mean of each." if is_thinned else ""
    drawn = {"table": table}
    spec = finish(chart, drawn, panel=300, margin=70, has_edges=True)
    title = ask.title or f"{shown.title} by {ENDS[by]}"
    return Figure(slug("series", y, by), title, caption, spec, drawn)
