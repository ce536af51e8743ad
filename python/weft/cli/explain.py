"""`weft explain`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import AsJson, Directory


def command(
    directory: Directory,
    flow: Annotated[
        list[int] | None,
        typer.Option("--flow", metavar="F", help="A flow by its number; left out, the slowest. Repeatable."),
    ] = None,
    flows: Annotated[int, typer.Option("--flows", metavar="N", min=1, help="How many of the slowest.")] = 3,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="A run by its name, or by what tells it from others: ecmp, 'ecmp, repeat 3'; left out, the run in "
            "which the flow, or any flow, was slowest.",
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again/--no-again",
            help="Simulate the run again with samples where the folder has none; else mean rates must do.",
        ),
    ] = True,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw it: .svg, .png or .html.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Why flows got what they got: their bottlenecks, who shared them, collisions, timeouts."""
    from rich.console import Console

    from weft.cli.interrupt import interruptible
    from weft.errors import Interrupted
    from weft.explaining import explain
    from weft.explaining.words import print_explanation
    from weft.progress import telling

    with interruptible() as stop, telling("simulating again") as tell:

        def watch(now_ps: int, end_ps: int) -> bool:
            tell("us of simulated time", now_ps // 10**6, end_ps // 10**6)
            return stop() is None

        try:
            found = explain(directory, flow or (), run=run, flows=flows, again=again, watch=watch)
        except Interrupted as error:
            raise Interrupted(str(error), stop() or error.status) from None
    if picture:
        found.write_picture(picture)
    if as_json:
        print(json.dumps(found.document | {"picture": str(picture) if picture else None}, indent=1))
        return
    print_explanation(Console(highlight=False), found)
    if picture:
        print(f"\npicture: {picture}")
