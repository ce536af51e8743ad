"""`weft run`."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.documents import run_document
from weft.cli.experiments import experiments_of, output_folder, searches_of
from weft.cli.interrupt import interruptible
from weft.cli.options import AsJson, File, Jobs, On, Report, Setting
from weft.cli.report import written
from weft.cli.results import print_results
from weft.cli.search import searched
from weft.cli.trouble import page_of, print_trouble


def command(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where results go; default out/NAME.")
    ] = None,
    set: Setting = None,
    backend: Annotated[
        str | None, typer.Option("--backend", metavar="KIND", help="As --set backend.kind=KIND.")
    ] = None,
    jobs: Jobs = None,
    on: On = "local",
    report: Report = True,
    as_json: AsJson = False,
) -> None:
    """Run an experiment or its whole sweep, or all of a study, its searches too.

    What the output folder has already is not run again: an interrupted sweep goes on with the same command.
    """
    from weft.execute import execute
    from weft.progress import observer
    from weft.results import Results

    settings = [*(set or []), *([f"backend.kind={json.dumps(backend)}"] if backend else [])]
    named = experiments_of(file, settings)
    looking = searches_of(file, [])
    count = len(named) + len(looking)
    experiments = [(experiment, output_folder(out, file, each, count)) for each, experiment in named]
    documents = []
    is_whole = True
    for experiment, directory in experiments:
        with interruptible() as stop:
            outcome = execute(experiment, directory, observer(), stop, jobs, on)
        is_whole &= outcome.is_whole
        results = Results(directory) if len(outcome.failed) < outcome.planned else None
        page, is_written = page_of(partial(written, directory), f"weft report {directory}") if report else (None, True)
        is_whole &= is_written
        documents.append(run_document(experiment, outcome, results, page))
        if len(named) > 1 and not as_json:
            print(f"\n{experiment.name}")
        print_trouble(outcome, results)
        if not as_json:
            print_results(outcome, results, page)
    found = []
    for each, experiment in looking:
        if not as_json:
            print(f"\n{experiment.name}")
        document, is_found = searched(experiment, output_folder(out, file, each, count), jobs, on, report, as_json)
        found.append(document)
        is_whole &= is_found
    if as_json and looking:
        print(json.dumps({"experiments": documents, "searches": found}, indent=1))
    elif as_json:
        print(json.dumps(documents[0] if len(documents) == 1 else {"experiments": documents}, indent=1))
    if not is_whole:
        raise typer.Exit(1)
