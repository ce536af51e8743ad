"""Published numbers: ours as a share of them with its 95 % t interval, one row per number; p-values are left out."""

import math
from typing import Any

import polars as pl

from weft.errors import ResultsError
from weft.published.beside import Pair, beside
from weft.published.shown import what
from weft.report.figure.drawing import Figure, finish
from weft.report.figure.kind import Ask
from weft.report.folder import Folder

STEP = 22
MOST_ROWS = 60
LOG_FROM = 5.0
"""Ratio from which, or below whose inverse, the axis is logarithmic."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw a row per published number of every `[[published]]` that has a cell here and is not 0."""
    import altair as alt

    found = [pair for one in beside(folder, ()) for pair in one.pairs if pair.ours and pair.row.value]
    if not found:
        raise ResultsError("published: the experiment has no [[published]] number with a cell here")
    cut = f" The first {MOST_ROWS} of {len(found)}." if len(found) > MOST_ROWS else ""
    table = pl.DataFrame([_row(pair) for pair in found[:MOST_ROWS]], infer_schema_length=None)
    doubled = table["number"].is_duplicated()
    table = table.with_columns(
        pl.when(doubled).then(pl.format("{} ({})", "number", "line")).otherwise(pl.col("number")).alias("number")
    )
    ratios = [value for name in ("ratio", "low", "high") for value in table[name].drop_nulls().to_list()]
    means = table["ratio"].to_list()
    is_log = min(means) > 0 and (max(means) > LOG_FROM or min(means) < 1 / LOG_FROM)
    if is_log:
        scale = alt.Scale(type="log", domain=[min(1.0, *means) / 1.5, max(1.0, *means) * 1.5], nice=False, clamp=True)
    else:
        # A few repeats can give intervals many times as long as the means are far apart: these are cut.
        room = 0.5 * max(1.0, *means)
        low = max(min(1.0, *ratios), min(1.0, *means) - room)
        high = min(max(1.0, *ratios), max(1.0, *means) + room)
        margin = 0.04 * (high - low or 1.0)
        scale = alt.Scale(domain=[low - margin, high + margin], nice=False)
    names = table["number"].to_list()
    title = f"Ours / published{', logarithmic' if is_log else ''}"
    base = alt.Chart(alt.NamedData("table")).encode(
        y=alt.Y("number:N", title=None, sort=names, axis=alt.Axis(labelLimit=440, grid=True))
    )
    x = alt.X("ratio:Q", title=title, scale=scale)
    tooltip: list[Any] = [
        "number:N",
        alt.Tooltip("published:Q", format=".4~g"),
        alt.Tooltip("ours:Q", format=".4~g"),
        alt.Tooltip("ratio:Q", format=".3f"),
        "runs:Q",
        "source:N",
    ]
    layers = [
        alt.Chart(alt.NamedData("table")).mark_rule(strokeDash=[4, 3]).encode(x=alt.XDatum(1, scale=scale)),
        base.mark_rule(strokeWidth=2, opacity=0.6, clip=True)
        .encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q")
        .transform_filter("datum.low != null"),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=x, tooltip=tooltip),
    ]
    chart = alt.layer(*layers).properties(height=alt.Step(STEP))
    caption = (
        "Our mean over repeats as a share of the published number, with its 95 % t interval; the dashed line is the "
        f"published number itself.{cut}"
    )
    tables = {"table": table}
    spec = finish(chart, tables)
    return Figure("published", ask.title or "Ours beside what was published", caption, spec, tables)


def _row(pair: Pair) -> dict[str, object]:
    assert pair.ours is not None
    label = pair.cell.label if pair.cell else ""
    number = " · ".join(part for part in (label if label != "all runs" else "", what(pair.row)) if part)

    def share(value: float | None) -> float | None:
        return None if value is None or not math.isfinite(value) else value / pair.row.value

    return {
        "number": number,
        "ratio": share(pair.ours.mean),
        "low": share(pair.ours.low),
        "high": share(pair.ours.high),
        "published": pair.row.value,
        "ours": pair.ours.mean,
        "runs": pair.ours.n,
        "source": pair.row.source,
        "line": pair.row.line,
    }
