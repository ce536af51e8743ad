"""`weft compare`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import AsJson
from weft.cli.trouble import print_warnings


def command(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders that weft run wrote; the first is the reference.")
    ],
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="KEY", help="Inside one folder: compare the values of this swept key."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", metavar="VALUE", help="The value of KEY to compare with; default its first."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME", help="fct, or fct.p99; default all metrics. Repeatable."),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            "--margin", metavar="SIZE", help="What does not matter: '5 %' (default), 'fct=2 %', 'fct=1 ms'. Repeatable."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", metavar="SHARE", help="Of the intervals.")] = 0.95,
    common: Annotated[
        bool, typer.Option("--common", help="Where the repeats differ: only those that both have, in pairs.")
    ] = False,
    adjust: Annotated[
        str, typer.Option("--adjust", metavar="METHOD", help="For many tests: holm, or bh (Benjamini-Hochberg).")
    ] = "holm",
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write an HTML page that opens offline.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare results, cell by cell and repeat by repeat: difference, interval, and whether it matters."""
    from rich.console import Console

    from weft.comparison import compare
    from weft.comparison.shown import print_comparison

    found = compare(
        *directories,
        over=over,
        reference=reference,
        metrics=metric or (),
        margin=margin or (),
        confidence=confidence,
        adjust=adjust,
        common=common,
    )
    if report:
        found.write_page(report)
    if as_json:
        page = {"report": str(report) if report else None}
        print(json.dumps(found.document | page, indent=1, allow_nan=False))
        return
    print_warnings(list(found.warnings))
    print_comparison(Console(), found)
    if report:
        print(f"report: {report}")
