"""What was run, in words: one paragraph, a few rows, and the command that does it again."""

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft.errors import ResultsError
from weft.experiment import path as dotted
from weft.experiment.readable import inline
from weft.report.folder import Cell, Folder, Run
from weft.report.quantity import quantity, rounded
from weft.report.table import Numbers
from weft.words import plural

SECTIONS = {
    "topology": "Fabric",
    "routing": "Routing",
    "load_balance": "Load balance",
    "queue": "Queue",
    "flow_control": "Flow control",
    "sharing": "Sharing",
    "transport": "Transport",
    "congestion": "Congestion control",
    "workload": "Workload",
    "backend": "Backend",
    "measure": "Measured",
}
"""Sections of the experiment file in the order of the report, with the word for each."""

OF_PACKETS = ("queue", "flow_control")
"""Sections of which a fluid reads nothing."""

MOST_KEYS = 4
"""Keys of a section that are listed where the file does not say which matter."""


def paragraph(folder: Folder, numbers: Numbers) -> str:
    """One paragraph: fabric, cells, repeats, seeds, how much came of it."""
    sentences = [f"{_fabric(folder)}."]
    cells, runs = folder.cells, folder.runs
    repeats = sorted({len(cell.runs) for cell in cells})
    how_often = f"{repeats[0]}" if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}"
    if folder.axes:
        axes = "; ".join(f"{axis}: {_values(folder, axis)}" for axis in folder.axes)
        kinds = f"{len(cells):,} {plural('cell', len(cells))} ({axes})"
        sentences.append(
            f"{kinds} × {how_often} {plural('repeat', repeats[-1])} = {len(runs):,} {plural('run', len(runs))}."
        )
    elif len(runs) > 1:
        sentences.append(f"One cell, {len(runs)} repeats.")
    else:
        sentences.append("One run.")
    sentences.append(f"{_seeds(folder)}.")
    done = f"All {len(runs):,}" if len(folder.done) == len(runs) else f"{len(folder.done):,} of {len(runs):,}"
    if len(runs) > 1:
        sentences.append(f"{done} runs are in, with {numbers.flows:,} flows.")
    else:
        sentences.append(f"{numbers.flows:,} {plural('flow', numbers.flows)}.")
    return " ".join(sentences)


def rows(folder: Folder) -> list[tuple[str, str]]:
    """Section by section the kind and the keys that the file gives, then version and cost.

    The values are those of the resolved experiment; defaults are left to the page's last section.
    """
    given = _given(folder)
    listed = []
    has_packets = folder.experiment.get("backend", {}).get("kind") != "flow" or "backend.kind" in folder.axes
    for section, word in SECTIONS.items():
        if section in OF_PACKETS and not has_packets:
            continue
        written = given.get(section, {}) if given is not None else None
        text = _section(folder.experiment.get(section), written)
        swept = [axis for axis in folder.axes if re.split(r"[.\[]", axis)[0] == section]
        if swept:
            text = "; ".join(
                [f"swept: {axis.partition('.')[2] or 'kind'} {_values(folder, axis)}" for axis in swept]
                + ([] if not text or {section, f"{section}.kind"} & set(swept) else [text])
            )
        if text:
            listed.append((word, text))
    manifests = [run.manifest for run in folder.done if run.manifest is not None] or [folder.described]
    versions = sorted({f"{manifest.get('version', 'unknown')}" for manifest in manifests})
    commits = sorted({str(manifest["commit"])[:10] for manifest in manifests if manifest.get("commit")})
    listed.append(("weft", ", ".join(versions) + (f" (commit {', '.join(commits)})" if commits else "")))
    listed.append(("Cost", _cost(manifests)))
    return [(word, text) for word, text in listed if text]


def command(folder: Folder, cell: Cell | None = None, run: Run | None = None) -> str:
    """The command that runs the same again, or one cell of it with its repeats, or one run of a cell.

    It is given in the folder that holds this one. The settings of the first command line (`--set`, `--backend`) are
    in it. A run alone is the first repeat of an experiment with the run's seed: the same run, with the same name.
    """
    name = folder.directory.resolve().name
    given = folder.described.get("set")
    settings = [str(setting) for setting in given] if isinstance(given, list) else []
    again = f"{name}-again"
    if cell is not None and folder.axes:
        settings += [
            f"{dotted.write(('sweep', key))}={inline([] if value is None else [value])}"
            for key, value in _chosen(folder, cell)
        ]
        again = f"{name}-cell{cell.number}"
    if run is not None:
        settings += ["sweep.repeats=1"] + ([f"seed={run.seed}"] if run.seed is not None else [])
        again = f"{again.removesuffix('-again')}-repeat{run.repeat}"
    said = [part for setting in settings for part in ("--set", setting)]
    return shlex.join(["weft", "run", f"{name}/experiment.toml", *said, "--out", again])


def _chosen(folder: Folder, cell: Cell) -> list[tuple[str, object]]:
    """The values that a cell has on the axes, in the order of the file; the last axis varies fastest."""
    sweep = folder.sweep
    if sweep is None or not cell.number.isdigit():
        return [(key, value) for key, value in cell.keys.items() if value is not None]
    chosen = list(sweep.cell(int(cell.number)).chosen.items())
    # What is excluded names values that one cell alone does not have.
    return [*chosen, ("exclude", None)] if sweep.excluded else chosen


def _fabric(folder: Folder) -> str:
    experiment = folder.experiment.get("topology", {})
    kind = str(experiment.get("kind", "fabric")).replace("_", " ") if isinstance(experiment, Mapping) else "fabric"
    size = f", k = {experiment['k']}," if isinstance(experiment, Mapping) and "k" in experiment else ""
    words = f"{kind.capitalize()}{size}"
    try:
        if not folder.done:
            return words.rstrip(",")
        tables = folder.done[0].tables
        nodes, links = tables["nodes"], tables["links"]
        hosts = int(nodes["kind"].eq("host").sum())
        switches = nodes.height - hosts
        words += f" with {hosts:,} {plural('host', hosts)} and {switches:,} {plural('switch', switches)}"
        rates = sorted(links["rate_bps"].drop_nulls().unique().to_list())
        if rates:
            of = quantity("rate_bps", rates[-1])
            shown = f"{rounded(rates[0] * of.factor)}" + (
                f"–{rounded(rates[-1] * of.factor)}" if len(rates) > 1 else ""
            )
            words += f", {links.height // 2:,} {plural('cable', links.height // 2)} at {shown} {of.unit}"
    except (KeyError, ResultsError):
        pass
    return words.rstrip(",")


def _values(folder: Folder, axis: str) -> str:
    values = list(dict.fromkeys(str(cell.keys[axis]) for cell in folder.cells))
    if len(values) > 8:
        values = [*values[:4], "…", *values[-2:]]
    return ", ".join(values)


def _seeds(folder: Folder) -> str:
    seeds = sorted({run.seed for run in folder.runs if run.seed is not None})
    if not seeds:
        return "The seeds are not recorded"
    if len(seeds) == 1:
        return f"Seed {seeds[0]}"
    paired = all({run.seed for run in cell.runs} == set(seeds) for cell in folder.cells)
    first = sorted({run.seed for run in folder.runs if run.repeat == 0 and run.seed is not None})
    if len(seeds) <= 10 and seeds[-1] < 1_000_000:
        text = f"Seeds {', '.join(map(str, seeds))}"
    elif len(first) == 1:
        text = f"Seed {first[0]} and {len(seeds) - 1} derived from it"
    else:
        text = f"{len(seeds)} seeds"
    return text + (", the same in every cell" if paired and len(folder.cells) > 1 else "")


def _given(folder: Folder) -> dict[str, object] | None:
    """The experiment file as it was written, or None if it is not there."""
    try:
        return tomllib.loads(folder.experiment_text or "") or None
    except tomllib.TOMLDecodeError:
        return None


def _section(section: object, given: object = None) -> str:
    """Kind and keys; with `given`, only the keys that it has."""
    if isinstance(section, list):
        entries = given if isinstance(given, list) and len(given) == len(section) else [None] * len(section)
        return "; ".join(filter(None, (_section(part, entry) for part, entry in zip(section, entries, strict=True))))
    if not isinstance(section, Mapping):
        return ""
    kind = [str(section["kind"])] if "kind" in section else []
    rest = [
        f"{key} {_file(value, given) if key == 'file' else _word(value)}"
        for key, value in section.items()
        if key != "kind" and value is not None and value != [] and value != {}
        if not isinstance(given, Mapping) or key in given
    ]
    if not isinstance(given, Mapping) and len(rest) > MOST_KEYS:
        rest = [*rest[:MOST_KEYS], "…"]
    return ", ".join(kind + rest)


def _file(value: object, given: object) -> str:
    """A file as it was written, else its name: where it lay on the machine of the run tells a reader nothing."""
    written = given.get("file") if isinstance(given, Mapping) else None
    return str(written) if isinstance(written, str) else Path(str(value)).name


def _word(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + _section(value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_word, value)) + "]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return rounded(value, 6) if isinstance(value, float) else str(value)


def _cost(manifests: Sequence[Mapping[str, object]]) -> str:
    def total(key: str) -> float:
        return sum(value for manifest in manifests if isinstance(value := manifest.get(key), int | float))

    parts = []
    if total("simulated_ns"):
        parts.append(f"{rounded(total('simulated_ns') / 1e9)} s simulated")
    if total("wall_s"):
        parts.append(f"{rounded(total('wall_s'), 3)} s wall")
    if total("cpu_s"):
        parts.append(f"{rounded(total('cpu_s'), 3)} s CPU")
    if total("packet_hops"):
        parts.append(f"{rounded(total('packet_hops') / 1e6, 3)} M packet-hops")
    return ", ".join(parts)
