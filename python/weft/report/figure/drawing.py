"""What a figure is: a Vega-Lite specification, the tables it draws, and the words beneath it.

The specification names its data but does not hold them: the page carries each table once, as CSV, for the drawing
and for the download.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from weft.errors import ResultsError
from weft.report.folder import Cell, Folder

if TYPE_CHECKING:
    import altair as alt

MOST_COLOURS = 8
MOST_PANELS = 6
LEAST_HEIGHT = 150
LETTER = 6.2
"""Pixels of a letter of an axis title."""
TALLEST, TALLEST_SMALL = 640, 260
"""Pixels of a chart whose height follows its width, alone and among small multiples."""
WIDTH = 760
"""Pixels of a drawing where nothing else is asked."""
SCALE = 2.0
"""Pixels of a PNG per pixel of the drawing."""


@dataclass(frozen=True)
class Figure:
    """One drawn figure. `tables` are what its specification names; the first one is offered as CSV."""

    name: str
    title: str
    caption: str
    spec: dict[str, Any]
    tables: dict[str, pl.DataFrame]

    def csv(self, table: str | None = None) -> str:
        """A table (the first, if none is named) as text, reals with six significant digits."""
        frame = self.tables[table or next(iter(self.tables))]
        reals = [name for name, kind in frame.schema.items() if kind.is_float()]
        return frame.with_columns(pl.col(reals).round_sig_figs(6)).write_csv()

    def save(self, path: str | Path, width: int = WIDTH, scheme: str = "light") -> Path:
        """Write the drawing as .svg or .png, or the table behind it as .csv, by the ending of `path`.

        `width` is in pixels of the drawing (a PNG has twice as many), `scheme` light or dark. Raises ResultsError for
        another ending.
        """
        import vl_convert

        path = Path(path)
        match path.suffix:
            case ".svg":
                path.write_text(self.svg(width, scheme), encoding="utf-8")
            case ".png":
                path.write_bytes(vl_convert.svg_to_png(self.svg(width, scheme), scale=SCALE))
            case ".csv":
                path.write_text(self.csv(), encoding="utf-8")
            case other:
                raise ResultsError(f"{path}: a figure is not saved as {other or 'that'}; name it .svg, .png or .csv")
        return path

    def svg(self, width: int = WIDTH, scheme: str = "light") -> str:
        """The drawing as SVG text, in a `light` or `dark` scheme."""
        import vl_convert

        from weft.report.theme import config

        return str(vl_convert.vegalite_to_svg(self.sized(width), config=config(scheme)))

    def _repr_html_(self) -> str:
        """Title, drawing and caption, for a notebook; nothing is loaded from anywhere."""
        return (
            f"<figure style='margin:0'><b>{escape(self.title)}</b><div>{self.svg()}</div>"
            f"<figcaption style='max-width:{WIDTH}px'>{escape(self.caption)}</figcaption></figure>"
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """What Jupyter shows: HTML with the drawing; the bare SVG and the title where that is not possible."""
        return {"text/html": self._repr_html_(), "image/svg+xml": self.svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Figure({self.name!r}: {self.title})"

    def sized(self, width: int) -> dict[str, Any]:
        """A whole specification, data included, for a drawing of about `width` pixels."""
        spec: dict[str, Any] = json.loads(json.dumps(self.spec))
        hints = spec["usermeta"]["weft"]
        panels = spec.get("concat")
        if panels:
            spec["columns"] = max(1, min(len(panels), width // hints["panel"]))
            if hints["edges"]:
                # As even as they can be: five are three and two, not four and one.
                spec["columns"] = math.ceil(len(panels) / math.ceil(len(panels) / spec["columns"]))
                _title_edges(panels, spec["columns"])
            inner = width // spec["columns"] - hints["margin"]
            for panel in panels:
                panel["width"] = inner
        else:
            inner = width - hints["margin"]
            spec["width"] = inner
        if hints["aspect"]:
            for panel in panels or [spec]:
                height = panel["height"] = min(hints["tallest"], max(LEAST_HEIGHT, round(inner * hints["aspect"])))
            if panels and hints["edges"]:
                _fold_titles(panels, height)
        for parameter in spec["params"]:
            parameter["value"] = {"panel": inner, "page": width}.get(parameter["name"], parameter.get("value"))
        spec["datasets"] = {name: self.csv(name) for name in self.tables}
        return spec


class Figures(tuple[Figure, ...]):
    """Figures, which a notebook shows one below the other; `figures["ecdf-fct"]` is one by its name."""

    def __getitem__(self, which: Any) -> Any:
        """By place or by name. Raises ResultsError for a name that there is not."""
        if not isinstance(which, str):
            return super().__getitem__(which)
        for figure in self:
            if figure.name == which:
                return figure
        raise ResultsError(f"no figure {which}; there are {', '.join(figure.name for figure in self)}")

    def _repr_html_(self) -> str:
        return "".join(figure._repr_html_() for figure in self)


def _fold_titles(panels: list[dict[str, Any]], height: int) -> None:
    """Titles of vertical axes that are longer than a small chart is high, in two lines."""
    for panel in panels:
        for layer in panel.get("layer", [panel]):
            title = layer["encoding"].get("y", {}).get("title")
            if isinstance(title, str) and LETTER * len(title) > height and " (" in title:
                words, _, unit = title.partition(" (")
                layer["encoding"]["y"]["title"] = [words, f"({unit}"]


def _title_edges(panels: list[dict[str, Any]], columns: int) -> None:
    """Axis titles on the left and under the last chart of a column only."""
    for place, panel in enumerate(panels):
        for layer in panel.get("layer", [panel]):
            if place % columns and "y" in layer["encoding"]:
                layer["encoding"]["y"]["title"] = None
            if place + columns < len(panels) and "x" in layer["encoding"]:
                layer["encoding"]["x"]["title"] = None


def finish(
    chart: "alt.TopLevelMixin",
    tables: dict[str, pl.DataFrame],
    *,
    panel: int = 320,
    margin: int = 0,
    aspect: float | None = None,
    has_edges: bool = False,
) -> dict[str, Any]:
    """A chart as a specification: columns typed, and hints for fitting it to a page.

    `panel` is the least width of a panel and `margin` what axes need beside its plot; `aspect` is height over width.
    With `has_edges`, panels share their axes, whose titles stand at the edges only.
    """
    # The parts were checked when they were made; all of them again would take most of the time of a report.
    spec = chart.to_dict(validate=False)
    assert isinstance(spec, dict)
    spec.pop("config", None)
    _name_formats(spec, tables)
    if "concat" not in spec and not margin:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    # The width of the page, for legends: in a row of panels `width` is that of nothing.
    spec["params"] = [*spec.get("params", []), {"name": "page", "value": WIDTH}]
    tallest = TALLEST_SMALL if has_edges else TALLEST
    spec["usermeta"] = {
        "weft": {"panel": panel, "margin": margin, "aspect": aspect, "edges": has_edges, "tallest": tallest}
    }
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
