"""`weft validate`."""

from typing import Annotated

import typer

from weft.cli.options import AsJson


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Oracles; left out: all of them.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="In full size; else sampled.")] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="The flow level against the packet level: where it may be trusted.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run the oracles: value, expected, tolerance, pass or fail, source."""
    from weft import validation

    status = validation.run([*(names or []), *(validation.AGREEMENT if agreement else ())], all=all, as_json=as_json)
    if status:
        raise typer.Exit(int(status))
