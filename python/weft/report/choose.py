"""Which figures a report shows: the entries of `[[report]]`, and those that every experiment deserves."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from weft.errors import ResultsError
from weft.metric import METRICS
from weft.report.figure import FIGURES, Ask, ask
from weft.report.figure.drawing import MOST_COLOURS, Figure
from weft.report.figure.facet import MOST_FACETS
from weft.report.figure.observation import TABLES, grouped
from weft.report.folder import Folder
from weft.report.quantity import swept_numbers
from weft.report.table import full_name, numbers_of

ALWAYS = (
    Ask("ecdf", y="fct"),
    Ask("ecdf", y="slowdown"),
    Ask("rank", y="goodput"),
    Ask("fabric"),
    Ask("series", y="goodput"),
    Ask("series", y="queue"),
    Ask("series", y="cwnd"),
    Ask("series", y="srtt"),
)
"""Drawn where the tables allow it; what they do not allow is listed with the reason."""


LIKELY = ("goodput", "fct.p99", "slowdown.p99", "loss", "drops")
"""What an experiment that asks for nothing is shown over its axes: the first two that its runs have."""
MOST_METRICS = 2
MOST_BARS = 60


def choose(folder: Folder) -> tuple[list[Figure], dict[str, str]]:
    """Figures in their order, and the reason for each one that could not be drawn, by its name."""
    if not folder.done:
        return [], {}
    figures: dict[str, Figure] = {}
    not_drawn: dict[str, str] = {}
    entries = _entries(folder)
    asked_for = entries or [_said(asked) for asked in over_axes(folder)]
    for place, entry in enumerate(asked_for):
        folder.tell("figures", place, len(asked_for) + len(ALWAYS))
        words = ", ".join(f"{key} {value}" for key, value in entry.items())
        try:
            asked = ask(entry, FIGURES)
            figure = FIGURES[asked.figure].draw(folder, asked)
            figures.setdefault(figure.name, figure)
        except ResultsError as error:
            not_drawn[f"[[report]] {words}" if entries else words] = str(error)
    usual = (Ask("published"), *ALWAYS) if folder.experiment.get("published") else ALWAYS
    usual = (*usual, Ask("applications")) if len(folder.experiment.get("workload") or ()) > 1 else usual
    for place, asked in enumerate(usual, len(asked_for)):
        folder.tell("figures", place, len(asked_for) + len(ALWAYS))
        try:
            figure = FIGURES[asked.figure].draw(folder, asked)
            figures.setdefault(figure.name, figure)
        except ResultsError as error:
            not_drawn[_name(asked)] = str(error)
    return list(figures.values()), not_drawn


def asked_numbers(folder: Folder) -> list[str]:
    """The numbers of runs that figures will ask for, so that one pass over the tables computes all of them."""
    entries = _entries(folder)
    asked = [str(entry.get("y")) for entry in entries if _is_of_runs(entry)] if entries else list(LIKELY)
    analyses = folder.experiment.get("analysis") or []
    asked += [str(metric) for entry in analyses if isinstance(entry, Mapping) for metric in entry.get("metrics", ())]
    asked += _published(folder)
    return [y for y in asked if full_name(y).partition(".")[0] in {*METRICS, *TABLES}]


def over_axes(folder: Folder) -> list[Ask]:
    """Figures of a sweep that asks for none: a number of each run over the axes of the sweep.

    One axis: a line over numbers, bars over words. Two: a line or bars for each value of the axis with fewer values, or
    a heat map where both have many. Three and more: the same for each value of the smallest axis, the rest together.
    """
    axes = axes_of(folder)
    if not axes:
        return []
    ordered = sorted(axes, key=lambda axis: (axes[axis][1], len(axes[axis][0])), reverse=True)
    x, *others = ordered
    few = sorted(others, key=lambda axis: len(axes[axis][0]))
    facet = few.pop(0) if len(few) > 1 and len(axes[few[0]][0]) <= MOST_FACETS else None
    by = next((axis for axis in few if len(axes[axis][0]) <= MOST_COLOURS), None)
    kind = "line" if axes[x][1] else "bar"
    if by is None and few:
        kind, by = "heat", few[-1]
    elif kind == "bar" and len(axes[x][0]) * (len(axes[by][0]) if by else 1) > MOST_BARS:
        kind = "heat" if by else "bar"
    return [Ask(kind, y=y, x=x, by=by, facet=facet) for y in _metrics(folder)]


def axes_of(folder: Folder) -> dict[str, tuple[list[str], bool]]:
    """The axes with their values, and whether these are numbers; of axes that go together the first."""
    keys = list(folder.axes)
    if folder.sweep is not None:
        followers = {key for group in folder.sweep.zipped for key in group[1:]}
        keys = [axis.key for axis in folder.sweep.axes if axis.key not in followers]
    found = {}
    for key in keys:
        words = list(dict.fromkeys(words[0] for words in grouped(folder, [key])))
        if len(words) > 1:
            found[key] = (words, len(words) > 2 and swept_numbers(words) is not None)
    return found


def _metrics(folder: Folder) -> list[str]:
    """The first likely metrics that the first run has; drops only where there are some."""
    found = []
    for y in LIKELY:
        name = full_name(y)
        known = folder.run_values.get(name) or {"": numbers_of(folder.done[0].tables, [name]).get(name, "")}
        values = [value for value in known.values() if isinstance(value, float)]
        if values and (max(values) > 0 or y == LIKELY[0]):
            found.append(y)
    return found[:MOST_METRICS]


def _entries(folder: Folder) -> list[Mapping[str, object]]:
    entries = folder.experiment.get("report") or []
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _is_of_runs(entry: Mapping[str, object]) -> bool:
    kind = FIGURES.get(str(entry.get("figure")))
    return kind is not None and kind.of == "runs"


def _published(folder: Folder) -> list[str]:
    """What the published numbers are of, where all flows count; a file that cannot be read is told elsewhere."""
    from weft.published import Unreadable, read

    names = []
    for entry in folder.experiment.get("published") or []:
        with contextlib.suppress(Unreadable):
            names += [row.metric for row in read(Path(entry["file"])) if not row.workloads and not row.effect]
    return names


def _said(asked: Ask) -> dict[str, object]:
    return {name: value for name, value in vars(asked).items() if value is not None}


def _name(asked: Ask) -> str:
    words = {
        "ecdf": "distribution of {y}",
        "rank": "{y} by rank",
        "series": "{y} over time",
        "fabric": "drawn fabric",
        "published": "published numbers",
        "applications": "links of applications",
    }
    return words.get(asked.figure, f"{asked.figure} of {{y}}").format(y=asked.y)
