"""Bottlenecks: the links that bounded a flow, when, who else was on them, and what the equal ways carried."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.explaining.cause.collision import collided
from weft.explaining.evidence import Evidence, Strand
from weft.explaining.sharing import Numbers, View, Way

BOUNDED = 0.95
"""A flow is bounded where its share is less than this part of what it would have alone."""

LEAST_SPAN = 0.05
"""Spans shorter than this part of the flow's life, and gaps between two of a link, are not told apart."""

PRESENT = 0.01
"""A flow counts on a link if it has more than this part of it."""

MOST_PATHS = 1024
"""Ways of one pair of hosts that are looked at."""


@dataclass(frozen=True)
class Other:
    """A flow that shared a link: its mean rate there, bits per second on the wire, over a span."""

    flow: int
    src: str
    dst: str
    rate_bps: float


@dataclass(frozen=True)
class Alternative:
    """A link that the flow could have taken instead: how many flows it carried, and its mean load."""

    link: str
    flows: int
    utilization: float


@dataclass(frozen=True)
class Span:
    """A link that bounded a flow from `begin_ns` to `end_ns`.

    Rates are goodput in bits per second, means over the span: what the flow got, its fair share, and its share under a
    perfect spread. `lost_ns` is the time lost to sharing, of which `collided_ns` to collision. `alternatives` are none
    where there is no other way.
    """

    link: str
    side: str
    begin_ns: float
    end_ns: float
    goodput_bps: float
    share_bps: float
    spread_bps: float
    lost_ns: float
    collided_ns: float
    others: Sequence[Other]
    alternatives: Sequence[Alternative]
    dropped_packets: int

    @property
    def is_collision(self) -> bool:
        """Whether equal ways had room for at least a tenth of what was lost here."""
        return not self.side and self.collided_ns > 0.1 * self.lost_ns


def spans(evidence: Evidence, view: View) -> list[Span]:
    """Where a flow was bounded, longest loss first."""
    is_bound = view.share < BOUNDED * view.alone
    found = []
    for link, pieces in _pieces(
        np.where(is_bound, view.bound, -1), max(1, round(LEAST_SPAN * len(view.bound)))
    ).items():
        found += [_span(evidence, view, link, begin, end) for begin, end in pieces]
    return sorted(found, key=lambda span: -span.lost_ns)


def _pieces(bound: Numbers, least: int) -> dict[int, list[tuple[int, int]]]:
    """By link: from which slice to which it bounds, short gaps closed.

    >>> _pieces(np.array([3, 3, -1, 3, 7, 7, 7, 3]), 1)
    {3: [(0, 4), (7, 8)], 7: [(4, 7)]}
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for at, link in enumerate(bound.tolist()):
        if link < 0:
            continue
        pieces = found.setdefault(link, [])
        if pieces and at - pieces[-1][1] <= least:
            pieces[-1] = (pieces[-1][0], at + 1)
        else:
            pieces.append((at, at + 1))
    return found


def _span(evidence: Evidence, view: View, link: int, begin: int, end: int) -> Span:
    flow, edges = view.flow, view.edges[begin : end + 1]
    inside = np.zeros(len(view.bound), bool)
    inside[begin:end] = view.bound[begin:end] == link
    length = view.seconds

    def lost(rates: np.ndarray) -> float:
        return float((rates * length)[inside].sum() / view.alone)

    def mean(rates: np.ndarray) -> float:
        return float((rates * length)[begin:end].sum() / length[begin:end].sum() * flow.efficiency)

    target = evidence.links[link]
    return Span(
        link=target.name,
        side=target.side,
        begin_ns=float(edges[0]),
        end_ns=float(edges[-1]),
        goodput_bps=mean(view.rate),
        share_bps=mean(view.share),
        spread_bps=mean(view.spread),
        lost_ns=lost(view.alone - view.share),
        collided_ns=lost(collided(view)),
        others=others_on(evidence, flow.number, link, edges),
        alternatives=[] if target.side or not evidence.is_per_flow else _alternatives(evidence, view, link, edges),
        dropped_packets=evidence.dropped.get(target.name, 0),
    )


def others_on(evidence: Evidence, flow: int, link: int, edges: np.ndarray) -> list[Other]:
    """Who else was on a link between the first and the last of `edges`, most first."""
    flows, rates = evidence.loads(link, edges, without=flow)
    if not flows:
        return []
    means = (rates * np.diff(edges)).sum(axis=1) / (edges[-1] - edges[0])
    capacity = evidence.links[link].rate_bps
    found = [
        Other(number, evidence.flows[number].src, evidence.flows[number].dst, float(mean))
        for number, mean in zip(flows, means, strict=True)
        if mean > PRESENT * capacity
    ]
    return sorted(found, key=lambda other: -other.rate_bps)


def _alternatives(evidence: Evidence, view: View, link: int, edges: np.ndarray) -> list[Alternative]:
    """The links that equal ways have in this one's place; on a way of another length, its fullest one."""
    way = next((way for way in view.ways if link in way.strand.path), view.ways[0])
    path = way.strand.path
    whole = edges[[0, -1]]
    known: dict[int, Alternative] = {}

    def carried(other: int) -> Alternative:
        if other not in known:
            capacity = evidence.links[other].rate_bps
            flows, rates = evidence.loads(other, whole, without=view.flow.number)
            present = int((rates[:, 0] > PRESENT * capacity).sum()) if flows else 0
            known[other] = Alternative(evidence.links[other].name, present, float(rates.sum() / capacity))
        return known[other]

    found = {}
    for other_path in evidence.scenario.core.offered_paths(view.flow.number, MOST_PATHS):
        if link in other_path:
            continue
        if len(other_path) == len(path):
            other = other_path[path.index(link)]
        else:
            fabric = [each for each in other_path if not evidence.links[each].side and each not in path]
            other = max(fabric or other_path, key=lambda each: carried(each).utilization)
        found[other] = carried(other)
    return sorted(found.values(), key=lambda each: (each.flows, each.utilization, each.link))


@dataclass(frozen=True)
class Subflow:
    """One of several strands: its path, mean rate and share (goodput, bits per second), and what bounded it longest."""

    number: int
    path: Sequence[str]
    goodput_bps: float
    share_bps: float
    link: str | None
    others: Sequence[Other]


def subflows(evidence: Evidence, view: View) -> list[Subflow]:
    """The subflows of a flow that has several."""
    return [_subflow(evidence, view, way) for way in view.ways] if len(view.ways) > 1 else []


def _subflow(evidence: Evidence, view: View, way: Way) -> Subflow:
    strand: Strand = way.strand
    length = view.seconds
    links = [link for link in strand.path if (way.bound == link).any()]
    longest = max(links, key=lambda link: float(length[way.bound == link].sum()), default=None)
    return Subflow(
        strand.number,
        [evidence.links[link].name for link in strand.path],
        float((way.rate * length).sum() / length.sum() * view.flow.efficiency),
        float((np.minimum(way.share, view.alone) * length).sum() / length.sum() * view.flow.efficiency),
        evidence.links[longest].name if longest is not None else None,
        others_on(evidence, view.flow.number, longest, view.edges[[0, -1]]) if longest is not None else [],
    )
