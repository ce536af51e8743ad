"""The command line. Everything that it does is a documented Python call.

Exit status: 0 done; 1 a run failed or did not finish; 2 the input or the set-up is wrong; 130 Ctrl-C, 143 SIGTERM.
"""

import importlib.util
import json
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.errors import ExperimentError, Fault, Interrupted, RunError, WeftError
from weft.export import commands as export_commands

if TYPE_CHECKING:
    from weft.analysis import Answer
    from weft.execute.driver import Outcome
    from weft.experiment.experiment import Experiment
    from weft.results import Results

app = typer.Typer(
    help="A laboratory for data-center networks: one file describes an experiment; weft runs it and reports.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

MOST_NAMED = 5
"""Flows or runs in trouble that are named one by one."""

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Experiment file, a study that lists several, or the folder of one.")
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key: topology.k=8, queue.capacity='50 packets'. Repeatable."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else there.")
]


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


@app.command()
def run(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where results go; default out/NAME.")
    ] = None,
    set: Setting = None,
    backend: Annotated[
        str | None, typer.Option("--backend", metavar="KIND", help="As --set backend.kind=KIND.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Most runs at once; default one for every core.")
    ] = None,
    on: Annotated[
        str, typer.Option("--on", metavar="WHERE", help="local, ray, or the address of a Ray cluster: ray://HOST:PORT.")
    ] = "local",
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    as_json: AsJson = False,
) -> None:
    """Run an experiment or its whole sweep.

    What the output folder has already is not run again: an interrupted sweep goes on with the same command.
    """
    from weft.execute import execute
    from weft.progress import observer
    from weft.results import Results

    settings = [*(set or []), *([f"backend.kind={json.dumps(backend)}"] if backend else [])]
    studied = _studied(file, settings)
    experiments = [(experiment, _folder(out, file, each, len(studied))) for each, experiment in studied]
    documents = []
    is_whole = True
    for experiment, directory in experiments:
        with interruptible() as stop:
            outcome = execute(experiment, directory, observer(), stop, jobs, on)
        is_whole &= outcome.is_whole
        results = Results(directory) if len(outcome.failed) < outcome.planned else None
        page, is_written = _report(directory) if report else (None, True)
        is_whole &= is_written
        documents.append(_run_document(experiment, outcome, results, page))
        if len(studied) > 1 and not as_json:
            print(f"\n{experiment.name}")
        _print_trouble(outcome, results)
        if not as_json:
            _print_run(outcome, results, page)
    if as_json:
        print(json.dumps(documents[0] if len(documents) == 1 else {"experiments": documents}, indent=1))
    if not is_whole:
        raise typer.Exit(1)


@app.command()
def check(file: File, set: Setting = None, as_json: AsJson = False) -> None:
    """Validate an experiment, print it with all defaults, predict its size and memory; run nothing."""
    from weft.execute.checks import refuse_what_cannot_run
    from weft.progress import quantity

    documents = []
    for _, experiment in _studied(file, set or []):
        predictions = [experiment.predict(cell) for cell in experiment.cells()]
        refuse_what_cannot_run(experiment)
        largest = max(predictions, key=lambda prediction: prediction.memory_bytes)
        sweep = experiment.sweep
        runs = sweep.size * sweep.fewest
        warnings = list(dict.fromkeys(text for cell in experiment.cells() for text in experiment.advice(cell)))
        warnings += experiment.search.warnings
        if not as_json:
            print(experiment.toml)
            repeats = _count(sweep.fewest, "repeat")
            if sweep.most > sweep.fewest:
                repeats = f"{sweep.fewest} to {_count(sweep.most, 'repeat')}"
                print(f"# {_count(sweep.size, 'cell')} x {repeats}: {runs} to {_count(sweep.size * sweep.most, 'run')}")
            else:
                print(f"# {_count(sweep.size, 'cell')} x {repeats} = {_count(runs, 'run')}")
            print(
                f"# {'the run' if runs == 1 else 'largest cell'}: {_count(largest.hosts, 'host')}, "
                f"{_count(largest.switches, 'switch')}, {_count(largest.links, 'directed link')}, "
                f"{_count(largest.flows, 'flow')}, about {quantity(largest.memory_bytes)}B of memory"
            )
            for warning in warnings:
                print(f"# warning: {warning}")
        prediction = {name: getattr(largest, name) for name in type(largest).__dataclass_fields__}
        documents.append(
            {
                "experiment": experiment.resolved,
                "cells": sweep.size,
                "repeats": sweep.fewest,
                "most_repeats": sweep.most,
                "runs": runs,
                "prediction": prediction,
                "warnings": warnings,
            }
        )
    if as_json:
        print(json.dumps(documents[0] if len(documents) == 1 else {"experiments": documents}, indent=1))


@app.command()
def topology(
    file: File,
    set: Setting = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Also draw the fabric: FILE.svg or FILE.html.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Analyse the fabric: sizes and cost, distances, the paths of its routing, bisection, the bound of its flows.

    Of an experiment with a sweep, the first cell; of random fabrics, that of the first repeat.
    """
    from weft.topology import analyse, document, print_analysis

    documents: list[dict[str, Any]] = []
    for _, experiment in _studied(file, set or []):
        analysis, scenario = analyse(experiment)
        if not as_json:
            spec = experiment.spec(next(experiment.cells()))
            print_analysis(analysis, spec["topology"], spec["routing"]["kind"])
        _print_warnings(analysis.warnings)
        drawn = picture
        if picture:
            from weft.report.picture import picture as drawing
            from weft.report.picture import write_picture

            if documents:
                drawn = picture.with_stem(f"{picture.stem}-{experiment.name}")
            write_picture(drawing(scenario, experiment.name), drawn or picture)
            if not as_json:
                print(f"picture: {drawn}")
        documents.append({"name": experiment.name, **document(analysis), "picture": str(drawn) if drawn else None})
    if as_json:
        print(json.dumps(documents[0] if len(documents) == 1 else {"experiments": documents}, indent=1))


@app.command("list")
def list_kinds(
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


@app.command()
def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that weft run wrote.")],
    analysis: Annotated[bool, typer.Option("--analysis", help="Every table of the [[analysis]] entries.")] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Only the [[published]] numbers beside ours, as Markdown.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The results of a folder as tables in the terminal."""
    from rich.console import Console

    from weft.analysis import analyse
    from weft.results import Results
    from weft.terminal import print_answers, print_cells

    results = Results(directory)
    if as_json:
        print(json.dumps(_results_document(results), indent=1))
        return
    if published:
        print(_published_markdown(directory), end="")
        return
    _print_warnings(results.warnings)
    _print_unfinished(
        results, [(run, _cell(manifest)) for run, manifest in results.manifests.items() if not manifest["finished"]]
    )
    _print_absent(results)
    print_cells(Console(), results)
    answers = analyse(results)
    print_answers(Console(), answers, whole=analysis, directory=directory)
    _print_published(results, answers)
    some = next(iter(results.manifests.values()))
    print(f"{_count(len(results.manifests), 'run')} by weft {some['version']} ({some['backend']} backend)")


@app.command()
def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders that weft run wrote; the first is the reference.")
    ],
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="KEY", help="Inside one folder: compare the values of this swept key."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", metavar="VALUE", help="The value of KEY to compare with; default its first."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME", help="fct, or fct.p99; default all metrics. Repeatable."),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            "--margin", metavar="SIZE", help="What does not matter: '5 %' (default), 'fct=2 %', 'fct=1 ms'. Repeatable."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", metavar="SHARE", help="Of the intervals.")] = 0.95,
    common: Annotated[
        bool, typer.Option("--common", help="Where the repeats differ: only those that both have, in pairs.")
    ] = False,
    adjust: Annotated[
        str, typer.Option("--adjust", metavar="METHOD", help="For many tests: holm, or bh (Benjamini-Hochberg).")
    ] = "holm",
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write an HTML page that opens offline.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare results, cell by cell and repeat by repeat: difference, interval, and whether it matters."""
    from rich.console import Console

    from weft.comparison import compare
    from weft.comparison.shown import print_comparison

    found = compare(
        *directories,
        over=over,
        reference=reference,
        metrics=metric or (),
        margin=margin or (),
        confidence=confidence,
        adjust=adjust,
        common=common,
    )
    if report:
        found.write_page(report)
    if as_json:
        page = {"report": str(report) if report else None}
        print(json.dumps(found.document | page, indent=1, allow_nan=False))
        return
    _print_warnings(list(found.warnings))
    print_comparison(Console(), found)
    if report:
        print(f"report: {report}")


@app.command()
def search(
    file: File,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where results go; default out/NAME-search.")
    ] = None,
    set: Setting = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", metavar="N", help="As --set search.trials=N; a search that is there goes on."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Most runs at once; default one for every core.")
    ] = None,
    on: Annotated[
        str, typer.Option("--on", metavar="WHERE", help="local, ray, or the address of a Ray cluster: ray://HOST:PORT.")
    ] = "local",
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    as_json: AsJson = False,
) -> None:
    """Find the values of [space] that are best for [objective].

    A search that was interrupted, or is asked for more trials, goes on with the same command.
    """
    from rich.console import Console

    from weft.progress import observer
    from weft.searching import go
    from weft.searching.shown import print_found

    settings = [*(set or []), *([f"search.trials={trials}"] if trials is not None else [])]
    (place, experiment), *others = _studied(file, settings)
    if others:
        raise WeftError(f"{file}: holds several experiments; a search is of one: name its file, like {place}")
    directory = out or Path("out") / f"{_folder(None, file, place, 1).name}-search"
    with interruptible() as stop:
        found = go(experiment, directory, observer(), stop, jobs, on)
    page = None
    if report:
        from weft.searching.page import write_page

        page = write_page(found)
    if as_json:
        print(json.dumps(found.document | {"report": str(page) if page else None}, indent=1))
    else:
        _print_warnings(list(found.warnings))
        print_found(Console(), found)
        print(f"results: {directory}")
        if page:
            print(f"report:  {page}")
    if found.counts["failed"] or (found.best is None and not found.front):
        raise typer.Exit(1)


@app.command("report")
def write_report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that weft run wrote.")],
    as_json: AsJson = False,
) -> None:
    """Write report.html, one page that opens offline, and its figures."""
    from weft.progress import telling
    from weft.report import write_report

    with telling("report") as tell:
        page = write_report(directory, tell=tell)
    print(json.dumps({"report": str(page)}) if as_json else f"report: {page}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of the experiment file, for editors' completion."""
    from weft.schema import schema

    print(json.dumps(schema(), indent=1, ensure_ascii=False))


@app.command()
def doctor(as_json: AsJson = False) -> None:
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


def validate(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Oracles; left out: all of them.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="In full size; else sampled.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the oracles: value, expected, tolerance, pass or fail, source."""
    from weft import validation

    status = validation.run(names or [], all=all, as_json=as_json)
    if status:
        raise typer.Exit(int(status))


if importlib.util.find_spec("weft.validation") is not None:
    app.command()(validate)


app.add_typer(export_commands(), name="export")


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
        _print_error(str(error), as_json, error.faults)
        return 2
    except Interrupted as error:
        _print_error(str(error), as_json)
        return error.status
    except RunError as error:
        _print_error(str(error), as_json)
        return 1
    except WeftError as error:
        _print_error(str(error), as_json)
        return 2
    except CLICK_ERROR as error:
        error.show()
        return 2
    except (KeyboardInterrupt, typer.Abort):
        _print_error("interrupted", as_json)
        return 130
    except BrokenPipeError:
        # The reader (`| head`) has seen enough.
        sys.stderr.close()
        return 0
    except Exception as error:
        if debug:
            traceback.print_exc()
        where = "" if debug else "; add --debug for the traceback"
        _print_error(
            f"weft failed unexpectedly ({type(error).__name__}: {error}); this is a bug of weft{where}", as_json
        )
        return 1


@contextmanager
def interruptible() -> Iterator[Any]:
    """Ctrl-C and SIGTERM become an exit status that the block may ask for; a second Ctrl-C stops at once."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(128 + number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: received[0] if received else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "es" if noun.endswith("ch") else "s")


def _loaded(file: Path, settings: list[str]) -> "Experiment":
    from weft.experiment.experiment import load

    return load(file, settings)


def _studied(file: Path, settings: list[str]) -> "list[tuple[Path, Experiment]]":
    """The experiments that FILE means, with the settings of its study first."""
    from weft.experiment.study import read_study

    study = read_study(file)
    return [(each, _loaded(each, [*study.settings, *settings])) for each in study.files]


def _folder(out: Path | None, given: Path, file: Path, files: int) -> Path:
    """Where the results of `file` go, which is one of the `files` that `given` means."""
    from weft.experiment.study import read_study

    name = read_study(given).name or file.stem
    if out is None:
        return Path("out") / (f"{name}/{file.stem}" if files > 1 else name)
    return out / file.stem if files > 1 else out


def _report(directory: Path) -> tuple[Path | None, bool]:
    """The page, or None with a line that says why there is none; and whether nothing went wrong."""
    try:
        from weft.progress import telling
        from weft.report import write_report

        with telling("report") as tell:
            return write_report(directory, tell=tell), True
    except ImportError as error:
        print(f"no report: {error.name} is missing; install it, then: weft report {directory}", file=sys.stderr)
        return None, True
    except (WeftError, OSError) as error:
        print(f"no report: {error}", file=sys.stderr)
    return None, False


def _print_run(outcome: "Outcome", results: "Results | None", page: Path | None) -> None:
    from rich.console import Console

    from weft.analysis import analyse
    from weft.terminal import print_answers, print_cells

    if results:
        print_cells(Console(), results)
        answers = analyse(results)
        print_answers(Console(), answers, whole=False, directory=outcome.directory)
        _print_published(results, answers)
    print(f"results: {outcome.directory}")
    if page:
        print(f"report:  {page}")


def _print_published(results: "Results", answers: "list[Answer]") -> None:
    """Published numbers beside ours, where the experiment has some."""
    if not results.described.get("experiment", {}).get("published"):
        return
    from rich.console import Console

    from weft.published.beside import beside
    from weft.published.shown import print_published
    from weft.report.folder import read_folder

    print_published(Console(), beside(read_folder(results.directory), answers))


def _published_markdown(directory: Path) -> str:
    from weft.published.beside import beside
    from weft.published.shown import markdown
    from weft.report.folder import read_folder

    found = beside(read_folder(directory))
    if not found:
        raise WeftError(f"{directory}: its experiment has no [[published]] numbers")
    return markdown(found)


def _print_trouble(outcome: "Outcome", results: "Results | None") -> None:
    _print_warnings(outcome.warnings)
    if results:
        _print_unfinished(results, [(run.name, str(run.cell)) for run, _ in outcome.unfinished])
    for run, message in outcome.failed[:MOST_NAMED]:
        print(f"run {run.name}{f' ({run.cell})' if run.cell.chosen else ''}: {message}", file=sys.stderr)
    _print_more(len(outcome.failed), "runs failed")


def _print_unfinished(results: "Results", runs: Sequence[tuple[str, str]]) -> None:
    """Names the flows that did not finish, with the reason."""
    for run, cell in runs[:MOST_NAMED]:
        of = f" ({cell})" if cell else ""
        for reason, flows in results.unfinished(run).items():
            named = ", ".join(flows[:MOST_NAMED])
            more = f" and {len(flows) - MOST_NAMED} more" if len(flows) > MOST_NAMED else ""
            print(f"  run {run}{of}: {reason}: flow {named}{more}", file=sys.stderr)
    _print_more(len(runs), "runs did not finish")


def _print_absent(results: "Results") -> None:
    """Names the runs that failed, alike ones once, and those that are not there."""
    from weft.report.trouble import alike

    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in results.failures.iter_rows(named=True):
        kinds.setdefault(alike(row["message"]), []).append(row)
    for rows in list(kinds.values())[:MOST_NAMED]:
        first = rows[0]
        others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        print(f"run {first['run']} ({first['cell']}){others}: failed: {first['message']}", file=sys.stderr)
    _print_more(len(kinds), "kinds of failures")
    if lacking := results.lacking:
        more = f"; and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
        named = "; ".join(lacking[:MOST_NAMED])
        print(f"{_count(len(lacking), 'planned run')} not there: {named}{more}", file=sys.stderr)


def _print_more(count: int, what: str) -> None:
    if count > MOST_NAMED:
        print(f"  {count - MOST_NAMED} more {what}", file=sys.stderr)


def _cell(manifest: Mapping[str, Any]) -> str:
    from weft.experiment.values import said

    return ", ".join(f"{name} = {said(value)}" for name, value in manifest["swept"].items())


def _print_warnings(warnings: list[str]) -> None:
    """Warnings that differ in their numbers alone are one, with how many there are."""
    alike: dict[str, list[str]] = {}
    for warning in warnings:
        alike.setdefault(re.sub(r"\d+", "#", warning), []).append(warning)
    for first, *others in alike.values():
        more = f" (and {len(others)} alike)" if others else ""
        print(f"warning: {first}{more}", file=sys.stderr)


def _print_error(message: str, as_json: bool, faults: Sequence[Fault] = ()) -> None:
    print(message, file=sys.stderr)
    if as_json:
        from dataclasses import asdict

        print(json.dumps({"error": message, "faults": [asdict(fault) for fault in faults]}, indent=1, default=str))


def _run_document(
    experiment: "Experiment", outcome: "Outcome", results: "Results | None", page: Path | None
) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "directory": str(outcome.directory),
        "planned": outcome.planned,
        "resumed": outcome.resumed,
        "unfinished": {run.name: message for run, message in outcome.unfinished},
        "failed": {run.name: message for run, message in outcome.failed},
        "warnings": outcome.warnings,
        "report": str(page) if page else None,
        "cells": results.table().to_dicts() if results else [],
        "analyses": _analyses_document(results) if results else [],
        "published": results.published.to_dicts() if results else [],
    }


def _results_document(results: "Results") -> dict[str, Any]:
    return {
        "directory": str(results.directory),
        "warnings": results.warnings,
        "cells": results.table().to_dicts(),
        "analyses": _analyses_document(results),
        "published": results.published.to_dicts(),
        "runs": list(results.manifests.values()),
        "failed": results.failures.to_dicts(),
        "lacking": results.lacking,
    }


def _analyses_document(results: "Results") -> list[dict[str, Any]]:
    from weft.analysis import analyse

    return [
        {
            "title": answer.question.title,
            "where": answer.question.where,
            "refused": answer.refused,
            "sentences": answer.sentences,
            "rows": answer.rows,
        }
        for answer in analyse(results)
    ]


def _kind_document(kind: Any) -> dict[str, Any]:
    parameters = [
        {name: getattr(parameter, name) for name in ("name", "doc", "required", "default", "min", "max")}
        | {"value": dict(parameter.value)}
        for parameter in kind.parameters.values()
    ]
    profiles = {name: dict(values) for name, values in kind.profiles.items()}
    return {"doc": kind.doc, "source": kind.source, "parameters": parameters, "profiles": profiles}


if __name__ == "__main__":
    main()
