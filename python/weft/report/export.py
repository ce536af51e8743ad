"""Figures as files: SVG and PNG through vl-convert, without a browser."""

from collections.abc import Sequence
from pathlib import Path

from weft.report.figure.drawing import Figure
from weft.report.theme import config

WIDTH = 760
SCALE = 2.0
"""Pixels of a PNG per pixel of the drawing."""


def write_figures(figures: Sequence[Figure], directory: Path) -> list[Path]:
    """Write NAME.svg and NAME.png of every figure, light, and return their paths."""
    import vl_convert

    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures:
        spec = figure.sized(WIDTH)
        light = config("light")
        svg = vl_convert.vegalite_to_svg(spec, config=light)
        path = directory / f"{figure.name}.svg"
        path.write_text(svg, encoding="utf-8")
        png = path.with_suffix(".png")
        png.write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
        written += [path, png]
    return written
