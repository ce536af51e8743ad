"""Figures and tables as files: SVG and PNG through vl-convert, without a browser, and CSV."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from weft.report.figure.drawing import SCALE, Figure
from weft.report.folder import Tell, silent


def write_figures(figures: Sequence[Figure], directory: Path, tell: Tell = silent) -> list[Path]:
    """Write NAME.svg and NAME.png of every figure, light, and return their paths."""
    import vl_convert

    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for place, figure in enumerate(figures):
        tell("files of figures", place, len(figures))
        path = directory / f"{figure.name}.svg"
        svg = figure.svg()
        path.write_text(svg, encoding="utf-8")
        png = path.with_suffix(".png")
        png.write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
        written += [path, png]
    return written


def write_tables(tables: Mapping[str, pl.DataFrame], directory: Path) -> list[Path]:
    """Write NAME.csv of every table and return their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for name, table in tables.items():
        path = directory / f"{name}.csv"
        table.write_csv(path)
        written.append(path)
    return written
