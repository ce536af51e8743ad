"""`weft search`."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.experiments import experiments_of, output_folder, searches_of
from weft.cli.interrupt import interruptible
from weft.cli.options import AsJson, File, Jobs, On, Report, Setting
from weft.cli.trouble import page_of, print_warnings
from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.experiment.experiment import Experiment
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
    settings = [*(set or []), *([f"search.trials={trials}"] if trials is not None else [])]
    (place, experiment), *others = searches_of(file, settings) or experiments_of(file, settings)
    if others:
        raise WeftError(f"{file}: holds several experiments; a search is of one: name its file, like {place}")
    directory = out or Path("out") / f"{output_folder(None, file, place, 1).name}-search"
    document, is_whole = searched(experiment, directory, jobs, on, report, as_json)
    if as_json:
        print(json.dumps(document, indent=1))
    if not is_whole:
        raise typer.Exit(1)


def searched(
    experiment: "Experiment", directory: Path, jobs: int | None, on: str, report: bool, is_quiet: bool
) -> "tuple[dict[str, Any], bool]":
    """Search, write the page and, unless it is to be quiet, print what was found.

    Gives it as one document, and whether all went well.
    """
    from rich.console import Console

    from weft.progress import observer
    from weft.searching import go
    from weft.searching.shown import print_found

    with interruptible() as stop:
        found = go(experiment, directory, observer(), stop, jobs, on)
    page, is_written = page_of(partial(_written, found), "the same command") if report else (None, True)
    if not is_quiet:
        print_warnings(list(found.warnings))
        print_found(Console(), found)
        print(f"results: {directory}")
        if page:
            print(f"report:  {page}")
    is_whole = not found.counts["failed"] and (found.best is not None or bool(found.front)) and is_written
    return found.document | {"report": str(page) if page else None}, is_whole


def _written(found: "Found") -> Path:
    from weft.searching.page import write_page

    return write_page(found)
