"""What a figure is: a Vega-Lite specification, the tables it draws, and the words beneath it.

The specification names its data but does not hold them: the page carries each table once, as CSV, for the drawing
and for the download.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.report.folder import Cell, Folder

if TYPE_CHECKING:
    import altair as alt

MOST_COLOURS = 8
MOST_PANELS = 6
LEAST_HEIGHT = 170


@dataclass(frozen=True)
class Figure:
    """One drawn figure. `tables` are what its specification names; the first one is offered as CSV."""

    name: str
    title: str
    caption: str
    spec: dict[str, Any]
    tables: dict[str, pl.DataFrame]

    def csv(self, table: str) -> str:
        """A table as text, reals with six significant digits."""
        frame = self.tables[table]
        reals = [name for name, kind in frame.schema.items() if kind.is_float()]
        return frame.with_columns(pl.col(reals).round_sig_figs(6)).write_csv()

    def sized(self, width: int) -> dict[str, Any]:
        """A whole specification, data included, for a drawing of about `width` pixels."""
        spec: dict[str, Any] = json.loads(json.dumps(self.spec))
        hints = spec["usermeta"]["weft"]
        panels = spec.get("concat")
        if panels:
            spec["columns"] = max(1, min(len(panels), width // hints["panel"]))
            inner = width // spec["columns"] - hints["margin"]
            for panel in panels:
                panel["width"] = inner
        else:
            inner = width - hints["margin"]
            spec["width"] = inner
        if hints["aspect"]:
            for panel in panels or [spec]:
                panel["height"] = max(LEAST_HEIGHT, round(inner * hints["aspect"]))
        for parameter in spec.get("params", []):
            if parameter["name"] == "panel":
                parameter["value"] = inner
        spec["datasets"] = {name: self.csv(name) for name in self.tables}
        return spec


def finish(
    chart: "alt.TopLevelMixin",
    tables: dict[str, pl.DataFrame],
    *,
    panel: int = 320,
    margin: int = 0,
    aspect: float | None = None,
) -> dict[str, Any]:
    """A chart as a specification: columns typed, and hints for fitting it to a page.

    `panel` is the least width of a panel and `margin` what axes need beside its plot; `aspect` is height over width.
    """
    spec = chart.to_dict(validate=True)
    assert isinstance(spec, dict)
    spec.pop("config", None)
    _name_formats(spec, tables)
    if "concat" not in spec and not margin:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["usermeta"] = {"weft": {"panel": panel, "margin": margin, "aspect": aspect}}
    return spec


def _name_formats(part: object, tables: dict[str, pl.DataFrame]) -> None:
    if isinstance(part, dict):
        data = part.get("data")
        if isinstance(data, dict) and data.get("name") in tables:
            schema = tables[data["name"]].schema
            parse = {name: "number" if kind.is_numeric() else "string" for name, kind in schema.items()}
            data["format"] = {"type": "csv", "parse": parse}
        for value in part.values():
            _name_formats(value, tables)
    elif isinstance(part, list):
        for value in part:
            _name_formats(value, tables)


def titled(chart: Any, cell: Cell, cells: Sequence[Cell]) -> Any:
    """A panel with the label of its cell above it; a single panel needs none."""
    return chart.properties(title=cell.label) if len(cells) > 1 else chart


def drawn_cells(folder: Folder, most: int) -> tuple[list[Cell], str]:
    """Cells with runs, thinned evenly in the plan's order to `most`, and the sentence that says so (or nothing)."""
    cells = [cell for cell in folder.cells if cell.done]
    if len(cells) <= most:
        return cells, ""
    chosen = [cells[round(place * (len(cells) - 1) / (most - 1))] for place in range(most)]
    return chosen, f" {most} of {len(cells)} cells are drawn, evenly spaced in the order of the plan."


def slug(*words: str | None) -> str:
    """Name of a figure's file."""
    text = "-".join(word for word in words if word)
    return "".join(letter if letter.isalnum() else "-" for letter in text).strip("-").lower()
