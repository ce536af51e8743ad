"""`weft search`."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.experiments import experiments_of, output_folder
from weft.cli.interrupt import interruptible
from weft.cli.options import AsJson, File, Jobs, On, Report, Setting
from weft.cli.trouble import page_of, print_warnings
from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.searching.found import Found


def command(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where results go; default out/NAME-search.")
    ] = None,
    set: Setting = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", metavar="N", help="As --set search.trials=N; a search that is there goes on."),
    ] = None,
    jobs: Jobs = None,
    on: On = "local",
    report: Report = True,
    as_json: AsJson = False,
) -> None:
    """Find the values of [space] that are best for [objective].

    A search that was interrupted, or is asked for more trials, goes on with the same command.
    """
    from rich.console import Console

    from weft.progress import observer
    from weft.searching import go
    from weft.searching.shown import print_found

    settings = [*(set or []), *([f"search.trials={trials}"] if trials is not None else [])]
    (place, experiment), *others = experiments_of(file, settings)
    if others:
        raise WeftError(f"{file}: holds several experiments; a search is of one: name its file, like {place}")
    directory = out or Path("out") / f"{output_folder(None, file, place, 1).name}-search"
    with interruptible() as stop:
        found = go(experiment, directory, observer(), stop, jobs, on)
    page, is_written = page_of(partial(_written, found), "the same command") if report else (None, True)
    if as_json:
        print(json.dumps(found.document | {"report": str(page) if page else None}, indent=1))
    else:
        print_warnings(list(found.warnings))
        print_found(Console(), found)
        print(f"results: {directory}")
        if page:
            print(f"report:  {page}")
    if found.counts["failed"] or (found.best is None and not found.front) or not is_written:
        raise typer.Exit(1)


def _written(found: "Found") -> Path:
    from weft.searching.page import write_page

    return write_page(found)
