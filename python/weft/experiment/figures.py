"""Figures: whether `[[report]]` asks for what the experiment will have, checked when it is loaded, not when it has run.

`y` is a metric, a summary of one, or a column of a table, and for a figure over time what is sampled; `x`, `by` and
`facet` are keys that the sweep varies, or any other key of the experiment.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from weft.columns import NUMBERS
from weft.errors import Fault
from weft.experiment.document import Document
from weft.experiment.path import Path
from weft.experiment.path import write as dotted
from weft.experiment.sections import SAMPLED, SAMPLED_UNASKED
from weft.experiment.values import said, suggestion
from weft.metric import METRICS, SUMMARIES
from weft.report.figure import FIGURES, Kind

Spec = Mapping[str, Any]

ENDS = ("src", "dst", "workload")
"""What samples of flows are summed by."""

OF_FLOWS = ("goodput", "sent", "cwnd")
"""Samples of flows that can be summed."""

CELL = "cell"
"""In place of a key: every cell by itself."""


def faults(document: Document, swept: Iterable[str], specs: Callable[[], Iterable[Spec]]) -> Iterator[Fault]:
    """What is wrong with the entries of `[[report]]`, as far as it is not wrong by itself.

    `swept` are the columns of the plan; `specs` gives the spec of every cell, and is called where these do not do.
    """
    entries = document.value.get("report")
    known = [CELL, *dict.fromkeys(swept)]
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        kind = FIGURES.get(str(entry.get("figure"))) if isinstance(entry, dict) else None
        if kind is not None:
            yield from _faults_of_entry(document, ("report", index), entry, kind, known, specs)


def _faults_of_entry(
    document: Document,
    path: Path,
    entry: Mapping[str, Any],
    kind: Kind,
    known: list[str],
    specs: Callable[[], Iterable[Spec]],
) -> Iterator[Fault]:
    for key in ("x", "y", "by", "facet"):
        value = entry.get(key)
        if value is None and key in kind.needs:
            like = _like(kind) if key == "y" else f"a swept key, like {said((known[1:] or ['topology.k'])[0])}"
            yield document.fault((*path, key), f"is required by the figure {kind.name}: {like}", expected=like)
        elif value is not None and key not in kind.needs + kind.takes:
            keys = ", ".join(("figure", *kind.needs, *kind.takes, "title"))
            yield document.fault((*path, key), f'the figure {kind.name} has no "{key}"; its keys: {keys}', value=value)
        elif not isinstance(value, str):
            continue  # Missing, or a fault of its own.
        elif key == "y":
            message, nearest = _fault_of_y(kind, value, next(iter(specs()), {}))
            if message:
                yield document.fault((*path, key), message, value=value, nearest=nearest)
        elif kind.of == "samples":
            if value not in ENDS or entry.get("y") not in OF_FLOWS:
                message = (
                    f"samples are drawn by {', '.join(ENDS)}, which needs samples of flows ({', '.join(OF_FLOWS)})"
                )
                yield document.fault((*path, key), message, value=value)
        elif any(name.startswith(f"{value}.") for name in known):
            continue  # Whole tables are swept, and their section tells them apart.
        elif value not in known and not any(value in keys_of(spec) for spec in specs()):
            every = dict.fromkeys([*known, *(found for spec in specs() for found in keys_of(spec))])
            way_out, nearest = suggestion(value, every, "known")
            if nearest is None:
                way_out = f"swept: {', '.join(known[1:]) or 'nothing'}"
            message = f"{said(value)} is no key of the experiment; {way_out}"
            yield document.fault((*path, key), message, value=value, nearest=nearest)


def _fault_of_y(kind: Kind, y: str, spec: Spec) -> tuple[str, str | None]:
    """What is wrong with `y`, empty if nothing is, and the nearest known word."""
    if kind.of == "samples":
        if y not in SAMPLED:
            way_out, nearest = suggestion(y, SAMPLED, "sampled are")
            return f"unknown sample {said(y)}; {way_out}", nearest
        measure = spec.get("measure", {})
        if not spec:
            return "", None
        if "every" not in measure:
            return f'{said(y)} is not sampled; write every = "10 ms" under [measure]', None
        if y not in measure.get("metrics", SAMPLED_UNASKED):
            return f"{said(y)} is not sampled; add it to measure.metrics", None
        return "", None
    stem, _, last = y.rpartition(".")
    if y in METRICS or y in NUMBERS["flows"] or (stem in NUMBERS and last in NUMBERS[stem]):
        return "", None
    if stem in METRICS and last in SUMMARIES:
        if kind.of == "runs":
            return "", None
        return f"the figure {kind.name} draws every value, no summary of them; write {said(stem)}", stem
    if stem in METRICS:
        way_out, nearest = suggestion(last, SUMMARIES, "there are")
        return f"{stem} has no summary {said(last)}; {way_out}", f"{stem}.{nearest}" if nearest else None
    if stem in NUMBERS:
        way_out, nearest = suggestion(last, NUMBERS[stem], "its numbers are")
        return f"the table {stem} has no number {said(last)}; {way_out}", f"{stem}.{nearest}" if nearest else None
    columns = [*NUMBERS["flows"], *(f"{table}.{name}" for table, names in NUMBERS.items() for name in names)]
    way_out, nearest = suggestion(y, [*METRICS, *columns], "known")
    if nearest is None:
        way_out = f"metrics are {', '.join(METRICS)}; a column is written TABLE.COLUMN, like queues.max_bytes"
    return f"unknown {said(y)}; {way_out}", nearest


def _like(kind: Kind) -> str:
    return (
        f'what is sampled, like "{SAMPLED[0]}"' if kind.of == "samples" else f'a metric, like "{next(iter(METRICS))}"'
    )


def keys_of(spec: Spec) -> set[str]:
    """Dotted keys of all plain values of a spec; those of a workload also by its name (`workload.bulk.size`)."""
    found = {dotted(path) for path in _leaves(spec, ())}
    for index, workload in enumerate(spec.get("workload", ())):
        start = f"workload[{index}]."
        found |= {f"workload.{workload.get('name')}.{key[len(start) :]}" for key in found if key.startswith(start)}
    return found


def _leaves(value: Any, path: Path) -> Iterator[Path]:
    # A capacity is { packets = 100 } in base units, and one value to a person.
    is_table = isinstance(value, dict) and not (len(value) == 1 and value.keys() <= {"packets", "bytes"})
    if is_table:
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _leaves(part, (*path, index))
    else:
        yield path
