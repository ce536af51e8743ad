"""`weft show`."""

import json
from typing import Annotated

import typer

from weft.cli.documents import results_document
from weft.cli.options import AsJson, Directory
from weft.cli.results import print_published, published_markdown
from weft.cli.trouble import cell_of, print_absent, print_unfinished, print_warnings
from weft.words import count


def command(
    directory: Directory,
    analysis: Annotated[bool, typer.Option("--analysis", help="Every table of the [[analysis]] entries.")] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Only the [[published]] numbers beside ours, as Markdown.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The results of a folder as tables in the terminal."""
    from rich.console import Console

    from weft.analysis import analyse
    from weft.results import Results
    from weft.terminal import print_answers, print_cells

    results = Results(directory)
    print_warnings(results.warnings)
    print_unfinished(
        results, [(run, cell_of(manifest)) for run, manifest in results.manifests.items() if not manifest["finished"]]
    )
    print_absent(results.failures, results.lacking)
    if as_json:
        print(json.dumps(results_document(results), indent=1))
        return
    if published:
        print(published_markdown(directory), end="")
        return
    print_cells(Console(), results)
    answers = analyse(results)
    print_answers(Console(), answers, whole=analysis, directory=directory)
    print_published(results, answers)
    some = next(iter(results.manifests.values()))
    print(f"{count(len(results.manifests), 'run')} by weft {some['version']} ({some['backend']} backend)")
