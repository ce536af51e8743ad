"""The arguments and options that several commands have, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Experiment file, a study that lists several, or the folder of one.")
]
Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that weft run wrote.")]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key: topology.k=8, queue.capacity='50 packets'. Repeatable."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", help="Most runs at once; default one for every core.")
]
On = Annotated[
    str, typer.Option("--on", metavar="WHERE", help="local, ray, or the address of a Ray cluster: ray://HOST:PORT.")
]
Report = Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")]
OneRun = Annotated[
    str | None, typer.Option("--run", metavar="RUN", help="Of a sweep: the run, by the beginning of its name.")
]
SettingOfFile = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key of an experiment file. Repeatable.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else there.")
]
