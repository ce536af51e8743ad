"""Published numbers as marks in a figure of one number per run: where the metric is the figure's, at their cell."""

from typing import Any

import polars as pl

from weft.published.beside import pairs_of_cells
from weft.report.figure.observation import key_word
from weft.report.folder import Folder
from weft.report.table import full_name

REMARK = " Diamonds are published numbers."
COLUMNS = ("facet", "place", "group")


def marks(folder: Folder, y: str, keys: tuple[str | None, str | None, str | None], factor: float) -> pl.DataFrame:
    """Columns facet, place, group (the words of `keys` at the cell), published (times `factor`), source.

    A number of some workloads alone is in no figure of all flows, and left out.
    """
    rows: dict[tuple[str, ...], None] = {}
    for pair in pairs_of_cells(folder):
        row = pair.row
        if pair.cell is None or row.workloads or full_name(row.metric) != full_name(y):
            continue
        words = ["" if key is None else key_word(folder, pair.cell, key) for key in keys]
        rows[(*words, repr(row.value * (row.of or 1.0) * factor), row.source)] = None
    schema = dict.fromkeys((*COLUMNS, "published", "source"), pl.String)
    frame = pl.DataFrame(list(rows), schema=schema, orient="row").with_columns(pl.col("published").cast(pl.Float64))
    return frame.drop([name for name, key in zip(COLUMNS, keys, strict=True) if key is None])


def layer(base: Any, y: Any) -> Any:
    """The diamonds: `base` is a chart of the table with its place encoded, `y` the vertical axis."""
    import altair as alt

    return base.mark_point(
        shape="diamond",
        size=110,
        filled=True,
        opacity=1,
        stroke={"expr": "paper"},
        fill={"expr": "pencil"},
        strokeWidth=1,
    ).encode(y=y, tooltip=[alt.Tooltip("published:Q", format=".4~g"), "source:N"])
