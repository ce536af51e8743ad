"""Export: what weft knows, in the forms that other tools read. `weft export KIND`.

`EXPORTS` is the list: a kind is a module here with a `command`, and one line.
"""

import importlib

import typer

EXPORTS = {
    "p4": "weft.export.p4",
    "pcap": "weft.export.pcap",
}
"""By the command's name, the module that does it; its function `command` is what the command line offers."""


def commands() -> typer.Typer:
    """`weft export` with a command for every kind."""
    group = typer.Typer(help="Write what weft knows in the forms that other tools read.", no_args_is_help=True)
    for name, module in EXPORTS.items():
        group.command(name)(importlib.import_module(module).command)
    return group
