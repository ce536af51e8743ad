"""The report of a run or a sweep: one HTML file that opens offline, and its figures as SVG and PNG.

Nothing here is loaded by `import weft`; Altair and vl-convert are loaded when a report is drawn.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import OutputError

if TYPE_CHECKING:
    from weft.report.folder import Tell


def write_report(directory: Path, figures: bool = True, tell: "Tell | None" = None) -> Path:
    """Write DIR/report.html, DIR/tables/*.csv and, with `figures`, DIR/figures/*.svg and *.png.

    Returns the path of the page. `tell` hears what is being done, how much of it is done, and of how much. Raises
    ResultsError if DIR holds neither a finished nor a failed run, and OutputError if the disk is full, with how much
    the file needs; nothing half-written stays.
    """
    from weft.published.beside import beside
    from weft.report.choose import asked_numbers, choose
    from weft.report.export import put, write_figures, write_tables
    from weft.report.factors import asked_analyses, effects
    from weft.report.folder import read_folder, silent
    from weft.report.page import page, whole_tables
    from weft.report.table import collect
    from weft.report.why import why, why_html

    tell = tell or silent
    folder = read_folder(directory, tell)
    # First, and with all numbers that figures will want: one pass over the tables of all runs.
    numbers = collect(folder, asked_numbers(folder))
    drawn, not_drawn = choose(folder)
    tell("page", 0, 1)
    answers = asked_analyses(folder)
    # An experiment that says how it wants to be analysed is not analysed in another way beside it.
    found = effects(folder, numbers) if folder.done and not answers else None
    published = beside(folder, answers)
    tables = whole_tables(folder, numbers, found, published)
    slow = why(folder)
    held_up = why_html(slow) if slow else ""
    text = page(folder, numbers, drawn, not_drawn, tables, found, answers, published, held_up)
    try:
        path = put(directory / "report.html", text.encode())
        write_tables(tables, directory / "tables")
        if figures:
            write_figures(drawn, directory / "figures", tell)
    except OutputError as error:
        raise OutputError(f"{error}, then: weft report {directory}") from None
    return path


__all__ = ["write_report"]
