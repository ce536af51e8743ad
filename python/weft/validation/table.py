"""The table that `weft validate` prints."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.validation.oracle import FAIL, MARKS, PASS, SHOWN, Row

if TYPE_CHECKING:
    from weft.validation import Finding

STYLES = {PASS: "green", FAIL: "bold red", SHOWN: "cyan"}


def print_findings(findings: "Iterator[Finding]") -> "list[Finding]":
    """Print findings as a table, telling on a terminal which oracle is running; returns them."""
    from rich.console import Console
    from rich.table import Table

    console, done = Console(), []
    with console.status("oracles") as status:
        for finding in findings:
            done.append(finding)
            status.update(f"{finding.name}: {len(done)} rows")
    table = Table(title="oracles", title_justify="left", title_style="bold")
    for name in ("#", "oracle", "metric", "set-up"):
        table.add_column(name)
    for name in ("value", "95 % interval", "expected", "tolerance"):
        table.add_column(name, justify="right")
    for name in ("", "source", "s"):
        table.add_column(name, justify="right" if name == "s" else "left")
    before = ""
    for finding in done:
        row, oracle = finding.row, finding.oracle
        is_first = finding.name != before
        if is_first and before:
            table.add_section()
        before = finding.name
        table.add_row(
            str(oracle.number) if is_first else "",
            finding.name if is_first else "",
            f"{row.metric} ({row.unit})" if row.unit else row.metric,
            row.setup,
            number(row.value),
            interval(row),
            number(row.expected),
            row.tolerance,
            f"[{STYLES[row.verdict]}]{row.verdict}[/]",
            f"{oracle.source} ({oracle.mark})" if is_first else "",
            f"{finding.seconds:.1f}",
        )
    console.print(table)
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
