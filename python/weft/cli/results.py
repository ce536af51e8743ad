"""The tables of results in the terminal, as `run` and `show` print them."""

from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.analysis import Answer
    from weft.execute.driver import Outcome
    from weft.results import Results


def print_results(outcome: "Outcome", results: "Results | None", page: Path | None) -> None:
    """The results of a run of the command line, and where they are."""
    from rich.console import Console

    from weft.analysis import analyse
    from weft.terminal import print_answers, print_cells

    if results:
        print_cells(Console(), results)
        answers = analyse(results)
        print_answers(Console(), answers, whole=False, directory=outcome.directory)
        print_published(results, answers)
    print(f"results: {outcome.directory}")
    if page:
        print(f"report:  {page}")


def print_published(results: "Results", answers: "list[Answer]") -> None:
    """Published numbers beside ours, where the experiment has some."""
    if not results.described.get("experiment", {}).get("published"):
        return
    from rich.console import Console

    from weft.published.shown import print_published

    print_published(Console(), results.beside(answers))


def published_markdown(directory: Path) -> str:
    """The table of published numbers beside ours. Raises WeftError if there are none."""
    from weft.published.beside import beside
    from weft.published.shown import markdown
    from weft.report.folder import read_folder

    found = beside(read_folder(directory))
    if not found:
        raise WeftError(f"{directory}: its experiment has no [[published]] numbers")
    return markdown(found)
