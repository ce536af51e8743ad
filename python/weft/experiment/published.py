"""What is wrong with the entries of `[[published]]` and with the files that they name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from weft import units
from weft.errors import Fault
from weft.experiment.document import Document
from weft.experiment.figures import keys_of
from weft.experiment.objective import OF_FLOWS
from weft.experiment.path import Path
from weft.experiment.values import said, suggestion
from weft.metric import METRICS
from weft.published.document import OWN, Row, Unreadable, read

Spec = Mapping[str, Any]


def faults(document: Document, swept: Iterable[str], specs: Callable[[], Iterable[Spec]]) -> Iterator[Fault]:
    """Unreadable files, and rows that name a key, a workload or an effect that the experiment does not have.

    `swept` are the columns of the plan; `specs` gives the spec of every cell. A row of a value that no cell has is no
    fault: the same file serves a quick and a full experiment.
    """
    entries = document.value.get("published")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        name = entry.get("file") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not (document.directory / name).is_file():
            continue  # A fault of its own.
        path: Path = ("published", index, "file")
        try:
            rows = read(document.directory / name)
        except Unreadable as error:
            for line, message, nearest in error.faults:
                yield document.fault(path, f"{name}:{line}: {message}", nearest=nearest)
            continue
        every = list(specs())
        known = dict.fromkeys(["name", "seed", *swept, *(key for spec in every for key in keys_of(spec))])
        workloads = dict.fromkeys(work.get("name", "") for spec in every for work in spec.get("workload", ()))
        yield from _faults_of_spans(document, path, name, rows, every)
        analysed = document.value.get("analysis")
        for line, message, nearest in _faults_of_rows(rows, list(known), list(workloads), analysed):
            yield document.fault(path, f"{FilePath(name).name}:{line}: {message}", nearest=nearest)


def _faults_of_spans(
    document: Document, path: Path, name: str, rows: Iterable[Row], every: list[Spec]
) -> Iterator[Fault]:
    """Rows of a span of time that is neither a time nor a workload's, and runs that sample no goodput."""
    workloads = dict.fromkeys(work.get("name", "") for spec in every for work in spec.get("workload", ()))
    of_spans = [row for row in rows if any(row.span)]
    for row in of_spans:
        for column, text in zip(("from", "until"), row.span, strict=True):
            try:
                if text and text not in workloads:
                    units.parse_time(text)
            except units.UnitError:
                way_out, nearest = suggestion(text, workloads, "workloads")
                message = f"{column}: {said(text)} is neither a time nor a workload; {way_out}"
                yield document.fault(path, f"{FilePath(name).name}:{row.line}: {message}", nearest=nearest)
    measured = [spec.get("measure", {}) for spec in every]
    if of_spans and any("every" not in m or "goodput" not in m.get("metrics", ["goodput"]) for m in measured):
        message = 'has numbers of a span of time, which needs samples: write every = "1 ms" under [measure], and '
        message += '"goodput" among its metrics'
        yield document.fault(path, f"{FilePath(name).name}:{of_spans[0].line}: {message}")


def _faults_of_rows(
    rows: Iterable[Row], known: list[str], workloads: list[str], analysed: object
) -> Iterator[tuple[int, str, str | None]]:
    unknown: set[str] = set()
    for row in rows:
        for key in row.keys.keys() - unknown:
            if key not in known and not any(name.startswith(f"{key}.") for name in known):
                unknown.add(key)
                way_out, nearest = suggestion(key, [*known, *OWN], "keys")
                if nearest is None:
                    way_out = f"a column is a key of the experiment, or one of {', '.join(OWN)}"
                yield 1, f"the experiment has no key {said(key)}; {way_out}", nearest
        for name in row.workloads:
            if name not in workloads:
                way_out, nearest = suggestion(name, workloads, "workloads")
                yield row.line, f"workload: no workload is called {said(name)}; {way_out}", nearest
        metric = METRICS.get(row.metric.partition(".")[0])
        is_of_flows = metric is None or metric.entity == "flow" or metric.name in OF_FLOWS
        if row.workloads and not (is_of_flows and row.metric.partition(".")[0] not in ("links", "queues")):
            yield row.line, f"workload: {row.metric} is of what all workloads share; leave it empty", None
        if row.effect and not (isinstance(analysed, list) and any(_tests(entry, row.metric) for entry in analysed)):
            message = f"effect: no [[analysis]] has the metric {row.metric}; add it there, or leave the effect empty"
            yield row.line, message, None


def _tests(entry: object, metric: str) -> bool:
    metrics = entry.get("metrics") if isinstance(entry, dict) else None
    return isinstance(metrics, list) and metric in metrics
