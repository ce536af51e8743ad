"""What is wrong with the entries of `[[analysis]]`, as far as it is not wrong by itself."""

from collections.abc import Iterable, Iterator
from typing import Any

from weft.errors import Fault
from weft.experiment.document import Document
from weft.experiment.metrics import metric_fault
from weft.experiment.path import Path
from weft.experiment.values import said, suggestion


def faults(document: Document, swept: Iterable[str], repeats: int) -> Iterator[Fault]:
    """Unknown metrics, factors that are not swept, too few metrics, and no repeats."""
    entries = document.value.get("analysis")
    keys = list(swept)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            yield from _faults_of_entry(document, ("analysis", index), entry, keys, repeats)


def _faults_of_entry(
    document: Document, path: Path, entry: dict[str, Any], swept: list[str], repeats: int
) -> Iterator[Fault]:
    metrics, factors, by = entry.get("metrics"), entry.get("factors"), entry.get("by")
    for metric in metrics if isinstance(metrics, list) else ():
        if fault := metric_fault(document, (*path, "metrics"), metric):
            yield fault
    if isinstance(metrics, list):
        if len(set(map(str, metrics))) < len(metrics):
            yield document.fault((*path, "metrics"), "names a metric twice", value=metrics)
        elif entry.get("kind") == "manova" and len(metrics) < 2:
            message = 'a MANOVA has several metrics; for one, write kind = "anova"'
            yield document.fault((*path, "metrics"), message, value=metrics)
        elif not metrics:
            yield document.fault((*path, "metrics"), "is an empty list; name a metric, like goodput", value=metrics)
    for factor in [*(factors if isinstance(factors, list) else ()), *([by] if by is not None else ())]:
        key = "by" if factor is by else "factors"
        if factor not in swept:
            way_out, nearest = suggestion(str(factor), swept, "swept")
            message = f"{said(factor)} is not swept; {way_out}"
            yield document.fault((*path, key), message, value=factor, nearest=nearest)
    if isinstance(factors, list) and by in factors:
        yield document.fault((*path, "by"), f"{said(by)} is among the factors too; it is one or the other", value=by)
    if not swept:
        yield document.fault(path, "compares cells, and there is no axis in [sweep]")
    elif repeats < 2:
        yield document.fault(path, "judges by what repeats differ; write repeats = 10 under [sweep]")
