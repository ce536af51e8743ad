"""`weft doctor`."""

import json

import typer

from weft.cli.options import AsJson


def command(as_json: AsJson = False) -> None:
    """What this machine can do, and for what it lacks, the command that installs it."""
    from rich.console import Console

    from weft.doctor import as_json as documents
    from weft.doctor import examine
    from weft.terminal import findings_table

    findings = examine()
    if as_json:
        print(json.dumps(documents(findings), indent=1))
    else:
        Console().print(findings_table(findings))
    if any(finding.is_required and not finding.is_there for finding in findings):
        raise typer.Exit(2)
