"""An explanation as a picture: of a lossless fabric first its congestion tree (tree_picture.py).

For each flow its goodput over time against what it could have had, and below it each link of its way, filled by who was
on it. A bar under a link says when it was the flow's bottleneck, in the colour of the cause. The white of a link is
room that nobody used.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from weft import whole
from weft.errors import OutputError, ResultsError
from weft.explaining import tree_picture
from weft.explaining.bottleneck import BOUNDED
from weft.explaining.cause import CAUSES, colours
from weft.explaining.cause.collision import collided
from weft.explaining.evidence import Evidence
from weft.explaining.explanation import Explained, Explanation
from weft.explaining.words import cause, headline, verdict
from weft.report.figure.drawing import SCALE
from weft.report.quantity import quantity
from weft.report.theme import CATEGORIES, INK, SLATE, config

WIDTH = 900
"""Pixels of the drawing."""
HIGH = 130
"""Pixels of the goodput."""
BAND = 30
"""Pixels of a link, with the gap below it."""
MOST_OTHERS = 6
"""Other flows that are told apart; the rest is one."""
MOST_LINKS = 20
FULL = 0.72
"""Height of a full link in its band."""
KINDS = (".svg", ".png", ".html")
SIDES = {"out": "sender", "in": "receiver"}
"""The cause that bounds a flow on a host's own link."""


def svg(explanation: Explanation, scheme: str = "light", tree: bool = True) -> str:
    """The drawing as SVG text, for a `light` or a `dark` page; without the `tree`, that of the flows alone."""
    import altair as alt
    import vl_convert

    evidence = explanation.evidence
    drawn = tree_picture.drawn(evidence) if tree else None
    parts = [*([drawn] if drawn is not None else []), *(_flow(e, evidence, scheme) for e in explanation.flows)]
    chart = alt.vconcat(*parts, spacing=34).resolve_scale(
        color="independent", strokeDash="independent", x="independent"
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict(), config=config(scheme)))


def write(explanation: Explanation, path: Path) -> None:
    """Write the drawing as .svg, .png or .html (with the words). Raises ResultsError, OutputError."""
    import vl_convert

    if path.suffix not in KINDS:
        raise ResultsError(f"{path}: a picture is written as {', '.join(KINDS)}; name it so")
    drawn = svg(explanation)
    content = drawn.encode()
    if path.suffix == ".png":
        content = vl_convert.svg_to_png(drawn, scale=SCALE)
    elif path.suffix == ".html":
        ink = INK["light"]
        content = (
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>weft explain {escape(explanation.run)}'
            f'</title>\n<body style="font-family: sans-serif; color: {ink["ink"]}; background: {ink["page"]}">\n'
            f"{drawn}\n<pre>{escape(str(explanation))}</pre></body></html>\n"
        ).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole.put(path, content)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}; name another file with --picture") from None


def _flow(e: Explained, evidence: Evidence, scheme: str) -> Any:
    import altair as alt

    shown = quantity("time_ns", float(e.view.edges[-1]))
    edges = e.view.edges * shown.factor
    scale = alt.Scale(domain=[float(edges[0]), float(edges[-1])], nice=False)
    # One axis for both panels, below them.
    above = _goodput(e, scheme, edges, alt.X("time:Q", title=None, scale=scale, axis=alt.Axis(labels=False)))
    below = _links(e, evidence, scheme, edges, alt.X("time:Q", title=f"Time ({shown.unit})", scale=scale))
    subtitle = _wrapped(verdict(e, evidence), 128)
    title = alt.TitleParams(
        f"flow {e.flow.number} {e.flow.src}>{e.flow.dst}, {headline(e, evidence)}",
        subtitle=subtitle,
        anchor="start",
        subtitleColor=INK[scheme]["soft"],
        subtitleFontSize=12,
        offset=10,
    )
    return (
        alt.vconcat(above, below, spacing=12)
        .properties(title=title)
        .resolve_scale(color="independent", strokeDash="independent")
    )


def _wrapped(words: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(words, width)


def _steps(edges: np.ndarray, values: np.ndarray) -> list[float]:
    """Values at the begin of each slice, the last one again at the end: what step-after draws."""
    return [*values.tolist(), float(values[-1])]


def _goodput(e: Explained, scheme: str, edges: np.ndarray, x: Any) -> Any:
    """What it got, its fair share, and its share under a perfect spread."""
    import altair as alt

    view, ratio = e.view, e.flow.efficiency
    shown = quantity("goodput_bps", e.alone_bps)
    alone = e.alone_bps * shown.factor
    curves = {
        "got": view.rate,
        "fair share on its way": view.share,
        "with a perfect spread": view.spread,
    }
    rows = [
        {"time": time, "value": value * ratio * shown.factor, "what": name}
        for name, values in curves.items()
        for time, value in zip(edges.tolist(), _steps(edges, np.minimum(values, 1.2 * view.alone)), strict=True)
    ]
    names = [*curves, "alone"]
    ink = INK[scheme]["ink"]
    # What it could have had is told apart by dashes: colours are for flows and causes.
    dashes = [[1, 0], [1, 0], [6, 3], [2, 3]]
    colour = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=names, range=[CATEGORIES[scheme][0], ink, ink, ink]),
        legend=alt.Legend(orient="top", offset=2, symbolType="stroke", symbolSize=300),
    )
    dash = alt.StrokeDash(
        "what:N",
        title=None,
        scale=alt.Scale(domain=names, range=dashes),
        legend=alt.Legend(orient="top", offset=2, symbolType="stroke", symbolSize=300),
    )
    y = alt.Y("value:Q", title=f"Goodput ({shown.unit})", scale=alt.Scale(domain=[0, 1.08 * alone], clamp=True))
    base = alt.Chart(alt.InlineData(values=rows))
    got = base.transform_filter("datum.what == 'got'").mark_area(interpolate="step-after", opacity=0.35, clip=True)
    lines = base.mark_line(interpolate="step-after", strokeWidth=1.6, clip=True)
    top = alt.Chart(alt.InlineData(values=[{"value": alone, "what": "alone"}])).mark_rule(strokeWidth=1.6)
    layers = [
        got.encode(x=x, y=y, color=alt.value(CATEGORIES[scheme][0])),
        lines.encode(x=x, y=y, color=colour, strokeDash=dash),
        top.encode(y=y, color=colour, strokeDash=dash),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=HIGH)


def _shown_links(e: Explained, evidence: Evidence) -> tuple[list[int], int]:
    """The links that are drawn, in the order of the way, and how many are not: of many, those that bound it longest."""
    ordered = list(dict.fromkeys(link for way in e.view.ways for link in (way.strand.path or way.strand.shares)))
    if not e.view.ways[0].strand.path:
        rank = {"out": 0, "": 1, "in": 2}
        ordered.sort(key=lambda link: rank[evidence.links[link].side])
    if len(ordered) <= MOST_LINKS:
        return ordered, 0
    time = {link: float(e.view.seconds[e.view.bound == link].sum()) for link in ordered}
    kept = set(sorted(ordered, key=lambda link: -time[link])[:MOST_LINKS])
    return [link for link in ordered if link in kept], len(ordered) - MOST_LINKS


def _links(e: Explained, evidence: Evidence, scheme: str, edges: np.ndarray, x: Any) -> Any:
    """A band for each link: who fills it, and when it bounds the flow."""
    import altair as alt

    view = e.view
    links, left_out = _shown_links(e, evidence)
    loads = {link: _occupants(e, evidence, link) for link in links}
    total: dict[int, float] = {}
    for flows, rates in loads.values():
        for flow, rate in zip(flows, rates, strict=True):
            total[flow] = total.get(flow, 0.0) + float((rate * view.seconds).sum())
    own = e.flow.number
    named = sorted((flow for flow in total if flow != own), key=lambda flow: -total[flow])[:MOST_OTHERS]
    rest = len(total) - 1 - len(named)
    labels = {own: f"flow {own}"} | {
        flow: f"flow {flow} {evidence.flows[flow].src}>{evidence.flows[flow].dst}" for flow in named
    }
    other = f"{rest} other flow{'s' if rest != 1 else ''}"
    order = [*labels.values(), *([other] if rest else [])]
    rows, marks = [], []
    is_bound = view.share < BOUNDED * view.alone
    is_hit = collided(view) > 0.1 * (view.alone - view.share)
    for place, link in enumerate(links):
        floor = len(links) - 1 - place
        rows += _band(floor, evidence.links[link].rate_bps, edges, loads[link], labels, other)
        for way in view.ways:
            # Of several subflows each has a bottleneck of its own.
            several = len(view.ways) > 1
            bound = (way.bound == link) & (way.share < BOUNDED * view.alone) if several else view.bound == link
            marks += _marks(floor, edges, bound & is_bound, is_hit, SIDES.get(evidence.links[link].side))
    scale = alt.Scale(domain=[-0.25, len(links)], nice=False)
    # Names are marks, since an axis leaves out some of them.
    axis = None
    names = [{"y": len(links) - 1 - n + FULL / 2, "link": evidence.links[link].name} for n, link in enumerate(links)]
    name = (
        alt.Chart(alt.InlineData(values=names))
        .mark_text(align="right", dx=-7, fontSize=11, color=INK[scheme]["soft"])
        .encode(x=alt.value(0), y=alt.Y("y:Q", scale=scale, axis=axis), text="link:N")
    )
    # Few flows stand further apart.
    step = 2 if 2 * len(named) <= MOST_OTHERS else 1
    others = SLATE[scheme][: step * len(named) : step]
    palette = [CATEGORIES[scheme][0], *others, *(SLATE[scheme][MOST_OTHERS:] if rest else [])]
    causes = [name for name in CAUSES if any(mark["why"] == name for mark in marks)]
    said = {name: cause(name, evidence).partition(" (")[0] for name in causes}
    for mark in marks:
        mark["why"] = said[mark["why"]]
    colour = alt.Color(
        "who:N",
        title="On the link",
        sort=order,
        scale=alt.Scale(domain=order, range=palette),
        legend=alt.Legend(orient="bottom", columns=4, labelLimit=230),
    )
    frames = alt.Chart(alt.InlineData(values=[{"low": f, "high": f + FULL} for f in range(len(links))]))
    frame = frames.mark_rect(fill=None, stroke=INK[scheme]["line"], strokeWidth=1).encode(
        y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q"
    )
    area = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_area(interpolate="step-after", opacity=1)
        .encode(x=x, y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=colour, detail="link:N")
    )
    bar = (
        alt.Chart(alt.InlineData(values=marks))
        .mark_rule(strokeWidth=4)
        .encode(
            x=x,
            x2="until:Q",
            y=alt.Y("y:Q", scale=scale, axis=axis),
            stroke=alt.Stroke(
                "why:N",
                title="Bottleneck (bar under the link)",
                scale=alt.Scale(domain=list(said.values()), range=[colours(scheme)[name] for name in causes]),
                legend=alt.Legend(orient="bottom"),
            ),
        )
    )
    layers = [area, frame, name, *([bar] if marks else [])]
    panel = alt.layer(*layers).properties(width=WIDTH, height=BAND * len(links) + 8)
    if left_out:
        panel = panel.properties(
            title=alt.TitleParams(
                f"the {len(links)} links that bounded it longest; {left_out} more are not drawn",
                fontSize=11,
                fontWeight="normal",
            )
        )
    return panel.resolve_scale(color="independent", stroke="independent")


def _occupants(e: Explained, evidence: Evidence, link: int) -> tuple[list[int], np.ndarray]:
    flows, rates = evidence.loads(link, e.view.edges)
    return flows, rates


def _band(
    floor: int,
    capacity: float,
    edges: np.ndarray,
    load: tuple[Sequence[int], np.ndarray],
    labels: dict[int, str],
    other: str,
) -> list[dict[str, Any]]:
    """Areas of one link, this flow at the bottom, one on the other."""
    flows, rates = load
    by_name: dict[str, np.ndarray] = {}
    for flow, rate in zip(flows, rates, strict=True):
        name = labels.get(flow, other)
        by_name[name] = by_name.get(name, np.zeros(len(edges) - 1)) + rate
    # Samples of many flows may add up to a little more than the link carries.
    filled = sum(by_name.values(), np.zeros(len(edges) - 1)) / capacity
    shrink = FULL / capacity / np.maximum(1.0, filled)
    rows: list[dict[str, Any]] = []
    low = np.full(len(edges) - 1, float(floor))
    for name in [*labels.values(), other]:
        if name not in by_name:
            continue
        high = low + by_name[name] * shrink
        rows += [
            {"time": time, "low": bottom, "high": top, "who": name, "link": floor}
            for time, bottom, top in zip(edges.tolist(), _steps(edges, low), _steps(edges, high), strict=True)
        ]
        low = high
    return rows


def _marks(
    floor: int, edges: np.ndarray, bound: np.ndarray, is_hit: np.ndarray, side: str | None
) -> list[dict[str, Any]]:
    """Bars of the slices in which the link bounds the flow; `side` is the cause where the link is a host's own."""
    rows: list[dict[str, Any]] = []
    for at in np.flatnonzero(bound).tolist():
        why = side or ("collision" if is_hit[at] else "fabric")
        if rows and rows[-1]["why"] == why and rows[-1]["until"] == edges[at]:
            rows[-1]["until"] = float(edges[at + 1])
        else:
            rows.append({"time": float(edges[at]), "until": float(edges[at + 1]), "y": floor - 0.1, "why": why})
    return rows
