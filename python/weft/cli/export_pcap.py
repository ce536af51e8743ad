"""`weft export pcap`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import AsJson, OneRun, SettingOfFile


def command(
    place: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that weft run wrote, or an experiment file.")],
    link: Annotated[
        list[str],
        typer.Option("--link", metavar="A>B", help="Port: A>B, A<>B for both directions, * in names. Repeatable."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new pcapng file.")],
    run: OneRun = None,
    set: SettingOfFile = None,
    snaplen: Annotated[
        int, typer.Option("--snaplen", metavar="BYTES", help="Of each frame; 96 hold all headers, 0 is the whole.")
    ] = 96,
    as_json: AsJson = False,
) -> None:
    """What a port saw, as tshark and Wireshark read it: the run is simulated again with a tap on the port."""
    import sys

    from weft.export.pcap import export_pcap

    captured = export_pcap(place, out, link, run, tuple(set or ()), snaplen)
    for note in captured.notes:
        print(f"warning: {note}", file=sys.stderr)
    if as_json:
        print(json.dumps({"file": str(captured.file), "run": captured.run, "frames": captured.frames}))
        return
    for name, count in captured.frames.items():
        print(f"{name}: {count} frame{'' if count == 1 else 's'}")
    print(f"capture: {captured.file}")
