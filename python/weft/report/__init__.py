"""The report of a run or a sweep: one HTML file that opens offline, and its figures as SVG and PNG.

Nothing here is loaded by `import weft`; Altair and vl-convert are loaded when a report is drawn.
"""

from pathlib import Path


def write_report(directory: Path, figures: bool = True) -> Path:
    """Write DIR/report.html and, with `figures`, DIR/figures/*.svg and *.png; returns the path of the page.

    Raises ResultsError if DIR holds no run.
    """
    from weft.report.choose import choose
    from weft.report.export import write_figures
    from weft.report.folder import read_folder
    from weft.report.page import page
    from weft.report.table import collect

    folder = read_folder(directory)
    drawn, not_drawn = choose(folder)
    text = page(folder, collect(folder), drawn, not_drawn)
    path = directory / "report.html"
    # Written beside and renamed: a reader never sees half a page.
    beside = directory / ".report.html.part"
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
    if figures:
        write_figures(drawn, directory / "figures")
    return path


__all__ = ["write_report"]
