"""The drawn fabric: utilization of every link as its colour, one panel per cell.

A panel shows one run, the first repeat of its cell: averaged over seeds, the collisions would vanish. Above
`fabric.MOST_LINKS` links the cables of a layer are not drawn but ordered by utilization, a strip per layer and
direction.
"""

from itertools import pairwise
from typing import Any

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import columns, known
from weft.report.fabric import MOST_LINKS, Layout, cables, layer_name, layout
from weft.report.figure.drawing import MOST_PANELS, Figure, drawn_cells, finish, titled
from weft.report.figure.kind import Ask
from weft.report.folder import Cell, Folder

STRIP_POINTS = 120
PER_CENT = [0, 0.25, 0.5, 0.75, 1]
WIDTH = 900.0
"""Pixels for which the distance between the two directions of a cable is computed."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw utilization over the fabric."""
    cells, selection = drawn_cells(folder, MOST_PANELS)
    links = max(known(cell.done[0].tables, "links", "src").height for cell in cells)
    title = ask.title or "Link utilization over the fabric"
    if links > MOST_LINKS:
        return _strips(folder, cells, selection, title)
    return _drawn(cells, selection, title)


def _drawn(cells: list[Cell], selection: str, title: str) -> Figure:
    import altair as alt

    lines, points, plans = [], [], []
    for cell in cells:
        tables = cell.done[0].tables
        nodes = columns(tables, "nodes", "node", "kind", "level")
        links = known(tables, "links", "link", "src", "dst", "utilization")
        plan = layout(nodes, links)
        plans.append(plan)
        gap = (2.4 if links.height <= 200 else 1.0) * (1 if len(cells) <= 3 else 1.6)
        mark = pl.lit(cell.label).alias("cell")
        # The busiest on top.
        lines.append(cables(plan, links, WIDTH, gap).sort("utilization").with_columns(mark))
        points.append(plan.nodes.select("node", "kind", "level", "x", "y", "crowd").with_columns(mark))
    line_table = pl.concat(lines).select("cell", "link", "utilization", "x", "y", "x2", "y2")
    node_table = pl.concat(points).select("cell", "node", "kind", "level", "x", "y", "crowd")
    tables_drawn = {"links": line_table, "nodes": node_table}
    thick = (2.6 if line_table.height <= 200 * len(cells) else 1.2) * (1 if len(cells) <= 3 else 0.75)

    panel = alt.param("panel", value=WIDTH)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.005, 1.005], nice=False))
    heat = alt.Color(
        "utilization:Q",
        title="Utilization",
        scale=alt.Scale(domain=[0, 1], clamp=True, interpolate="lab"),
        legend=alt.Legend(
            format="%", gradientLength=240, gradientThickness=10, values=PER_CENT, direction="horizontal"
        ),
    )
    panels: list[Any] = []
    for cell, plan in zip(cells, plans, strict=True):
        here = alt.datum.cell == cell.label
        y = upward(plan)
        links_of = (
            alt.Chart(alt.NamedData("links"))
            .transform_filter(here)
            .mark_rule(strokeWidth=thick, strokeCap="round")
            .encode(
                x=x,
                y=y,
                x2="x2:Q",
                y2="y2:Q",
                color=heat,
                tooltip=["link:N", alt.Tooltip("utilization:Q", format=".1%")],
            )
        )
        nodes_of = alt.Chart(alt.NamedData("nodes")).transform_filter(here).encode(x=x, y=y, tooltip=["node:N"])
        layers = [links_of, *node_marks(nodes_of, plan.kind, max(len(name) for name in node_table["node"]))]
        panels.append(titled(alt.layer(*layers), cell, cells))
    chart = alt.concat(*panels, columns=1).resolve_scale(color="shared", y="independent").add_params(panel)
    repeat = "one run" if len(cells) == 1 else "one run of each cell"
    caption = (
        f"{line_table.height // len(cells)} directed links in {repeat} (repeat {cells[0].done[0].repeat}); "
        f"traffic keeps to the right of its cable.{selection}"
    )
    # All panels have one shape: where fabrics differ, that of the one that needs most height.
    aspect = max(plan.aspect for plan in plans)
    # Three panels fit one below the other with their names; more go side by side.
    spec = finish(chart, tables_drawn, panel=660 if len(cells) <= 3 else 430, margin=16, aspect=aspect)
    return Figure("fabric", title, caption, spec, tables_drawn)


def upward(plan: Layout) -> Any:
    """The vertical place of a node or an end of a link in a panel of its own, with room for names below and above."""
    import altair as alt

    low, high = (-0.1, 1.08) if plan.kind == "layered" else (0.0, 1.0)
    return alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[low, high], nice=False))


def node_marks(base: Any, kind: str, longest: int) -> list[Any]:
    """Boxes with names where a level has room for them, dots where not."""
    name_width = 6.2 * longest + 6
    switch, host = "datum.kind == 'switch'", "datum.kind == 'host'"
    roomy = f"panel / datum.crowd >= {name_width:.0f}"
    upright = f"panel / datum.crowd >= 11 && panel / datum.crowd < {name_width:.0f}"

    dotted: Any = {"fill": {"expr": "pencil"}, "stroke": {"expr": "paper"}, "strokeWidth": 1, "opacity": 1}
    outline: Any = {"fill": {"expr": "paper"}, "stroke": {"expr": "pencil"}, "strokeWidth": 1.2, "opacity": 1}
    wide = 3.1 * longest + 5
    box = f"M{-wide},-8L{wide},-8L{wide},8L{-wide},8Z"
    dot = base.transform_filter(switch).mark_point(shape="square", size=44, **outline)
    boxes = base.transform_filter(f"{switch} && {roomy}").mark_point(shape=box, size=4, **outline)
    names = base.transform_filter(f"{switch} && {roomy}").mark_text(style="name", baseline="middle")
    hosts = base.transform_filter(host).mark_point(shape="circle", size=26, **dotted)
    host_names = base.transform_filter(f"{host} && {roomy}").mark_text(style="name", baseline="top", dy=7)
    host_upright = base.transform_filter(f"{host} && {upright}").mark_text(
        style="name", angle=270, align="right", baseline="middle", dx=-7
    )
    if kind == "layered":
        host_text = [host_names, host_upright]
    else:  # outside the circle
        above = base.transform_filter(f"{host} && {roomy} && datum.y > 0.5")
        host_text = [
            host_names.transform_filter("datum.y <= 0.5"),
            above.mark_text(style="name", baseline="bottom", dy=-6),
        ]
    return [dot, hosts, boxes, *(layer.encode(text="node:N") for layer in [names, *host_text])]


def _strips(folder: Folder, cells: list[Cell], selection: str, title: str) -> Figure:
    import altair as alt

    topology = folder.experiment.get("topology", {})
    kind = str(topology.get("kind", "")) if isinstance(topology, dict) else ""
    parts = []
    for cell in cells:
        tables = cell.done[0].tables
        parts.append(
            layer_strips(
                columns(tables, "nodes", "node", "level"), known(tables, "links", "src", "dst", "utilization"), kind
            ).with_columns(pl.lit(cell.label).alias("cell"))
        )
    table = pl.concat(parts)
    rows = table["layer"].unique(maintain_order=True).to_list()
    panels: list[Any] = []
    for cell in cells:
        strips = (
            alt.Chart(alt.NamedData("strips"))
            .transform_filter(alt.datum.cell == cell.label)
            # A step reaches under the next one, or the page shines through between them.
            .transform_calculate(beyond="min(1, datum.to + 0.004)")
            .mark_rect()
            .encode(
                x=alt.X("from:Q", title="Links of the layer, busiest first", axis=alt.Axis(format="%", grid=False)),
                x2="beyond:Q",
                y=alt.Y("layer:N", sort=rows, title=None, axis=alt.Axis(labelLimit=220)),
                color=alt.Color(
                    "utilization:Q",
                    title="Utilization",
                    scale=alt.Scale(domain=[0, 1], clamp=True, interpolate="lab"),
                    legend=alt.Legend(
                        format="%", gradientLength=240, gradientThickness=10, values=PER_CENT, direction="horizontal"
                    ),
                ),
                tooltip=["layer:N", "links:Q", alt.Tooltip("utilization:Q", format=".1%")],
            )
            .properties(height=30 * len(rows))
        )
        panels.append(titled(strips, cell, cells))
    chart = alt.concat(*panels, columns=1).resolve_scale(color="shared")
    drawn = {"strips": table}
    caption = (
        f"More than {MOST_LINKS:,} links: not drawn one by one but, per layer and direction, in order of utilization "
        f"in {STRIP_POINTS} steps; one run of each cell.{selection}"
    )
    return Figure("fabric", title, caption, finish(chart, drawn, panel=430, margin=170), drawn)


def layer_strips(nodes: pl.DataFrame, links: pl.DataFrame, topology: str) -> pl.DataFrame:
    """Utilization in descending order per layer pair: columns layer, links, from, to, utilization.

    A step covers the links between the shares `from` and `to` of the layer, and is their mean.
    """
    highest = nodes["level"].max()
    if not isinstance(highest, int):
        raise ResultsError("nodes.level: no level is known, so layers cannot be told apart")
    level = nodes.select("node", "level")
    joined = (
        links.join(level.rename({"node": "src", "level": "from_level"}), on="src")
        .join(level.rename({"node": "dst", "level": "to_level"}), on="dst")
        .sort("utilization", descending=True)
    )
    pairs = joined.select("from_level", "to_level").unique()
    # Upward layers from the hosts, then downward from the top: the way a packet takes.
    up = sorted((a, b) for a, b in pairs.iter_rows() if a <= b)
    down = sorted(((a, b) for a, b in pairs.iter_rows() if a > b), reverse=True)
    parts = []
    for a, b in [*up, *down]:
        values = joined.filter((pl.col("from_level") == a) & (pl.col("to_level") == b))["utilization"]
        steps = min(STRIP_POINTS, values.len())
        edges = [round(place * values.len() / steps) for place in range(steps + 1)]
        parts.append(
            pl.DataFrame(
                {
                    "layer": [f"{layer_name(a, highest, topology)} → {layer_name(b, highest, topology)}"] * steps,
                    "links": [values.len()] * steps,
                    "from": [edge / values.len() for edge in edges[:-1]],
                    "to": [edge / values.len() for edge in edges[1:]],
                    "utilization": [
                        float(values[first:last].mean())  # type: ignore[arg-type]
                        for first, last in pairwise(edges)
                    ],
                }
            )
        )
    return pl.concat(parts)
