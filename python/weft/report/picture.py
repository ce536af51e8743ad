"""The picture of a fabric before anything is sent: its nodes and cables, as the report draws them.

The colour of a link between switches says on how many of the routes' paths it lies; hosts' links are thin and grey.
Above `LABELLED` switches only dots are drawn, so that a Jellyfish of 250 hosts stays a picture of its cables.
"""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import WeftError
from weft.report.fabric import MOST_LINKS, cables, layout
from weft.report.figure.drawing import Figure, finish
from weft.report.figure.fabric import WIDTH, node_marks
from weft.report.theme import INK, config

if TYPE_CHECKING:
    from weft.scenario import Scenario

MOST = 4 * MOST_LINKS
"""Directed links above which a picture would only be grey."""

LABELLED = 60
"""Switches above which names would lie over each other."""

PIXELS = 900
KINDS = (".svg", ".html")


def picture(scenario: "Scenario", title: str) -> Figure:
    """The drawing of a scenario's fabric. Raises WeftError above MOST directed links."""
    import altair as alt

    nodes, links, survey = scenario.nodes(), scenario.links(), scenario.survey()
    if len(links["name"]) > MOST:
        raise WeftError(f"{len(links['name']):,} directed links are too many for a picture; the most is {MOST:,}")
    node_table = pl.DataFrame({"node": nodes["name"], "kind": nodes["kind"], "level": nodes["level"]})
    link_table = pl.DataFrame(
        {"link": links["name"], "src": links["src"], "dst": links["dst"], "paths": survey["paths_on_link"]},
        schema_overrides={"paths": pl.Float64},
    )
    plan = layout(node_table, link_table)
    is_switch = pl.col("kind") == "switch"
    switches = node_table.filter(is_switch)["node"].to_list()
    between = pl.col("src").is_in(switches) & pl.col("dst").is_in(switches)
    gap = 1.6 if link_table.height <= 200 else 0.7
    lines = cables(plan, link_table, WIDTH, gap).with_columns(between.alias("between")).sort("between", "paths")
    tables = {
        "links": lines.select("link", "paths", "between", "x", "y", "x2", "y2"),
        "nodes": plan.nodes.select("node", "kind", "level", "x", "y", "crowd"),
    }
    low, high = (-0.1, 1.08) if plan.kind == "layered" else (0.0, 1.0)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.005, 1.005], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[low, high], nice=False))
    base = alt.Chart(alt.NamedData("links")).encode(x=x, y=y, x2="x2:Q", y2="y2:Q", tooltip=["link:N", "paths:Q"])
    thick = 2.2 if lines.height <= 200 else 1.3 if lines.height <= 800 else 0.6
    own: Any = {"stroke": {"expr": "pencil"}, "strokeWidth": 0.6, "opacity": 0.5}
    layers: list[Any] = [base.transform_filter("datum.between == 'false'").mark_rule(**own)]
    most = lines.filter(pl.col("between"))["paths"].max()
    if isinstance(most, float):
        scale = alt.Scale(domain=[0, max(most, 1.0)], clamp=True, interpolate="lab")
        heat = alt.Color("paths:Q", title="Paths on the link", scale=scale)
        wires = base.transform_filter("datum.between == 'true'")
        layers.append(wires.mark_rule(strokeWidth=thick, strokeCap="round").encode(color=heat))
    marks = alt.Chart(alt.NamedData("nodes")).encode(x=x, y=y, tooltip=["node:N"])
    drawn = node_marks(marks, plan.kind, max(len(name) for name in nodes["name"]))
    layers += drawn if len(switches) <= LABELLED else _small(marks)
    chart = alt.layer(*layers).add_params(alt.param("panel", value=WIDTH))
    caption = (
        f"{node_table.height - len(switches):,} hosts, {len(switches):,} switches, {lines.height:,} directed links"
    )
    # Higher than in a report, where several panels share a page.
    aspect = 1.7 * plan.aspect if plan.kind == "layered" else 1.0
    return Figure("topology", title, caption, finish(chart, tables, margin=16, aspect=aspect), tables)


def _small(base: Any) -> list[Any]:
    """Dots without names."""
    return [
        base.transform_filter("datum.kind == 'host'").mark_circle(size=9, color={"expr": "pencil"}, opacity=1),
        base.transform_filter("datum.kind == 'switch'").mark_point(
            shape="square", size=16, fill={"expr": "paper"}, stroke={"expr": "pencil"}, strokeWidth=1, opacity=1
        ),
    ]


def write_picture(figure: Figure, file: Path) -> None:
    """Write a picture as SVG, or as an HTML page that holds it. Raises WeftError for any other kind of file."""
    import vl_convert

    if file.suffix not in KINDS:
        raise WeftError(f'{file}: a picture is written as {" or ".join(KINDS)}; "{file.suffix}" is neither')
    svg = vl_convert.vegalite_to_svg(figure.sized(PIXELS), config=config("light"))
    text = svg
    if file.suffix == ".html":
        ink = INK["light"]
        text = (
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(figure.title)}</title>\n'
            f'<body style="font-family: sans-serif; color: {ink["ink"]}; background: {ink["page"]}">\n'
            f"<h1>{escape(figure.title)}</h1>\n{svg}\n<p>{escape(figure.caption)}</p>\n</body></html>\n"
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
