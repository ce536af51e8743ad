"""The page, figures and tables as files: SVG and PNG through vl-convert, without a browser, and CSV.

All are written through `put`, so that a full disk leaves whole files and a sentence.
"""

import errno
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from weft import whole
from weft.errors import OutputError
from weft.progress import quantity
from weft.report.figure.drawing import SCALE, Figure
from weft.report.folder import Tell, silent


def put(path: Path, content: bytes) -> Path:
    """Write a file, whole or not at all, and return its path.

    Raises OutputError if the disk is full, and OSError for whatever else forbids it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return whole.put(path, content)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        free = quantity(shutil.disk_usage(path.parent if path.parent.exists() else path.parent.parent).free)
        raise OutputError(
            f"{path}: the disk is full; this file needs {quantity(len(content))}B and {free}B are free; make room"
        ) from None


def write_figures(figures: Sequence[Figure], directory: Path, tell: Tell = silent) -> list[Path]:
    """Write NAME.svg and NAME.png of every figure, light, and return their paths."""
    import vl_convert

    written = []
    for place, figure in enumerate(figures):
        svg = figure.svg()
        path = directory / f"{figure.name}.svg"
        written.append(put(path, svg.encode()))
        png = vl_convert.svg_to_png(svg, scale=SCALE)
        written.append(put(path.with_suffix(".png"), png))
        # Told when it is done: what was slow before the first figure is none of theirs.
        tell("files of figures", place + 1, len(figures))
    return written


def write_tables(tables: Mapping[str, pl.DataFrame], directory: Path) -> list[Path]:
    """Write NAME.csv of every table and return their paths."""
    return [put(directory / f"{name}.csv", table.write_csv().encode()) for name, table in tables.items()]
