"""Applications over the drawn fabric: the links that the payload of each workload takes, in its colour.

A link that several workloads use has their colours side by side, each in a lane of its own, so that overlaps are seen
and counted. A panel per cell shows one run, the first repeat, as the figure `fabric` does. The paths are those of the
table `paths`, which per-packet load balance writes with `[measure] paths = true` only.
"""

from typing import Any

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import columns, known
from weft.report.fabric import MOST_LINKS, cables, layout
from weft.report.figure.drawing import MOST_COLOURS, MOST_PANELS, Figure, drawn_cells, finish, titled
from weft.report.figure.ecdf import group_colour
from weft.report.figure.fabric import WIDTH, node_marks, upward
from weft.report.figure.kind import Ask
from weft.report.folder import Folder


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw the links of every workload. Raises ResultsError without paths, and for too many workloads or links."""
    import altair as alt

    cells, selection = drawn_cells(folder, MOST_PANELS)
    lines, idle, points, told, plans = [], [], [], [], []
    words: dict[str, None] = {}
    for cell in cells:
        tables = cell.done[0].tables
        links = known(tables, "links", "link", "src", "dst")
        if links.height > MOST_LINKS:
            raise ResultsError(
                f"applications: {links.height:,} links are too many to be told apart; at most {MOST_LINKS:,} are drawn"
            )
        used = _used(columns(tables, "flows", "flow", "workload"), columns(tables, "paths", "flow", "path"))
        words |= dict.fromkeys(used["workload"].to_list())
        plan = layout(columns(tables, "nodes", "node", "kind", "level"), links)
        plans.append(plan)
        mark = pl.lit(cell.label).alias("cell")
        told.append((cell.label, used, links.height))
        idle.append(cables(plan, links, WIDTH, 0.0).with_columns(mark))
        points.append(plan.nodes.with_columns(mark))
    if len(words) > MOST_COLOURS:
        raise ResultsError(
            f"applications: {len(words)} workloads are too many colours; at most {MOST_COLOURS} are drawn"
        )
    scale = 1.0 if len(cells) <= 3 else 1.5
    most = max(height for *_, height in told)
    thick = 2.2 if most <= 200 else 1.3
    lane = (thick + 0.4) * scale
    for cell, plan, (_, used, _) in zip(cells, plans, told, strict=True):
        ends = known(cell.done[0].tables, "links", "link", "src", "dst")
        for place, workload in enumerate(words):
            mine = ends.join(used.filter(pl.col("workload") == workload), on="link", maintain_order="left")
            if mine.height:
                lines.append(
                    cables(plan, mine, WIDTH, lane * (place + 0.6)).with_columns(pl.lit(cell.label).alias("cell"))
                )
    line_table = pl.concat(lines).select("cell", "link", "workload", "flows", "x", "y", "x2", "y2")
    idle_table = pl.concat(idle).select("cell", "link", "x", "y", "x2", "y2")
    node_table = pl.concat(points).select("cell", "node", "kind", "level", "x", "y", "crowd")
    tables_drawn = {"applications": line_table, "links": idle_table, "nodes": node_table}

    panel = alt.param("panel", value=WIDTH)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.005, 1.005], nice=False))
    panels: list[Any] = []
    for cell, plan in zip(cells, plans, strict=True):
        y = upward(plan)

        def of(table: str, label: str = cell.label, y: Any = y) -> Any:
            return alt.Chart(alt.NamedData(table)).transform_filter(alt.datum.cell == label).encode(x=x, y=y)

        grey = of("links").mark_rule(strokeWidth=0.6, opacity=0.35).encode(x2="x2:Q", y2="y2:Q")
        coloured = (
            of("applications")
            .mark_rule(strokeWidth=thick * (1 if len(cells) <= 3 else 0.8), strokeCap="butt")
            .encode(
                x2="x2:Q",
                y2="y2:Q",
                color=group_colour("workload", list(words), "workload"),
                tooltip=["link:N", "workload:N", "flows:Q"],
            )
        )
        nodes_of = of("nodes").encode(tooltip=["node:N"])
        marks = node_marks(nodes_of, plan.kind, max(len(name) for name in node_table["node"]))
        panels.append(titled(alt.layer(grey, coloured, *marks), cell, cells))
    chart = alt.concat(*panels, columns=1).resolve_scale(color="shared", y="independent").add_params(panel)
    caption = (
        f"Links that the payload of each workload takes, in one run{' of each cell' if len(cells) > 1 else ''} (repeat "
        f"{cells[0].done[0].repeat}); traffic keeps to the right of its cable. {_overlaps(told)}{selection}"
    )
    # Many cables between two levels are told apart by their slopes.
    slopes = 1.0 if most <= 200 else 1.7
    # All panels have one shape: where fabrics differ, that of the one that needs most height.
    aspect = max(plan.aspect * (slopes if plan.kind == "layered" else 1.0) for plan in plans)
    spec = finish(chart, tables_drawn, panel=660 if len(cells) <= 3 else 430, margin=16, aspect=aspect)
    return Figure("applications", ask.title or "Links that each application uses", caption, spec, tables_drawn)


def _used(flows: pl.DataFrame, paths: pl.DataFrame) -> pl.DataFrame:
    """Columns workload, link, flows: a row per workload and link that it uses, with how many of its flows do."""
    if paths.is_empty():
        raise ResultsError("applications: no flow has a path; set `paths = true` under [measure]")
    taken = paths.join(flows.with_columns(pl.col("workload").cast(pl.String)), on="flow").explode("path")
    return (
        taken.select("workload", "flow", pl.col("path").cast(pl.String).alias("link"))
        .unique(maintain_order=True)
        .group_by("workload", "link", maintain_order=True)
        .len("flows")
    )


def _overlaps(told: list[tuple[str, pl.DataFrame, int]]) -> str:
    """How many links several workloads share, for each panel."""
    said = []
    for label, used, _ in told:
        shared = used.group_by("link").len().filter(pl.col("len") > 1).height
        of = f"{shared} of {used['link'].n_unique()} used links"
        said.append(f"{label}: {of}" if len(told) > 1 else of)
    return f"Used by more than one: {'; '.join(said)}."
