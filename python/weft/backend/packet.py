"""The packet-level simulator: every packet, port and timer (crates/packetsim)."""

import json
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.experiment.sections import FLOWS_DONE
from weft.kinds import parameter

if TYPE_CHECKING:
    from weft.scenario import Scenario

KIND: dict[str, Any] = {
    "room": "backend",
    "name": "packet",
    "doc": "Simulates every packet: queues, losses, timers and reordering are all there.",
    "source": "crates/packetsim",
    "parameters": [
        parameter("until", {"type": "time", "words": [FLOWS_DONE]}, "When the run ends.", default=FLOWS_DONE, min=1),
        parameter("limit", "time", "Simulated time at which a run that is not done stops.", default=60 * 10**12, min=1),
    ],
}

REAL_TIME = False
"""Runs know no clock, so that any number of them may be done at once in any order."""

SLICE_SECONDS = 0.2
"""Time between two looks at the progress and at Ctrl-C."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    now_ps: int
    end_ps: int | None
    events: int
    packet_hops: int
    flows_done: int
    flows_total: int


@dataclass(frozen=True)
class Finished:
    """What a run says of itself: `summary` goes into the manifest.

    `cpu_s` is the user CPU of all threads from the built scenario to the returned columns: no imports, no writing.
    """

    summary: dict[str, Any]
    cpu_s: float


def check(spec: Mapping[str, Any], scenario: "Scenario") -> list[str]:
    """Lets the simulator read its part of a spec; simulates nothing.

    Returns what is known before the run that a reader must see: what has no effect, routes that can deadlock. Raises
    FaultError of `_core`.
    """
    from weft import _core

    return _core.PacketSimulation(scenario.core, json.dumps(spec), ".").warnings()


def run(spec: Mapping[str, Any], directory: Path, watch: Callable[[Progress], bool]) -> Finished | None:
    """Simulate one spec and write its tables into `directory`.

    `watch` is called several times a second; the run is given up, and None returned, when it says False. Raises
    FaultError of `_core` for a spec that cannot be built.
    """
    from weft import _core

    text = json.dumps(spec)
    scenario = _core.Scenario(text)
    before = _user_cpu()
    simulation = _core.PacketSimulation(scenario, text, str(directory))
    while True:
        state = json.loads(simulation.advance(SLICE_SECONDS))
        progress = Progress(
            state["now_ps"],
            state.get("end_ps"),
            state["events"],
            state["packet_hops"],
            state["flows_done"],
            state["flows_total"],
        )
        if not watch(progress):
            return None
        if state["finished"]:
            break
    summary = json.loads(simulation.finish())
    cpu_s = _user_cpu() - before
    simulation.write()
    return Finished(summary, cpu_s)


def _user_cpu() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
