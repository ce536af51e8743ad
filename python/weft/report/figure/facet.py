"""Small multiples: one small chart per value of a key, all with the same axes.

Source: Tufte, "Envisioning information", 1990, chapter 4. Axis titles stand at the edges only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from weft.report.figure.drawing import finish
from weft.report.figure.observation import Words, in_order, thinned
from weft.report.folder import Cell, Folder, word

MOST_FACETS = 12
LEAST_WIDTH = 230
MARGIN = 62
"""Pixels beside the plot of a small chart, for the labels of its axis."""
ASPECT = 0.62


@dataclass(frozen=True)
class Facets:
    """The values of a key that get a chart each; one chart, and no key, without small multiples."""

    key: str | None
    words: tuple[str, ...]
    remark: str

    def chart(self, draw: Callable[[Callable[[str], Any]], Any]) -> Any:
        """All charts. `draw` makes one from a function that gives the start of a chart of a named table."""
        import altair as alt

        if self.key is None:
            return draw(lambda table: alt.Chart(alt.NamedData(table)))
        panels = []
        for each in self.words:

            def of_facet(table: str, each: str = each) -> Any:
                return alt.Chart(alt.NamedData(table)).transform_filter(alt.datum.facet == each)

            panels.append(draw(of_facet).properties(title=word(self.key, _number(each))))
        return alt.concat(*panels, columns=1).resolve_scale(x="shared", y="shared", color="shared")

    def finish(self, chart: Any, tables: dict[str, pl.DataFrame], least: int = 0, margin: int = 0) -> dict[str, Any]:
        """The specification; a small chart needs `least` pixels for its plot, `margin` is for a single one."""
        if self.key is None:
            return finish(chart, tables, margin=margin)
        width = max(LEAST_WIDTH, MARGIN + least)
        return finish(chart, tables, panel=width, margin=max(MARGIN, margin), aspect=ASPECT, has_edges=True)

    def column(self) -> list[str]:
        """The name of the column that tells the charts apart, if there is one."""
        return [] if self.key is None else ["facet"]


def facets(folder: Folder, key: str | None, cells: Mapping[Words, Sequence[Cell]]) -> Facets:
    """The charts of a figure whose cells are grouped with the facet's word first."""
    if key is None:
        return Facets(None, ("",), "")
    words, remark = thinned(in_order(folder, key, (words[0] for words in cells)), MOST_FACETS, f"values of {key}")
    return Facets(key, tuple(words), remark)


def next_axis(folder: Folder, taken: Sequence[str | None]) -> str | None:
    """The first axis that a figure does not use yet and that has several values, or None."""
    for axis in folder.axes:
        if axis not in taken and len({cell.keys[axis] for cell in folder.cells}) > 1:
            return axis
    return None


def _number(text: str) -> object:
    """A number in a title needs its key, a word does not."""
    try:
        return float(text) if not text.lstrip("-").isdigit() else int(text)
    except ValueError:
        return text
