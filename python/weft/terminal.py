"""Tables and texts for a terminal: what the command line prints."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weft import units
from weft.experiment.values import expected, format_scalar
from weft.kinds import Kind, Parameter
from weft.progress import quantity, simulated

if TYPE_CHECKING:
    from rich.table import Table

    from weft.doctor import Finding
    from weft.results import Results

SHOWN = ("goodput", "fct", "slowdown")
"""Metrics of the table at the end of a run."""


def cells_table(results: "Results", metrics: tuple[str, ...] = SHOWN) -> "Table":
    """One row per cell: mean and 95 % interval of each metric over the repeats; not of metrics without a value."""
    from rich.table import Table

    from weft.metric import METRICS

    frame = results.table(metrics)
    keys = results.swept
    metrics = tuple(metric for metric in metrics if frame[metric].null_count() < frame.height)
    table = Table(title="mean [95 % interval over repeats]", title_justify="left", title_style="")
    for key in [*keys, "runs"]:
        table.add_column(key, justify="right" if key == "runs" else "left")
    for metric in metrics:
        table.add_column(f"{metric} ({METRICS[metric].summary})", justify="right")
    for row in frame.iter_rows(named=True):
        said = [str(row[key]) if row[key] is not None else "" for key in keys] + [str(row["runs"])]
        table.add_row(*said, *(_interval(row, metric, METRICS[metric].unit) for metric in metrics))
    return table


def kinds_table(room: str, kinds: Mapping[str, Kind]) -> "Table":
    """The kinds of a room, one line each."""
    from rich.table import Table

    table = Table(title=room, title_justify="left", title_style="bold")
    for name in ("kind", "what it is", "source"):
        table.add_column(name, no_wrap=name == "kind")
    for kind in kinds.values():
        table.add_row(kind.name, kind.summary, kind.source)
    return table


def parameters_table(kind: Kind) -> "Table":
    """The parameters of a kind with unit, default, range and meaning."""
    from rich.table import Table

    table = Table(title=f"{kind.room} / {kind.name}", title_justify="left", title_style="bold")
    for name in ("key", "is", "default", "range", "what it is"):
        table.add_column(name, no_wrap=name in ("key", "default"))
    for parameter in kind.parameters.values():
        table.add_row(
            parameter.name, expected(parameter.value), default_of(parameter), range_of(parameter), parameter.doc
        )
    return table


def default_of(parameter: Parameter) -> str:
    """The default as a person writes it."""
    if parameter.required:
        return "(required)"
    if parameter.default is None:
        return "(none)"
    if parameter.value["type"] in ("table", "list", "room"):
        return "(its own)" if parameter.default else "[]"
    value = format_scalar(parameter.value, parameter.default)
    return str(value).lower() if isinstance(value, bool) else str(value)


def range_of(parameter: Parameter) -> str:
    """The range with units; empty if there is none."""

    def shown(bound: float) -> str:
        family = units.FAMILIES.get(parameter.value["type"])
        if family:
            return family.format(int(bound))
        return str(int(bound)) if float(bound).is_integer() else str(bound)

    low, high = parameter.min, parameter.max
    if low is not None and high is not None:
        return f"{shown(low)} to {shown(high)}"
    return f"at least {shown(low)}" if low is not None else f"at most {shown(high)}" if high is not None else ""


def findings_table(findings: list["Finding"]) -> "Table":
    """What doctor found, with the way out of what is missing."""
    from rich.table import Table

    table = Table()
    for name in ("", "what", "found", "for"):
        table.add_column(name)
    for finding in findings:
        mark = "[green]yes[/]" if finding.is_there else "[yellow]no[/]"
        value = finding.value if finding.is_there else f"{finding.value}: {finding.way_out}"
        table.add_row(mark, finding.name, value, finding.purpose)
    return table


def with_unit(value: float, unit: str) -> str:
    """A number of a metric to three digits.

    >>> with_unit(9.41e9, "bps"), with_unit(1.5e6, "ns"), with_unit(1.25, ""), with_unit(1786, "")
    ('9.41 Gbps', '1.5 ms', '1.25', '1786')
    """
    if unit == "bps":
        return f"{quantity(value)}bps" if value >= 1000 else f"{value:.3g} bps"
    if unit == "ns":
        return simulated(round(value * 1000))
    return f"{value:.3g} {unit}".rstrip() if abs(value) < 1000 else f"{value:.0f} {unit}".rstrip()


def _interval(row: Mapping[str, Any], metric: str, unit: str) -> str:
    mean, low, high = row[metric], row[f"{metric}_low"], row[f"{metric}_high"]
    if mean is None:
        return "-"
    text = with_unit(mean, unit)
    return text if low is None else f"{text} [{with_unit(max(low, 0.0), unit)}, {with_unit(high, unit)}]"
