"""Fabrics for oracles of the flow level: scenarios of many seeds, and what max-min fairness gives their flows."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.scenario import Scenario

RATE = 10e9
"""Of a host's link where nothing else is said, bit/s."""


def scenarios(experiment: Mapping[str, Any], seeds: int, first: int = 1) -> "Iterator[Scenario]":
    """The scenario of an experiment under one seed after another: fabric, routes and traffic are drawn anew."""
    import weft
    from weft.scenario import Scenario

    loaded = weft.load(experiment)
    spec = loaded.spec(next(loaded.cells()))
    for seed in range(first, first + seeds):
        yield Scenario(spec | {"seed": seed})


def permutation(topology: Mapping[str, Any], routing: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Every host sends to one other and nobody receives twice; a flow keeps its path."""
    return {
        "backend": {"until": "1 ms"},
        "topology": dict(topology),
        "routing": dict(routing or {"kind": "shortest"}),
        "load_balance": {"kind": "ecmp"},
        "workload": [{"kind": "permutation"}],
    }


def mean_shares(experiment: Mapping[str, Any], subflows: int, seeds: int, rate: float = RATE) -> list[float]:
    """For every seed the mean rate of the flows under max-min fairness, as a share of `rate`."""
    shares = []
    for scenario in scenarios(experiment, seeds):
        rates = scenario.max_min(subflows)
        shares.append(sum(rates) / len(rates) / rate)
    return shares
