"""Search: which values of some keys are best for a stated objective. `search` is what `weft search` does, as a call.

An experiment file says what is looked for (`[objective]`), where (`[space]`) and how (`[search]`); docs/searching.md
does it once.
"""

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import whole
from weft.errors import ExperimentError, Fault
from weft.execute.call import experiment_of, results_folder
from weft.execute.executor import Stop
from weft.experiment.experiment import Experiment
from weft.progress import Observer, Silent, observer
from weft.sweep import Until

if TYPE_CHECKING:
    from weft.searching.found import Found


def search(
    source: str | Path | Mapping[str, Any] | Experiment,
    out: str | Path | None = None,
    set: Iterable[str] | Mapping[str, Any] = (),
    jobs: int | None = None,
    on: str = "local",
    progress: bool = False,
    report: bool = False,
) -> "Found":
    """Search for the best point of an experiment's `[space]`; a search that is in `out` already goes on.

    `jobs` and `on` are those of `weft.run`; the trials do not depend on them. With `report`, OUT/report.html is
    written. Without `out` the folder is temporary and goes with the returned object. Raises ExperimentError for a file
    without objective or space, OutputError for a folder of another search, and RunError if every trial fails. Runs that
    were finished before an exception are kept, and a note of it says where.
    """
    experiment = experiment_of(source, set)
    with results_folder(out) as directory:
        watcher = observer() if progress else Silent()
        found = go(experiment, directory, watcher, lambda: None, jobs, on, is_temporary=out is None)
    if report:
        from weft.searching.page import write_page

        write_page(found)
    return found


def go(
    experiment: Experiment,
    directory: Path,
    observer: Observer,
    stop: Stop,
    jobs: int | None = None,
    on: str = "local",
    is_temporary: bool = False,
) -> "Found":
    """Does what a search still lacks in `directory` and writes trials.parquet. Raises as `search`, and Interrupted.

    With `is_temporary` the folder is deleted with the returned object.
    """
    from weft.execute.driver import execute
    from weft.searching.found import Found, ordered
    from weft.searching.importance import importances
    from weft.searching.plan import JOURNAL, SearchPlan
    from weft.searching.study import Study

    refuse_what_is_no_search(experiment)
    journal = directory / JOURNAL
    if journal.is_file():
        # Before the folder is told of this experiment: another search is refused with nothing written.
        Study(journal, experiment.search, experiment.seed)
    plans: list[SearchPlan] = []

    def planned(folder: Any, memory: dict[int, int]) -> SearchPlan:
        plans.append(SearchPlan(experiment, folder, memory))
        return plans[-1]

    outcome = execute(experiment, directory, observer, stop, jobs, on, planned)
    (plan,) = plans
    points = ordered(plan.points)
    trials = [point for point in points if point.role == "trial"]
    assert experiment.search.objective is not None
    shares = [
        importances(trials, experiment.search.space, goal, place)
        for place, goal in enumerate(experiment.search.objective.goals)
    ]
    warnings = (*experiment.search.warnings, *outcome.warnings)
    runs = len(list(plan.rows()))
    found = Found(experiment, directory, tuple(points), tuple(shares), warnings, runs, plan.simulated, is_temporary)
    table = io.BytesIO()
    found.trials.write_parquet(table)
    whole.put(directory / "trials.parquet", table.getvalue())
    return found


def refuse_what_is_no_search(experiment: Experiment) -> None:
    """Raises ExperimentError with everything that hinders a search and no run."""
    from weft.searching.plan import alone_cells

    search, document = experiment.search, experiment.document
    faults: list[Fault] = []
    if search.objective is None:
        like = '[objective] and metric = "goodput"'
        faults.append(document.fault(("objective",), f"is missing: what is to be as good as possible; write {like}"))
    if not search.space:
        like = '[space] and "queue.capacity" = { from = "10 packets", to = "500 packets" }'
        faults.append(document.fault(("space",), f"is missing: which keys may vary; write {like}"))
    if isinstance(experiment.sweep.repeats, Until):
        message = "waits for an interval; every trial of a search has the same seeds: give a number"
        faults.append(document.fault(("sweep", "repeats"), message))
    if experiment.sweep.axes:
        key = experiment.sweep.axes[0].key
        faults.append(document.fault(("sweep", key), "is an axis; a search has none: move it into [space]"))
    if search.objective is not None:
        for names, cell in alone_cells(experiment).items():
            for fault in experiment.faults(cell):
                message = f"the workloads {', '.join(names)} cannot be run alone ({fault.key}: {fault.message})"
                faults.append(document.fault(("objective", "constraints"), message))
    if faults:
        raise ExperimentError(faults)


__all__ = ["search"]
