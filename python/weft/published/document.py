"""The file of published numbers: a CSV with a row per number.

Columns with a meaning of their own are `OWN`; every other one is a key of the experiment, and a row is compared with
the cells that have its values there.
"""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from weft import units
from weft.columns import NUMBERS
from weft.experiment.values import said, suggestion
from weft.metric import METRICS, SUMMARIES

OWN: Mapping[str, str] = {
    "metric": "What the number is of: a metric or a summary of one (fct.p99), or a column of a table.",
    "workload": "Workloads whose flows alone count, between semicolons; empty: all flows.",
    "effect": "An effect of [[analysis]], like load_balance.kind x transport.rack: the number is its p-value.",
    "value": "The number, with its unit.",
    "half_width": "Half of the interval that the document gives, written like the value; empty: none.",
    "from": "The number is of a span of time from here on: 2 s, or the name of a workload, which means its start.",
    "until": "Where the span ends, likewise; of a span there are goodput and fairness, from samples of goodput.",
    "of": "What 100 % are, for values in per cent of something that is no share itself: 1 Gbps.",
    "source": "Where in the document it stands.",
}
OF_SPANS = ("goodput", "fairness")
"""Metrics that are known of a span of time."""

UNITS = {"bps": "242.4 kbps", "ns": "150 us", "bytes": "64 KiB", "packets": "12", "share": "95 %", "": "0.93"}
"""A number by its unit, as an example."""


class Unreadable(Exception):
    """What is wrong with the file, each with its line; `nearest` is the known name that was perhaps meant."""

    def __init__(self, faults: Iterable[tuple[int, str, str | None]]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"line {line}: {message}" for line, message, _ in self.faults))


@dataclass(frozen=True)
class Row:
    """A published number in base units (bit/s, ns, bytes, a share), or with `of` as a share of that.

    `unit` is that of the metric's column ("" for a ratio or a p-value); `keys` has what a cell must have.
    """

    line: int
    metric: str
    unit: str
    workloads: tuple[str, ...]
    effect: str
    value: float
    half_width: float | None
    of: float | None
    source: str
    keys: Mapping[str, str]
    span: tuple[str, str] = ("", "")
    """From and until, each a time or the name of a workload; empty: the run's beginning and end."""
    in_bytes: bool = False
    """Whether a rate is written in bytes per second, and is to be shown so."""

    @property
    def is_share(self) -> bool:
        """Whether it is read as per cent."""
        return self.of is not None or (self.unit == "share" and not self.effect)


def read(file: Path) -> tuple[Row, ...]:
    """The rows of a file. Raises Unreadable with everything that is wrong with it."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Unreadable([(1, f"cannot be read: {reason}", None)]) from None
    written = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    lines = csv.reader(line for _, line in written)
    head = [name.strip() for name in next(lines, [])]
    top = written[0][0] if written else 1
    faults: list[tuple[int, str, str | None]] = [(top, message, None) for message in _faults_of_head(head)]
    rows = []
    if not faults:
        for line in lines:
            number = written[lines.line_num - 1][0]
            cells = [cell.strip() for cell in line]
            if not any(cells):
                continue
            if len(cells) != len(head):
                faults.append((number, f"has {len(cells)} fields; line {top} names {len(head)} columns", None))
                continue
            try:
                rows.append(_row(number, dict(zip(head, cells, strict=True))))
            except _Wrong as wrong:
                faults.append((number, str(wrong), wrong.nearest))
        if not rows and not faults:
            faults.append((top, "has no row below its columns", None))
    if faults:
        raise Unreadable(faults)
    return tuple(rows)


class _Wrong(Exception):
    def __init__(self, message: str, nearest: str | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest


def _faults_of_head(head: list[str]) -> Iterator[str]:
    for name in ("metric", "value"):
        if name not in head:
            holds = OWN[name][0].lower() + OWN[name][1:].rstrip(".")
            yield f'has no column "{name}", which holds {holds}; the first line that is no comment names the columns'
    for name in dict.fromkeys(head):
        if not name:
            yield "names a column without a name"
        elif head.count(name) > 1:
            yield f'names the column "{name}" {head.count(name)} times'


def _row(line: int, fields: Mapping[str, str]) -> Row:
    own = {name: fields.get(name, "") for name in OWN}
    unit = _unit(own["metric"])
    if own["effect"]:
        unit = ""
        if own["of"]:
            raise _Wrong("of: a p-value is no share of anything; leave it empty")
    of = number(own["of"], unit, "of") if own["of"] else None
    if of is not None and of <= 0:
        raise _Wrong(f"of: {said(own['of'])} is not above 0, and 100 % of it nothing")
    value = number(own["value"], "share" if of is not None else unit, "value")
    if own["effect"] and not 0 <= value <= 1:
        raise _Wrong(f"value: {said(own['value'])} is no p-value; it lies between 0 and 1")
    half = number(own["half_width"], "share" if of is not None else unit, "half_width") if own["half_width"] else None
    if half is not None and half < 0:
        raise _Wrong(f"half_width: {said(own['half_width'])} is negative")
    workloads = tuple(name.strip() for name in own["workload"].split(";") if name.strip())
    keys = {name: text for name, text in fields.items() if name not in OWN and text}
    span = (own["from"], own["until"])
    if any(span):
        metrics = ", ".join(OF_SPANS)
        if own["metric"].partition(".")[0] not in OF_SPANS or own["effect"]:
            raise _Wrong(
                f"from, until: {said(own['metric'])} is not known of a span of time; of one there are {metrics}"
            )
    return Row(
        line,
        own["metric"],
        unit,
        workloads,
        own["effect"],
        value,
        half,
        of,
        own["source"],
        keys,
        span,
        "B/s" in own["value"],
    )


def _unit(metric: str) -> str:
    """The unit of a metric's or a column's numbers."""
    name, dot, last = metric.partition(".")
    if name in METRICS:
        if dot and last not in SUMMARIES:
            way_out, nearest = suggestion(last, SUMMARIES, "there are")
            raise _Wrong(f"metric: {name} has no summary {said(last)}; {way_out}", nearest)
        return METRICS[name].unit
    table, column = (name, last) if dot else ("flows", name)
    if column in NUMBERS.get(table, ()):
        ending = column.rpartition("_")[2]
        return "share" if column == "utilization" else ending if ending in UNITS else ""
    known = [*METRICS, *NUMBERS["flows"], *(f"{table}.{one}" for table in NUMBERS for one in NUMBERS[table])]
    way_out, nearest = suggestion(metric, known, "metrics")
    raise _Wrong(f"metric: unknown {said(metric)}; {way_out if nearest else 'metrics: ' + ', '.join(METRICS)}", nearest)


def number(text: str, unit: str, column: str) -> float:
    """A number with its unit in base units; a share in per cent, or bare between 0 and 1.

    Raises an exception that `read` makes a fault of.

    >>> number("242.4 kbps", "bps", "value"), number("150 us", "ns", "value"), number("12.5 %", "share", "value")
    (242400.0, 150000.0, 0.125)
    """
    bare, percent, rest = text.partition("%")
    if percent and not rest and unit != "share":
        raise _Wrong(f'{column}: {said(text)} of what? give it in the column "of", or a number like {UNITS[unit]}')
    try:
        match unit:
            case "bps":
                value = float(units.parse_rate(text))
            case "ns":
                value = units.parse_time(text) / 1000
            case "bytes":
                value = float(units.parse_size(text))
            case "share" if percent:
                value = float(bare) / 100 if not rest else math.nan
            case "packets":
                value = float(text.removesuffix("packets"))
            case _:
                value = float(text)
    except units.UnitError as error:
        raise _Wrong(f"{column}: {error}") from None
    except ValueError:
        raise _Wrong(f"{column}: {said(text)} is no number like {UNITS[unit]}") from None
    if not math.isfinite(value):
        raise _Wrong(f"{column}: {said(text)} is no number like {UNITS[unit]}")
    if unit == "share" and not percent and not 0 <= value <= 1:
        way_out = f'; write "{text} %" or {value / 100:g}' if value > 1 else ""
        raise _Wrong(f"{column}: {said(text)} is no share, which lies between 0 and 1{way_out}")
    return value
