"""Local execution: the runs of a plan one after another, in this process.

A finished run is kept whatever happens later; a run that is there already is not done again. Nothing of the data stack
(polars, scipy) is loaded while runs are simulated.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.backend import BACKENDS
from weft.backend.packet import Finished, Progress
from weft.errors import ExperimentError, Interrupted
from weft.execute import machine
from weft.execute.folder import FORMAT, Folder, opened
from weft.experiment.experiment import Experiment
from weft.progress import Observer, quantity, simulated
from weft.scenario import Scenario, faults_of, predict
from weft.sweep import Run

STATUS_NAMES = {130: "Ctrl-C", 143: "SIGTERM"}


@dataclass
class Outcome:
    """What became of a plan."""

    directory: Path
    planned: int = 0
    resumed: int = 0
    """Runs that were there already."""
    unfinished: list[tuple[Run, str]] = field(default_factory=list)
    failed: list[tuple[Run, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether every run finished."""
        return not self.unfinished and not self.failed


def execute(
    experiment: Experiment,
    directory: Path,
    observer: Observer,
    stop: Callable[[], int | None] = lambda: None,
) -> Outcome:
    """Execute what the plan still lacks in `directory`.

    `stop` is asked several times a second and gives the exit status with which to stop. Raises ExperimentError and
    OutputError with nothing written, and Interrupted.
    """
    refuse_what_cannot_run(experiment)
    outcome = Outcome(directory)
    with opened(directory, experiment) as folder:
        outcome.planned = experiment.sweep.size * experiment.sweep.repeats
        outcome.resumed = sum(1 for run in experiment.plan() if folder.is_done(run))
        try:
            observer.plan(outcome.planned, outcome.resumed)
            finished = outcome.resumed
            for run in experiment.plan():
                if folder.is_done(run):
                    _note(outcome, run, folder.manifest(run))
                    continue
                _refuse_to_go_on(stop, outcome, finished, None)
                observer.begin(run)
                said = _execute_one(experiment, run, folder, observer, stop, outcome, finished)
                finished += 1
                observer.end(run, said)
        finally:
            observer.close()
    return outcome


def refuse_what_cannot_run(experiment: Experiment) -> None:
    """Builds every cell once and compares memory, so that every fault shows before anything runs.

    Raises ExperimentError.
    """
    from weft import _core

    available = machine.available_memory()
    faults = {}
    seen = set()
    for cell in experiment.cells():
        spec = experiment.spec(cell)
        built = json.dumps({key: value for key, value in spec.items() if key not in ("name", "measure")})
        if built in seen:
            continue
        seen.add(built)
        try:
            predicted = predict(spec, experiment.document)
            if available is not None and predicted.memory_bytes > available:
                message = (
                    f"{predicted.hosts:,} hosts and {predicted.flows:,} flows need about "
                    f"{quantity(predicted.memory_bytes)}B of memory; {quantity(available)}B are available; "
                    "make the topology or the workload smaller, or use a larger machine"
                )
                faults[message] = experiment.document.fault(("topology",), message, value=predicted.memory_bytes)
                continue
            scenario = Scenario(spec, experiment.document)
            BACKENDS[spec["backend"]["kind"]].check(spec, scenario)
        except ExperimentError as error:
            faults |= {str(fault): fault for fault in error.faults}
        except _core.FaultError as error:
            faults |= {str(fault): fault for fault in faults_of(error, experiment.document)}
    if faults:
        raise ExperimentError(faults.values())


def _execute_one(
    experiment: Experiment,
    run: Run,
    folder: Folder,
    observer: Observer,
    stop: Callable[[], int | None],
    outcome: Outcome,
    finished: int,
) -> str:
    """One run into its folder; returns what is wrong with it, empty if nothing is."""
    spec = experiment.spec(run.cell, run.seed)
    latest: Progress | None = None

    def watch(progress: Progress) -> bool:
        nonlocal latest
        latest = progress
        observer.advance(progress)
        return stop() is None

    started = time.monotonic()
    with folder.partial(run) as directory:
        try:
            done = BACKENDS[spec["backend"]["kind"]].run(spec, directory, watch)
        except BaseException as error:
            # A panic of the engine (an invariant is broken) is no Exception; it ends this run, not the sweep.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            said = f"failed: {error}"
            outcome.failed.append((run, said))
            return said
        _refuse_to_go_on(stop, outcome, finished, latest)
        assert done is not None
        manifest = _manifest(experiment, run, done, time.monotonic() - started)
        folder.keep(run, manifest)
    return _note(outcome, run, manifest)


def _note(outcome: Outcome, run: Run, manifest: dict[str, Any]) -> str:
    """Takes what the manifest of a run says into the outcome; returns what is wrong with the run."""
    outcome.warnings += [text for text in manifest["warnings"] if text not in outcome.warnings]
    if manifest["finished"]:
        return ""
    flows = manifest["unfinished"]
    said = f"{flows} flow{'s' if flows != 1 else ''} did not finish"
    outcome.unfinished.append((run, said))
    return said


def _manifest(experiment: Experiment, run: Run, done: Finished, wall_s: float) -> dict[str, Any]:
    from weft import _core

    resolved = experiment.resolved_cell(run.cell, run.seed)
    return {
        "format": FORMAT,
        "run": run.name,
        "cell": run.cell.index,
        "repeat": run.repeat,
        "seed": run.seed,
        "swept": run.cell.swept,
        "set": list(experiment.document.settings),
        "experiment": resolved,
        "version": _core.version(),
        "commit": _core.commit(),
        "backend": resolved["backend"]["kind"],
        "machine": machine.describe(),
        "tools": machine.tools(),
        "wall_s": round(wall_s, 6),
        "cpu_s": round(done.cpu_s, 6),
        "peak_rss_bytes": _core.peak_rss_bytes(),
        **done.summary,
        "warnings": [*experiment.advice(run.cell), *done.summary["warnings"]],
    }


def _refuse_to_go_on(stop: Callable[[], int | None], outcome: Outcome, finished: int, latest: Progress | None) -> None:
    status = stop()
    if status is None:
        return
    where = ""
    if latest is not None:
        where = (
            f" at {simulated(latest.now_ps)} of simulated time with {latest.flows_done} of {latest.flows_total} "
            "flows done; that run is lost"
        )
    raise Interrupted(
        f"stopped by {STATUS_NAMES.get(status, 'request')} in run {finished + 1} of {outcome.planned}{where}; "
        f"{finished} finished run{'s are' if finished != 1 else ' is'} kept in {outcome.directory}, and the same "
        "command goes on from there",
        status,
    )
