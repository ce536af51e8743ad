"""The congestion tree as a picture: the largest one drawn from its root, and each of its links over time.

Above: a box per link, the root on the right, an arrow to what it waits for; its colour is the share of that time in
which it was blocked. Flows stand where they enter: contributors, and victims, which leave for elsewhere. Below: a row
per link over the whole run, coloured by the share of each moment without room behind it, and how full that buffer is.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.explaining.blocking import Blocking, Lane, Period, Tree
from weft.explaining.tree_words import shares, span
from weft.report.quantity import quantity
from weft.report.theme import CATEGORIES, HEAT, INK

if TYPE_CHECKING:
    from weft.explaining.evidence import Evidence

WIDTH = 900
COLUMN = 190
ROW = 52
BOX = 128
MOST_ROWS = 24
MOST_FLOWS = 4
LIGHT = INK["light"]
CONTRIBUTOR, VICTIM = CATEGORIES["light"][0], CATEGORIES["light"][1]
ALIKE = 0.04
"""Part of the largest value by which colours of a row may differ and be drawn as one."""
DARK = 0.45
"""Share from which letters on a colour of the heat are white."""


def drawn(evidence: "Evidence") -> Any:
    """The chart, or None where there was no tree."""
    import altair as alt

    blocking = evidence.blocking
    if blocking is None or blocking.worst is None:
        return None
    parts = [_tree(evidence, blocking, tree, blocking.worst) for tree in blocking.worst.trees[:2]]
    return alt.vconcat(*parts, _over_time(blocking, blocking.worst), spacing=30)


def _places(tree: Tree) -> dict[Lane, tuple[float, float]]:
    """Of each link its column (from the right) and its row: leaves one below the other, each parent at their middle."""
    children: dict[Lane, list[Lane]] = {}
    for lane, parent in sorted(tree.waits_for.items()):
        children.setdefault(parent, []).append(lane)
    places: dict[Lane, tuple[float, float]] = {}
    rows = iter(range(10_000))

    def put(lane: Lane) -> float:
        own = [put(child) for child in children.get(lane, ())]
        row = sum(own) / len(own) if own else float(next(rows))
        places[lane] = (float(tree.depth[lane]), row)
        return row

    put(tree.root)
    return places


def _tree(evidence: "Evidence", blocking: Blocking, tree: Tree, period: Period) -> Any:
    import altair as alt

    places = _places(tree)
    deepest, rows = max(x for x, _ in places.values()), max(y for _, y in places.values())
    width, height = COLUMN * (deepest + 2), ROW * (rows + 1)
    at = {lane: ((deepest + 1.1 - x) * COLUMN, (y + 0.5) * ROW) for lane, (x, y) in places.items()}
    boxes, arrows = [], []
    for lane, (x, y) in at.items():
        paused, busy, _ = shares(blocking, lane, period)
        is_root = lane == tree.root
        said = f"sends {busy * 100:.0f} %" if is_root else f"blocked {paused * 100:.0f} %"
        boxes.append(
            {"x": x - BOX / 2, "x2": x + BOX / 2, "y": y - 16, "y2": y + 16, "mx": x, "share": paused, "said": said}
            | {"name": blocking.name(lane), "ty": y - 6, "sy": y + 8, "root": is_root}
            | {"ink": "#ffffff" if paused > DARK and not is_root else LIGHT["ink"]}
        )
        if not is_root:
            tx, ty = at[tree.waits_for[lane]]
            arrows.append({"x": x + BOX / 2, "y": y, "x2": tx - BOX / 2 - 7, "y2": ty})
            arrows[-1] |= {"hx": tx - BOX / 2 - 5, "hy": ty}
    entries = list(_entries(evidence, tree, at))
    scales = {"x": alt.Scale(domain=[0, width]), "y": alt.Scale(domain=[height, 0])}

    def place(x: str, y: str, **more: Any) -> dict[str, Any]:
        return {
            "x": alt.X(f"{x}:Q", scale=scales["x"], axis=None),
            "y": alt.Y(f"{y}:Q", scale=scales["y"], axis=None),
            **more,
        }

    box = alt.Chart(alt.InlineData(values=boxes))
    colour = alt.Color(
        "share:Q",
        title="blocked",
        scale=alt.Scale(domain=[0, 1], range=HEAT["light"], interpolate="rgb"),
        legend=alt.Legend(format="%", orient="right", gradientLength=90),
    )
    layers = []
    if arrows:
        lines = alt.Chart(alt.InlineData(values=arrows))
        layers.append(lines.mark_rule(stroke=LIGHT["soft"]).encode(**place("x", "y", x2="x2:Q", y2="y2:Q")))
        head = lines.mark_point(shape="triangle-right", size=60, filled=True, color=LIGHT["soft"], opacity=1)
        layers.append(head.encode(**place("hx", "hy")))
    corners = place("x", "y", x2="x2:Q", y2="y2:Q")
    layers += [
        box.transform_filter("!datum.root").mark_rect(cornerRadius=4).encode(**corners, color=colour),
        box.transform_filter("datum.root")
        .mark_rect(cornerRadius=4, fill=LIGHT["page"], stroke="#c81e1e", strokeWidth=2.5)
        .encode(**corners),
        box.mark_text(fontWeight="bold", fontSize=11).encode(
            **place("mx", "ty", text="name:N", color=alt.Color("ink:N", scale=None))
        ),
        box.mark_text(fontSize=10).encode(**place("mx", "sy", text="said:N", color=alt.Color("ink:N", scale=None))),
    ]
    whose = alt.Scale(domain=["contributor", "victim"], range=[CONTRIBUTOR, VICTIM])
    legend = alt.Legend(orient="bottom", symbolType="square")
    named = alt.Chart(alt.InlineData(values=entries))
    beside, below = (named.transform_filter(f"datum.align == '{align}'") for align in ("right", "center"))
    for text, shown in (
        (beside.mark_text(align="right", fontSize=11, fontWeight="bold"), legend),
        (below.mark_text(align="center", fontSize=11, fontWeight="bold"), None),
    ):
        who = alt.Color("who:N", title=None, scale=whose, legend=shown)
        layers.append(text.encode(**place("x", "y", text="flow:N", color=who)))
    title = alt.TitleParams(
        f"Congestion tree of {blocking.name(tree.root)}, {span(blocking, period)}",
        subtitle="each link waits for the one that its arrow points to; the root is full, or its receiver slow",
        anchor="start",
        subtitleColor=LIGHT["soft"],
        subtitleFontSize=12,
        offset=10,
    )
    return (
        alt.layer(*layers)
        .resolve_scale(color="independent")
        .properties(width=min(WIDTH, width), height=max(60, height), title=title)
    )


def _entries(evidence: "Evidence", tree: Tree, at: dict[Lane, tuple[float, float]]) -> Iterator[dict[str, Any]]:
    """Flows at the first link of the tree that they take, contributors before victims."""
    blocking = evidence.blocking
    assert blocking is not None
    found: dict[Lane, list[tuple[str, int]]] = {}
    for who, flows in (("contributor", tree.contributors), ("victim", tree.victims)):
        for flow in sorted(flows):
            own = [lane for lane in blocking.ways[flow] if lane in tree.depth]
            found.setdefault(max(own, key=lambda lane: tree.depth[lane]), []).append((who, flow))
    inner = set(tree.waits_for.values())
    for lane, those in found.items():
        x, y = at[lane]
        if lane in inner:
            # Arrows come from the left: below the box there is room for a line.
            rest = f" and {len(those) - 1} more" if len(those) > 1 else ""
            who, flow = those[0]
            yield {"x": x, "y": y + 24, "flow": _named(evidence, flow) + rest, "who": who, "align": "center"}
            continue
        high = 14 * (min(len(those), MOST_FLOWS) - 1)
        for place, (who, flow) in enumerate(those[:MOST_FLOWS]):
            more = len(those) - MOST_FLOWS
            rest = f" and {more} more" if place == MOST_FLOWS - 1 and more > 0 else ""
            name = _named(evidence, flow) + rest
            yield {"x": x - BOX / 2 - 8, "y": y - high / 2 + 14 * place, "flow": name, "who": who, "align": "right"}


def _named(evidence: "Evidence", flow: int) -> str:
    return f"flow {flow} {evidence.flows[flow].src}>{evidence.flows[flow].dst}"


def _runs(values: Any, alike: float) -> Iterator[tuple[int, int, float]]:
    """Slices whose values differ by no more than `alike` from the first, as one with its mean: from, to, value."""
    begin = 0
    for at in range(1, len(values) + 1):
        if at == len(values) or abs(values[at] - values[begin]) > alike:
            yield begin, at, float(np.mean(values[begin:at]))
            begin = at


def _over_time(blocking: Blocking, period: Period) -> Any:
    """Two panels with a row per link of the trees: blocked, and the buffer behind it."""
    import altair as alt

    order: dict[Lane, None] = {}
    for tree in period.trees:
        for lane in sorted(tree.depth, key=lambda one: (tree.depth[one], one)):
            order[lane] = None
    for trees in blocking.trees:
        for tree in trees:
            order |= dict.fromkeys(sorted(tree.depth))
    lanes = list(order)[:MOST_ROWS]
    shown = quantity("time_ns", float(blocking.edges[-1]))
    times = (blocking.edges * shown.factor).tolist()
    most = max(float(np.max(blocking.buffered[lane])) for lane in lanes)
    size = quantity("x_bytes", most)
    names = [blocking.name(lane) for lane in lanes]
    panels = []
    for curves, factor, title, form, top in (
        (blocking.paused, 1.0, "Blocked (no room behind the link)", "%", 1.0),
        (blocking.buffered, size.factor, f"In the buffer behind it, mean ({size.unit})", "~g", most * size.factor),
    ):
        rows = [
            {"time": times[begin], "until": times[end], "link": name, "value": value * factor}
            for lane, name in zip(lanes, names, strict=True)
            for begin, end, value in _runs(curves[lane], ALIKE * top / factor)
        ]
        panels.append(
            alt.Chart(alt.InlineData(values=rows), title=alt.TitleParams(title, anchor="start", fontSize=12))
            .mark_rect(strokeWidth=0)
            .encode(
                x=alt.X("time:Q", title=f"Time ({shown.unit})", scale=alt.Scale(nice=False)),
                x2="until:Q",
                y=alt.Y("link:N", sort=names, title=None, axis=alt.Axis(labelOverlap=False)),
                color=alt.Color(
                    "value:Q",
                    title=None,
                    scale=alt.Scale(domain=[0, max(top, 1e-9)], range=HEAT["light"], interpolate="rgb"),
                    legend=alt.Legend(format=form, orient="right", gradientLength=90),
                ),
            )
            .properties(width=WIDTH / 2 - 130, height=max(90, 18 * len(lanes)))
        )
    return alt.hconcat(*panels, spacing=24).resolve_scale(color="independent", y="shared")
