"""`weft list`."""

import json
from typing import Annotated, Any

import typer

from weft.cli.options import AsJson
from weft.errors import WeftError


def command(
    room: Annotated[
        str | None, typer.Argument(metavar="[ROOM]", help="A room, or ROOM.KIND; left out: all rooms.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The kinds of a room and their parameters, with unit, default, range and source."""
    from rich.console import Console

    from weft.experiment.values import suggestion
    from weft.kinds import catalogue
    from weft.terminal import print_kind, print_kinds

    rooms = catalogue()
    name, _, kind = (room or "").partition(".")
    if room and name not in rooms:
        raise WeftError(f'unknown room "{name}"; {suggestion(name, rooms, "known")[0]}')
    if kind and kind not in rooms[name]:
        raise WeftError(f'{name}: unknown kind "{kind}"; {suggestion(kind, rooms[name], "known")[0]}')
    if as_json:
        chosen = {name: rooms[name]} if room else rooms
        print(
            json.dumps(
                {key: {k.name: _kind_document(k) for k in kinds.values()} for key, kinds in chosen.items()}, indent=1
            )
        )
        return
    console = Console()
    if not room:
        for each, kinds in rooms.items():
            print_kinds(console, each, kinds)
        console.print("weft list ROOM, or ROOM.KIND, says which keys a kind has.", style="dim", highlight=False)
        return
    for each_kind in [rooms[name][kind]] if kind else rooms[name].values():
        print_kind(console, each_kind)


def _kind_document(kind: Any) -> dict[str, Any]:
    parameters = [
        {name: getattr(parameter, name) for name in ("name", "doc", "required", "default", "min", "max")}
        | {"value": dict(parameter.value)}
        for parameter in kind.parameters.values()
    ]
    profiles = {name: dict(values) for name, values in kind.profiles.items()}
    return {"doc": kind.doc, "source": kind.source, "parameters": parameters, "profiles": profiles}
