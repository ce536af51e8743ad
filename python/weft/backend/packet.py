"""The packet-level simulator: every packet, port and timer (crates/packetsim)."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.backend import simulation
from weft.backend.simulation import ENDS, Finished, Progress

if TYPE_CHECKING:
    from weft.scenario import Scenario

KIND: dict[str, Any] = {
    "room": "backend",
    "name": "packet",
    "doc": "Simulates every packet: queues, losses, timers and reordering are all there.",
    "source": "crates/packetsim",
    "parameters": ENDS,
}

REAL_TIME = False
"""Runs know no clock, so that any number of them may be done at once in any order."""


def check(spec: Mapping[str, Any], scenario: "Scenario") -> list[str]:
    """Lets the simulator read its part of a spec; simulates nothing.

    Returns what is known before the run that a reader must see: what has no effect, routes that can deadlock. Raises
    FaultError of `_core`.
    """
    from weft import _core

    return _core.PacketSimulation(scenario.core, json.dumps(spec), ".").warnings()


def run(spec: Mapping[str, Any], directory: Path, watch: Callable[[Progress], bool]) -> Finished | None:
    """Simulate one spec, see `weft.backend.simulation.run`."""
    from weft import _core

    return simulation.run(_core.PacketSimulation, spec, directory, watch)
