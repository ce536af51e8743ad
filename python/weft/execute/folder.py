"""The output folder: what it holds, whether it may be continued, and how a run's folder appears whole or not at all.

OUT/manifest.json      weft's version and the resolved experiment: what may be resumed
OUT/experiment.toml    as given, and beside it the files that it names
OUT/plan.parquet       one row per run
OUT/runs/RUN/          the tables and the manifest of one run
OUT/failures/RUN.json  why a run has no results
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from weft import whole
from weft.errors import OutputError
from weft.execute.job import FORMAT
from weft.experiment.document import Document
from weft.experiment.experiment import NOT_SIMULATED, Experiment
from weft.experiment.readable import toml
from weft.sweep import Run

OURS = ("experiment.toml", "manifest.json", "plan.parquet", "report.html", "runs", "failures", "figures", "search")
"""Names in the folder that no file of an experiment may take."""

NEW_FOLDER = "give another folder with --out, or delete this one"


class Folder:
    """The output folder of one experiment, open for writing."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.runs = directory / "runs"
        self.failures = directory / "failures"

    def is_done(self, run: Run) -> bool:
        """Whether the run's folder is there; it appears whole or not at all."""
        return (self.runs / run.name / "manifest.json").is_file()

    def names(self) -> Iterator[str]:
        """The names of finished runs, in no order; of this plan or of what the folder was grown from."""
        with os.scandir(self.runs) as entries:
            yield from (entry.name for entry in entries if not entry.name.startswith("."))

    def value(self, run: Run, metric: str) -> float | None:
        """The value of a metric, or of a summary of one (`fct.p99`), in a finished run; None if it has none."""
        from weft.errors import ResultsError
        from weft.metric import METRICS
        from weft.results import RunTables

        name, _, summary = metric.partition(".")
        try:
            return METRICS[name].value(RunTables(self.runs / run.name), summary or None)
        except ResultsError:
            return None

    def manifest(self, run: Run) -> dict[str, Any]:
        """The manifest of a finished run."""
        manifest: dict[str, Any] = json.loads((self.runs / run.name / "manifest.json").read_text(encoding="utf-8"))
        return manifest

    @contextmanager
    def partial(self, name: str) -> Iterator[Path]:
        """A directory for a run in progress, gone afterwards unless `keep` renamed it."""
        # With the process in its name: nobody else ever writes to it, or takes it for its own.
        beside = self.runs / f".{name}.{os.getpid()}.partial"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        try:
            yield beside
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def keep(self, name: str, directory: Path) -> None:
        """Makes the run in progress in `directory` a finished one, in one step."""
        try:
            directory.rename(self.runs / name)
        except OSError:
            # There already: the same experiment and seed gave the same results.
            if not (self.runs / name / "manifest.json").is_file():
                raise

    def clean(self) -> None:
        """Removes what killed processes left half done."""
        for left in self.runs.glob(".*.partial"):
            shutil.rmtree(left, ignore_errors=True)

    def note_failure(self, run: Run, failure: Mapping[str, Any]) -> None:
        """Keeps why a run has no results, until it has."""
        self.failures.mkdir(exist_ok=True)
        described = {"run": run.name, "cell": run.cell.index, "repeat": run.repeat, "seed": run.seed}
        write_json(self.failures / f"{run.name}.json", described | {"swept": run.cell.swept} | dict(failure))

    def failure(self, run: Run) -> dict[str, Any]:
        """What `note_failure` has kept of a run."""
        failure: dict[str, Any] = json.loads((self.failures / f"{run.name}.json").read_text(encoding="utf-8"))
        return failure

    def forget_failure(self, run: Run) -> None:
        """The run has results after all, or will be tried again."""
        with suppress(OSError):
            (self.failures / f"{run.name}.json").unlink()
            self.failures.rmdir()


@contextmanager
def opened(directory: Path, experiment: Experiment, is_real_time: bool = False) -> Iterator[Folder]:
    """The folder, checked, locked against a second `weft run`, and made where it is missing.

    Raises OutputError, with nothing written, if it cannot be written or continued.
    """
    _refuse_foreign(directory, experiment)
    folder = Folder(directory)
    made = _missing_parents(directory)
    try:
        folder.runs.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory, os.O_RDONLY)
    except OSError as error:
        for parent in made:
            _remove_empty(parent)
        raise OutputError(f"{directory}: cannot be written: {error.strerror}; give another folder with --out") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OutputError(
                f"{directory}: another weft run is writing to it; wait for it, or give another --out"
            ) from None
        try:
            _describe(directory, experiment, is_real_time)
        except OSError as error:
            raise OutputError(
                f"{directory}: cannot be written: {error.strerror}; give another folder with --out"
            ) from None
        folder.clean()
        yield folder
    finally:
        os.close(lock)


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """A value as JSON, whole or not at all. Raises OSError."""
    whole.put(file, (json.dumps(value, indent=1) + "\n").encode())


def _describe(directory: Path, experiment: Experiment, is_real_time: bool) -> None:
    from weft import _core

    document = experiment.document
    text = document.text or toml(document.value)
    (directory / "experiment.toml").write_text(text, encoding="utf-8")
    _take_along(directory, document)
    description = {
        "format": FORMAT,
        "version": _core.version(),
        "commit": _core.commit(),
        "file": document.place,
        "set": list(document.settings),
        "experiment": experiment.resolved,
    }
    if is_real_time:
        from weft.execute.plan import order_seed

        description["order"] = {"kind": "blocked random", "seed": order_seed(experiment)}
    write_json(directory / "manifest.json", description)


def _take_along(directory: Path, document: Document) -> None:
    """Copies the files that the experiment names beside it, so that experiment.toml of the folder finds them, too.

    What is named by an absolute path, or above the experiment's folder, stays where it is.
    """
    for name in sorted(set(_files_in(document.value))):
        path = Path(name)
        source, copy = document.directory / path, directory / path
        is_ours = path.parts[0] in OURS
        if path.is_absolute() or ".." in path.parts or is_ours or not source.is_file():
            continue
        if copy.exists() and copy.samefile(source):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        whole.put(copy, source.read_bytes())


def _files_in(value: object, key: str = "") -> Iterator[str]:
    """All values of keys `file`, also of those that an axis varies (`"routing.file" = [...]`)."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _files_in(part, str(name))
    elif isinstance(value, list):
        for part in value:
            yield from _files_in(part, key)
    elif isinstance(value, str) and value and key.rpartition(".")[2] == "file":
        yield value


def _refuse_foreign(directory: Path, experiment: Experiment) -> None:
    from weft import _core

    if not directory.exists():
        return
    if not directory.is_dir():
        raise OutputError(f"{directory}: is a file; give a folder with --out")
    try:
        names = {entry.name for entry in directory.iterdir()}
    except OSError as error:
        raise OutputError(f"{directory}: cannot be read: {error.strerror}; give another folder with --out") from None
    if not names or (names == {"runs"} and not any((directory / "runs").iterdir())):
        return
    try:
        described = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        version, before = described["version"], described["experiment"]
    except (OSError, ValueError, KeyError, TypeError):
        raise OutputError(
            f"{directory}: is not empty, and weft run did not write it; give another folder with --out"
        ) from None
    finished = {entry.name for entry in (directory / "runs").glob("*") if not entry.name.startswith(".")}
    if version != _core.version():
        raise OutputError(
            f"{directory}: was written by weft {version}; this is weft {_core.version()}, whose numbers may differ; "
            f"{NEW_FOLDER}"
        )
    keys = [key for key in differing_keys(before, experiment.resolved) if key.partition(".")[0] not in NOT_SIMULATED]
    if keys and finished - {run.name for run in experiment.plan()}:
        shrinks = all(key.startswith("sweep") for key in keys)
        grow = " (a sweep may grow in its folder, not shrink)" if shrinks else ""
        raise OutputError(
            f"{directory}: holds runs of another experiment; they differ in {_listed(keys)}{grow}; {NEW_FOLDER}"
        )


def differing_keys(before: Any, after: Any, path: str = "") -> list[str]:
    """Dotted keys in which two resolved experiments differ.

    >>> differing_keys({"seed": 1, "topology": {"k": 4}}, {"seed": 1, "topology": {"k": 8}})
    ['topology.k']
    """
    if isinstance(before, dict) and isinstance(after, dict):
        if before.get("kind") != after.get("kind"):
            # Another kind has other keys; that it is another one says it all.
            return [f"{path}.kind" if path else "kind"]
        keys = [*before, *(key for key in after if key not in before)]
        return [
            found
            for key in keys
            for found in differing_keys(before.get(key), after.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [found for index, (old, new) in pairs for found in differing_keys(old, new, f"{path}[{index}]")]
    return [] if before == after else [path]


def _listed(keys: list[str]) -> str:
    return ", ".join(keys[:8]) + (f" and {len(keys) - 8} more" if len(keys) > 8 else "")


def _missing_parents(directory: Path) -> list[Path]:
    return [place for place in (directory / "runs", directory, *directory.parents) if not place.exists()]


def _remove_empty(directory: Path) -> None:
    with suppress(OSError):
        directory.rmdir()
