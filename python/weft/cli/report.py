"""`weft report`."""

import json
from pathlib import Path

from weft.cli.options import AsJson, Directory
from weft.cli.trouble import print_absent


def written(directory: Path) -> Path:
    """Writes the report of a folder and shows how far that is; returns the page. Raises as `write_report`."""
    from weft.progress import telling
    from weft.report import write_report

    with telling("report") as tell:
        return write_report(directory, tell=tell)


def command(
    directory: Directory,
    as_json: AsJson = False,
) -> None:
    """Write report.html, one page that opens offline, and its figures."""
    from weft.report.folder import read_folder
    from weft.report.trouble import failures_table, lacking_runs

    page = written(directory)
    folder = read_folder(directory)
    print_absent(failures_table(folder), lacking_runs(folder))
    print(json.dumps({"report": str(page)}) if as_json else f"report: {page}")
