"""Blocking: where a lossless fabric held packets back, which full port that came from, and who only stood behind.

A link that waits for room behind it is blocked: it has no credits (InfiniBand), or is paused (PFC). What blocks it is
the next link of those that cross it: one that is blocked itself, or a full one, a root. The links that a root blocks,
directly or through others, are its congestion tree (Pfister and Norton, IEEE Trans. Computers, 1985). Flows that cross
the root are its contributors; flows that cross its tree and not the root are victims, blocked head of line: what they
wait behind goes where they do not.

Links are told apart by virtual lane (or class), which have buffers of their own. A lane is (link, lane number).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.explaining.lanes import Levels

if TYPE_CHECKING:
    import polars as pl

    from weft.explaining.evidence import Link, Reals, Strand

Lane = tuple[int, int]

BLOCKED = 0.1
"""A lane counts as blocked if it is without room for this part of a slice."""

FULL = 0.9
"""A link counts as full if it sends for this part of a slice."""

MOST_SLICES = 100
"""Pieces that the run is cut into."""

LEAST_SLICES = 4
"""Periods shorter than this count as part of the longer one beside them."""


@dataclass(frozen=True)
class Tree:
    """A congestion tree: its root, and by lane what that waits for.

    `depth` counts links from the root, which has 0. Where a receiver takes no more, the root is its link, and blocked.
    """

    root: Lane
    waits_for: Mapping[Lane, Lane]
    depth: Mapping[Lane, int]
    contributors: frozenset[int]
    victims: frozenset[int]


@dataclass(frozen=True)
class Period:
    """A time with trees of the same roots, contributors and victims; `trees` are those with the most links in it."""

    begin_ns: float
    end_ns: float
    trees: Sequence[Tree]


@dataclass(frozen=True)
class Blocking:
    """All of it, in slices between `edges` (ns): by lane the share of each slice without room, and bytes behind it."""

    links: "Sequence[Link]"
    edges: "Reals"
    paused: "Mapping[Lane, Reals]"
    buffered: "Mapping[Lane, Reals]"
    busy: "Mapping[int, Reals]"
    ways: Mapping[int, Mapping[Lane, tuple[Lane, ...]]]
    """By flow: the lanes that it takes, each with those that follow."""
    life: Mapping[int, tuple[float, float]]
    """By flow: from when to when it sent, ns."""
    lanes: int
    names_room: str
    """What a blocked lane lacks: "credits", or that it is "paused"."""

    def name(self, lane: Lane) -> str:
        """The link, with the lane where there are several."""
        link = self.links[lane[0]].name
        return link if self.lanes == 1 else f"{link} (lane {lane[1]})"

    @cached_property
    def trees(self) -> list[list[Tree]]:
        """The trees of each slice, the largest first."""
        return [self._trees(at) for at in range(len(self.edges) - 1)]

    @cached_property
    def periods(self) -> list[Period]:
        """Pieces of the run in which something is blocked, and roots, contributors and victims stay the same.

        What flickers counts as what there is for most of the time.
        """
        whose = [_who(trees) for trees in self.trees]
        found = []
        for begin, end in _pieces(whose):
            # The piece is called by what is there for longest, and shows that at its largest.
            mine = max(whose[begin:end], key=whose[begin:end].count)
            alike = [trees for trees, who in zip(self.trees[begin:end], whose[begin:end], strict=True) if who == mine]
            largest = max(alike, key=lambda each: sum(len(tree.depth) for tree in each))
            if largest:
                found.append(Period(float(self.edges[begin]), float(self.edges[end]), largest))
        return found

    @cached_property
    def worst(self) -> Period | None:
        """The period whose trees have most links, of several the longest; None if nothing was ever blocked."""
        return max(
            self.periods,
            key=lambda p: (sum(len(tree.depth) for tree in p.trees), p.end_ns - p.begin_ns),
            default=None,
        )

    def held(self, flow: int, as_victim: bool, by_slow: bool = False) -> "Reals":
        """By slice, the share of it that a flow was held back: behind packets for elsewhere, or for its own root.

        With `by_slow`, only where the receiver behind the root takes less than its link carries.
        """
        found = np.zeros(len(self.edges) - 1)
        for at, trees in enumerate(self.trees):
            for tree in trees:
                is_meant = not by_slow or self.is_slow(tree.root, at)
                if is_meant and flow in (tree.victims if as_victim else tree.contributors):
                    own = [self.paused[lane][at] for lane in self.ways[flow] if lane in tree.depth]
                    found[at] = max(found[at], *own, 0.0)
        return found

    def is_slow(self, root: Lane, at: int) -> bool:
        """Whether a root leads to a receiver that takes less than the link carries."""
        is_free = self.paused[root][at] >= BLOCKED or self.busy[root[0]][at] < FULL
        return self.links[root[0]].side == "in" and is_free

    def held_ns(self, flow: int, as_victim: bool) -> float:
        """The same over the run, ns."""
        begin, end = self.life[flow]
        lengths = np.clip(np.minimum(self.edges[1:], end) - np.maximum(self.edges[:-1], begin), 0.0, None)
        return float((self.held(flow, as_victim) * lengths).sum())

    def _trees(self, at: int) -> list[Tree]:
        begin, end = self.edges[at], self.edges[at + 1]
        present = [flow for flow, (since, until) in self.life.items() if since < end and until > begin]
        crossing: dict[Lane, set[int]] = {}
        after: dict[Lane, set[Lane]] = {}
        for flow in present:
            for lane, following in self.ways[flow].items():
                crossing.setdefault(lane, set()).add(flow)
                after.setdefault(lane, set()).update(following)
        blocked = {lane for lane in crossing if self.paused[lane][at] >= BLOCKED}
        waits_for: dict[Lane, set[Lane]] = {}
        roots: set[Lane] = set()
        for lane in blocked:
            beyond = after[lane]
            if not beyond:
                roots.add(lane)  # The receiver takes no more.
                continue
            full = {one for one in beyond if one in blocked or self.busy[one[0]][at] >= FULL}
            waits_for[lane] = full or {max(beyond, key=lambda one: (self.busy[one[0]][at], one))}
            roots |= waits_for[lane] - blocked
        found = [_grown(root, waits_for, crossing) for root in sorted(roots)]
        return sorted(found, key=lambda tree: (-len(tree.depth), tree.root))


def _grown(root: Lane, waits_for: Mapping[Lane, set[Lane]], crossing: Mapping[Lane, set[int]]) -> Tree:
    """The tree of a root, ring by ring."""
    depth, parent, ring = {root: 0}, {}, [root]
    while ring:
        outer = []
        for lane in sorted(waits_for):
            if lane not in depth and (towards := sorted(set(ring) & waits_for[lane])):
                parent[lane] = towards[0]
                outer.append(lane)
        for lane in outer:
            depth[lane] = depth[parent[lane]] + 1
        ring = outer
    contributors = frozenset(crossing[root])
    victims = frozenset().union(*(crossing[lane] for lane in depth)) - contributors
    return Tree(root, parent, depth, contributors, victims)


Who = tuple[tuple[Lane, tuple[int, ...], tuple[int, ...]], ...]


def _who(trees: Sequence[Tree]) -> Who:
    return tuple(sorted((tree.root, tuple(sorted(tree.contributors)), tuple(sorted(tree.victims))) for tree in trees))


def _pieces(values: Sequence[object]) -> list[tuple[int, int]]:
    """From where to where values stay the same, pieces shorter than `LEAST_SLICES` joined to the longer neighbour.

    >>> _pieces("aaaaaabaaaaaacccccc")
    [(0, 13), (13, 19)]
    """
    pieces: list[tuple[int, int, object]] = []
    for at, value in enumerate(values):
        if pieces and pieces[-1][2] == value:
            pieces[-1] = (pieces[-1][0], at + 1, value)
        else:
            pieces.append((at, at + 1, value))
    while len(pieces) > 1:
        short = min(range(len(pieces)), key=lambda n: pieces[n][1] - pieces[n][0])
        if pieces[short][1] - pieces[short][0] >= LEAST_SLICES:
            break
        beside = [n for n in (short - 1, short + 1) if 0 <= n < len(pieces)]
        larger = max(beside, key=lambda n: pieces[n][1] - pieces[n][0])
        first, last = min(short, larger), max(short, larger)
        pieces[first : last + 1] = [(pieces[first][0], pieces[last][1], pieces[larger][2])]
        for n in range(len(pieces) - 1, 0, -1):
            if pieces[n][2] == pieces[n - 1][2]:
                pieces[n - 1 : n + 1] = [(pieces[n - 1][0], pieces[n][1], pieces[n][2])]
    return [(begin, end) for begin, end, _ in pieces]


def read_blocking(
    links: "Sequence[Link]",
    strands: "Sequence[Strand]",
    life: Mapping[int, tuple[float, float]],
    spec: Mapping[str, Any],
    tables: "Mapping[str, pl.DataFrame]",
    workloads: Mapping[int, str],
) -> Blocking | None:
    """What samples say of a lossless fabric; None where links drop, or nothing of it was sampled."""
    import polars as pl

    control = spec.get("flow_control", {})
    if control.get("kind", "none") == "none" or "samples" not in tables:
        return None
    samples = tables["samples"].with_columns(pl.col("metric", "entity").cast(pl.String))
    if samples.filter(pl.col("metric") == "paused").is_empty():
        return None
    times = samples.filter(pl.col("metric") == "paused")["time_ns"].unique().sort().to_numpy().astype(float)
    together = -(-len(times) // MOST_SLICES)
    edges = np.concatenate(([0.0], times[together - 1 :: together]))
    numbers = {link.name: number for number, link in enumerate(links)}
    levels = Levels(spec, links)
    by_metric: dict[str, dict[Lane, Reals]] = {}
    for metric, how in (("paused", "mean"), ("buffer_bytes", "mean"), ("utilization", "mean")):
        found = by_metric[metric] = {}
        for (entity,), rows in samples.filter(pl.col("metric") == metric).group_by("entity", maintain_order=True):
            name, _, lane = str(entity).partition("/")
            values = rows.sort("time_ns")["value"].to_numpy()
            whole = values[: (len(edges) - 1) * together].reshape(-1, together)
            found[numbers[name], int(lane or 0)] = getattr(whole, how)(axis=1)
    ways: dict[int, dict[Lane, tuple[Lane, ...]]] = {}
    ends = {number: link.name.rpartition(">")[2] for number, link in enumerate(links)}
    begins = {number: link.name.partition(">")[0] for number, link in enumerate(links)}
    for strand in strands:
        own = ways.setdefault(strand.flow, {})
        level = levels.of(workloads[strand.flow])
        for link in strand.shares:
            following = tuple(
                (other, levels.lane(other, level)) for other in strand.shares if begins[other] == ends[link]
            )
            here = (link, levels.lane(link, level))
            own[here] = tuple(sorted({*own.get(here, ()), *following}))
    return Blocking(
        links,
        edges,
        by_metric["paused"],
        by_metric["buffer_bytes"],
        {link: values for (link, _), values in by_metric["utilization"].items()},
        ways,
        {flow: life[flow] for flow in ways},
        levels.count,
        "credits" if control["kind"] == "credit" else "paused",
    )
