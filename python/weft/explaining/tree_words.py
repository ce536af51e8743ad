"""Congestion trees in words: when, at which roots, how far they reached, who fed them and who only stood behind."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.explaining.blocking import Blocking, Lane, Period, Tree
from weft.report.quantity import quantity, rounded

if TYPE_CHECKING:
    from weft.explaining.evidence import Evidence

MOST_PERIODS = 8
MOST_FLOWS = 5
MOST_LANES = 24
LEAST_HELD = 0.01
"""Flows that were held back for less than this part of their life are not said to be."""


def lines_of_run(evidence: "Evidence") -> Iterator[tuple[str, str]]:
    """Lines with their style on all the trees of the run; the first one says whether there are any."""
    blocking = evidence.blocking
    if blocking is None:
        return
    if blocking.worst is None:
        yield "no congestion tree: no link waited for room behind it for a tenth of any moment", ""
        return
    what = "credits" if blocking.names_room == "credits" else "the end of a pause"
    yield f"congestion trees: links that waited for {what}, and the full link that they waited for in the end", ""
    for period in blocking.periods[:MOST_PERIODS]:
        yield f"  {span(blocking, period)}: {'; '.join(of_tree(evidence, tree) for tree in period.trees)}", ""
    if len(blocking.periods) > MOST_PERIODS:
        yield f"  and {len(blocking.periods) - MOST_PERIODS} later periods", "dim"
    yield f"the largest, {span(blocking, blocking.worst)}:", ""
    for tree in blocking.worst.trees:
        yield from _drawn(blocking, tree, blocking.worst)


def line_of_flow(evidence: "Evidence", flow: int) -> str:
    """How long a flow was held back, and behind what; empty if it was not."""
    blocking = evidence.blocking
    if blocking is None or flow not in blocking.ways:
        return ""
    whole = evidence.flows[flow].life_ns
    parts = []
    behind, own = (blocking.held_ns(flow, as_victim) for as_victim in (True, False))
    if behind > LEAST_HELD * whole:
        roots = dict.fromkeys(
            blocking.name(tree.root) for trees in blocking.trees for tree in trees if flow in tree.victims
        )
        parts.append(
            f"{_time(behind)} behind packets for {', '.join(roots)}, where it does not go (head-of-line blocking)"
        )
    if own > LEAST_HELD * whole:
        roots = dict.fromkeys(
            blocking.name(tree.root) for trees in blocking.trees for tree in trees if flow in tree.contributors
        )
        parts.append(f"{_time(own)} in the queue for {', '.join(roots)}, which it helps to fill")
    return f"held back {'; '.join(parts)}" if parts else ""


def span(blocking: Blocking, period: Period) -> str:
    """From when to when."""
    shown = quantity("time_ns", float(blocking.edges[-1]))
    begin, end = (rounded(time * shown.factor, 3) for time in (period.begin_ns, period.end_ns))
    return f"{begin}-{end} {shown.unit}"


def of_tree(evidence: "Evidence", tree: Tree) -> str:
    """One tree in a sentence."""
    blocking = evidence.blocking
    assert blocking is not None
    others = len(tree.depth) - 1
    spread = f"{others} link{'s' if others != 1 else ''} blocked behind it, up to {max(tree.depth.values())} back"
    said = (
        f"root {blocking.name(tree.root)}, {spread}" if others else f"root {blocking.name(tree.root)}, blocked itself"
    )
    said += f"; contributors {_flows(evidence, tree.contributors)}"
    return said + (f"; victims {_flows(evidence, tree.victims)}" if tree.victims else "; no victim")


def document(blocking: Blocking | None) -> dict[str, Any] | None:
    """As plain data: the periods with their trees, links by name."""
    if blocking is None:
        return None
    return {
        "waits_for": blocking.names_room,
        "periods": [
            {
                "begin_ns": period.begin_ns,
                "end_ns": period.end_ns,
                "trees": [
                    {
                        "root": blocking.name(tree.root),
                        "waits_for": {blocking.name(a): blocking.name(b) for a, b in tree.waits_for.items()},
                        "contributors": sorted(tree.contributors),
                        "victims": sorted(tree.victims),
                    }
                    for tree in period.trees
                ],
            }
            for period in blocking.periods
        ],
        "held_ns": {
            flow: {"head_of_line": blocking.held_ns(flow, True), "own_root": blocking.held_ns(flow, False)}
            for flow in blocking.ways
        },
    }


def shares(blocking: Blocking, lane: Lane, period: Period) -> tuple[float, float, float]:
    """Means over a period: the share without room, the share that the link sent, bytes behind it."""
    inside = (blocking.edges[:-1] >= period.begin_ns) & (blocking.edges[1:] <= period.end_ns)
    curves = (blocking.paused.get(lane), blocking.busy.get(lane[0]), blocking.buffered.get(lane))
    found = [0.0 if curve is None else float(np.mean(curve[inside])) for curve in curves]
    return found[0], found[1], found[2]


def _drawn(blocking: Blocking, tree: Tree, period: Period) -> Iterator[tuple[str, str]]:
    """The tree, a line per link, indented by how far it is from the root."""
    at = max(range(len(blocking.trees)), key=lambda n: tree in blocking.trees[n])
    slow = ": its receiver takes no more" if blocking.is_slow(tree.root, at) else ""
    _, busy, _ = shares(blocking, tree.root, period)
    yield f"  {blocking.name(tree.root)}  sends {busy * 100:.0f} % of the time{slow}", "bold"
    order = list(_below(tree, tree.root))
    for lane in order[:MOST_LANES]:
        paused, _, held = shares(blocking, lane, period)
        size = quantity("x_bytes", held)
        buffer = f"{rounded(held * size.factor, 3)} {size.unit}"
        indent = "  " * (tree.depth[lane] + 1)
        yield f"{indent}{blocking.name(lane)}  blocked {paused * 100:.0f} % of the time, {buffer} behind it", ""
    if len(order) > MOST_LANES:
        yield f"    and {len(order) - MOST_LANES} more links", "dim"


def _below(tree: Tree, lane: Lane) -> Iterator[Lane]:
    for child in sorted(one for one, parent in tree.waits_for.items() if parent == lane):
        yield child
        yield from _below(tree, child)


def _flows(evidence: "Evidence", numbers: Iterable[int]) -> str:
    order: Sequence[int] = sorted(numbers)
    named = ", ".join(f"flow {n} {evidence.flows[n].src}>{evidence.flows[n].dst}" for n in order[:MOST_FLOWS])
    return named + (f" and {len(order) - MOST_FLOWS} more" if len(order) > MOST_FLOWS else "")


def _time(ns: float) -> str:
    shown = quantity("time_ns", abs(ns))
    return f"{rounded(ns * shown.factor, 3)} {shown.unit}"
