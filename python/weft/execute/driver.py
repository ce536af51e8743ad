"""The driver: does what the plan of an experiment still lacks in a folder, with any executor.

A finished run is kept whatever happens later; a run that is there already is not done again. One that fails does not
end the sweep: it is tried again if its cause may pass, and recorded if it does not.
"""

import errno
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from weft import _core
from weft.backend import BACKENDS
from weft.backend.simulation import Progress
from weft.errors import Interrupted, OutputError, WeftError
from weft.execute.checks import refuse_what_cannot_run
from weft.execute.executor import Advance, Executor, Stop
from weft.execute.folder import Folder, opened
from weft.execute.job import Ended, Failure, Job, job_of
from weft.execute.local import InProcess, Pool, cores
from weft.execute.plan import Plan, plan_of
from weft.execute.plan_table import write_plan
from weft.experiment.experiment import Experiment
from weft.progress import Observer, quantity, simulated
from weft.sweep import Run, Until

STATUS_NAMES = {130: "Ctrl-C", 143: "SIGTERM"}

MOST_ATTEMPTS = 3
"""Attempts at a run whose failure may pass."""

WAIT_SECONDS = 0.2
SAMPLED_RUNS = 100
"""Runs whose size on the disk stands for all."""


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
    stop: Stop = lambda: None,
    jobs: int | None = None,
    on: str = "local",
    planned: "MakePlan | None" = None,
) -> Outcome:
    """Execute what the plan still lacks in `directory`, and write `plan.parquet`.

    `jobs` is the most runs at once: left out, one for every core. `on` is "local", "ray" or the address of a Ray
    cluster. `stop` is asked several times a second and gives the exit status with which to stop. `planned` makes
    another plan than that of the sweep, like that of a search. Raises ExperimentError and OutputError with nothing
    written, Interrupted, and OutputError if the disk is full.
    """
    is_real_time = any(BACKENDS[kind].REAL_TIME for kind in _backends(experiment))
    jobs = _jobs(jobs, on, is_real_time)
    memory = refuse_what_cannot_run(experiment, observer.check, is_here=on == "local")
    if on != "local":
        from weft.execute.ray import connected

        with connected(on, jobs, memory) as open_executor:
            return _execute(experiment, directory, observer, stop, is_real_time, memory, open_executor, planned)

    def open_local(folder: Folder, advance: Advance, stop: Stop, runs: int) -> Executor:
        most = min(jobs or cores(), runs)
        return Pool(folder, most, advance) if most > 1 else InProcess(folder, advance, stop)

    return _execute(experiment, directory, observer, stop, is_real_time, memory, open_local, planned)


OpenExecutor = Callable[[Folder, Advance, Stop, int], Executor]
"""From the folder, who hears of progress, who says when to stop, and how many runs may be lacking at most."""

MakePlan = Callable[[Folder, dict[int, int]], Plan]
"""From the folder and the predicted bytes of the cells by their index, to which the plan may add."""


def _execute(
    experiment: Experiment,
    directory: Path,
    observer: Observer,
    stop: Stop,
    is_real_time: bool,
    memory: dict[int, int],
    open_executor: OpenExecutor,
    planned: MakePlan | None,
) -> Outcome:
    with opened(directory, experiment, is_real_time) as folder:
        plan = planned(folder, memory) if planned else plan_of(experiment, folder.value, is_real_time)
        driver = _Driver(experiment, folder, plan, observer, stop, memory)
        try:
            try:
                driver.go(open_executor)
            except BaseException:
                if driver.finished:
                    # The table can be made again, so what is being said already matters more.
                    with suppress(OSError):
                        write_plan(experiment, directory, plan.rows())
                raise
            write_plan(experiment, directory, plan.rows())
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise driver.disk_is_full() from None
        finally:
            observer.close()
    return driver.outcome


class _Driver:
    """One execution of a plan."""

    def __init__(
        self,
        experiment: Experiment,
        folder: Folder,
        plan: Plan,
        observer: Observer,
        stop: Stop,
        memory: dict[int, int],
    ) -> None:
        self.outcome = Outcome(folder.directory, plan.planned)
        self.finished = 0
        self._experiment, self._folder, self._plan = experiment, folder, plan
        self._observer, self._stop, self._memory = observer, stop, memory
        self._there: set[str] = set()
        """Names of runs that were there already, as far as that has been told."""
        self._under_way: dict[str, Run] = {}
        self._latest: dict[str, Progress] = {}
        self._attempts: dict[str, int] = {}
        self._again: deque[Run] = deque()
        self._commits: set[str] = set()

    def go(self, open_executor: OpenExecutor) -> None:
        """Does what is lacking."""
        if any(self._folder.names()):
            self._there.update(run.name for run in self._plan.rows() if self._folder.is_done(run))
        self._observer.plan(self._plan.planned, len(self._there))
        lacking = self._plan.most - len(self._there)
        executor = open_executor(self._folder, self._advance, self._stop, max(lacking, 1))
        try:
            self._go_on(executor)
        finally:
            executor.close()
            self._folder.clean()
        self.outcome.planned, self.outcome.resumed = self._plan.planned, len(self._there)
        self.outcome.warnings += self._plan.warnings
        until = self._experiment.sweep.repeats
        if isinstance(until, Until) and self.outcome.unfinished:
            self.outcome.warnings.append(
                f"in {len(self.outcome.unfinished)} runs some flows did not finish, and {until.metric} may be of the "
                "finished ones alone: the interval that was waited for is then narrow around the wrong value"
            )
        if len(self._commits) > 1:
            self.outcome.warnings.append(
                f"the runs are by several builds of weft (commits {', '.join(sorted(self._commits))}), whose numbers "
                "may differ; delete the folder to have them by one"
            )

    def _go_on(self, executor: Executor) -> None:
        waiting: tuple[Run, Job] | None = None
        while True:
            self._refuse_to_go_on()
            while (waiting := waiting or self._next()) is not None:
                run, job = waiting
                if not executor.has_room(job):
                    break
                self._under_way[run.name] = run
                self._attempts[run.name] = self._attempts.get(run.name, 0) + 1
                self._observer.begin(run)
                executor.submit(job)
                waiting = None
            if not self._under_way:
                return
            for ended in executor.wait(WAIT_SECONDS):
                self._ended(ended)

    def _next(self) -> tuple[Run, Job] | None:
        """The next run that is not there, and its job."""
        while (run := self._again.popleft() if self._again else self._plan.next()) is not None:
            if not self._folder.is_done(run):
                return run, job_of(self._experiment, run, self._memory.get(run.cell.index, 0))
            if run.name not in self._there:
                # The plan has grown by it since the folder was looked through.
                self._there.add(run.name)
                self._observer.found(run)
            manifest = self._folder.manifest(run)
            self._commits.add(manifest["commit"])
            self._note(run, Ended.of_manifest(manifest))
            self.finished += 1
            self._plan_ended(run, is_there=True)
        return None

    def _ended(self, ended: Ended) -> None:
        run = self._under_way.pop(ended.name)
        self._latest.pop(ended.name, None)
        failure = ended.failure
        if failure is None:
            self.finished += 1
            self._commits.add(_core.commit())
            self._folder.forget_failure(run)
            self._observer.end(run, self._note(run, ended))
        elif failure.is_disk_full:
            raise self.disk_is_full()
        elif failure.may_pass and self._attempts[run.name] < MOST_ATTEMPTS:
            self._observer.retry(run, f"{failure}; trying again")
            self._again.append(run)
            return
        else:
            self._observer.end(run, self._failed(run, failure))
        self._attempts.pop(run.name, None)
        self._plan_ended(run, is_there=failure is None)

    def _plan_ended(self, run: Run, is_there: bool) -> None:
        before = self._plan.planned
        self._plan.ended(run, is_there)
        if self._plan.planned != before:
            self._observer.planned(self._plan.planned)

    def _failed(self, run: Run, failure: Failure) -> str:
        attempts = self._attempts[run.name]
        said = f"failed: {failure}" + (f" ({attempts} attempts)" if attempts > 1 else "")
        self._folder.note_failure(run, asdict(failure) | {"attempts": attempts})
        self.outcome.failed.append((run, said))
        return said

    def _note(self, run: Run, ended: Ended) -> str:
        """Takes what a finished run says of itself into the outcome; returns what is wrong with it."""
        self.outcome.warnings += [text for text in ended.warnings if text not in self.outcome.warnings]
        if ended.is_finished:
            return ""
        said = f"{ended.unfinished} flow{'s' if ended.unfinished != 1 else ''} did not finish"
        self.outcome.unfinished.append((run, said))
        return said

    def _advance(self, name: str, progress: Progress) -> None:
        run = self._under_way.get(name)
        if run is not None:
            self._latest[name] = progress
            self._observer.advance(run, progress)

    def _refuse_to_go_on(self) -> None:
        status = self._stop()
        if status is None:
            return
        where = f"before run {self.finished + 1} of {self._plan.planned}"
        if len(self._under_way) == 1:
            (name,) = self._under_way
            where = f"in run {self.finished + 1} of {self._plan.planned}"
            if latest := self._latest.get(name):
                where += (
                    f" at {simulated(latest.now_ps)} of simulated time with {latest.flows_done} of "
                    f"{latest.flows_total} flows done; that run is lost"
                )
        elif self._under_way:
            where = "with several runs under way, which are lost"
        raise Interrupted(
            f"stopped by {STATUS_NAMES.get(status, 'request')} {where}; "
            f"{self.finished} finished run{'s are' if self.finished != 1 else ' is'} kept in {self._folder.directory}, "
            "and the same command goes on from there",
            status,
        )

    def disk_is_full(self) -> OutputError:
        """Says how much is needed to go on."""
        sizes = [
            size
            for name, _ in zip(self._folder.names(), range(SAMPLED_RUNS), strict=False)
            if (size := _size(self._folder.runs / name))
        ]
        left = self._plan.planned - self.finished
        need = ""
        if sizes:
            each = sum(sizes) / len(sizes)
            need = f" need about {quantity(left * each)}B ({quantity(each)}B each)"
        state = os.statvfs(self._folder.directory)
        return OutputError(
            f"{self._folder.directory}: the disk is full; {self.finished} finished run"
            f"{'s are' if self.finished != 1 else ' is'} kept; {left} more{need or ' are lacking'}, and "
            f"{quantity(state.f_bavail * state.f_frsize)}B are free; make room, and the same command goes on from there"
        )


def _backends(experiment: Experiment) -> set[str]:
    values = experiment.sweep.columns.get("backend.kind", ())
    return {str(value) for value in values} or {experiment.spec(next(experiment.cells()))["backend"]["kind"]}


def _jobs(jobs: int | None, on: str, is_real_time: bool) -> int | None:
    if jobs is not None and jobs < 1:
        raise WeftError(f"--jobs {jobs}: expected a number of runs at once, at least 1; left out, one for every core")
    if not is_real_time:
        return jobs
    if (jobs or 1) > 1 or on != "local":
        raise WeftError("runs on a real network disturb each other, so they are done one after another on this machine")
    return 1


def _size(run: Path) -> int:
    return sum(file.stat().st_size for file in run.iterdir())
