"""Small experiments of which it is known why their flows are slow."""

from pathlib import Path
from typing import Any

import weft
from weft.explaining import Explanation

LINE = 10e9
PAYLOAD = 1448 / 1538
"""Payload over wire bytes of a full TCP segment with timestamps over Ethernet."""


def leaf_spine(pairs: list[str], size: str | None = "4 MB", **rest: Any) -> dict[str, Any]:
    """Two leaves of four hosts, two spines, links of 10 Gb/s. Queues are so long that nothing is lost."""
    workload = {"kind": "pairs", "pairs": pairs} | ({"size": size} if size else {})
    return {
        "topology": {
            "kind": "leaf_spine",
            "leaves": 2,
            "spines": 2,
            "link": {"rate": "10 Gbps", "delay": "1 us"},
        },
        "queue": {"kind": "drop_tail", "capacity": "2000 packets"},
        "workload": [workload],
    } | rest


def seed_where(experiment: dict[str, Any], wanted: Any) -> dict[str, Any]:
    """The experiment with the first seed whose flows have paths (lists of link names) as wanted."""
    for seed in range(1, 200):
        tried = experiment | {"seed": seed}
        scenario = weft.load(tried).scenario()
        names = scenario.links()["name"]
        if wanted([[names[link] for link in path] for path in scenario.flows()["path"]]):
            return tried
    raise AssertionError("no seed gives such paths")


def meet(paths: list[list[str]]) -> bool:
    """Whether all flows take the same uplink."""
    return len({path[1] for path in paths}) == 1


def explained(experiment: dict[str, Any], place: Path, **asked: Any) -> Explanation:
    """The explanation of an experiment that is run for it."""
    weft.run(experiment, out=place)
    return weft.explain(place, **asked)


def adds_up(explanation: Explanation) -> bool:
    """Whether the times of all causes are the time beyond the ideal one, to the rounding of reals."""
    for e in explanation.flows:
        assert e.flow.fct_ns is not None and e.flow.ideal_fct_ns is not None
        beyond = e.flow.fct_ns - e.flow.ideal_fct_ns
        if abs(sum(e.lost_ns.values()) - beyond) > 1e-6 * e.flow.fct_ns:
            return False
    return True
