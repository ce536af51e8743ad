"""Runs on this machine: one after another in this process, or a pool of processes.

Workers are fresh interpreters (`python -m weft.execute.worker`) that read jobs from a pipe and write what becomes of
them into another. They need nothing of the caller's main module, so a pool also works from a notebook or an unguarded
script, and one that dies names the run that it died of.
"""

import os
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from weft.backend.simulation import Progress
from weft.execute import machine
from weft.execute.executor import Advance, Stop
from weft.execute.folder import Folder
from weft.execute.job import Ended, Failure, Job, do, failure_of

WORKER_BYTES = 60_000_000
"""A worker without a run: the interpreter and the core."""

SHORT_SECONDS = 0.5
"""A worker whose runs are shorter gets its next one before it has ended the last, so that it never waits."""


class InProcess:
    """One run after another, in this process. Nothing of the data stack is loaded."""

    def __init__(self, folder: Folder, advance: Advance, stop: Stop) -> None:
        self._folder, self._advance, self._stop = folder, advance, stop
        self._job: Job | None = None

    def has_room(self, job: Job) -> bool:
        """See Executor."""
        return self._job is None

    def submit(self, job: Job) -> None:
        """See Executor."""
        self._job = job

    def wait(self, seconds: float) -> list[Ended]:
        """See Executor."""
        job, self._job = self._job, None
        if job is None:
            return []

        def watch(progress: Progress) -> bool:
            self._advance(job.name, progress)
            return self._stop() is None

        ended = do_into(job, self._folder, watch)
        return [] if ended is None else [ended]

    def close(self) -> None:
        """See Executor."""


class Pool:
    """Processes on this machine, whose predicted memory together stays below what was free at the start."""

    def __init__(self, folder: Folder, jobs: int, advance: Advance) -> None:
        self._folder, self._jobs, self._advance = folder, jobs, advance
        self._memory = machine.available_memory()
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._returned: deque[Job] = deque()
        """Jobs that a dead worker had not begun."""

    def has_room(self, job: Job) -> bool:
        """See Executor."""
        return not self._returned and (self._may_start(job) or self._taker(job) is not None)

    def submit(self, job: Job) -> None:
        """See Executor."""
        worker = _Worker(self._folder) if self._may_start(job) else self._taker(job)
        if worker is None:
            self._returned.append(job)
            return
        if worker not in self._workers:
            self._workers.append(worker)
            self._selector.register(worker.output, selectors.EVENT_READ, worker)
        worker.submit(job)

    def wait(self, seconds: float) -> list[Ended]:
        """See Executor."""
        ended: list[Ended] = []
        for key, _ in self._selector.select(seconds):
            worker = key.data
            for line in worker.lines():
                ended += self._heard(worker, line)
            if worker.is_dead:
                ended += self._bury(worker)
        while (job := self._returned[0] if self._returned else None) and (self._may_start(job) or self._taker(job)):
            self.submit(self._returned.popleft())
        return ended

    def close(self) -> None:
        """See Executor."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()
        self._selector.close()

    def _heard(self, worker: "_Worker", line: str) -> list[Ended]:
        what, _, rest = line.partition(" ")
        if what == "progress":
            name, *numbers = rest.split()
            self._advance(name, Progress(*(None if number == "-" else int(number) for number in numbers)))  # type: ignore[arg-type]
            return []
        ended = Ended.read(rest)
        worker.done(ended)
        return [ended]

    def _bury(self, worker: "_Worker") -> list[Ended]:
        """A worker has died: its current job failed, what it had not begun is done by others."""
        self._selector.unregister(worker.output)
        self._workers.remove(worker)
        status = worker.kill()
        if not worker.queue:
            return []
        job, *rest = worker.queue
        self._returned.extend(rest)
        by = f"was killed by {_signal_name(-status)}" if status < 0 else f"ended with status {status}"
        message = f"its process {by}; if the system ran out of memory, give fewer --jobs"
        return [Ended(job.name, failure=Failure("WorkerDied", message, may_pass=True))]

    def _may_start(self, job: Job) -> bool:
        """Whether a new worker should take a job now."""
        is_busy = all(worker.queue for worker in self._workers)
        return is_busy and len(self._workers) < self._jobs and self._fits(job, None)

    def _taker(self, job: Job) -> "_Worker | None":
        """The worker that should take a job now: a free one, or one that will soon be; None if the job has to wait."""
        free = [worker for worker in self._workers if not worker.queue]
        soon = [worker for worker in self._workers if len(worker.queue) == 1 and worker.is_quick]
        return next((worker for worker in free or soon if self._fits(job, worker)), None)

    def _fits(self, job: Job, taker: "_Worker | None") -> bool:
        others = [worker for worker in self._workers if worker is not taker and worker.queue]
        if self._memory is None or not others:
            return True
        here = max([job.memory_bytes, *(queued.memory_bytes for queued in (taker.queue if taker else ()))])
        need = sum(max(queued.memory_bytes for queued in worker.queue) + WORKER_BYTES for worker in others)
        return need + here + WORKER_BYTES <= self._memory


class _Worker:
    """One process and the jobs that it has, the first of them under way."""

    def __init__(self, folder: Folder) -> None:
        command = [sys.executable, "-m", "weft.execute.worker", str(folder.directory.absolute())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self.output = self._process.stdin, self._process.stdout
        os.set_blocking(self.output.fileno(), False)
        self.queue: deque[Job] = deque()
        self.is_dead = False
        self.is_quick = False
        self._rest = b""

    def submit(self, job: Job) -> None:
        """Sends a job; that the worker is dead shows when its output is read."""
        self.queue.append(job)
        with suppress(BrokenPipeError):
            self._input.write(job.text().encode() + b"\n")
            self._input.flush()

    def lines(self) -> list[str]:
        """What it has said since."""
        while True:
            try:
                read = os.read(self.output.fileno(), 1 << 16)
            except BlockingIOError:
                break
            self._rest += read
            if not read:
                self.is_dead = True
                break
        *lines, self._rest = self._rest.split(b"\n")
        return [line.decode() for line in lines]

    def done(self, ended: Ended) -> None:
        """Its current job is over."""
        self.queue.popleft()
        self.is_quick = ended.wall_s < SHORT_SECONDS

    def kill(self) -> int:
        """Ends the process if it lives; returns its status, negative for a signal."""
        self._process.poll()
        if not self.is_dead:
            self._process.kill()
        status = self._process.wait()
        self.output.close()
        with suppress(BrokenPipeError):
            self._input.close()
        return status


def do_into(job: Job, folder: Folder, watch: Callable[[Progress], bool]) -> Ended | None:
    """Does a job and keeps its results, whole, in the folder."""
    try:
        with folder.partial(job.name) as directory:
            ended = do(job, directory, watch)
            if ended is not None and ended.failure is None:
                folder.keep(job.name, directory)
    except OSError as error:
        return Ended(job.name, failure=failure_of(error))
    return ended


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _environment() -> dict[str, str]:
    """The worker finds weft where this process found it."""
    root = str(Path(__file__).parents[2])
    path = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{path}" if path else root}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
