"""The flow-level simulator: flows are fluids that share the links of their paths (crates/flowsim)."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.backend import simulation
from weft.backend.simulation import ENDS, Finished, Progress
from weft.kinds import parameter

if TYPE_CHECKING:
    from weft.scenario import Scenario

KIND: dict[str, Any] = {
    "room": "backend",
    "name": "flow",
    "doc": "Simulates flows as fluids that share links as [sharing] says. What only packets have, queues, losses and "
    "retransmissions, is null in its tables.",
    "source": "crates/flowsim",
    "parameters": [
        *ENDS,
        parameter(
            "latency",
            "flag",
            "Count handshake, propagation and the last packet's passage; without, a flow takes its size over its rate.",
            default=True,
        ),
        parameter(
            "slow_start",
            "flag",
            "Let windows begin at the transport's initial one and double each round trip while they hold a flow back.",
            default=True,
        ),
    ],
}

REAL_TIME = False
"""Runs know no clock, so that any number of them may be done at once in any order."""


def check(spec: Mapping[str, Any], scenario: "Scenario") -> list[str]:
    """Lets the simulator read its part of a spec; simulates nothing.

    It has nothing to warn of before the run. Raises FaultError of `_core`.
    """
    from weft import _core

    _core.FlowSimulation(scenario.core, json.dumps(spec), ".")
    return []


def run(spec: Mapping[str, Any], directory: Path, watch: Callable[[Progress], bool]) -> Finished | None:
    """Simulate one spec, see `weft.backend.simulation.run`."""
    from weft import _core

    return simulation.run(_core.FlowSimulation, spec, directory, watch)
