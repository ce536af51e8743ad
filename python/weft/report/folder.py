"""The folder of a run or a sweep, read lazily: what was planned, what is there, and the tables of each run.

The layout is that of DESIGN.md section 4. Without `plan.parquet` (a sweep that is still going) the
manifests say which runs there are.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from weft.errors import ResultsError

PLAN_COLUMNS = ("run", "cell", "repeat", "seed")


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
                words = cs.categorical() | cs.enum()
                self._read[name] = pl.read_parquet(path).with_columns(words.cast(pl.String))
            except (pl.exceptions.PolarsError, OSError) as error:
                raise ResultsError(f"{path}: cannot be read ({error}); delete {path.parent} and run again") from error
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.stem for path in self._directory.glob("*.parquet")))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Run:
    """One run: planned, and done if it has a manifest."""

    name: str
    cell: str
    repeat: int
    seed: int | None
    directory: Path

    @cached_property
    def manifest(self) -> dict[str, Any] | None:
        """`manifest.json`, or None for a run that is not there."""
        path = self.directory / "manifest.json"
        if not path.is_file():
            return None
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ResultsError(f"{path}: not JSON ({error}); delete {self.directory} and run again") from error
        if not isinstance(manifest, dict):
            raise ResultsError(f"{path}: not a JSON object; delete {self.directory} and run again")
        return manifest

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

    @property
    def done(self) -> tuple[Run, ...]:
        """Runs that are there."""
        return tuple(run for run in self.runs if run.is_done)


@dataclass(frozen=True)
class Folder:
    """What a folder holds: axes of the sweep (empty for one cell) and cells in the plan's order."""

    directory: Path
    axes: tuple[str, ...]
    cells: tuple[Cell, ...]
    experiment_text: str | None = field(repr=False)

    @cached_property
    def described(self) -> dict[str, Any]:
        """`manifest.json` of the folder: the settings of the command line and the whole experiment; or nothing."""
        try:
            described = json.loads((self.directory / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return described if isinstance(described, dict) else {}

    @property
    def runs(self) -> tuple[Run, ...]:
        """All planned runs."""
        return tuple(run for cell in self.cells for run in cell.runs)

    @cached_property
    def done(self) -> tuple[Run, ...]:
        """Runs that are there."""
        return tuple(run for run in self.runs if run.is_done)

    @cached_property
    def experiment(self) -> dict[str, Any]:
        """Resolved experiment of the first run that is there; the swept keys of other cells differ."""
        manifest = self.done[0].manifest or {}
        experiment = manifest.get("experiment", {})
        return experiment if isinstance(experiment, dict) else {}

    @property
    def name(self) -> str:
        """Name of the experiment, or of the folder."""
        return str(self.experiment.get("name") or self.directory.resolve().name)


def read_folder(directory: Path) -> Folder:
    """Read the plan and the manifests of a folder.

    Raises ResultsError if it holds no run.
    """
    if not directory.is_dir():
        raise ResultsError(f"{directory}: there is no such folder; give the one that `weft run` wrote")
    plan = _plan(directory)
    axes = tuple(column for column in plan.columns if column not in PLAN_COLUMNS)
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in plan.iter_rows(named=True):
        groups.setdefault(str(row["cell"]), []).append(row)
    cells = []
    for cell, rows in groups.items():
        keys = {axis: _plain(rows[0][axis]) for axis in axes}
        label = " · ".join(_word(axis, value) for axis, value in keys.items() if value is not None) or "all runs"
        runs = tuple(
            Run(str(row["run"]), cell, int(row["repeat"]), row["seed"], directory / "runs" / str(row["run"]))
            for row in sorted(rows, key=lambda row: int(row["repeat"]))
        )
        cells.append(Cell(label, keys, runs))
    labels = [cell.label for cell in cells]
    if len(set(labels)) < len(labels):
        cells = [Cell(f"{cell.label} ({place})", cell.keys, cell.runs) for place, cell in enumerate(cells, 1)]
    toml = directory / "experiment.toml"
    folder = Folder(directory, axes, tuple(cells), toml.read_text(encoding="utf-8") if toml.is_file() else None)
    if not folder.done:
        raise ResultsError(f"{directory}: no finished run in it; give the folder that `weft run --out` wrote")
    return folder


def _plan(directory: Path) -> pl.DataFrame:
    path = directory / "plan.parquet"
    if path.is_file():
        plan = pl.read_parquet(path)
        if absent := [column for column in PLAN_COLUMNS if column not in plan.columns]:
            raise ResultsError(f"{path}: no column {absent[0]}; run the experiment again with this version of weft")
        return plan
    # A sweep writes its plan when it ends; until then the manifests say which runs there are.
    manifests = {}
    for manifest in sorted(directory.glob("runs/[!.]*/manifest.json")):
        manifests[manifest.parent.name] = Run(manifest.parent.name, "0", 0, None, manifest.parent).manifest or {}
    if not manifests:
        raise ResultsError(f"{directory}: no runs in it; give the folder that `weft run --out` wrote")
    rows: list[dict[str, Any]] = []
    for place, (name, found) in enumerate(manifests.items()):
        swept = found.get("swept")
        given = {
            "run": name,
            "cell": found.get("cell", 0),
            "repeat": found.get("repeat", place),
            "seed": found.get("seed"),
        }
        rows.append(given | (swept if isinstance(swept, dict) else {}))
    rows.sort(key=lambda row: (row["cell"], row["repeat"]))
    axes = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame({axis: pl.Series(axis, [row.get(axis) for row in rows], strict=False) for axis in axes})


def _plain(value: object) -> object:
    """A swept value as text or number; whole tables by their kind first."""
    if isinstance(value, dict):
        kind = [str(value["kind"])] if value.get("kind") is not None else []
        rest = [f"{key} {part}" for key, part in value.items() if key != "kind" and part is not None]
        return " ".join(kind + rest)
    if isinstance(value, str) and value.startswith("{"):
        try:
            return _plain(json.loads(value))
        except ValueError:
            return value
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, int | float | None) else str(value)


def _word(axis: str, value: object) -> str:
    """A value in a label: text speaks for itself, a number needs its key."""
    text = str(value)
    return text if isinstance(value, str) and not text[:1].isdigit() else f"{axis.rpartition('.')[2]} {text}"
