"""A job: one run as plain data that any process on any machine can do, and what became of it."""

import errno
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from weft.backend import BACKENDS
from weft.backend.simulation import Progress
from weft.execute import machine
from weft.experiment.experiment import Experiment
from weft.sweep import Run

FORMAT = 1
"""Version of the layout of folders and tables."""


@dataclass(frozen=True)
class Job:
    """One run: `spec` is what the backend gets, `header` what the manifest says of the run before it is done."""

    name: str
    spec: Mapping[str, Any]
    header: Mapping[str, Any]
    memory_bytes: int = 0
    """What it will take, by prediction."""

    def text(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> "Job":
        """What `text` gave."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Failure:
    """Why a run has no results. `may_pass`: another attempt may do better."""

    kind: str
    message: str
    may_pass: bool = False
    is_disk_full: bool = False

    def __str__(self) -> str:
        return self.message or self.kind


@dataclass(frozen=True)
class Ended:
    """What became of a job: how many flows did not finish, or why there are no results."""

    name: str
    unfinished: int = 0
    is_finished: bool = True
    warnings: tuple[str, ...] = ()
    failure: Failure | None = None
    wall_s: float = 0.0

    def text(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> "Ended":
        """What `text` gave."""
        parts = json.loads(text)
        failure = Failure(**parts.pop("failure")) if parts.get("failure") else None
        return cls(**parts | {"warnings": tuple(parts["warnings"]), "failure": failure})

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> "Ended":
        """What the manifest of a finished run says."""
        return cls(
            manifest["run"],
            0 if manifest["finished"] else manifest["unfinished"],
            manifest["finished"],
            tuple(manifest["warnings"]),
            wall_s=manifest["wall_s"],
        )


def job_of(experiment: Experiment, run: Run, memory_bytes: int = 0) -> Job:
    """The job of a run of the plan."""
    spec = experiment.spec(run.cell, run.seed)
    header = {
        "format": FORMAT,
        "run": run.name,
        "cell": run.cell.index,
        "repeat": run.repeat,
        "seed": run.seed,
        "swept": run.cell.swept,
        "set": list(experiment.document.settings),
        "experiment": experiment.resolved_cell(run.cell, run.seed),
        "warnings": experiment.advice(run.cell),
    }
    return Job(run.name, spec, header, memory_bytes)


def do(job: Job, directory: Path, watch: Callable[[Progress], bool]) -> Ended | None:
    """Runs a job and writes its tables and its manifest into `directory`.

    `watch` is called several times a second; the job is given up, and None returned, when it says False. What goes
    wrong is in the result and raises nothing.
    """
    from weft import _core

    started = time.monotonic()
    try:
        done = BACKENDS[job.spec["backend"]["kind"]].run(job.spec, directory, watch)
        if done is None:
            return None
        manifest = {
            **{key: value for key, value in job.header.items() if key != "warnings"},
            "version": _core.version(),
            "commit": _core.commit(),
            "backend": job.spec["backend"]["kind"],
            "machine": machine.describe(),
            "tools": machine.tools(),
            "wall_s": round(time.monotonic() - started, 6),
            "cpu_s": round(done.cpu_s, 6),
            "peak_rss_bytes": _core.peak_rss_bytes(),
            **done.summary,
            "warnings": [*job.header["warnings"], *done.summary["warnings"]],
        }
        (directory / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    except BaseException as error:
        # A panic of the engine (an invariant is broken) is no Exception; it ends this run, not the sweep.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return Ended(job.name, failure=failure_of(error), wall_s=time.monotonic() - started)
    return Ended.of_manifest(manifest)


def failure_of(error: BaseException) -> Failure:
    """What an exception says of a run, and whether another attempt may do better: memory and the system may."""
    kind = type(error).__name__
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Failure(kind, str(error), is_disk_full=True)
    return Failure(kind, str(error), may_pass=isinstance(error, MemoryError | OSError))
