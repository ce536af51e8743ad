"""Evidence: what is known of a run, as numbers: its links, its flows, what each sent when and over which links.

A flow consists of strands: its subflows, or one strand where it has one. A strand that is balanced packet by packet
lies on many links, each with the share of its packets there. What a strand carried is a curve of bits over time, from
samples of the payload that arrived where there are some, else a straight line over its life (`is_sampled` says
which). It counts arrivals and not what the sender sent: that may wait in a queue before the link that matters, or be
lost there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weft.explaining.blocking import Blocking, read_blocking
from weft.explaining.queue_pairs import queue_pairs

if TYPE_CHECKING:
    import polars as pl

    from weft.scenario import Scenario

Reals = NDArray[np.float64]

UDP_HEADERS = 28
"""Bytes of IP and UDP headers."""

TCP_HEADERS = 52
"""Bytes of IP and TCP headers with timestamps."""


@dataclass(frozen=True)
class Link:
    """A directed link; `side` says whether it leaves a host ("out"), reaches one ("in") or is the fabric's ("")."""

    name: str
    rate_bps: float
    side: str


@dataclass(frozen=True)
class Strand:
    """A subflow, or a flow that has one path: the links with the share of its packets on each, and what it carried.

    `bits` is how many had arrived by `times` (ns), both rising: payload, with the headers that it came with.
    """

    flow: int
    number: int
    path: tuple[int, ...]
    """Its links in order; empty where packets take several ways."""
    shares: Mapping[int, float]
    times: Reals
    bits: Reals

    def rates(self, edges: Reals) -> Reals:
        """Bits per second on the wire between each two of `edges` (ns)."""
        sent = np.interp(edges, self.times, self.bits)
        rates: Reals = np.diff(sent) / np.diff(edges) * 1e9
        return rates


@dataclass(frozen=True)
class Flow:
    """One flow of the run.

    Times in ns; `end_ns` is that of the run where it did not finish; `efficiency` is payload over wire bytes.
    """

    number: int
    workload: str
    src: str
    dst: str
    size_bytes: int | None
    start_ns: int
    end_ns: int
    fct_ns: int | None
    ideal_fct_ns: int | None
    delivered_bytes: int
    wire_bytes: int
    retransmitted_bytes: int
    lost_packets: int
    reordered_packets: int
    spurious_retransmits: int
    duplicate_bytes: float
    """Payload that arrived again, about: segments that were sent again in vain."""
    timeouts: int
    timeout_wait_ns: int
    reason: str | None
    efficiency: float
    marked_packets: int = 0
    is_controlled: bool = False
    """Whether it is a queue pair whose packets were marked."""
    pace_bps: float | None = None
    """Bits per second on the wire that its adapter sends alone; None where only links limit it."""

    @property
    def life_ns(self) -> int:
        """From its first packet to its last byte, or to the end of the run."""
        return self.end_ns - self.start_ns

    @property
    def goodput_bps(self) -> float:
        """Payload over its life."""
        return self.delivered_bytes * 8e9 / self.life_ns if self.life_ns > 0 else 0.0


@dataclass(frozen=True)
class Evidence:
    """All of it. `flows` are those that began, by their number."""

    scenario: "Scenario"
    links: Sequence[Link]
    flows: Mapping[int, Flow]
    strands: Sequence[Strand]
    end_ns: int
    every_ns: int | None
    """Time between two samples; None where there are none."""
    balance: str
    """Kind of load balance."""
    is_per_flow: bool
    """Whether every strand has one path."""
    never_began: int
    dropped: Mapping[str, int]
    """By link: packets that its queue dropped, where it did."""
    blocking: Blocking | None = None
    """Where a lossless fabric held packets back; None where links drop, or nothing of it was sampled."""

    @property
    def is_sampled(self) -> bool:
        """Whether rates over time are known; else every flow has its mean rate all its life."""
        return self.every_ns is not None

    @cached_property
    def strands_of(self) -> Mapping[int, list[Strand]]:
        """The strands of each flow."""
        found: dict[int, list[Strand]] = {}
        for strand in self.strands:
            found.setdefault(strand.flow, []).append(strand)
        return found

    @cached_property
    def crossing(self) -> Mapping[int, list[tuple[int, Strand]]]:
        """By link: (flow, strand) of all strands that lie on it."""
        found: dict[int, list[tuple[int, Strand]]] = {}
        for strand in self.strands:
            for link in strand.shares:
                found.setdefault(link, []).append((strand.flow, strand))
        return found

    def loads(self, link: int, edges: Reals, without: int | None = None) -> tuple[list[int], Reals]:
        """The flows on a link between the first and the last of `edges`, and their bits per second by time.

        Flows that send nothing in that time are left out, and the flow `without`.
        """
        found: dict[int, Reals] = {}
        for number, strand in self.crossing.get(link, ()):
            if number == without or strand.times[0] >= edges[-1] or strand.times[-1] <= edges[0]:
                continue
            load = strand.rates(edges) * strand.shares[link]
            found[number] = found[number] + load if number in found else load
        rates = np.array(list(found.values())) if found else np.zeros((0, len(edges) - 1))
        return list(found), rates

    def held(self, flow: int, edges: Reals, as_victim: bool, by_slow: bool = False) -> Reals:
        """By slice, the share of it in which a lossless fabric held a flow back: see Blocking.held."""
        found: Reals = np.zeros(len(edges) - 1)
        if self.blocking is None or flow not in self.blocking.ways:
            return found
        held = self.blocking.held(flow, as_victim, by_slow)
        before = np.concatenate(([0.0], np.cumsum(held * np.diff(self.blocking.edges))))
        found = np.diff(np.interp(edges, self.blocking.edges, before)) / np.diff(edges)
        return found

    @cached_property
    def spread(self) -> list[tuple[list[int], list[float]]]:
        """By flow: links and shares if all that routes offer were used equally."""
        return self.scenario.core.spread()


def read_evidence(
    scenario: "Scenario", spec: Mapping[str, Any], tables: Mapping[str, "pl.DataFrame"], end_ns: int
) -> Evidence:
    """The evidence of a run from the scenario that it had, the tables that it left, and when it ended."""
    columns, nodes = scenario.links(), scenario.nodes()
    is_host = dict(zip(nodes["name"], (kind == "host" for kind in nodes["kind"]), strict=True))
    links = [
        Link(name, float(rate), "out" if is_host[src] else "in" if is_host[dst] else "")
        for name, src, dst, rate in zip(
            columns["name"], columns["src"], columns["dst"], columns["rate_bps"], strict=True
        )
    ]
    numbers = {link.name: number for number, link in enumerate(links)}
    rows = tables["flows"]
    flows = {}
    segment, streams, datagrams = _full_segments(spec)
    pairs = queue_pairs(spec)
    for row in rows.iter_rows(named=True):
        if row["start_ns"] is not None and row["wire_bytes"] > 0:
            # What a flow that did not finish has under way is in its wire bytes, and not among what it delivered.
            known = datagrams if row["fct_ns"] is not None else streams | datagrams
            of = pairs.get(row["workload"])
            flow = _flow(row, end_ns, segment, of.efficiency if of else known.get(row["workload"]))
            if of:
                rate = min(link.rate_bps for link in links if link.name.startswith(f"{flow.src}>"))
                marked = row["marked_packets"] or 0
                flow = replace(
                    flow,
                    marked_packets=marked,
                    is_controlled=marked > 0 and of.is_controlled,
                    pace_bps=of.pace_bps(rate),
                )
            flows[row["flow"]] = flow
    curves, every_ns = _curves(tables)
    balance = str(spec.get("load_balance", {}).get("kind", "ecmp"))
    is_per_flow = any(path is not None for path in scenario.flows()["path"])
    paths: dict[int, list[dict[str, Any]]] = {}
    for row in tables["paths"].iter_rows(named=True):
        paths.setdefault(row["flow"], []).append(row)
    spread = [] if is_per_flow else scenario.core.spread()
    strands: list[Strand] = []
    for flow in flows.values():
        own = [row for row in paths.get(flow.number, ()) if row["tx_bytes"] > 0]
        if is_per_flow:
            used = [row for row in own if row["path"]]
            found = _carried(flow, used, curves)
            for row, (times, bits) in zip(used, found, strict=True):
                way = tuple(numbers[name] for name in row["path"])
                strands.append(Strand(flow.number, row["subflow"], way, dict.fromkeys(way, 1.0), times, bits))
        elif shares := _shares(flow, own, numbers, spread[flow.number]):
            # Packet by packet, subflows take the same ways: together they are one strand.
            ((times, bits),) = _carried(flow, [{"subflow": 0, "tx_bytes": 1}], curves)
            strands.append(Strand(flow.number, 0, (), shares, times, bits))
    if is_per_flow and len({strand.flow for strand in strands}) < len(strands) and not any("/" in e for e in curves):
        # Which subflow carried how much at which time is not known.
        every_ns = None
    lives = {flow.number: (float(flow.start_ns), float(flow.end_ns)) for flow in flows.values()}
    of_workloads = {flow.number: flow.workload for flow in flows.values()}
    blocking = read_blocking(links, strands, lives, spec, tables, of_workloads)
    queues = tables["queues"]
    dropped = {
        link: count
        for link, count in zip(queues["link"].to_list(), queues["dropped_packets"].to_list(), strict=True)
        if count
    }
    return Evidence(
        scenario,
        links,
        flows,
        strands,
        end_ns,
        every_ns,
        balance,
        is_per_flow,
        rows.height - len(flows),
        dropped,
        blocking,
    )


def _full_segments(spec: Mapping[str, Any]) -> tuple[int, dict[str, float], dict[str, float]]:
    """Payload of a full TCP segment; and payload over wire bytes of the full packets of each workload: TCP, and UDP."""
    link = spec["topology"].get("link", {})
    mtu, overhead = link.get("mtu", 1500), link.get("overhead", 38)
    streams, datagrams = {}, {}
    for workload in spec["workload"]:
        transport = workload.get("transport") or spec.get("transport", {})
        if transport.get("kind") == "udp":
            packet = min(transport.get("packet") or mtu, mtu)
            datagrams[workload["name"]] = (packet - UDP_HEADERS) / (packet + overhead)
        else:
            streams[workload["name"]] = (mtu - TCP_HEADERS) / (mtu + overhead)
    return mtu - TCP_HEADERS, streams, datagrams


COPIED = (
    "workload", "src", "dst", "size_bytes", "fct_ns", "ideal_fct_ns", "delivered_bytes", "wire_bytes",
    "retransmitted_bytes", "lost_packets", "reordered_packets", "spurious_retransmits", "reason",
)  # fmt: skip
"""Columns of the table that are as they are here."""


def _flow(row: Mapping[str, Any], end_ns: int, segment: int, efficiency: float | None) -> Flow:
    if efficiency is None:
        # Of what was sent once: what was sent again is counted with its headers.
        once = row["wire_bytes"] - row["retransmitted_bytes"]
        efficiency = min(1.0, max(1, row["delivered_bytes"]) / max(1, once))
    start = row["start_ns"]
    # An endless flow that was stopped ends with its last packet.
    over = row["fct_ns"] if row["fct_ns"] is not None else row["closed_ns"] if row["size_bytes"] is None else None
    return Flow(
        number=row["flow"],
        start_ns=start,
        end_ns=max(start + over if over is not None else end_ns, start + 1),
        # Runs of before these were counted have no such columns.
        timeouts=row.get("timeouts") or 0,
        timeout_wait_ns=row.get("timeout_wait_ns") or 0,
        duplicate_bytes=float(min(row["retransmitted_bytes"], row["spurious_retransmits"] * segment)),
        efficiency=efficiency,
        **{name: row[name] for name in COPIED},
    )


Curve = tuple[Reals, Reals]


def _curves(tables: Mapping[str, "pl.DataFrame"]) -> tuple[dict[str, Curve], int | None]:
    """By "FLOW" and "FLOW/SUBFLOW": times of samples and payload (bits) until then; and the time between two."""
    import polars as pl

    if "samples" not in tables:
        return {}, None
    samples = tables["samples"]
    sampled = samples.filter(pl.col("metric").is_in(["goodput_bps", "subflow_goodput_bps"]))
    if sampled.is_empty():
        return {}, None
    every = int(samples["time_ns"].min())  # type: ignore[arg-type]
    found = {}
    for (entity,), rows in sampled.group_by("entity", maintain_order=True):
        times = rows["time_ns"].to_numpy().astype(float)
        bits = np.cumsum(rows["value"].to_numpy()) * every / 1e9
        # Where a curve begins it is zero, one interval before the first sample.
        found[str(entity)] = (np.concatenate(([times[0] - every], times)), np.concatenate(([0.0], bits)))
    return found, every


def _carried(flow: Flow, rows: Sequence[Mapping[str, Any]], curves: Mapping[str, Curve]) -> list[Curve]:
    """Curves of the strands of a flow, with headers: they begin and end with it and come to all that it delivered.

    What no sample has seen, after the last one or all of it, is divided by what the strands sent.
    """
    if not rows:
        return []
    is_one = len(rows) == 1
    found = [curves.get(f"{flow.number}" if is_one else f"{flow.number}/{row['subflow']}") for row in rows]
    seen = [float(curve[1][-1]) if curve else 0.0 for curve in found]
    total = 8.0 * flow.delivered_bytes
    # Data that was sent again over another subflow arrived twice, and counts once.
    scale = min(1.0, total / sum(seen)) if sum(seen) > 0 else 1.0
    rest = total - scale * sum(seen)
    sent = sum(row["tx_bytes"] for row in rows)
    whole = []
    for curve, had, row in zip(found, seen, rows, strict=True):
        end = scale * had + rest * row["tx_bytes"] / sent
        times, bits = curve if curve else (np.zeros(0), np.zeros(0))
        inside = (times > flow.start_ns) & (times < flow.end_ns)
        whole.append(
            (
                np.concatenate(([flow.start_ns], times[inside], [flow.end_ns])),
                np.concatenate(([0.0], scale * bits[inside], [end])) / flow.efficiency,
            )
        )
    return whole


def _shares(
    flow: Flow, rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], spread: tuple[list[int], list[float]]
) -> dict[int, float]:
    """The share of a flow's packets on each link, where packets are balanced one by one.

    As recorded (`measure.paths`) if whole paths are known, else equally over all that routes offer.
    """
    total = sum(row["tx_bytes"] for row in rows)
    ends = (f"{flow.src}>", f">{flow.dst}")
    if not total or not all(row["path"][0].startswith(ends[0]) and row["path"][-1].endswith(ends[1]) for row in rows):
        return dict(zip(*spread, strict=True))
    shares: dict[int, float] = {}
    for row in rows:
        for name in row["path"]:
            shares[numbers[name]] = shares.get(numbers[name], 0.0) + row["tx_bytes"] / total
    return shares
