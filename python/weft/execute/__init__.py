"""Execution: where the runs of a plan are done. `run` is what `weft run` does, as a Python call."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.execute.call import experiment_of, results_folder
from weft.execute.driver import execute
from weft.experiment.experiment import Experiment
from weft.progress import Silent, observer

if TYPE_CHECKING:
    from weft.results import Results


def run(
    source: str | Path | Mapping[str, Any] | Experiment,
    out: str | Path | None = None,
    set: Iterable[str] | Mapping[str, Any] = (),
    jobs: int | None = None,
    on: str = "local",
    progress: bool = False,
) -> "Results":
    """Run an experiment or its whole sweep; what is in `out` already is not done again.

    `jobs` is the most runs at once (left out, one for every core); `on` is where they are done: "local", "ray" (the
    cluster that this machine belongs to, or a new one on it) or "ray://host:port". Without `out` the results live in a
    temporary folder as long as the returned object. Raises ExperimentError, OutputError, and, when all others are done,
    RunError for runs that failed, with the results of the others in its `results`; unfinished flows stay in the tables,
    with a warning in `results.warnings`. What was finished before an interruption is kept, and a note of the exception
    says where.
    """
    from weft.errors import RunError
    from weft.results import Results

    experiment = experiment_of(source, set)
    with results_folder(out) as directory:
        outcome = execute(experiment, directory, observer() if progress else Silent(), jobs=jobs, on=on)
        message = ""
        if outcome.failed:
            failed, said = outcome.failed[0]
            message = f"{len(outcome.failed)} of {outcome.planned} runs failed; run {failed.name}: {said}"
        if len(outcome.failed) == outcome.planned:
            raise RunError(message)
    results = Results(directory, is_temporary=out is None)
    if message:
        raise RunError(message, results)
    return results


__all__ = ["execute", "run"]
