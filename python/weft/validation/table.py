"""The table that `weft validate` prints."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from weft.validation.oracle import FAIL, MARKS, PASS, SHOWN, Row

if TYPE_CHECKING:
    from weft.validation import Finding

STYLES = {PASS: "green", FAIL: "bold red", SHOWN: "cyan"}


def print_findings(findings: "Iterator[Finding]") -> "list[Finding]":
    """Print findings as a table, telling on a terminal which oracle is running; returns them."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, done = Console(), []
    with console.status("oracles") as status:
        for finding in findings:
            done.append(finding)
            status.update(f"{finding.name}: {len(done)} rows")
    for name, rows in groupby(done, key=lambda finding: finding.name):
        group = list(rows)
        oracle = group[0].oracle
        seconds = sum(finding.seconds for finding in group)
        console.print(f"\n[bold]{oracle.number} {name}[/] [dim]{oracle.title} ({seconds:.1f} s)[/]", highlight=False)
        console.print(f"[dim]{oracle.source} ({oracle.mark})[/]", highlight=False)
        table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
        for column in ("", "value", "expected", "tolerance"):
            table.add_column(column, justify="right" if column else "left", no_wrap=not column)
        table.add_column("metric: set-up", ratio=1)
        for finding in group:
            row = finding.row
            metric = f"{row.metric}, {row.unit}" if row.unit else row.metric
            value = number(row.value) + (f"\n[dim]{interval(row)}[/]" if interval(row) else "")
            said = f"[{STYLES[row.verdict]}]{row.verdict}[/]"
            setup = f"{metric}: {row.setup}" if row.setup else metric
            table.add_row(said, value, number(row.expected), row.tolerance, Text(setup))
        console.print(table)
    console.print()
    marks = sorted({finding.oracle.mark for finding in done})
    console.print("; ".join(f"{mark}: {MARKS[mark]}" for mark in marks), highlight=False)
    counts = {verdict: sum(finding.row.verdict == verdict for finding in done) for verdict in STYLES}
    seconds = sum(finding.seconds for finding in done)
    said = f"{counts[PASS]} passed, {counts[FAIL]} failed, {counts[SHOWN]} shown, in {seconds:.0f} s"
    console.print(said, style=STYLES[FAIL] if counts[FAIL] else STYLES[PASS], highlight=False)
    return done


def number(value: float | None) -> str:
    """A number to five digits.

    >>> number(11.39821), number(28762), number(None), number(0.94148)
    ('11.398', '28762', '', '0.94148')
    """
    if value is None:
        return ""
    return f"{value:.0f}" if float(value).is_integer() or abs(value) >= 1e5 else f"{value:.5g}"


def interval(row: Row) -> str:
    """The interval of a row; empty if it has none."""
    return "" if row.low is None or row.high is None else f"{number(row.low)} to {number(row.high)}"
