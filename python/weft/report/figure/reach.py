"""Reach: the share of the other hosts that a host reaches within so many hops, over the fabrics that were built.

Source: Singla et al., "Jellyfish", NSDI 2012, figure 1(c): servers reachable within a number of hops. A hop is a link,
so that two hosts under one switch are two apart.
"""

from typing import Any

import polars as pl

from weft.metric.definition import columns, known
from weft.report.figure.drawing import MOST_COLOURS, Figure, finish, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.facet import next_axis
from weft.report.figure.kind import Ask
from weft.report.figure.observation import grouped, in_order, thinned
from weft.report.folder import Folder
from weft.statistics.interval import mean_interval


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw a curve per `by`, mean over the distinct fabrics of its runs with the 95 % t interval."""
    import altair as alt

    by = ask.by or next_axis(folder, ()) or "cell"
    cells = grouped(folder, [by])
    words, selection = thinned(in_order(folder, by, (key for (key,) in cells)), MOST_COLOURS, f"values of {by}")
    shares: dict[str, list[dict[int, float]]] = {}
    for word in words:
        fabrics: dict[int, dict[int, float]] = {}
        for cell in cells[(word,)]:
            for run in cell.done:
                folder.tell("distances of fabrics", len(shares), len(words))
                nodes = columns(run.tables, "nodes", "node", "kind")
                links = known(run.tables, "links", "src", "dst")
                # Runs that differ in their traffic alone have one fabric.
                same = hash((tuple(links["src"]), tuple(links["dst"])))
                if same not in fabrics:
                    hosts = nodes.filter(pl.col("kind") == "host")["node"].to_list()
                    fabrics[same] = within(hosts, list(links.iter_rows()))
        shares[word] = list(fabrics.values())
    last = max(hops for fabrics_of in shares.values() for fabric in fabrics_of for hops in fabric)
    table = pl.concat(
        averaged(found, last).select(pl.lit(word).alias("group"), pl.all()) for word, found in shares.items()
    )
    has_band = table["low"].null_count() < table.height

    def layer(base: Any) -> Any:
        shared: dict[str, Any] = {
            "x": alt.X(
                "hops:Q",
                title="Hops (links)",
                scale=alt.Scale(domain=[0, last], nice=False),
                axis=alt.Axis(values=list(range(last + 1)), format="d"),
            ),
            "color": group_colour("group", words, by),
        }
        y = alt.Y(
            "share:Q", title="Share of the other hosts", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
        )
        line = base.mark_line(point=alt.OverlayMarkDef(size=30)).encode(
            y=y,
            tooltip=[
                alt.Tooltip("group:N", title=by),
                "hops:Q",
                alt.Tooltip("share:Q", format=".2%"),
                alt.Tooltip("fabrics:Q"),
            ],
            **shared,
        )
        band = base.mark_area(opacity=0.18, line=False, clip=True).encode(
            y=alt.Y("low:Q", scale=alt.Scale(domain=[0, 1])), y2="high:Q", **shared
        )
        return alt.layer(band, line) if has_band else line

    tables = {"table": table}
    counts = table.group_by("group", maintain_order=True).agg(pl.col("fabrics").max())
    said = ", ".join(f"{group} {fabrics:,}" for group, fabrics in counts.iter_rows())
    caption = (
        f"Share of the other hosts within so many links of a host, mean over hosts and distinct fabrics ({said})"
        + (" with 95 % t interval over fabrics." if has_band else ".")
        + selection
    )
    spec = finish(layer(alt.Chart(alt.NamedData("table"))), tables)
    return Figure(slug("reach", ask.by), ask.title or "Hosts within reach", caption, spec, tables)


def within(hosts: list[str], links: list[tuple[str, str]]) -> dict[int, float]:
    """For every number of links from 0 to the longest distance: which share of pairs of hosts is at most so far apart.

    Pairs that do not reach each other are in no share. Other hosts are passed through as switches are.

    >>> within(["a", "b", "c"], [("a", "s"), ("s", "b"), ("b", "s"), ("s", "a"), ("c", "s"), ("s", "c")])
    {0: 0.0, 1: 0.0, 2: 1.0}
    """
    onward: dict[str, list[str]] = {}
    for src, dst in links:
        onward.setdefault(src, []).append(dst)
    is_host = set(hosts)
    # Hosts with the same neighbours are as far from all others.
    alike: dict[tuple[str, ...], list[str]] = {}
    for host in hosts:
        alike.setdefault(tuple(onward.get(host, ())), []).append(host)
    at: dict[int, int] = {}
    for neighbours, group in alike.items():
        distance = dict.fromkeys(neighbours, 1)
        front = list(neighbours)
        while front:
            beyond = []
            for node in front:
                for other in onward.get(node, ()):
                    if other not in distance:
                        distance[other] = distance[node] + 1
                        beyond.append(other)
            front = beyond
        for node, hops in distance.items():
            if node in is_host:
                at[hops] = at.get(hops, 0) + len(group)
        # The way from a host back to itself is no distance.
        for host in group:
            if host in distance:
                at[distance[host]] -= 1
    pairs = len(hosts) * (len(hosts) - 1)
    shares, so_far = {}, 0
    for hops in range(max((h for h, count in at.items() if count), default=0) + 1):
        so_far += at.get(hops, 0)
        shares[hops] = so_far / pairs
    return shares


def averaged(fabrics: list[dict[int, float]], last: int) -> pl.DataFrame:
    """Columns hops (0 to `last`), share, low, high (null for one fabric), fabrics.

    Beyond its longest distance a fabric keeps its last share.
    """
    rows = []
    for hops in range(last + 1):
        interval = mean_interval([shares.get(hops, shares[max(shares)]) for shares in fabrics])
        # A share has its bounds, and a t interval does not know them.
        low = None if interval.low is None else max(0.0, interval.low)
        high = None if interval.high is None else min(1.0, interval.high)
        rows.append((hops, interval.mean, low, high, interval.n))
    schema = {"hops": pl.Int64, "share": pl.Float64, "low": pl.Float64, "high": pl.Float64, "fabrics": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")
