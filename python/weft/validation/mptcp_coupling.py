"""Coupled congestion control: two subflows over one bottleneck take one TCP's share, over disjoint paths the sum.

Source: RFC 6356, section 1: goal 1 (at least the best path alone), goal 2 (no more than one TCP where paths meet). The
ratio is of windows, so of packets: payload is counted in segments of 1420 B for MPTCP, of 1448 B for TCP. Uncoupled
subflows are a TCP each: 2 : 1. OLIA and BALIA promise the same at equal round trips.

The argument takes every packet to be lost with the same probability, so the bottleneck is RED. A drop-tail queue drops
in bursts that meet the more regular of its flows less often: that row is shown. Four connections of either kind share
100 Mb/s over a round trip of 24 ms.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, average, chosen, near, near_mean, shown, simulate

PAIRS = 4


def rows(is_full: bool) -> Iterator[Row]:
    """Ratios of rates on one bottleneck; the sum of two disjoint paths."""
    seeds = 10 if is_full else 4
    red = {"kind": "red", "ecn": False}
    for kind, expected in (("lia", 1.0), ("olia", 1.0), ("balia", 1.0), ("reno", 2.0)):
        setup = f"RED, {PAIRS} MPTCP of 2 subflows and {PAIRS} TCP, {seeds} seeds"
        yield near_mean(f"{kind}: MPTCP / TCP", setup, _ratios(kind, red, seeds), expected, relative=0.10)
    drop_tail = {"kind": "drop_tail", "capacity": "100 packets"}
    ratios = _ratios("lia", drop_tail, seeds)
    yield shown("lia: MPTCP / TCP", "the same through drop-tail", sum(ratios) / len(ratios), 1.0)
    for kind in ("lia", "olia", "balia"):
        goodput = average(simulate(_disjoint(kind)).flows["goodput_bps"])
        both = 2 * 100e6 * 1420 / 1500
        yield near(f"{kind}: goodput", "two disjoint paths of 100 Mb/s", goodput, both, relative=0.10, unit="b/s")


def _ratios(kind: str, queue: dict[str, Any], seeds: int) -> list[float]:
    flows = simulate(_shared(kind, queue, seeds)).flows
    return [
        average(chosen(run, workload="mptcp")["goodput_bps"])
        / 1420
        / (average(chosen(run, workload="tcp")["goodput_bps"]) / 1448)
        for _, run in flows.group_by("run", maintain_order=True)
    ]


def _shared(kind: str, queue: dict[str, Any], seeds: int) -> dict[str, Any]:
    pairs = [f"l{i}>r{i}" for i in range(2 * PAIRS)]
    tcp = {"autotune": False, "ack_every": 1}
    mptcp = {"transport": {"kind": "mptcp", "subflows": 2} | tcp, "congestion": {"kind": kind}}
    return {
        "backend": {"until": "60 s"},
        "topology": {
            "kind": "dumbbell",
            "left": 2 * PAIRS,
            "right": 2 * PAIRS,
            "link": {"rate": "1 Gbps", "delay": "1 ms", "overhead": 0},
            "bottleneck": {"rate": "100 Mbps", "delay": "10 ms", "overhead": 0},
        },
        "queue": queue,
        "transport": {"kind": "tcp"} | tcp,
        "congestion": {"kind": "reno"},
        "workload": [
            {"kind": "pairs", "name": "mptcp", "pairs": pairs[:PAIRS]} | mptcp,
            {"kind": "pairs", "name": "tcp", "pairs": pairs[PAIRS:], "start": "100 ms"},
        ],
        "measure": {"warmup": "10 s"},
        "sweep": {"repeats": seeds},
    }


def _disjoint(kind: str) -> dict[str, Any]:
    cables = [{"a": host, "b": switch} for switch in ("p", "q") for host in ("a", "b")]
    return {
        "backend": {"until": "20 s"},
        "topology": {
            "kind": "custom",
            "hosts": ["a", "b"],
            "links": cables,
            "link": {"rate": "100 Mbps", "delay": "5 ms", "overhead": 0},
        },
        "transport": {"kind": "mptcp", "path_manager": "fullmesh", "autotune": False},
        "congestion": {"kind": kind},
        "workload": [{"kind": "pairs", "pairs": ["a>b"]}],
        "measure": {"warmup": "5 s"},
    }


ORACLE = Oracle(16, "coupled congestion control", "RFC 6356", "A", rows)
