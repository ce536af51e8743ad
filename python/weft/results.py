"""Results: the tables of all runs of a folder as polars frames, with the swept keys beside every row."""

import json
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl

    from weft.analysis import Answer
    from weft.published.beside import Beside
    from weft.report.figure.drawing import Figure, Figures
    from weft.report.folder import Folder

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
        self._values: dict[str, dict[str, float | None]] = {}
        if not self.directory.is_dir():
            raise ResultsError(f"{self.directory}: there is no such folder; give the one that weft run wrote")
        if not self.manifests:
            raise ResultsError(f"{self.directory}: {self._why_empty()}")

    @cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The manifest of every finished run by the run's name, in the order of the plan."""
        found = {}
        shared: dict[str, Any] = {}
        for file in (self.directory / "runs").glob("*/manifest.json"):
            if file.parent.name.startswith("."):
                continue
            try:
                manifest = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise ResultsError(f"{file}: cannot be read ({error}); delete {file.parent} and run again") from None
            # The runs of a sweep have most sections in common: kept once, ten thousand manifests are small.
            experiment = manifest.get("experiment")
            if isinstance(experiment, dict):
                manifest["experiment"] = {
                    name: shared.setdefault(json.dumps([name, part]), part) for name, part in experiment.items()
                }
            found[file.parent.name] = manifest
        return dict(sorted(found.items(), key=lambda item: (item[1].get("repeat", 0), item[1].get("cell", 0), item[0])))

    @cached_property
    def described(self) -> dict[str, Any]:
        """What `manifest.json` of the folder says: weft's version and the whole experiment; empty without it."""
        try:
            described = json.loads((self.directory / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return described if isinstance(described, dict) else {}

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
                frame.select(pl.lit(run).alias("run"), pl.all())
                for run in self.manifests
                if (frame := self.tables(run).get(table)) is not None
            ]
            if not frames:
                way_out = (
                    'add every = "10 ms" under [measure]' if table == "samples" else f"tables: {', '.join(TABLES)}"
                )
                raise ResultsError(f"{self.directory}: no run has the table {table}; {way_out}")
            rows = pl.concat(frames, how="vertical_relaxed")
            own = rows.columns[1:]
            joined = rows.join(self.plan, on="run", how="inner", maintain_order="left")
            self._frames[table] = joined.select(*self.plan.columns, *own)
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

        A metric, or a summary of one: "fct", "fct.p99". Raises ResultsError for a metric that there is not.
        """
        return self.numbers((metric,))

    def table(self, metrics: tuple[str, ...] = ("goodput", "fct", "slowdown")) -> "pl.DataFrame":
        """One row per cell: the swept keys, the runs, and for every metric its mean and 95 % interval over repeats.

        Columns METRIC, METRIC_low, METRIC_high; the bounds are null with one run.
        """
        import polars as pl

        from weft.statistics.interval import mean_interval

        rows = []
        for (cell,), runs in self.numbers(metrics).group_by("cell", maintain_order=True):
            row: dict[str, Any] = {"cell": cell} | {name: runs[name][0] for name in self.swept} | {"runs": runs.height}
            for metric in metrics:
                known = runs[metric].drop_nulls().to_list()
                interval = mean_interval(known) if known else None
                row[metric] = interval.mean if interval else None
                row[f"{metric}_low"] = interval.low if interval else None
                row[f"{metric}_high"] = interval.high if interval else None
            rows.append(row)
        return pl.DataFrame(rows, infer_schema_length=None).sort("cell")

    def numbers(self, metrics: tuple[str, ...]) -> "pl.DataFrame":
        """The plan's columns of every finished run and a column per metric, null where a run has no value of it.

        They come from one pass over the tables, and are kept. Raises ResultsError for a metric that there is not.
        """
        import polars as pl

        from weft.metric import METRICS, SUMMARIES
        from weft.report.folder import RunTables
        from weft.report.table import full_name, numbers_of

        for metric in metrics:
            name, _, summary = metric.partition(".")
            if name not in METRICS or (summary and summary not in SUMMARIES):
                raise ResultsError(
                    f"{metric}: no such metric; there are {', '.join(METRICS)}, "
                    f"and of each {', '.join(SUMMARIES)}, like fct.p99"
                )
        if wanted := [metric for metric in metrics if metric not in self._values]:
            for run in self.manifests:
                found = numbers_of(RunTables(self.directory / "runs" / run), [full_name(metric) for metric in wanted])
                for metric in wanted:
                    value = found[full_name(metric)]
                    self._values.setdefault(metric, {})[run] = value if isinstance(value, float) else None
        columns = [pl.Series("run", list(self.manifests), dtype=pl.String)]
        columns += [pl.Series(metric, list(self._values[metric].values()), dtype=pl.Float64) for metric in metrics]
        return self.plan.join(pl.DataFrame(columns), on="run", how="inner", maintain_order="left")

    def know(self, values: Mapping[str, Mapping[str, float | str]]) -> None:
        """Takes numbers of runs that were computed elsewhere: by metric and summary (`fct.mean`), then by run."""
        from weft.metric import METRICS

        for name, by_run in values.items():
            stem, _, summary = name.partition(".")
            if stem not in METRICS or self.manifests.keys() - by_run.keys():
                continue
            known = {run: value if isinstance(value := by_run[run], float) else None for run in self.manifests}
            self._values[name] = known
            if summary == METRICS[stem].summary:
                self._values[stem] = known

    @property
    def published(self) -> "pl.DataFrame":
        """One row per published number and cell that it is compared with: published, ours, the interval, the deviation.

        In base units (bit/s, ns, a share; with `of` a share of that). Empty without `[[published]]`.
        """
        from weft.published.shown import frame

        return frame(self.beside())

    def beside(self, answers: "Sequence[Answer] | None" = None) -> "list[Beside]":
        """What each `[[published]]` gives; `answers` are those to the analyses, if known.

        Numbers of runs that were computed before are not computed again.
        """
        from weft.published.beside import beside
        from weft.report.table import full_name

        for metric, by_run in self._values.items():
            known = {run: value for run, value in by_run.items() if value is not None}
            self._folder.run_values.setdefault(full_name(metric), {}).update(known)
        return beside(self._folder, answers)

    @property
    def failures(self) -> "pl.DataFrame":
        """One row per failed run: run, cell, repeat, seed, kind, message, attempts, and the command to repeat it."""
        from weft.report.trouble import failures_table

        return failures_table(self._folder)

    @property
    def lacking(self) -> list[str]:
        """Planned runs that are not there and did not fail, interrupted or not begun, as "ecmp, repeat 3"."""
        from weft.report.trouble import lacking_runs

        return lacking_runs(self._folder)

    def figure(
        self,
        figure: str,
        *,
        y: str | None = None,
        x: str | None = None,
        by: str | None = None,
        facet: str | None = None,
        title: str | None = None,
    ) -> "Figure":
        """A figure as `[[report]]` has it: `results.figure("box", x="load_balance.kind", y="goodput")`.

        A notebook shows it; it can be saved (`.save("x.svg")`, .png, .csv), and `.csv()` is the table behind it. Raises
        ResultsError for what cannot be drawn.
        """
        from weft.report.figure import FIGURES, ask

        asked = {"figure": figure, "y": y, "x": x, "by": by, "facet": facet, "title": title}
        entry = ask({key: value for key, value in asked.items() if value is not None}, FIGURES)
        return FIGURES[entry.figure].draw(self._folder, entry)

    def figures(self) -> "Figures":
        """All figures of the report, in its order; one is also found by its name: `figures()["ecdf-fct"]`."""
        from weft.report.choose import choose
        from weft.report.figure.drawing import Figures

        return Figures(choose(self._folder)[0])

    @cached_property
    def _folder(self) -> "Folder":
        from weft.report.folder import read_folder

        return read_folder(self.directory)

    def _why_empty(self) -> str:
        from weft.report.folder import read_failures

        failures = read_failures(self.directory)
        if not failures:
            return "no finished run in it; give the folder that weft run wrote"
        first = next(iter(failures.values()))
        runs = "its run" if len(failures) == 1 else f"all {len(failures)} runs"
        return f"{runs} failed: {first}; weft report {self.directory} lists them"

    def _repr_html_(self) -> str:
        from weft.notebook import results_html

        return results_html(self)

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
