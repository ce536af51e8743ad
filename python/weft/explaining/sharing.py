"""Sharing: what a flow could have got at any moment, from what the others sent then.

On each link the others keep what they had, but nobody needs to have more than this flow: the level at which the link is
full is the flow's max-min share there (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2), given the others'
demands of the moment. A flow that waits for a timeout asks for nothing, and takes nothing from anybody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.explaining.evidence import Evidence, Flow, Reals, Strand

Numbers = NDArray[np.int64]
Words = NDArray[np.str_]
Flags = NDArray[np.bool_]

MOST_SLICES = 100
"""Pieces that a flow's life is cut into."""

ROOM = 0.5
"""A flow that leaves a larger part of its way unused is bounded by itself, not by the network: after a loss, windows
fall by half or less, but a flow in a timeout, a slow source and a small window leave more."""

SILENT = 0.02
"""A slice in which the flow gets less than this part of its share counts as silent."""

MOST_USES = 2_000_000
"""Links of flows, times slices, for which the perfect spread is computed."""


def level(capacity: float, demands: Reals) -> Reals:
    """What one more flow gets of a link that others ask for: `demands` are (flows, time), the result is by time.

    >>> level(10.0, np.array([[1.0, 4.0], [1.0, 20.0]])).tolist()
    [8.0, 3.3333333333333335]
    """
    if not len(demands):
        return np.full(demands.shape[1], capacity)
    asked = np.sort(demands, axis=0)
    before = np.vstack([np.zeros(asked.shape[1]), np.cumsum(asked, axis=0)])
    others = np.arange(len(asked), -1, -1)[:, None]
    # With the k smallest satisfied, the rest and this flow share what is left; the right k is the largest that fits.
    shares = (capacity - before) / (others + 1.0)
    fits = np.vstack([np.full(asked.shape[1], True), shares[:-1] >= asked])
    chosen = len(asked) - np.argmax(fits[::-1], axis=0)
    found: Reals = np.maximum(0.0, np.take_along_axis(shares, chosen[None], axis=0)[0])
    return found


@dataclass(frozen=True)
class Way:
    """One strand of a flow over time: its rate, its share, what was left unused, and the link that bounds it."""

    strand: Strand
    rate: Reals
    share: Reals
    unused: Reals
    bound: Numbers
    """Number of the fabric link with the least share; -1 where it crosses none."""


@dataclass(frozen=True)
class View:
    """A flow over its life, in slices. Rates are bits per second on the wire.

    `alone` is what its way would carry with nobody else; `host` what the hosts' links would have given it; `share` what
    the whole way would; `unused` what nobody used; `spread` its share had all flows used all equal ways equally, at
    least what it is.
    """

    flow: Flow
    edges: Reals
    alone: float
    rate: Reals
    host: Reals
    share: Reals
    unused: Reals
    spread: Reals
    bound: Numbers
    """Number of the link that bounds the share."""
    host_side: Words
    """Which host's link gives less: "out" or "in"."""
    ways: Sequence[Way]
    pace: float
    """What its source sends alone, bits per second; without end where only links limit it."""
    victim: Reals
    """Share of each slice in which it stood behind packets for a full port that is not on its way."""
    stopped: Reals
    """Share of each slice in which its receiver took less than the last link carries."""

    @property
    def seconds(self) -> Reals:
        """Length of each slice, ns."""
        lengths: Reals = np.diff(self.edges)
        return lengths

    @property
    def left(self) -> Reals:
        """What the flow could have had, up to its share, without taking it from anybody, bits per second.

        All of its share where it is silent: what it does not ask for others may have.
        """
        taken_from_nobody = np.clip(self.unused - self.rate, 0.0, None)
        return np.where(self.is_silent, self.share - self.rate, taken_from_nobody)

    @property
    def is_silent(self) -> Flags:
        """By slice: whether the flow has next to nothing."""
        return self.rate < SILENT * self.share

    @property
    def goodput_alone_bps(self) -> float:
        """Payload at the rate alone, once it flows."""
        return self.alone * self.flow.efficiency

    def payload_ns(self, payload_bytes: float) -> float:
        """Time of so much payload at the rate alone."""
        return payload_bytes * 8e9 / self.goodput_alone_bps

    @property
    def begin_ns(self) -> float:
        """What a flow alone needs beside the time of its bytes; 0 where that is not known."""
        flow = self.flow
        if flow.ideal_fct_ns is None or flow.fct_ns is None:
            return 0.0
        return max(0.0, flow.ideal_fct_ns - self.payload_ns(flow.delivered_bytes))


def look(evidence: Evidence, flow: Flow, spread: "Spread | None", slices: int = MOST_SLICES) -> View:
    """The life of a flow. Without `spread`, a perfect spread is taken to change nothing."""
    count = slices
    if evidence.every_ns is not None:
        count = min(slices, max(1, -(-flow.life_ns // evidence.every_ns)))
    edges = np.linspace(flow.start_ns, flow.end_ns, count + 1)
    strands = evidence.strands_of[flow.number]
    rates = [strand.rates(edges) for strand in strands]
    own: dict[int, Reals] = {}
    parts: dict[int, float] = {}
    for strand, rate in zip(strands, rates, strict=True):
        for link, part in strand.shares.items():
            parts[link] = parts.get(link, 0.0) + part
            own[link] = own.get(link, np.zeros(count)) + rate * part
    shares, rooms = {}, {}
    for link in parts:
        _, others = evidence.loads(link, edges, without=flow.number)
        capacity = evidence.links[link].rate_bps
        shares[link] = level(capacity, others)
        rooms[link] = np.clip(capacity - others.sum(axis=0), 0.0, None)
    # Links of hosts bound the flow as a whole, those of the fabric each of its strands.
    host_alone, host, host_unused, host_bound = np.inf, np.full(count, np.inf), np.full(count, np.inf), None
    host_side = np.full(count, "out", dtype="<U3")
    for side in ("out", "in"):
        of_side = [link for link in parts if evidence.links[link].side == side]
        if not of_side:
            continue
        is_divided = len(of_side) > 1
        alone = sum(evidence.links[link].rate_bps for link in of_side)
        share = np.sum([shares[link] for link in of_side], axis=0)
        unused = np.sum([rooms[link] for link in of_side], axis=0)
        tightest = np.array(of_side)[np.argmin([shares[link] for link in of_side], axis=0)]
        if not is_divided:
            tightest = np.full(count, of_side[0])
        host_side = np.where(share < host, side, host_side)
        host_bound = tightest if host_bound is None else np.where(share < host, tightest, host_bound)
        host_alone, host = min(host_alone, alone), np.minimum(host, share)
        host_unused = np.minimum(host_unused, unused)
    fabric_alone, ways = 0.0, []
    for strand, rate in zip(strands, rates, strict=True):
        fabric = [link for link in strand.shares if not evidence.links[link].side]
        if not fabric:
            fabric_alone = np.inf
            ways.append(Way(strand, rate, host, host_unused, np.full(count, -1)))
            continue
        # What a link gives to the flow, and what part of the strand crosses it.
        of_links = np.array([shares[link] / parts[link] for link in fabric])
        fabric_alone += min(evidence.links[link].rate_bps / parts[link] for link in fabric)
        unused = np.min([rooms[link] / parts[link] for link in fabric], axis=0)
        bound = np.array(fabric)[np.argmin(of_links, axis=0)]
        ways.append(Way(strand, rate, of_links.min(axis=0), unused, bound))
    alone = min(host_alone, fabric_alone)
    fabric_share = np.sum([way.share for way in ways], axis=0)
    host = np.minimum(host, alone)
    share = np.minimum(host, fabric_share)
    tightest_way = np.argmin([way.share for way in ways], axis=0)
    fabric_bound = np.array([way.bound for way in ways])[tightest_way, np.arange(count)]
    own_bound = host_bound if host_bound is not None else fabric_bound
    bound = np.where((fabric_share < host) & (fabric_bound >= 0), fabric_bound, own_bound)
    unused = np.minimum(host_unused, np.sum([way.unused for way in ways], axis=0))
    return View(
        flow,
        edges,
        alone,
        np.sum(rates, axis=0),
        host,
        share,
        np.minimum(unused, share),
        np.clip(spread.of(flow.number, edges), share, host) if spread else share,
        bound,
        host_side,
        ways,
        flow.pace_bps if flow.pace_bps is not None else np.inf,
        evidence.held(flow.number, edges, as_victim=True),
        evidence.held(flow.number, edges, as_victim=False, by_slow=True),
    )


@dataclass(frozen=True)
class Spread:
    """The share of each flow had all flows divided equally over all ways that routes offer, in slices of the run."""

    edges: Reals
    rates: Mapping[int, Reals]

    def of(self, flow: int, edges: Reals) -> Reals:
        """Of one flow, in other slices."""
        middle = (edges[1:] + edges[:-1]) / 2
        at = np.clip(np.searchsorted(self.edges, middle) - 1, 0, len(self.edges) - 2)
        found: Reals = self.rates[flow][at]
        return found


def perfect_spread(evidence: Evidence, begin_ns: float, end_ns: float) -> Spread:
    """Max-min shares with every flow divided equally, between two times.

    A flow that left room on its own way is bounded by itself (its window, a timeout, nothing to send): it asks for what
    it got, the others for all that they can get.
    """
    from weft import _core

    alive = [f for f in evidence.flows.values() if f.start_ns < end_ns and f.end_ns > begin_ns]
    uses = sum(len(evidence.spread[flow.number][0]) for flow in alive)
    slices = int(np.clip(MOST_USES // max(1, uses), 10, MOST_SLICES))
    edges = np.linspace(begin_ns, end_ns, slices + 1)
    capacities = [link.rate_bps for link in evidence.links]
    rate = {flow.number: np.zeros(slices) for flow in alive}
    room = {flow.number: np.zeros(slices) for flow in alive}
    load = np.zeros((len(capacities), slices))
    strands = [strand for flow in alive for strand in evidence.strands_of.get(flow.number, ())]
    for strand in strands:
        sent = strand.rates(edges)
        rate[strand.flow] += sent
        for link, part in strand.shares.items():
            load[link] += sent * part
    free = np.clip(np.array(capacities)[:, None] - load, 0.0, None)
    narrowest = {}
    for strand in strands:
        links = list(strand.shares)
        room[strand.flow] = np.maximum(room[strand.flow], free[links].min(axis=0))
        narrowest[strand.flow] = min(capacities[link] for link in links)
    found = {flow.number: np.zeros(slices) for flow in evidence.flows.values()}
    for at in range(slices):
        paths, parts, asked = [], [], list(capacities)
        present = [f for f in alive if f.start_ns < edges[at + 1] and f.end_ns > edges[at]]
        for flow in present:
            links, shares = evidence.spread[flow.number]
            if room[flow.number][at] > ROOM * narrowest.get(flow.number, 0.0):
                links, shares = [*links, len(asked)], [*shares, 1.0]
                asked.append(float(rate[flow.number][at]))
            paths.append(links)
            parts.append(shares)
        rates = np.array(_core.max_min(paths, asked, parts))
        for flow, share in zip(present, rates + _more(paths, parts, rates, asked, len(capacities)), strict=True):
            found[flow.number][at] = share
    return Spread(edges, found)


def _more(
    paths: Sequence[Sequence[int]],
    parts: Sequence[Sequence[float]],
    rates: Reals,
    capacities: Sequence[float],
    links: int,
) -> Reals:
    """How much more each flow could have had than it asked for: what is left on all of its links."""
    left = np.array(capacities[:links])
    for path, of, rate in zip(paths, parts, rates, strict=True):
        own = [link for link in path if link < links]
        left[own] -= rate * np.array(of[: len(own)])
    more = [
        min((left[link] / part for link, part in zip(path, of, strict=True) if link < links), default=0.0)
        for path, of in zip(paths, parts, strict=True)
    ]
    return np.clip(more, 0.0, None)
