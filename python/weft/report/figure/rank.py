"""Rank curve: the flows of a run in order of a value, averaged over repeats rank by rank.

Source: Singla et al., "Jellyfish", NSDI 2012, the figure of throughput by rank of flow.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from weft.report.figure.curve import curves_of
from weft.report.figure.drawing import Figure, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.kind import Ask
from weft.report.figure.mean import limits
from weft.report.folder import Folder
from weft.report.quantity import quantity
from weft.statistics.interval import mean_interval

MOST_RANKS = 200
MOST_BANDS = 4
"""Curves above which their bands hide each other."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw `y` by rank, largest first, a curve per `by` with its 95 % t interval, a chart per `facet`.

    Without `by` there is a curve per cell, or with a facet per value of the first other axis.
    """
    import altair as alt

    assert ask.y is not None
    found = curves_of(folder, ask)
    values, groups, by = found.values, found.groups, found.by
    shown = quantity(values.name, values.largest)
    low, high = f"{shown.column}_low", f"{shown.column}_high"
    parts, is_thinned, counts = [], False, set()
    for (panel, group), runs in values.groups().items():
        ranked, thinned = by_rank([series * shown.factor for *_, series in runs])
        is_thinned |= thinned
        counts.add(len(runs))
        parts.append(ranked.select(pl.lit(panel).alias("facet"), pl.lit(group).alias("group"), pl.all()))
    table = pl.concat(parts).rename({"mean": shown.column, "low": low, "high": high})
    table = table.drop([] if ask.facet else ["facet"])
    ends, cut = limits(table, shown.column, low, high)
    scale = alt.Scale(domain=ends, nice=True)
    repeats = max(counts)
    has_band = repeats > 1 and len(groups) <= MOST_BANDS
    has_points = all(part.height <= 40 for part in parts)

    def chart(of: Any) -> Any:
        base = of("table").encode(
            x=alt.X(
                "rank:Q",
                title=f"Rank of {values.entity}",
                axis=alt.Axis(format="d", tickMinStep=1),
                scale=alt.Scale(nice=False, zero=False),
            ),
            color=group_colour("group", groups, by),
        )
        band = base.mark_area(opacity=0.18, line=False, clip=True).encode(
            y=alt.Y(field=low, type="quantitative", title=shown.axis, scale=scale), y2=alt.Y2(field=high)
        )
        line = base.mark_line(point=alt.OverlayMarkDef(size=18) if has_points else False).encode(
            y=alt.Y(field=shown.column, type="quantitative", title=shown.axis, scale=scale),
            tooltip=[
                alt.Tooltip("group:N", title=by),
                alt.Tooltip("rank:Q"),
                alt.Tooltip(field=shown.column, type="quantitative", title=shown.axis, format=".4~g"),
                alt.Tooltip("runs:Q"),
            ],
        )
        return alt.layer(band, line) if has_band else line

    over = f"{repeats:,} runs" if len(counts) == 1 else f"{min(counts):,} to {repeats:,} runs"
    caption = (
        f"{values.entity.capitalize()}s of each run in order of {shown.title.lower()}, best first; "
        + (f"mean over {over}" if repeats > 1 else "one repeat, so no interval.")
        + (" with 95 % t interval." + cut if has_band else "")
        + (". The intervals of so many curves are in the CSV only." if repeats > 1 and not has_band else "")
        + (f" Thinned to {MOST_RANKS} ranks." if is_thinned else "")
        + found.remark
    )
    title = ask.title or f"{shown.title} by rank of {values.entity}"
    tables = {"table": table}
    spec = found.facets.finish(found.facets.chart(chart), tables)
    return Figure(slug("rank", ask.y, ask.by, ask.facet), title, caption, spec, tables)


def by_rank(runs: Sequence[pl.Series]) -> tuple[pl.DataFrame, bool]:
    """Mean and interval per rank: columns rank, mean, low, high (null for one run), runs; and whether thinned.

    A rank is averaged over the runs that have it.
    """
    highest = max(series.len() for series in runs)
    is_thinned = highest > MOST_RANKS
    kept = list(range(1, highest + 1))
    if is_thinned:
        kept = sorted({round(1 + i * (highest - 1) / (MOST_RANKS - 1)) for i in range(MOST_RANKS)})
    at_rank: dict[int, list[float]] = {rank: [] for rank in kept}
    for series in runs:
        ordered = series.sort(descending=True)
        have = [rank for rank in kept if rank <= ordered.len()]
        for rank, value in zip(have, ordered.gather([rank - 1 for rank in have]).to_list(), strict=True):
            at_rank[rank].append(value)
    rows = []
    for rank, values in at_rank.items():
        interval = mean_interval(values)
        rows.append((rank, interval.mean, interval.low, interval.high, interval.n))
    schema = {"rank": pl.Int64, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "runs": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row"), is_thinned
