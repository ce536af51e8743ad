"""A Ray cluster: the same plan, the same files (https://docs.ray.io; extra `weft[ray]`).

A run travels as plain data, with the content of the files that it names, and comes back as the files of its folder,
which the driver writes: nodes need weft, but no common disk. Ray places runs by one core and their predicted memory
each. What dies with a worker or a node is tried again by the driver, like any failure that may pass.
"""

import io
import logging
import math
import os
import socket
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.execute.build import build
from weft.execute.executor import Advance, Stop
from weft.execute.folder import Folder
from weft.execute.job import Ended, Failure, Job, do, failure_of

CONNECT_SECONDS = 5.0
"""An address that takes longer to accept a connection does not answer."""

COUNT_SECONDS = 1.0
"""How long the number of cores of a cluster is believed."""

MOST_SAID = 300
"""Characters of what Ray says."""

AHEAD = 2
"""Runs that are handed to the cluster for every core, so that no core waits for the driver."""

START = (
    "a cluster is started with `ray start --head`, and joined with `ray start --address HOST:6379`; RAY_AUTH_MODE, and "
    "the token if it is used, are the same everywhere"
)

OpenExecutor = Callable[[Folder, Advance, Stop, int], "OnRay"]


@contextmanager
def connected(on: str, jobs: int | None, memory: Mapping[int, int]) -> Iterator[OpenExecutor]:
    """A connection to the cluster at `on` ("ray": this machine's, or a new one on it), closed afterwards.

    Raises WeftError if Ray is missing, the address does not answer, or no node has the memory of the largest run.
    """
    try:
        import ray
    except ImportError:
        raise WeftError(f"--on {on}: Ray is missing; install it: pip install 'weft[ray]'") from None
    if ray.is_initialized():
        # A notebook that has its own connection keeps it.
        yield lambda folder, advance, stop, runs: OnRay(ray, folder, jobs)
        return
    # What Ray has to say while it connects says less than our own message.
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _connect(ray, on, jobs)
    finally:
        logging.disable(logging.NOTSET)
    try:
        _refuse_too_large(ray, max(memory.values(), default=0))
        yield lambda folder, advance, stop, runs: OnRay(ray, folder, jobs)
    finally:
        ray.shutdown()


def _connect(ray: Any, on: str, jobs: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if on == "ray":
        place = os.environ.get("RAY_ADDRESS") or "auto"
        if place not in ("auto", "ray", "local"):
            _join(ray, place, f"RAY_ADDRESS={place}", quiet)
            return
        if place != "local":
            with suppress(ConnectionError):
                ray.init(address="auto", **quiet)
                return
        ray.init(address="local", num_cpus=jobs, include_dashboard=False, **quiet)
        return
    _join(ray, on, f"--on {on}", quiet)


def _join(ray: Any, on: str, named: str, quiet: Mapping[str, Any]) -> None:
    """Joins the cluster at an address; `named` is what the person wrote."""
    scheme, separator, place = on.rpartition("://")
    host, _, port = place.rpartition(":")
    if (separator and scheme != "ray") or not host or not port.isdigit():
        raise WeftError(f'{named}: expected "local", "ray", or the address of a cluster, like ray://10.0.0.1:10001')
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise WeftError(f"{named}: nothing answers there ({reason}); {START}") from None
    try:
        try:
            ray.init(address=on, **({} if separator else quiet))
        except ConnectionAbortedError:
            # A head that has just started may refuse its first client.
            time.sleep(1.0)
            ray.init(address=on, **({} if separator else quiet))
    except (ConnectionError, RuntimeError, TimeoutError) as error:
        reason = " ".join(str(error).split())
        raise WeftError(f"{named}: no Ray cluster answers there ({reason[:MOST_SAID]}); {START}") from None


def _refuse_too_large(ray: Any, memory_bytes: int) -> None:
    largest = max((node["Resources"].get("memory", 0.0) for node in ray.nodes() if node["Alive"]), default=0.0)
    if memory_bytes > largest:
        raise WeftError(
            f"the largest run needs about {memory_bytes / 1e9:.3g} GB of memory, and no node of the Ray cluster offers "
            f"more than {largest / 1e9:.3g} GB; make it smaller, or start a node with `ray start --memory`"
        )


class OnRay:
    """Jobs as tasks of a Ray cluster."""

    def __init__(self, ray: Any, folder: Folder, jobs: int | None) -> None:
        self._ray, self._folder = ray, folder
        self._most = jobs
        self._task = ray.remote(max_retries=0)(_remotely)
        self._under_way: dict[Any, Job] = {}
        self._cores, self._counted = 1, -math.inf

    def has_room(self, job: Job) -> bool:
        """See Executor."""
        if self._most is None and time.monotonic() - self._counted > COUNT_SECONDS:
            # Nodes come and go.
            self._cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            self._counted = time.monotonic()
        return len(self._under_way) < (self._most or AHEAD * self._cores)

    def submit(self, job: Job) -> None:
        """See Executor."""
        packed, files = _packed(job)
        task = self._task.options(num_cpus=1, memory=job.memory_bytes)
        self._under_way[task.remote(packed.text(), files, build())] = job

    def wait(self, seconds: float) -> list[Ended]:
        """See Executor."""
        first, others = self._ray.wait(list(self._under_way), num_returns=1, timeout=seconds)
        more = self._ray.wait(others, num_returns=len(others), timeout=0)[0] if first and others else []
        ready = [*first, *more]
        return [self._ended(task, self._under_way.pop(task)) for task in ready]

    def close(self) -> None:
        """See Executor."""
        for task in self._under_way:
            try:
                self._ray.cancel(task, force=True)
            except Exception:
                break  # The cluster is gone, and what it was doing with it.
        self._under_way.clear()

    def _ended(self, task: Any, job: Job) -> Ended:
        exceptions = self._ray.exceptions
        try:
            text, files = self._ray.get(task)
        except (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
            exceptions.OutOfMemoryError,
            exceptions.LocalRayletDiedError,
            exceptions.RaySystemError,
        ) as error:
            message = f"{type(error).__name__} of Ray: its worker or node died"
            return Ended(job.name, failure=Failure("WorkerDied", message, may_pass=True))
        except exceptions.RayTaskError as error:
            cause = error.cause if isinstance(error.cause, BaseException) else error
            return Ended(job.name, failure=_of_the_node(failure_of(cause), "its node"))
        ended = Ended.read(text)
        if ended.failure is not None:
            return ended
        try:
            with self._folder.partial(job.name) as directory:
                with tarfile.open(fileobj=io.BytesIO(files)) as archive:
                    archive.extractall(directory, filter="data")
                self._folder.keep(job.name, directory)
        except OSError as error:
            return Ended(job.name, failure=failure_of(error))
        return ended


def _remotely(text: str, files: dict[str, bytes], version: str) -> tuple[str, bytes]:
    """What a node does: the run in a folder of its own, whose files come back."""
    job = Job.read(text)
    mine = build()
    if mine != version:
        message = f"the node {socket.gethostname()} has weft {mine}, this is weft {version}; install the same on all"
        return Ended(job.name, failure=Failure("OtherVersion", message)).text(), b""
    with tempfile.TemporaryDirectory(prefix="weft-run-") as place:
        inputs, results = Path(place, "inputs"), Path(place, "results")
        inputs.mkdir()
        results.mkdir()
        for name, content in files.items():
            (inputs / name).write_bytes(content)
        spec = _with_files(job.spec, lambda file: str(inputs / file) if file in files else file)
        ended = do(replace(job, spec=spec), results, lambda progress: True)
        assert ended is not None
        if ended.failure is not None:
            ended = replace(ended, failure=_of_the_node(ended.failure, socket.gethostname()))
        archive = io.BytesIO()
        if ended.failure is None:
            with tarfile.open(fileobj=archive, mode="w") as tar:
                for file in sorted(results.iterdir()):
                    tar.add(file, file.name)
        return ended.text(), archive.getvalue()


def _of_the_node(failure: Failure, node: str) -> Failure:
    """A full disk of a node is not that of the results; another node may have room."""
    if not failure.is_disk_full:
        return failure
    return Failure(failure.kind, f"the disk of {node} is full: {failure.message}", may_pass=True)


def _packed(job: Job) -> tuple[Job, dict[str, bytes]]:
    """The job with names in place of the paths of files, and the content of these."""
    files: dict[str, bytes] = {}

    def pack(file: str) -> str:
        name = f"{len(files)}-{Path(file).name}"
        files[name] = Path(file).read_bytes()
        return name

    return replace(job, spec=_with_files(job.spec, pack)), files


def _with_files(value: Any, change: Callable[[str], str]) -> Any:
    """A spec with every `file` changed."""
    if isinstance(value, Mapping):
        return {
            key: change(part) if key == "file" and isinstance(part, str) else _with_files(part, change)
            for key, part in value.items()
        }
    return [_with_files(part, change) for part in value] if isinstance(value, list) else value
