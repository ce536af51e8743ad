"""What is wrong, on standard error: warnings, runs that failed or did not finish, errors."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import Fault, WeftError
from weft.words import count

if TYPE_CHECKING:
    import polars as pl

    from weft.execute.driver import Outcome
    from weft.results import Results

MOST_NAMED = 5
"""Flows or runs in trouble that are named one by one."""


def print_warnings(warnings: list[str]) -> None:
    """Warnings that differ in their numbers alone are one, with how many there are."""
    alike: dict[str, list[str]] = {}
    for warning in warnings:
        alike.setdefault(re.sub(r"\d+", "#", warning), []).append(warning)
    for first, *others in alike.values():
        more = f" (and {len(others)} alike)" if others else ""
        print(f"warning: {first}{more}", file=sys.stderr)


def print_trouble(outcome: "Outcome", results: "Results | None") -> None:
    """What the runs warned of, and which did not finish or failed."""
    print_warnings(outcome.warnings)
    if results:
        print_unfinished(results, [(run.name, str(run.cell)) for run, _ in outcome.unfinished])
    for run, message in outcome.failed[:MOST_NAMED]:
        print(f"run {run.name}{f' ({run.cell})' if run.cell.chosen else ''}: {message}", file=sys.stderr)
    _print_more(len(outcome.failed), "runs failed")


def print_unfinished(results: "Results", runs: Sequence[tuple[str, str]]) -> None:
    """Names the flows that did not finish, with the reason."""
    for run, cell in runs[:MOST_NAMED]:
        of = f" ({cell})" if cell else ""
        for reason, flows in results.unfinished(run).items():
            named = ", ".join(flows[:MOST_NAMED])
            more = f" and {len(flows) - MOST_NAMED} more" if len(flows) > MOST_NAMED else ""
            print(f"  run {run}{of}: {reason}: flow {named}{more}", file=sys.stderr)
    _print_more(len(runs), "runs did not finish")


def print_absent(failures: "pl.DataFrame", lacking: Sequence[str]) -> None:
    """Names the runs that failed, alike ones once, and those that are not there."""
    from weft.report.trouble import alike

    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in failures.iter_rows(named=True):
        kinds.setdefault(alike(row["message"]), []).append(row)
    for rows in list(kinds.values())[:MOST_NAMED]:
        first = rows[0]
        others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        print(f"run {first['run']} ({first['cell']}){others}: failed: {first['message']}", file=sys.stderr)
    _print_more(len(kinds), "kinds of failures")
    if lacking:
        more = f"; and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
        named = "; ".join(lacking[:MOST_NAMED])
        print(f"{count(len(lacking), 'planned run')} not there: {named}{more}", file=sys.stderr)


def print_error(message: str, as_json: bool, faults: Sequence[Fault] = ()) -> None:
    """An error; with --json also as the document."""
    print(message, file=sys.stderr)
    if as_json:
        from dataclasses import asdict

        print(json.dumps({"error": message, "faults": [asdict(fault) for fault in faults]}, indent=1, default=str))


def page_of(write: Callable[[], Path], again: str) -> tuple[Path | None, bool]:
    """The page that `write` writes, or None with a line that says why there is none; and whether nothing went wrong.

    `again` is what to do when a package that was missing is installed.
    """
    try:
        return write(), True
    except ImportError as error:
        print(f"no report: {error.name} is missing; install it, then: {again}", file=sys.stderr)
        return None, True
    except (WeftError, OSError) as error:
        print(f"no report: {error}", file=sys.stderr)
    return None, False


def cell_of(manifest: Mapping[str, Any]) -> str:
    """The swept values of a run: "congestion.kind = reno"."""
    from weft.experiment.values import said

    return ", ".join(f"{name} = {said(value)}" for name, value in manifest["swept"].items())


def _print_more(count: int, what: str) -> None:
    if count > MOST_NAMED:
        print(f"  {count - MOST_NAMED} more {what}", file=sys.stderr)
