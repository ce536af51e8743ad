"""Results: the tables of all runs of a folder as polars frames, with the swept keys beside every row."""

import json
import shutil
import weakref
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl

TABLES = ("flows", "links", "queues", "paths", "samples", "nodes")
PLAN_COLUMNS = ("run", "cell", "repeat", "seed")


class Results:
    """What a folder of `weft run` holds. Every table is read when it is first asked for, and then kept.

    Each table has the columns of the plan (run, cell, repeat, seed, and one per swept key) before its own.
    """

    def __init__(self, directory: str | Path, is_temporary: bool = False) -> None:
        """Open a folder; a temporary one is deleted with this object. Raises ResultsError without a finished run."""
        self.directory = Path(directory)
        self._is_temporary = is_temporary
        if is_temporary:
            weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)
        self._frames: dict[str, pl.DataFrame] = {}
        if not self.directory.is_dir():
            raise ResultsError(f"{self.directory}: there is no such folder; give the one that weft run wrote")
        if not self.manifests:
            raise ResultsError(f"{self.directory}: no finished run in it; give the folder that weft run wrote")

    @cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The manifest of every finished run by the run's name, in the order of the plan."""
        found = {}
        for file in (self.directory / "runs").glob("*/manifest.json"):
            if file.parent.name.startswith("."):
                continue
            try:
                found[file.parent.name] = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise ResultsError(f"{file}: cannot be read ({error}); delete {file.parent} and run again") from None
        return dict(sorted(found.items(), key=lambda item: (item[1].get("repeat", 0), item[1].get("cell", 0), item[0])))

    @cached_property
    def plan(self) -> "pl.DataFrame":
        """One row per finished or planned run: run, cell, repeat, seed, and one column per swept key."""
        import polars as pl

        file = self.directory / "plan.parquet"
        if file.is_file():
            return pl.read_parquet(file)
        from weft.execute.plan_table import column

        rows = [
            {name: manifest.get(name) for name in PLAN_COLUMNS} | manifest["swept"]
            for manifest in self.manifests.values()
        ]
        names = dict.fromkeys(name for row in rows for name in row)
        return pl.DataFrame([column(name, [row.get(name) for row in rows]) for name in names])

    @property
    def swept(self) -> list[str]:
        """The swept keys: the plan's columns beside run, cell, repeat and seed."""
        return [name for name in self.plan.columns if name not in PLAN_COLUMNS]

    @property
    def warnings(self) -> list[str]:
        """What to look at before the numbers are trusted, each text once."""
        return list(
            dict.fromkeys(text for manifest in self.manifests.values() for text in manifest.get("warnings", ()))
        )

    @property
    def flows(self) -> "pl.DataFrame":
        """One row per flow."""
        return self.frame("flows")

    @property
    def links(self) -> "pl.DataFrame":
        """One row per directed link."""
        return self.frame("links")

    @property
    def queues(self) -> "pl.DataFrame":
        """One row per egress queue."""
        return self.frame("queues")

    @property
    def paths(self) -> "pl.DataFrame":
        """One row per flow, subflow and path."""
        return self.frame("paths")

    @property
    def samples(self) -> "pl.DataFrame":
        """One row per observation; there are some only if the experiment has `measure.every`."""
        return self.frame("samples")

    @property
    def nodes(self) -> "pl.DataFrame":
        """One row per host and switch."""
        return self.frame("nodes")

    def frame(self, table: str) -> "pl.DataFrame":
        """A table of all finished runs. Raises ResultsError if no run has it."""
        if table not in self._frames:
            import polars as pl

            frames = [
                self.plan.filter(pl.col("run") == run).join(frame, how="cross")
                for run in self.manifests
                if (frame := self.tables(run).get(table)) is not None
            ]
            if not frames:
                way_out = (
                    'add every = "10 ms" under [measure]' if table == "samples" else f"tables: {', '.join(TABLES)}"
                )
                raise ResultsError(f"{self.directory}: no run has the table {table}; {way_out}")
            self._frames[table] = pl.concat(frames, how="vertical_relaxed")
        return self._frames[table]

    def tables(self, run: str) -> "RunTables":
        """The tables of one run. Raises ResultsError for a run that is not there."""
        if run not in self.manifests:
            raise ResultsError(f"{self.directory}: no finished run {run}")
        return RunTables(self.directory / "runs" / run)

    def unfinished(self, run: str) -> dict[str, list[str]]:
        """The flows of a run that did not finish, as "3 h000>h110", by the reason. Raises ResultsError."""
        flows = self.tables(run)["flows"]
        found: dict[str, list[str]] = {}
        for flow, src, dst, reason in flows.select("flow", "src", "dst", "reason").iter_rows():
            if reason is not None:
                found.setdefault(reason, []).append(f"{flow} {src}>{dst}")
        return found

    def values(self, metric: str) -> "pl.DataFrame":
        """One number per finished run: the plan's columns and the metric's value, null where a run has none.

        Raises ResultsError for a metric that there is not.
        """
        import polars as pl

        from weft.metric import METRICS

        if metric not in METRICS:
            raise ResultsError(f"{metric}: no such metric; there are {', '.join(METRICS)}")
        rows: dict[str, list[Any]] = {"run": [], metric: []}
        for run in self.manifests:
            try:
                value: float | None = METRICS[metric].value(self.tables(run))
            except ResultsError:
                value = None
            rows["run"].append(run)
            rows[metric].append(value)
        return self.plan.join(pl.DataFrame(rows, schema={"run": pl.String, metric: pl.Float64}), on="run", how="inner")

    def table(self, metrics: tuple[str, ...] = ("goodput", "fct", "slowdown")) -> "pl.DataFrame":
        """One row per cell: the swept keys, the runs, and for every metric its mean and 95 % interval over repeats.

        Columns METRIC, METRIC_low, METRIC_high; the bounds are null with one run.
        """
        import polars as pl

        from weft.statistics.interval import mean_interval

        values = {metric: self.values(metric) for metric in metrics}
        rows = []
        cells = self.plan.filter(pl.col("run").is_in(list(self.manifests)))
        for (cell,), runs in cells.group_by("cell", maintain_order=True):
            row: dict[str, Any] = {"cell": cell} | {name: runs[name][0] for name in self.swept} | {"runs": runs.height}
            for metric, frame in values.items():
                known = frame.filter(pl.col("cell") == cell)[metric].drop_nulls().to_list()
                interval = mean_interval(known) if known else None
                row[metric] = interval.mean if interval else None
                row[f"{metric}_low"] = interval.low if interval else None
                row[f"{metric}_high"] = interval.high if interval else None
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None).sort("cell")

    def _repr_html_(self) -> str:
        import html

        warnings = "".join(f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in self.warnings)
        return f"<p>{html.escape(str(self))}</p>{warnings}{self.table()._repr_html_()}"

    def __str__(self) -> str:
        runs = len(self.manifests)
        place = "in a temporary folder" if self._is_temporary else str(self.directory)
        return f"{runs} run{'s' if runs != 1 else ''} ({place})"

    def __repr__(self) -> str:
        return f"Results({str(self.directory)!r})"


class RunTables(Mapping[str, "pl.DataFrame"]):
    """The tables of one run, each read when it is asked for."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __getitem__(self, name: str) -> "pl.DataFrame":
        import polars as pl

        file = self._directory / f"{name}.parquet"
        if not file.is_file():
            raise KeyError(name)
        try:
            return pl.read_parquet(file)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ResultsError(f"{file}: cannot be read ({error}); delete {file.parent} and run again") from None

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(file.stem for file in self._directory.glob("*.parquet")))

    def __len__(self) -> int:
        return sum(1 for _ in self)
