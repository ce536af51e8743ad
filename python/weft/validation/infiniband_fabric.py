"""The fabric of the InfiniBand congestion control thesis, and its flows: what its oracles share.

Source: Mahamud, "Exploring InfiniBand Congestion Control", master's thesis, University of Oslo, 2015. Five hosts at
four switches in a square: H1 and H5 at SW1, the others at a switch each. H1, H2 and H3 send to H4, whose link is the
root of the congestion; H5 sends to H3 and is the victim, since its packets wait in the same buffer of SW3 as those of
H1. Links of the hosts carry 20 Gb/s with 8b/10b coding, 16 Gb/s of data; two of the square's carry twice as much.
Flows start one after another: a stage is the time until the next, and each stage is measured in its second half.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.validation.oracle import simulate

CABLES = (
    ("SW1", "SW3"),
    ("SW2", "SW4"),
    ("H1", "SW1"),
    ("H2", "SW2"),
    ("H3", "SW3"),
    ("H4", "SW4"),
    ("SW1", "SW2"),
    ("SW3", "SW4"),
    ("H5", "SW1"),
)
"""In the order of the ports: the first two cables are port 0 of their switches."""

TABLES = """thesis.fdbs
0: 255 1 2 0 0 3
1: 255 2 1 0 0 2
2: 255 0 0 1 2 0
3: 255 0 0 2 1 0
"""
"""Forwarding tables of SW1 to SW4: the output port for LID 1 to 5."""

PORT_0 = ("SW1>SW3", "SW3>SW1", "SW2>SW4", "SW4>SW2")
"""Where two packets may leave a buffer at once, and the victim mask is 0."""

MASKED = ("SW*>H*", "SW1>SW2", "SW2>SW1", "SW3>SW4", "SW4>SW3")
"""The ports whose victim mask is 1."""

SENDERS = (("H1", "H4"), ("H2", "H4"), ("H3", "H4"), ("H5", "H3"))
SHIFTS_NS = (0, 13, 26, 52)
"""Against exact ties between the clocks of the sources."""

BYTES_PER_SECOND = 8e6
"""Bits per second in 1 MB/s."""


def experiment(congestion: Mapping[str, Any], tables: Path, stage_ms: int, senders: int, gbps: int) -> dict[str, Any]:
    """The first `senders` flows, one more in every stage; links of the hosts signal at `gbps`, 20 or 40."""
    data = {20: "16 Gbps", 40: "32 Gbps"}
    links = [{"a": a, "b": b, "rate": data[40] if index < 2 else data[gbps]} for index, (a, b) in enumerate(CABLES)]
    return {
        "backend": {"until": f"{senders * stage_ms} ms"},
        "topology": {
            "kind": "custom",
            "hosts": ["H1", "H2", "H3", "H4", "H5"],
            "links": links,
            "link": {"delay": "5 ns"},
        },
        "routing": {"kind": "linear_table", "file": str(tables), "switches": ["SW1", "SW2", "SW3", "SW4"]},
        "flow_control": {"kind": "credit", "ports": [{"links": link, "max_being_sent": 2} for link in PORT_0]},
        "transport": {"kind": "infiniband"},
        "congestion": dict(congestion),
        "measure": {"every": f"{stage_ms // 2} ms", "metrics": ["goodput"]},
        "workload": [
            {
                "name": src,
                "kind": "pairs",
                "pairs": [f"{src}>{dst}"],
                "start": f"{stage_ms * 1_000_000 * index + SHIFTS_NS[index]} ns",
            }
            for index, (src, dst) in enumerate(SENDERS[:senders])
        ],
    }


def controlled(threshold: int, timer_us: int, **other: Any) -> dict[str, Any]:
    """Congestion control of the thesis at a threshold and a timer."""
    return {
        "kind": "infiniband",
        "threshold": threshold,
        "ccti_timer": f"{timer_us} us",
        "victim_mask": list(MASKED),
        **other,
    }


def stages(
    asked: Mapping[str, Any], folder: Path, stage_ms: int, senders: int = 4, gbps: int = 20
) -> list[list[float]]:
    """MB/s of every flow (columns) in the second half of every stage (rows); 0 before its start."""
    tables = folder / "thesis.fdbs"
    tables.write_text(TABLES)
    samples = simulate(experiment(asked, tables, stage_ms, senders, gbps)).samples
    half = stage_ms * 1_000_000 // 2
    rates = [[0.0] * senders for _ in range(senders)]
    for time_ns, entity, value in samples.select("time_ns", "entity", "value").rows():
        stage, rest = divmod(time_ns, 2 * half)
        if rest == 0:
            rates[stage - 1][int(entity)] = value / BYTES_PER_SECOND
    return rates


def into_h4(rates: list[float]) -> float:
    """What H4 receives: the flows of H1, H2 and H3."""
    return sum(rates[:3])


def with_three_senders(rates: list[list[float]]) -> float:
    """The rate of H4 that the tables of the thesis give: the mean over the stages with three senders."""
    busy = rates[2:]
    return sum(into_h4(row) for row in busy) / len(busy)
