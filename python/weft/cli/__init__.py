"""The command line. Everything that it does is a documented Python call.

Each command is the function `command` of a file of its name; `COMMANDS` lists them in the order of the help, and
`weft.export.EXPORTS` those of `weft export`, whose files are `export_KIND.py`. A command
loads what it needs when it is called, so that `weft --help` and a run load nothing of the data stack.

Exit status: 0 done; 1 a run failed or did not finish; 2 the input or the set-up is wrong; 130 Ctrl-C, 143 SIGTERM.
"""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from weft.cli import check, compare, doctor, explain, list_kinds, report, run, schema, search, show, topology, validate
from weft.cli.trouble import print_error
from weft.errors import ExperimentError, Interrupted, RunError, WeftError
from weft.export import EXPORTS

COMMANDS: dict[str, Callable[..., None]] = {
    "run": run.command,
    "check": check.command,
    "topology": topology.command,
    "list": list_kinds.command,
    "show": show.command,
    "compare": compare.command,
    "explain": explain.command,
    "search": search.command,
    "report": report.command,
    "schema": schema.command,
    "doctor": doctor.command,
}
if importlib.util.find_spec("weft.validation") is not None:
    COMMANDS["validate"] = validate.command

app = typer.Typer(
    help="A laboratory for data-center networks: one file describes an experiment; weft runs it and reports.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # In the other mode the help loses what stands in brackets, like [space].
    rich_markup_mode="markdown",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Of click or of typer's own copy of it, depending on typer's version.
CLICK_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")] = False,
) -> None:
    """A laboratory for data-center networks: one file describes an experiment; weft runs it and reports."""
    if version:
        from weft import _core

        print(f"weft {_core.version()} ({_core.commit()})")
        raise typer.Exit


for name, command in COMMANDS.items():
    app.command(name)(command)
exports = typer.Typer(help="Write what weft knows in the forms that other tools read.", no_args_is_help=True)
for kind in EXPORTS:
    exports.command(kind)(importlib.import_module(f"weft.cli.export_{kind}").command)
app.add_typer(exports, name="export")


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: errors as sentences, exit status as in the head comment."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Anywhere on the line, also behind the command.
    debug = "--debug" in given
    sys.exit(status_of([argument for argument in given if argument != "--debug"], debug))


def status_of(arguments: list[str], debug: bool = False) -> int:
    """Runs a command line; returns its exit status. Prints errors, raises nothing."""
    as_json = "--json" in arguments
    try:
        status = app(arguments, prog_name="weft", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except ExperimentError as error:
        print_error(str(error), as_json, error.faults)
        return 2
    except Interrupted as error:
        print_error(str(error), as_json)
        return error.status
    except RunError as error:
        print_error(str(error), as_json)
        return 1
    except WeftError as error:
        print_error(str(error), as_json)
        return 2
    except CLICK_ERROR as error:
        error.show()
        return 2
    except (KeyboardInterrupt, typer.Abort):
        print_error("interrupted", as_json)
        return 130
    except BrokenPipeError:
        # The reader (`| head`) has seen enough.
        sys.stderr.close()
        return 0
    except Exception as error:
        if debug:
            traceback.print_exc()
        where = "" if debug else "; add --debug for the traceback"
        print_error(
            f"weft failed unexpectedly ({type(error).__name__}: {error}); this is a bug of weft{where}", as_json
        )
        return 1
