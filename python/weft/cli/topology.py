"""`weft topology`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.experiments import experiments_of
from weft.cli.options import AsJson, File, Setting
from weft.cli.trouble import print_warnings


def command(
    file: File,
    set: Setting = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Also draw the fabric: FILE.svg or FILE.html.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Analyse the fabric: sizes and cost, distances, the paths of its routing, bisection, the bound of its flows.

    Of an experiment with a sweep, the first cell; of random fabrics, that of the first repeat.
    """
    from weft.topology import analyse, document, print_analysis

    documents: list[dict[str, Any]] = []
    for _, experiment in experiments_of(file, set or []):
        analysis, scenario = analyse(experiment)
        if not as_json:
            spec = experiment.spec(next(experiment.cells()))
            print_analysis(analysis, spec["topology"], spec["routing"]["kind"])
        print_warnings(analysis.warnings)
        drawn = picture
        if picture:
            from weft.report.picture import picture as drawing
            from weft.report.picture import write_picture

            if documents:
                drawn = picture.with_stem(f"{picture.stem}-{experiment.name}")
            write_picture(drawing(scenario, experiment.name), drawn or picture)
            if not as_json:
                print(f"picture: {drawn}")
        documents.append({"name": experiment.name, **document(analysis), "picture": str(drawn) if drawn else None})
    if as_json:
        print(json.dumps(documents[0] if len(documents) == 1 else {"experiments": documents}, indent=1))
