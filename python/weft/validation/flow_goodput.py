"""The flow level against the packet level: what long flows of a permutation get.

Source: weft's own packet level, the same experiments with the same seeds. A fluid has no queues, losses or timeouts,
so that it can be right only where flows are long against them: 25 ms at 10 Gb/s after 5 ms. Mean goodput within 10 %,
every fabric, routing and transport by itself.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, average, near, simulate

LINK = {"rate": "10 Gbps", "delay": "1 us"}
TREE: dict[str, Any] = {"kind": "fat_tree", "k": 4, "link": LINK}
JELLYFISH: dict[str, Any] = {"kind": "jellyfish", "hosts": 16, "switches": 20, "ports": 4, "link": LINK}
TCP: dict[str, Any] = {"kind": "tcp", "profile": "datacenter"}
CASES: dict[str, dict[str, Any]] = {
    "fat tree, ECMP, Reno": {"topology": TREE, "congestion": {"kind": "reno"}},
    "fat tree, ECMP, CUBIC": {"topology": TREE},
    "fat tree, static, CUBIC": {"topology": TREE, "load_balance": {"kind": "static"}},
    "fat tree, ECMP, MPTCP with 4 subflows, LIA": {
        "topology": TREE,
        "transport": TCP | {"kind": "mptcp", "subflows": 4},
        "congestion": {"kind": "lia"},
    },
    "Jellyfish, 4 shortest paths, MPTCP with 4 subflows, LIA": {
        "topology": JELLYFISH,
        "routing": {"kind": "k_shortest", "k": 4, "share": "round_robin"},
        "transport": TCP | {"kind": "mptcp", "subflows": 4},
        "congestion": {"kind": "lia"},
    },
}


def rows(is_full: bool) -> Iterator[Row]:
    """Mean goodput of all flows, at both levels."""
    repeats = 10 if is_full else 2
    for name, case in CASES.items():
        fluid, packets = (
            average(simulate(experiment(case, backend, repeats)).flows["goodput_bps"]) / 1e9
            for backend in ("flow", "packet")
        )
        setup = f"{name}, {repeats} permutations"
        yield near("mean goodput", setup, fluid, packets, relative=0.10, unit="Gb/s")


def experiment(case: dict[str, Any], backend: str, repeats: int) -> dict[str, Any]:
    """Endless flows over 30 ms, the first 5 left out."""
    return {
        "backend": {"kind": backend, "until": "30 ms"},
        "transport": TCP,
        "workload": [{"kind": "permutation"}],
        "measure": {"warmup": "5 ms"},
        "sweep": {"repeats": repeats},
    } | case


ORACLE = Oracle(44, "flow level, long flows", "weft's packet level", "P", rows)
