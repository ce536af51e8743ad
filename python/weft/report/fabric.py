"""Where the nodes and cables of a fabric are drawn.

Two layouts. *Layered*, where every cable joins neighbouring levels (fat tree, leaf-spine, binary tree): a level is a
line, hosts at the bottom, in the order of the topology. *Circular* for everything else: switches on a circle in the
order of a walk that follows cables, each one's hosts outside it. Coordinates are 0..1, y upward.
"""

import math
from dataclasses import dataclass

import polars as pl

from weft.errors import ResultsError

MOST_LINKS = 1500
"""Directed links above which single cables are no longer readable and a figure aggregates per layer."""


@dataclass(frozen=True)
class Layout:
    """Places of the nodes: columns node, kind, level, x, y, crowd (nodes that share its line)."""

    kind: str
    nodes: pl.DataFrame
    aspect: float
    """Height over width that suits it."""


def layout(nodes: pl.DataFrame, links: pl.DataFrame) -> Layout:
    """Place the nodes (columns node, kind, level) that `links` (columns src, dst) join.

    Raises ResultsError if a link ends at a node that is not there.
    """
    known = set(nodes["node"])
    ends = links.select("src", "dst").rows()
    if strangers := sorted({end for pair in ends for end in pair} - known):
        raise ResultsError(f"links name the node {strangers[0]}, which the table `nodes` does not have")
    level = dict(zip(nodes["node"].to_list(), nodes["level"].to_list(), strict=True))
    is_layered = (
        all(level[a] is not None and level[b] is not None and abs(level[a] - level[b]) == 1 for a, b in ends)
        and len(set(level.values())) > 1
    )
    # A star is two levels, but prettier round.
    switches = nodes.filter(pl.col("kind") == "switch").height
    if is_layered and switches > 1:
        return _layered(nodes)
    return _circular(nodes, ends)


def _layered(nodes: pl.DataFrame) -> Layout:
    placed = nodes.select("node", "kind", "level").with_columns(
        pl.len().over("level").cast(pl.Int64).alias("crowd"),
        pl.int_range(pl.len()).over("level").alias("place"),
    )
    lowest, highest = placed["level"].min(), placed["level"].max()
    assert isinstance(lowest, int) and isinstance(highest, int)
    placed = placed.with_columns(
        ((pl.col("place") + 0.5) / pl.col("crowd")).alias("x"),
        ((pl.col("level") - lowest) / (highest - lowest)).alias("y"),
    )
    return Layout("layered", placed.drop("place"), 0.085 * (highest - lowest))


def _circular(nodes: pl.DataFrame, ends: list[tuple[str, str]]) -> Layout:
    kind = dict(zip(nodes["node"].to_list(), nodes["kind"].to_list(), strict=True))
    neighbours: dict[str, list[str]] = {node: [] for node in kind}
    for a, b in ends:
        if b not in neighbours[a]:
            neighbours[a].append(b)
        if a not in neighbours[b]:
            neighbours[b].append(a)
    switches = [node for node in kind if kind[node] == "switch"]
    around = _walk(switches or list(kind), neighbours)
    place: dict[str, tuple[float, float]] = {}
    if len(around) == 1:
        place[around[0]] = (0.5, 0.5)
    inner, outer = 0.30, 0.46
    # The walk may start anywhere: two switches lie side by side, more begin at the top.
    start = math.pi if len(around) == 2 else math.pi / 2
    for turn, node in enumerate(around):
        angle = start - 2 * math.pi * turn / len(around)
        if len(around) > 1:
            place[node] = (0.5 + inner * math.cos(angle), 0.5 + inner * math.sin(angle))
        own = [host for host in neighbours[node] if kind[host] == "host" and host not in place]
        sector = 2 * math.pi / len(around) * (1.0 if len(around) == 1 else 0.8)
        for turn_host, host in enumerate(own):
            share = (turn_host + 0.5) / len(own) - 0.5
            place[host] = (
                0.5 + outer * math.cos(angle - sector * share),
                0.5 + outer * math.sin(angle - sector * share),
            )
    for node in kind:  # hosts without a cable, if there are any
        place.setdefault(node, (0.02, 0.02))
    placed = nodes.select("node", "kind", "level").with_columns(
        pl.Series("x", [place[node][0] for node in nodes["node"]]),
        pl.Series("y", [place[node][1] for node in nodes["node"]]),
        # A circle of n nodes gives each about as much room as a line of n / pi.
        pl.Series("crowd", [max(1, round(len(kind) / math.pi))] * nodes.height),
    )
    return Layout("circular", placed, 0.62)


def _walk(nodes: list[str], neighbours: dict[str, list[str]]) -> list[str]:
    """Every node once, going on to a neighbour where there is one, so that most cables of the circle are short."""
    left = dict.fromkeys(nodes)
    order: list[str] = []
    while left:
        node: str | None = next(iter(left))
        while node is not None:
            del left[node]
            order.append(node)
            onward = [neighbour for neighbour in neighbours[node] if neighbour in left]
            # To the neighbour with the fewest ways on, so that nobody is left behind (Warnsdorff's rule).
            node = min(onward, key=lambda name: sum(other in left for other in neighbours[name]), default=None)
    return order


def cables(layout: Layout, links: pl.DataFrame, width: float, offset: float) -> pl.DataFrame:
    """Lines of directed links: x, y, x2, y2 beside the columns of `links`.

    The two directions of a cable lie side by side, each on its right as one drives, `offset` pixels from the middle on
    a drawing `width` pixels wide. Raises ResultsError for a link whose ends the layout does not place.
    """
    height = width * layout.aspect
    at = layout.nodes.select("node", "x", "y")
    joined = links.join(at.rename({"node": "src"}), on="src").join(
        at.rename({"node": "dst", "x": "x2", "y": "y2"}), on="dst"
    )
    if joined.height != links.height:
        absent = sorted({*links["src"], *links["dst"]} - set(at["node"]))
        raise ResultsError(f"links name the node {absent[0]}, which this layout does not place")
    dx, dy = (pl.col("x2") - pl.col("x")) * width, (pl.col("y2") - pl.col("y")) * height
    length = (dx * dx + dy * dy).sqrt()
    right_x, right_y = dy / length * offset / width, -dx / length * offset / height
    return joined.with_columns(
        (pl.col("x") + right_x).alias("x"),
        (pl.col("x2") + right_x).alias("x2"),
        (pl.col("y") + right_y).alias("y"),
        (pl.col("y2") + right_y).alias("y2"),
    )


def layer_name(level: int, highest: int, topology: str) -> str:
    """Word for a level of a known topology, else its number.

    >>> layer_name(3, 3, "fat_tree"), layer_name(2, 2, "leaf_spine"), layer_name(2, 4, "binary_tree")
    ('core', 'spine', 'level 2')
    """
    names = {"fat_tree": ("host", "edge", "aggregation", "core"), "leaf_spine": ("host", "leaf", "spine")}
    words = names.get(topology, ())
    return words[level] if len(words) == highest + 1 else "host" if level == 0 else f"level {level}"
