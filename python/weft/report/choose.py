"""Which figures a report shows: the entries of `[[report]]`, and those that every experiment deserves."""

from collections.abc import Mapping

from weft.errors import ResultsError
from weft.report.figure import FIGURES, Ask, ask
from weft.report.figure.drawing import Figure
from weft.report.folder import Folder

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


def choose(folder: Folder) -> tuple[list[Figure], dict[str, str]]:
    """Figures in their order, and the reason for each one that could not be drawn, by its name."""
    figures: dict[str, Figure] = {}
    not_drawn: dict[str, str] = {}
    entries = folder.experiment.get("report") or []
    for entry in entries if isinstance(entries, list) else []:
        words = (
            ", ".join(f"{key} {value}" for key, value in entry.items()) if isinstance(entry, Mapping) else str(entry)
        )
        try:
            asked = ask(entry, FIGURES)
            figure = FIGURES[asked.figure].draw(folder, asked)
            figures.setdefault(figure.name, figure)
        except ResultsError as error:
            not_drawn[f"[[report]] {words}"] = str(error)
    for asked in ALWAYS:
        try:
            figure = FIGURES[asked.figure].draw(folder, asked)
            figures.setdefault(figure.name, figure)
        except ResultsError as error:
            not_drawn[_name(asked)] = str(error)
    return list(figures.values()), not_drawn


def _name(asked: Ask) -> str:
    words = {"ecdf": "distribution of {y}", "rank": "{y} by rank", "series": "{y} over time", "fabric": "drawn fabric"}
    return words.get(asked.figure, f"{asked.figure} of {{y}}").format(y=asked.y)
