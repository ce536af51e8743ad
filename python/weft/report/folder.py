"""The folder of a run or a sweep, read lazily: what was planned, what is there, what failed, and the tables of a run.

The layout is that which execute/folder.py writes. `plan.parquet` is written when a sweep ends; where it is not there
yet, or is older than the sweep, what is planned follows from the sweep in `manifest.json`, else from the runs that are
there.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from weft.errors import ResultsError
from weft.experiment.axes import NOT_AXES
from weft.sweep import Axis, Sweep, Until, seed_of

PLAN_COLUMNS = ("run", "cell", "repeat", "seed")

Tell = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and of how much."""

NOTED = (
    "run", "cell", "repeat", "seed", "swept", "version", "commit", "backend", "wall_s", "cpu_s", "simulated_ns",
    "packet_hops", "warnings", "fingerprint",
)  # fmt: skip
"""What is kept of the manifest of every run: all but the experiment, which would fill the memory of a large sweep."""


FROM_WHOLE = ("name", "report", "analysis", "published")
"""Keys of the experiment that are asked of the folder and not of its runs."""


def silent(what: str, done: int, of: int) -> None:
    """Tells nobody."""


class RunTables(Mapping[str, pl.DataFrame]):
    """The tables of one run, each read from disk when first asked for."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._read:
            path = self._directory / f"{name}.parquet"
            if not path.is_file():
                raise KeyError(name)
            try:
                frame = pl.read_parquet(path)
                words = [word for word, kind in frame.schema.items() if kind in (pl.Categorical, pl.Enum)]
                self._read[name] = frame.with_columns(pl.col(words).cast(pl.String)) if words else frame
            except (pl.exceptions.PolarsError, OSError) as error:
                raise ResultsError(f"{path}: cannot be read ({error}); delete {path.parent} and run again") from error
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.stem for path in self._directory.glob("*.parquet")))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Failure:
    """Why a run has no results, from `failures/RUN.json`."""

    run: str
    cell: int
    repeat: int
    seed: int | None
    swept: Mapping[str, Any]
    kind: str
    message: str
    attempts: int

    def __str__(self) -> str:
        return self.message or self.kind


@dataclass(frozen=True)
class Run:
    """One planned run: done if it has a manifest. `name` is empty for one of which only the place is known."""

    name: str
    cell: str
    repeat: int
    seed: int | None
    directory: Path
    manifest: Mapping[str, Any] | None = None
    """What its manifest says, without the experiment; None for a run that is not there."""
    failure: Failure | None = None

    @property
    def experiment(self) -> dict[str, Any]:
        """The resolved experiment of a run that is there."""
        experiment = _manifest(self.directory / "manifest.json").get("experiment")
        return experiment if isinstance(experiment, dict) else {}

    @property
    def is_done(self) -> bool:
        """Whether the run's folder is there; folders appear whole or not at all."""
        return self.manifest is not None

    @property
    def tables(self) -> RunTables:
        """A fresh view of the run's tables, so that a large sweep is not held in memory."""
        return RunTables(self.directory)


@dataclass(frozen=True)
class Cell:
    """The runs that differ in seed only."""

    label: str
    keys: dict[str, object]
    runs: tuple[Run, ...]

    @cached_property
    def done(self) -> tuple[Run, ...]:
        """Runs that are there."""
        return tuple(run for run in self.runs if run.is_done)

    @property
    def number(self) -> str:
        """The cell's number in the plan."""
        return self.runs[0].cell


@dataclass(frozen=True)
class Folder:
    """What a folder holds: axes of the sweep (empty for one cell) and cells in the plan's order."""

    directory: Path
    axes: tuple[str, ...]
    cells: tuple[Cell, ...]
    experiment_text: str | None = field(repr=False)
    described: dict[str, Any] = field(repr=False, default_factory=dict)
    """`manifest.json` of the folder: the settings of the command line and the whole experiment; or nothing."""
    tell: Tell = field(repr=False, default=silent)
    run_values: dict[str, dict[str, float | str]] = field(repr=False, default_factory=dict)
    """Numbers of runs that are computed already, or why there is none: by metric and summary, then by run."""
    joined: list[Any] = field(repr=False, default_factory=list)
    """The published numbers with those of our runs, once published/beside.py has joined them."""

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """The axes that tell cells apart, in their order."""
        silent = silent_axes(self.axes, [cell.keys for cell in self.cells])
        return tuple(axis for axis in self.axes if axis not in silent)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All planned runs."""
        return tuple(run for cell in self.cells for run in cell.runs)

    @cached_property
    def done(self) -> tuple[Run, ...]:
        """Runs that are there."""
        return tuple(run for run in self.runs if run.is_done)

    @cached_property
    def failed(self) -> tuple[Run, ...]:
        """Runs of which it is known why they are not there."""
        return tuple(run for run in self.runs if run.failure is not None)

    @cached_property
    def lacking(self) -> tuple[Run, ...]:
        """Runs that are not there and did not fail: they never began, or were interrupted."""
        return tuple(run for run in self.runs if not run.is_done and run.failure is None)

    @cached_property
    def experiment(self) -> dict[str, Any]:
        """Resolved experiment of the first run that is there, with the figures that are asked for now.

        The swept keys of other cells differ. Without a finished run it is that of the whole sweep.
        """
        whole = self.described.get("experiment")
        whole = whole if isinstance(whole, dict) else {}
        if not self.done:
            return whole
        # Asking for another figure runs nothing again, so that runs may carry an older [[report]] and name.
        return self.done[0].experiment | {key: whole[key] for key in FROM_WHOLE if key in whole}

    @cached_property
    def sweep(self) -> Sweep | None:
        """The sweep as the folder describes it, or None where it does not."""
        return _sweep(self.described)

    @property
    def name(self) -> str:
        """Name of the experiment, or of the folder."""
        return str(self.experiment.get("name") or self.directory.resolve().name)


def read_folder(directory: Path, tell: Tell = silent) -> Folder:
    """Read the plan, the manifests and the failures of a folder.

    Raises ResultsError if it holds neither a finished nor a failed run.
    """
    if not directory.is_dir():
        raise ResultsError(f"{directory}: there is no such folder; give the one that `weft run` wrote")
    described = _described(directory)
    found = _manifests(directory, tell)
    failures = _failures(directory, found)
    if not found and not failures:
        raise ResultsError(f"{directory}: no finished run in it; give the folder that `weft run --out` wrote")
    rows, axes = _plan(directory, _sweep(described), described, found, failures)
    groups: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["cell"], []).append(row)
    quiet = silent_axes(axes, [{axis: plain(planned[0].get(axis)) for axis in axes} for planned in groups.values()])
    cells = []
    for cell, planned in sorted(groups.items()):
        keys = {axis: plain(planned[0].get(axis)) for axis in axes}
        told = (word(axis, value) for axis, value in keys.items() if value is not None and axis not in quiet)
        label = " · ".join(told) or "all runs"
        runs = tuple(
            Run(
                row["run"],
                str(cell),
                row["repeat"],
                row["seed"],
                directory / "runs" / (row["run"] or ".planned"),
                found.get(row["run"]),
                failures.get(row["run"]),
            )
            for row in sorted(planned, key=lambda row: int(row["repeat"]))
        )
        cells.append(Cell(label, keys, runs))
    labels = [cell.label for cell in cells]
    if len(set(labels)) < len(labels):
        cells = [Cell(f"{cell.label} ({place})", cell.keys, cell.runs) for place, cell in enumerate(cells, 1)]
    toml = directory / "experiment.toml"
    text = toml.read_text(encoding="utf-8") if toml.is_file() else None
    return Folder(directory, axes, tuple(cells), text, described, tell)


def silent_axes(axes: Sequence[str], cells: Sequence[Mapping[str, object]]) -> frozenset[str]:
    """Keys that tell no cell from another: those with one value wherever they are, and what repeats another key.

    A key that only some of the tables have follows from their kind, if cells are as many without it.

    >>> cells = [{"t.kind": "tree", "t.hosts": 16, "t.link": "x"}, {"t.kind": "clos", "t.hosts": None, "t.link": "x"}]
    >>> sorted(silent_axes(["t.kind", "t.hosts", "t.link"], cells))
    ['t.hosts', 't.link']
    """

    def distinct(keys: Sequence[str]) -> int:
        return len({tuple(str(cell.get(key)) for key in keys) for cell in cells})

    if len(cells) < 2:
        return frozenset()
    values = {axis: {str(value) for cell in cells if (value := cell.get(axis)) is not None} for axis in axes}
    alike = [axis for axis in axes if len(values[axis]) <= 1]
    if distinct([axis for axis in axes if axis not in alike]) < distinct(axes):
        alike = [axis for axis in alike if all(cell.get(axis) is not None for cell in cells)]
    # Axes that go together, value by value, say the same twice.
    told = [axis for axis in axes if axis not in alike]
    columns = {axis: [str(cell.get(axis)) for cell in cells] for axis in told}
    twice = [axis for place, axis in enumerate(told) if columns[axis] in [columns[one] for one in told[:place]]]
    return frozenset([*alike, *twice])


def _described(directory: Path) -> dict[str, Any]:
    try:
        described = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return described if isinstance(described, dict) else {}


def _manifests(directory: Path, tell: Tell) -> dict[str, dict[str, Any]]:
    """What is noted of every finished run, by its name."""
    files = sorted(directory.glob("runs/[!.]*/manifest.json"))
    found = {}
    for place, file in enumerate(files):
        tell("manifests", place, len(files))
        manifest = _manifest(file)
        found[file.parent.name] = {key: manifest[key] for key in NOTED if key in manifest}
    return found


def _manifest(path: Path) -> dict[str, Any]:
    again = f"delete {path.parent} and run again"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(f"{path}: not JSON ({error}); {again}") from error
    except OSError as error:
        raise ResultsError(f"{path}: cannot be read ({error}); {again}") from error
    if not isinstance(manifest, dict):
        raise ResultsError(f"{path}: not a JSON object; {again}")
    return manifest


def read_failures(directory: Path) -> dict[str, Failure]:
    """Why runs of a folder have no results, by the run's name; a run that has results by now is not among them."""
    done = {file.parent.name for file in directory.glob("runs/[!.]*/manifest.json")}
    return _failures(directory, dict.fromkeys(done))


def _failures(directory: Path, found: Mapping[str, object]) -> dict[str, Failure]:
    failures = {}
    for file in sorted(directory.glob("failures/[!.]*.json")):
        noted = _manifest(file)
        name = str(noted.get("run", file.stem))
        if name in found:
            continue
        swept = noted.get("swept")
        failures[name] = Failure(
            name,
            int(noted.get("cell", 0)),
            int(noted.get("repeat", 0)),
            noted.get("seed"),
            swept if isinstance(swept, dict) else {},
            str(noted.get("kind", "failed")),
            str(noted.get("message", "")),
            int(noted.get("attempts", 1)),
        )
    return failures


def _sweep(described: Mapping[str, Any]) -> Sweep | None:
    experiment = described.get("experiment")
    if not isinstance(experiment, dict):
        return None
    section = experiment.get("sweep", {})
    axes = tuple(Axis(key, tuple(values)) for key, values in section.items() if key not in NOT_AXES)
    repeats = section.get("repeats", 1)
    # How many an interval needs is not known before the runs are: the least is planned in any case.
    least = repeats.get("least", Until.least) if isinstance(repeats, dict) else repeats
    excluded = tuple({key: tuple(values) for key, values in rule.items()} for rule in section.get("exclude", ()))
    return Sweep(axes, int(least), tuple(tuple(group) for group in section.get("zip", ())), excluded)


def _plan(
    directory: Path,
    sweep: Sweep | None,
    described: Mapping[str, Any],
    found: Mapping[str, Mapping[str, Any]],
    failures: Mapping[str, Failure],
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """A row per planned run with the swept keys, and their names."""
    path = directory / "plan.parquet"
    if path.is_file():
        plan = pl.read_parquet(path)
        if absent := [column for column in PLAN_COLUMNS if column not in plan.columns]:
            raise ResultsError(f"{path}: no column {absent[0]}; run the experiment again with this version of weft")
        # A sweep only grows: a plan with fewer runs is that of a time before it grew.
        if sweep is None or plan.height >= sweep.size * sweep.fewest:
            axes = tuple(column for column in plan.columns if column not in PLAN_COLUMNS)
            return list(plan.with_columns(pl.col("run").cast(pl.String)).iter_rows(named=True)), axes
    known = [_known(name, note, place) for place, (name, note) in enumerate(found.items())]
    known += [_known(name, vars(failure), 0) for name, failure in failures.items()]
    if sweep is None:
        # Nobody says what was planned: the runs that are there.
        rows = [given | swept for given, swept in known]
        return rows, tuple(dict.fromkeys(key for _, swept in known for key in swept))
    by_place = {_place(swept, given["repeat"]): given for given, swept in known}
    seed = described["experiment"].get("seed", 1)
    rows = []
    for cell in sweep.cells():
        swept = cell.swept
        repeat = 0
        while repeat < sweep.fewest or _place(swept, repeat) in by_place:
            given = by_place.get(_place(swept, repeat), {"run": "", "repeat": repeat, "seed": seed_of(seed, repeat)})
            rows.append(given | {"cell": cell.index} | swept)
            repeat += 1
    return rows, tuple(sweep.columns)


def _known(name: str, note: Mapping[str, Any], place: int) -> tuple[dict[str, Any], dict[str, Any]]:
    swept = note.get("swept")
    given = {
        "run": name,
        "cell": note.get("cell", 0),
        "repeat": note.get("repeat", place),
        "seed": note.get("seed"),
    }
    return given, dict(swept) if isinstance(swept, Mapping) else {}


def _place(swept: Mapping[str, Any], repeat: int) -> str:
    """What tells a run from all others of a sweep."""
    return json.dumps([swept, repeat], sort_keys=True)


def plain(value: object) -> object:
    """A swept value as text or number; whole tables by their kind first."""
    if isinstance(value, dict):
        kind = [str(value["kind"])] if value.get("kind") is not None else []
        rest = [f"{key} {part}" for key, part in value.items() if key != "kind" and part is not None]
        return " ".join(kind + rest)
    if isinstance(value, str) and value.startswith("{"):
        try:
            return plain(json.loads(value))
        except ValueError:
            return value
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, int | float | None) else str(value)


def word(axis: str, value: object) -> str:
    """A value in a label: text speaks for itself, a number needs its key.

    >>> word("topology.k", 4), word("queue.kind", "red"), word("queue.capacity", "10 packets")
    ('k 4', 'red', 'capacity 10 packets')
    """
    text = str(value)
    return text if isinstance(value, str) and not text[:1].isdigit() else f"{axis.rpartition('.')[2]} {text}"
