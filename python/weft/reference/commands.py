"""The page of the command line, from the declarations of its commands."""

from collections.abc import Iterator
from typing import Any

import typer

from weft.reference.markdown import table

STATUS = (
    ("0", "done"),
    ("1", "a run failed or did not finish; the results of the others are there"),
    ("2", "the input or the set-up is wrong"),
    ("130, 143", "interrupted by Ctrl-C or SIGTERM; finished runs are kept"),
)


def command_line() -> str:
    """Every command with its arguments and options."""
    from weft.cli import app

    # Of click or of typer's own copy of it, depending on typer's version.
    group: Any = typer.main.get_command(app)
    lines = ["# Command line", "", _flowing(group.help), "", *_parameters(group)]
    for name, command in _commands(group):
        arguments = [p.metavar for p in command.params if p.param_type_name == "argument"]
        lines += ["", f"## weft {name}", "", f"    weft {' '.join([name, *arguments, '[OPTIONS]'])}", ""]
        lines += [_flowing(command.help), "", *_parameters(command)]
    lines += ["", "## Exit status", "", *table(("status", "means"), STATUS)]
    return "\n".join(lines) + "\n"


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its name; those of a group stand behind the group's: `export p4`."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _parameters(command: Any) -> list[str]:
    rows = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            said = parameter.metavar
        else:
            names = " / ".join([*parameter.opts, *parameter.secondary_opts])
            said = f"{names} {parameter.metavar}" if parameter.metavar else names
        rows.append((f"`{said}`", parameter.help or ""))
    return list(table(("", "does"), rows))


def _flowing(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))
