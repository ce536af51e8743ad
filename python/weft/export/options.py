"""The options that all exports have."""

from typing import Annotated

import typer

Run = Annotated[
    str | None, typer.Option("--run", metavar="RUN", help="Of a sweep: the run, by the beginning of its name.")
]
Setting = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key of an experiment file. Repeatable.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else there.")
]
