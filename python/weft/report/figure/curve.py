"""What ecdf and rank share: the values of every flow, a curve per group, as many as colours can tell apart."""

from dataclasses import dataclass

from weft.report.figure.drawing import MOST_COLOURS
from weft.report.figure.facet import Facets, facets, next_axis
from weft.report.figure.kind import Ask
from weft.report.figure.observation import Values, each_value, grouped, in_order, pooled, thinned
from weft.report.folder import Folder


@dataclass(frozen=True)
class Curves:
    """Values by facet and group; `by` is the key of the groups, `remark` ends a caption."""

    values: Values
    facets: Facets
    by: str | None
    groups: list[str]
    remark: str


def curves_of(folder: Folder, ask: Ask) -> Curves:
    """The values of the curves that are asked for; only the runs of drawn curves are read.

    Raises ResultsError if no run has a value, or for a key that there is not.
    """
    assert ask.y is not None
    by = ask.by or (next_axis(folder, (ask.facet,)) if ask.facet else "cell")
    cells = grouped(folder, [ask.facet, by])
    small = facets(folder, ask.facet, cells)
    what = "cells" if by == "cell" else f"values of {by}"
    groups, selection = thinned(in_order(folder, by, (words[1] for words in cells)), MOST_COLOURS, what)
    cells = {words: alike for words, alike in cells.items() if words[0] in small.words and words[1] in groups}
    values = each_value(cells, ask.y, folder)
    keys = (*folder.axes, "cell") if by == "cell" else (by, ask.facet)
    remark = selection + small.remark + pooled(folder, cells, *keys) + values.remark
    return Curves(values, small, by, groups, remark)
