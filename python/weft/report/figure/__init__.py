"""Figures of a report. One file per kind; `FIGURES` is the list, and what `[[report]] figure = ...` may name."""

from weft.report.figure import bar, box, ecdf, fabric, heat, line, rank, series
from weft.report.figure.drawing import Ask, Figure, Kind, ask

FIGURES: dict[str, Kind] = {
    module.KIND.name: module.KIND for module in (box, bar, line, ecdf, rank, heat, fabric, series)
}

__all__ = ["FIGURES", "Ask", "Figure", "Kind", "ask"]
