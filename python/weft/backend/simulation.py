"""A run in one of the simulators of weft's core: advanced in slices, so that progress is seen and Ctrl-C is heard."""

import json
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from weft.experiment.sections import FLOWS_DONE
from weft.kinds import parameter

ENDS: list[dict[str, Any]] = [
    parameter("until", {"type": "time", "words": [FLOWS_DONE]}, "When the run ends.", default=FLOWS_DONE, min=1),
    parameter("limit", "time", "Simulated time at which a run that is not done stops.", default=60 * 10**12, min=1),
]
"""The keys of [backend] that every simulator has."""

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


class Simulation(Protocol):
    """What the simulators of `_core` have in common."""

    def advance(self, seconds: float) -> str:
        """Simulates for about so long; how far it has come, as JSON."""

    def finish(self) -> str:
        """Computes the tables; the summary as JSON."""

    def write(self) -> None:
        """Writes the tables."""


def run(
    simulator: Callable[[Any, str, str], Simulation],
    spec: Mapping[str, Any],
    directory: Path,
    watch: Callable[[Progress], bool],
) -> Finished | None:
    """Simulate one spec and write its tables into `directory`.

    `simulator` is a class of `_core`. `watch` is called several times a second; the run is given up, and None returned,
    when it says False. Raises FaultError of `_core` for a spec that cannot be built.
    """
    from weft import _core

    text = json.dumps(spec)
    scenario = _core.Scenario(text)
    before = _user_cpu()
    simulation = simulator(scenario, text, str(directory))
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
