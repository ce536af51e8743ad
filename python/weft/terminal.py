"""Tables and texts for a terminal: what the command line prints."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from weft import units
from weft.experiment.values import expected, format_scalar
from weft.kinds import Kind, Parameter

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from rich.console import Console
    from rich.table import Table

    from weft.analysis import Answer
    from weft.doctor import Finding
    from weft.results import Results

MOST_WIDE = 13
"""Characters that a swept value has at least where it needs them."""

SHOWN = ("goodput", "fct", "slowdown")
"""Metrics of the table at the end of a run."""


def print_cells(console: "Console", results: "Results", metrics: tuple[str, ...] = SHOWN) -> None:
    """One row per cell: the mean of each metric over the repeats and half its 95 % interval; not metrics without value.

    A column has one unit, so that numbers can be compared down it.
    """
    from weft.report.folder import silent_axes

    frame = results.table(metrics)
    # A key that has the same value in every cell tells nothing about any of them.
    silent = silent_axes(results.swept, frame.select(results.swept).to_dicts())
    keys = [key for key in results.swept if key not in silent]
    shown = [metric for metric in metrics if frame[metric].null_count() < frame.height]
    if not _fits(console, _cells_table(frame, keys, shown[:1])):
        # The keys alone fill the line: their values in one column, as the report names a cell.
        frame, keys = _labelled(frame, keys), ["cell"]
    table = _cells_table(frame, keys, shown)
    dropped: list[str] = []
    while len(shown) > 1 and not _fits(console, table):
        dropped.insert(0, shown.pop())
        table = _cells_table(frame, keys, shown)
    console.print(table)
    if frame["runs"].max() > 1:  # type: ignore[operator]
        console.print("mean over repeats ± half of its 95 % interval", style="dim", highlight=False)
    else:
        console.print("one run per cell, so no intervals; [sweep] repeats = 10 gives them", style="dim", markup=False)
    if dropped:
        said = f"{', '.join(dropped)}: no room in {console.width} columns; in the report, and with --json"
        console.print(said, style="dim", highlight=False)


def _fits(console: "Console", table: "Table") -> bool:
    return table.__rich_measure__(console, console.options).minimum <= console.width


def _labelled(frame: "pl.DataFrame", keys: list[str]) -> "pl.DataFrame":
    """The cells by what they have at the keys, in words."""
    import polars as pl

    from weft.report.folder import plain, word

    labels = [
        " · ".join(word(key, plain(row[key])) for key in keys if row[key] is not None)
        for row in frame.iter_rows(named=True)
    ]
    return frame.with_columns(pl.Series("cell", labels, dtype=pl.String))


def _cells_table(frame: "pl.DataFrame", keys: list[str], metrics: list[str]) -> "Table":
    from rich import box
    from rich.table import Table

    from weft.metric import METRICS
    from weft.report.quantity import quantity as shown_as
    from weft.report.table import decimals

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for key in keys:
        # A part of the key on each line, which keeps the column narrow; its values are read whole, within reason.
        parts = key.replace(".", ".\n").split("\n")
        longest = max(map(len, (*parts, *map(said_value, frame[key].to_list()))))
        table.add_column(Text("\n".join(parts)), overflow="fold", min_width=min(longest, MOST_WIDE), vertical="bottom")
    table.add_column("runs", justify="right", no_wrap=True, vertical="bottom")
    columns = []
    for metric in metrics:
        largest = max(abs(value) for value in frame[metric].drop_nulls().to_list())
        shown = shown_as(METRICS[metric].column, largest)
        places = decimals(largest * shown.factor)
        columns.append([_interval(row, metric, shown.factor, places) for row in frame.iter_rows(named=True)])
        unit = f", {shown.unit}" if shown.unit else ""
        width = max(map(len, columns[-1]))
        heading = f"{metric}\n{METRICS[metric].summary}{unit}"
        table.add_column(heading, justify="right", no_wrap=True, min_width=width, vertical="bottom")
    for place, row in enumerate(frame.iter_rows(named=True)):
        said = [said_value(row[key]) for key in keys] + [str(row["runs"])]
        table.add_row(*map(Text, said), *(column[place] for column in columns))
    return table


def print_answers(console: "Console", answers: "list[Answer]", whole: bool, directory: "Path") -> None:
    """What `[[analysis]]` asks for: sentences, and with `whole` every table."""
    for answer in answers:
        console.print()
        console.print(Text(answer.question.title, style="bold"))
        for sentence in [f"not made: {answer.refused}"] if answer.refused else answer.sentences:
            console.print(Text(f"- {sentence}"), highlight=False)
        if whole and answer.text:
            console.print()
            print(answer.text)
    if answers and not whole:
        console.print(f"all tables: weft show {directory} --analysis", style="dim", highlight=False, markup=False)


def said_value(value: object) -> str:
    """A swept value: as in the file, empty where the cell does not have the key."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def print_kinds(console: "Console", room: str, kinds: Mapping[str, Kind]) -> None:
    """The kinds of a room, one line each."""
    from rich.table import Table

    console.print(Text(room, style="bold"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True, min_width=12)
    table.add_column()
    for kind in kinds.values():
        table.add_row(Text(kind.name, style="cyan"), Text(plain(kind.summary)))
    console.print(table)
    console.print()


def print_kind(console: "Console", kind: Kind) -> None:
    """What a kind is, and its keys as they stand in a file, with range and meaning."""
    from rich.padding import Padding

    console.print(Text(f"{kind.room} / {kind.name}", style="bold"))
    console.print(Text(plain(kind.doc)))
    if kind.source:
        console.print(Text(f"Source: {kind.source}", style="dim"))
    for parameter in kind.parameters.values():
        line = Text("  ") + Text(parameter.name, style="cyan") + Text(" = ") + Text(default_of(parameter))
        if notes := [note for note in (type_of(parameter), range_of(parameter)) if note]:
            line += Text(f"   # {', '.join(notes)}", style="dim")
        console.print(line)
        if parameter.doc:
            console.print(Padding(Text(plain(parameter.doc)), (0, 0, 0, 6), expand=False))
    for profile, values in kind.profiles.items():
        of = {name: kind.parameters[name].value for name in values if name in kind.parameters}
        said = [f"{name} = {_toml(format_scalar(of[name], values[name]))}" for name in of]
        console.print(Text(f"  profile {profile}: {', '.join(said) or 'the defaults above'}"))
    console.print()


def plain(doc: str) -> str:
    r"""A description for people: code is not quoted, and lines flow but for lists and paragraphs.

    >>> plain("One of `a`\nor b.\n- a: first")
    'One of a or b.\n- a: first'
    """
    return re.sub(r"(?<!\n)\n(?![\n-])", " ", doc.replace("`", ""))


def type_of(parameter: Parameter) -> str:
    """What is written for a key, where its default does not show that."""
    value = parameter.value
    if value["type"] == "room":
        return f"kinds: weft list {value['room']}"
    if value["type"] == "table":
        return f"keys: weft list record.{value['record']}"
    if value["type"] == "list" and value["of"]["type"] == "table":
        return f"a list of tables; keys: weft list record.{value['of']['record']}"
    if value["type"] == "choice" or words_of(value):
        return expected(value)
    return expected(value) if parameter.required or parameter.default in (None, []) else ""


def words_of(value: Mapping[str, Any]) -> bool:
    """Whether a value may also be a word, like "flows done"."""
    return bool(value.get("words"))


def default_of(parameter: Parameter) -> str:
    """The default as a person writes it."""
    if parameter.required:
        return "(required)"
    if parameter.default is None:
        return "(none)"
    if parameter.value["type"] in ("table", "list", "room"):
        return "(its own)" if parameter.default else "[]"
    return _toml(format_scalar(parameter.value, parameter.default))


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
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("", "what", "found", "for"):
        table.add_column(name)
    for finding in findings:
        mark = "[green]yes[/]" if finding.is_there else "[yellow]no[/]"
        value = finding.value if finding.is_there else f"{finding.value}: {finding.way_out}"
        table.add_row(mark, finding.name, value, finding.purpose)
    return table


def _interval(row: Mapping[str, Any], metric: str, factor: float, places: int) -> str:
    mean, low, high = row[metric], row[f"{metric}_low"], row[f"{metric}_high"]
    if mean is None:
        return "-"
    half = "" if low is None else f" ± {(high - low) / 2 * factor:,.{places}f}"
    return f"{mean * factor:,.{places}f}{half}"


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else str(value)
