"""The explanation of a run: where the time of each flow went, and what cost how much in all flows together."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.explaining import tree_words
from weft.explaining.bottleneck import Span, Subflow, spans, subflows
from weft.explaining.cause import CAUSES
from weft.explaining.evidence import Evidence, Flow
from weft.explaining.sharing import Spread, View, look, perfect_spread

if TYPE_CHECKING:
    import polars as pl


SLOW = 1.1
"""From this slowdown on there is something to explain."""

MOST_LOOKS = 20_000_000
"""Numbers that the sum over all flows may take; beyond, the slowest flows stand for all."""

COARSE = 40
"""Slices of a flow's life in the sum over all flows."""


@dataclass(frozen=True)
class Explained:
    """One flow.

    `lost_ns` is by cause and adds up to the time beyond the ideal one; `alone_bps` is the goodput that its way carries
    with nobody else, `share_bps` the mean of its fair share, `spread_bps` that under a perfect spread.
    """

    flow: Flow
    path: Sequence[str]
    slowdown: float
    alone_ns: float
    alone_bps: float
    share_bps: float
    spread_bps: float
    lost_ns: Mapping[str, float]
    spans: Sequence[Span]
    subflows: Sequence[Subflow]
    view: View = field(repr=False)

    @property
    def cause(self) -> str | None:
        """What cost most; None for a flow that is about as fast as alone."""
        if self.slowdown < SLOW:
            return None
        return max(self.lost_ns, key=lambda name: self.lost_ns[name])


@dataclass(frozen=True)
class Total:
    """What a cause cost all flows together.

    Payload that they would have had alone, its share of all that was lost, and of how many flows it is the first cause.
    """

    cause: str
    lost_bytes: float
    share: float
    flows: int


@dataclass(frozen=True)
class Explanation:
    """Why the flows of a run got what they got. `str()` is the text of `weft explain`."""

    directory: Path
    run: str
    cell: str
    repeat: int
    seed: int
    of_runs: int
    why_this_run: str
    source: str
    """Where the rates over time are from."""
    flows: Sequence[Explained]
    totals: Sequence[Total]
    counted: int
    """Flows that the totals are of: all that began, or the slowest."""
    slow: int
    """Of these, how many took at least `SLOW` times as long as alone."""
    evidence: Evidence = field(repr=False)
    warnings: Sequence[str] = ()

    @property
    def frame(self) -> "pl.DataFrame":
        """One row per explained flow: numbers and the time lost to each cause, ns."""
        import polars as pl

        rows = [
            {"flow": e.flow.number, "src": e.flow.src, "dst": e.flow.dst, "slowdown": e.slowdown, "cause": e.cause}
            | {"goodput_bps": e.flow.goodput_bps, "alone_bps": e.alone_bps, "share_bps": e.share_bps}
            | {"spread_bps": e.spread_bps}
            | {f"{name}_ns": e.lost_ns[name] for name in CAUSES}
            for e in self.flows
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def document(self) -> dict[str, Any]:
        """As plain data, without the curves."""
        names = ("run", "cell", "repeat", "seed", "of_runs", "source", "counted", "slow")
        return (
            {"directory": str(self.directory)}
            | {name: getattr(self, name) for name in names}
            | {"warnings": list(self.warnings), "congestion": tree_words.document(self.evidence.blocking)}
            | {"totals": [asdict(total) for total in self.totals], "flows": [_flow_document(e) for e in self.flows]}
        )

    def svg(self) -> str:
        """The flows over time, link by link, as SVG text."""
        from weft.explaining.picture import svg

        return svg(self)

    def write_picture(self, path: str | Path) -> None:
        """Write the picture as .svg, .png or .html, by the ending of `path`. Raises ResultsError, OutputError."""
        from weft.explaining.picture import write

        write(self, Path(path))

    def __str__(self) -> str:
        from weft.explaining.words import text

        return text(self)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def _flow_document(e: Explained) -> dict[str, Any]:
    names = ("slowdown", "alone_ns", "alone_bps", "share_bps", "spread_bps", "cause")
    return (
        asdict(e.flow)
        | {"goodput_bps": e.flow.goodput_bps, "path": list(e.path)}
        | {name: getattr(e, name) for name in names}
        | {"lost_ns": dict(e.lost_ns), "subflows": [asdict(each) for each in e.subflows]}
        | {"bottlenecks": [asdict(span) | {"is_collision": span.is_collision} for span in e.spans]}
    )


def slowdown_of(flow: Flow, alone_bps: float | None = None) -> float:
    """How many times as long as alone: completion time over ideal, else the rate alone over goodput."""
    if flow.fct_ns is not None and flow.ideal_fct_ns:
        return flow.fct_ns / flow.ideal_fct_ns
    if alone_bps is None:
        # Enough for an order: the smallest goodput first.
        alone_bps = 1e15
    return alone_bps / flow.goodput_bps if flow.goodput_bps > 0 else float("inf")


def explained(evidence: Evidence, flow: Flow, spread: Spread) -> Explained:
    """Explain one flow in detail."""
    view = look(evidence, flow, spread)
    strands = evidence.strands_of[flow.number]
    length, ratio = view.seconds, flow.efficiency / flow.life_ns
    finished = flow.fct_ns is not None and flow.ideal_fct_ns is not None
    return Explained(
        flow=flow,
        path=[evidence.links[link].name for link in strands[0].path],
        slowdown=slowdown_of(flow, view.goodput_alone_bps),
        alone_ns=float(flow.ideal_fct_ns or 0) if finished else view.payload_ns(flow.delivered_bytes),
        alone_bps=view.goodput_alone_bps,
        share_bps=float((view.share * length).sum() * ratio),
        spread_bps=float((view.spread * length).sum() * ratio),
        lost_ns=lost(view),
        spans=spans(evidence, view),
        subflows=subflows(evidence, view),
        view=view,
    )


def lost(view: View) -> dict[str, float]:
    """Time lost to each cause, ns."""
    return {name: cause.lost_ns(view) for name, cause in CAUSES.items()}


def totals(evidence: Evidence, flows: Sequence[Flow], spread: Spread) -> tuple[list[Total], int, int]:
    """What each cause cost all of `flows`, slowest first, together; of how many that is; how many are slow."""
    bytes_lost = dict.fromkeys(CAUSES, 0.0)
    first = dict.fromkeys(CAUSES, 0)
    looks = counted = slow = 0
    for flow in flows:
        links = [link for strand in evidence.strands_of.get(flow.number, ()) for link in strand.shares]
        if not links:
            continue
        looks += COARSE * sum(len(evidence.crossing[link]) for link in links)
        if looks > MOST_LOOKS and counted:
            break
        counted += 1
        view = look(evidence, flow, spread, COARSE)
        of_flow = lost(view)
        for name, time in of_flow.items():
            bytes_lost[name] += time * view.goodput_alone_bps / 8e9
        if slowdown_of(flow, view.goodput_alone_bps) >= SLOW:
            slow += 1
            first[max(of_flow, key=lambda name: of_flow[name])] += 1
    # What some gain others have lost: only what remains counts.
    whole = sum(max(0.0, value) for value in bytes_lost.values())
    found = [
        Total(name, value, max(0.0, value) / whole if whole > 0 else 0.0, first[name])
        for name, value in bytes_lost.items()
    ]
    return sorted(found, key=lambda total: -total.lost_bytes), counted, slow


def spread_of(evidence: Evidence, flows: Sequence[Flow]) -> Spread:
    """The perfect spread over the time of these flows."""
    return perfect_spread(evidence, min(f.start_ns for f in flows), max(f.end_ns for f in flows))
