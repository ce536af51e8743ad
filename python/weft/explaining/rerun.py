"""Once more: the run simulated again, with samples of every flow's goodput; that it is the same run is checked.

A run follows from its manifest alone, so nothing needs to have been recorded for an explanation. What comes of it is
kept in OUT/explain/RUN, so that the next question about the run costs nothing.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from weft import _core
from weft.errors import ResultsError
from weft.execute.job import Job, do
from weft.experiment.experiment import Experiment, identity, load
from weft.results import RunTables
from weft.sweep import run_name

if TYPE_CHECKING:
    import polars as pl

MOST_SAMPLES = 4_000_000
"""Rows of samples that a run may write."""

SLICES = 200
"""Samples of the shortest life that is asked about, if that is not too many."""

LEAST_EVERY_PS = 1_000_000

Tables = Mapping[str, "pl.DataFrame"]

Watch = Callable[[int, int], bool]
"""Is told simulated time and when it ends (ps); False gives up."""


def experiment_of(manifest: Mapping[str, Any]) -> tuple[Experiment, dict[str, Any]]:
    """The experiment of a finished run, and its spec. Raises ResultsError if they are not those of the run."""
    experiment = load(manifest["experiment"])
    spec = experiment.spec(next(experiment.cells()), manifest["seed"])
    if run_name(identity(spec)) != manifest["run"]:
        raise ResultsError(
            f"run {manifest['run']}: its manifest does not describe it any more: a file that it names has changed, or "
            f"weft has ({_builds(manifest)}); run the experiment again"
        )
    return experiment, spec


def _builds(manifest: Mapping[str, Any]) -> str:
    """Which weft made the run, and which one reads it."""
    made = f"weft {manifest['version']} of commit {manifest['commit']}"
    return f"made by {made}, this is weft {_core.version()} of commit {_core.commit()}"


OF_BLOCKING = ("utilization", "paused", "buffer")
"""What is sampled besides where links wait for room behind them."""


def is_lossless(spec: Mapping[str, Any]) -> bool:
    """Whether links wait for room behind them."""
    return bool(spec.get("flow_control", {}).get("kind", "none") != "none")


def has_blocking(tables: Tables) -> bool:
    """Whether the samples tell where links waited."""
    return "samples" in tables and set(OF_SAMPLES) <= {str(name) for name in tables["samples"]["metric"].unique()}


OF_SAMPLES = ("utilization", "paused", "buffer_bytes")
"""What these are called in the table."""


def every_ps(lives_ns: list[int], all_lives_ns: int) -> int:
    """The time between two samples for flows of these lives, of all lives together so that rows stay bounded."""
    wanted = 1000 * min(lives_ns) // SLICES
    return max(wanted, 1000 * all_lives_ns // MOST_SAMPLES, LEAST_EVERY_PS)


def sampled(
    directory: Path, manifest: Mapping[str, Any], spec: Mapping[str, Any], every: int, watch: Watch
) -> Tables | None:
    """The tables of the run with samples every so often (ps), from OUT/explain or simulated; None if given up.

    Raises ResultsError if what is simulated is another run.
    """
    kept = directory / "explain" / manifest["run"]
    tables = _kept(kept, manifest, every)
    if tables is not None and (not is_lossless(spec) or has_blocking(tables)):
        return tables
    metrics = ["goodput", "subflow_goodput", *(OF_BLOCKING if is_lossless(spec) else ())]
    measure = {**spec.get("measure", {}), "every": every, "metrics": metrics, "paths": True}
    header = {name: manifest[name] for name in ("format", "run", "cell", "repeat", "seed", "swept", "experiment")}
    job = Job(manifest["run"], {**spec, "measure": measure}, {**header, "set": [], "every_ps": every, "warnings": []})
    end = manifest["simulated_ns"] * 1000
    with _beside(directory) as beside:
        ended = do(job, beside, lambda progress: watch(progress.now_ps, end))
        if ended is None:
            return None
        if ended.failure:
            raise ResultsError(f"run {manifest['run']} could not be simulated again: {ended.failure}")
        again = json.loads((beside / "manifest.json").read_text(encoding="utf-8"))
        if again["fingerprint"] != manifest["fingerprint"]:
            raise ResultsError(
                f"run {manifest['run']}, simulated again, has the fingerprint {again['fingerprint']} and not "
                f"{manifest['fingerprint']} ({_builds(manifest)}); "
                "run the experiment again, or take --no-again for what the folder holds"
            )
        for table in ("links", "nodes"):
            (beside / f"{table}.parquet").unlink(missing_ok=True)
        try:
            shutil.rmtree(kept, ignore_errors=True)
            kept.parent.mkdir(exist_ok=True)
            beside.rename(kept)
            return RunTables(kept)
        except OSError:
            # A folder that cannot be written: the tables are read before they go.
            return _in_memory(RunTables(beside))


def at_hand(directory: Path, manifest: Mapping[str, Any]) -> Tables | None:
    """What an earlier explanation of the run has left, however coarse; None if nothing is there."""
    return _kept(directory / "explain" / manifest["run"], manifest, 2**63)


def _kept(kept: Path, manifest: Mapping[str, Any], every: int) -> RunTables | None:
    try:
        again = json.loads((kept / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    fits = again.get("fingerprint") == manifest["fingerprint"] and again.get("every_ps", every + 1) <= every
    return RunTables(kept) if fits else None


@contextmanager
def _beside(directory: Path) -> Iterator[Path]:
    """A folder for the run in progress, where a rename can bring it into its place."""
    try:
        place = TemporaryDirectory(prefix=".explain-", dir=directory, ignore_cleanup_errors=True)
    except OSError:
        place = TemporaryDirectory(prefix="weft-explain-", ignore_cleanup_errors=True)
    with place as name:
        inner = Path(name) / "run"
        inner.mkdir()
        yield inner


def _in_memory(tables: RunTables) -> Tables:
    return {name: tables[name] for name in tables}
