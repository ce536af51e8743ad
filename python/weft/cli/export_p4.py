"""`weft export p4`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import AsJson, OneRun, SettingOfFile


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Experiment file, or a folder that weft run wrote.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder for program, entries and topology.")],
    run: OneRun = None,
    set: SettingOfFile = None,
    as_json: AsJson = False,
) -> None:
    """A P4-16 program for bmv2, the table entries of every switch, and how the fabric is wired."""
    import sys

    from weft.export.p4 import export_p4

    exported = export_p4(file, out, run, tuple(set or ()))
    for note in exported.notes:
        print(f"warning: {note}", file=sys.stderr)
    if as_json:
        entries = [str(each) for each in exported.entries]
        print(json.dumps({"program": str(exported.program), "entries": entries, "topology": str(exported.topology)}))
        return
    print(f"program:  {exported.program}")
    print(f"entries:  {out / 'entries'} ({len(exported.entries)} switches)")
    print(f"topology: {exported.topology}")
