"""Parking lot: n links in a row, a long flow over all of them and a short flow over each, in the flow-level simulator.

Max-min fairness: every link has two flows, and each gets half. Proportional fairness (alpha = 1) maximizes
log x + n log(1 - x), so that the long flow gets 1/(n+1) and the short ones n/(n+1); for any alpha, 1/(1 + n^(1/alpha)).
Source: Kelly, Maulloo, Tan, "Rate control for communication networks", JORS 1998; Mo and Walrand, ToN 2000.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, near, simulate

RATE = 1e9
SHARE_OF_PAYLOAD = 1448 / 1538
"""Of a full packet of TCP with timestamps on Ethernet."""
SHARINGS: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("max-min", {"kind": "max_min"}, float("inf")),
    ("proportionally fair", {"kind": "alpha_fair", "alpha": 1.0, "precision": 1e-10}, 1.0),
    ("alpha = 2", {"kind": "alpha_fair", "alpha": 2.0, "precision": 1e-10}, 2.0),
)


def rows(is_full: bool) -> Iterator[Row]:
    """The long flow and the short ones."""
    for n in (1, 2, 5, 20) if is_full else (2, 5):
        for name, sharing, alpha in SHARINGS:
            flows = simulate(experiment(n, sharing)).flows
            long, *short = (rate / RATE / SHARE_OF_PAYLOAD for rate in flows["goodput_bps"])
            expected = 1 / (1 + n ** (1 / alpha))
            setup = f"{name}, {n} links"
            yield near("long flow", setup, long, expected, relative=1e-9)
            yield near("least short flow", setup, min(short), 1 - expected, relative=1e-9)
            yield near("most short flow", setup, max(short), 1 - expected, relative=1e-9)


def experiment(n: int, sharing: dict[str, Any]) -> dict[str, Any]:
    """Switches s0 to sn; hosts whose own links hold nothing back."""
    access = "100 Gbps"
    links: list[dict[str, Any]] = [{"a": f"s{i}", "b": f"s{i + 1}"} for i in range(n)]
    links += [{"a": "a", "b": "s0", "rate": access}, {"a": "z", "b": f"s{n}", "rate": access}]
    for i in range(n):
        links += [{"a": f"x{i}", "b": f"s{i}", "rate": access}, {"a": f"y{i}", "b": f"s{i + 1}", "rate": access}]
    return {
        "backend": {"kind": "flow", "until": "1 s", "latency": False, "slow_start": False},
        "topology": {"kind": "custom", "links": links, "link": {"rate": "1 Gbps"}},
        "sharing": sharing,
        "workload": [{"kind": "pairs", "pairs": ["a>z", *(f"x{i}>y{i}" for i in range(n))]}],
    }


ORACLE = Oracle(21, "parking lot", "Kelly et al. 1998; Mo and Walrand 2000", "A", rows)
