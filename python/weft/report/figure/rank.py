"""Rank curve: the flows of a run in order of a value, averaged over repeats rank by rank.

Source: Singla et al., "Jellyfish", NSDI 2012, the figure of throughput by rank of flow.
"""

import polars as pl

from weft.report.figure.drawing import MOST_COLOURS, Figure, drawn_cells, finish, slug
from weft.report.figure.ecdf import group_colour
from weft.report.figure.kind import Ask
from weft.report.figure.mean import limits
from weft.report.figure.observation import each_value, labelled, pooled
from weft.report.folder import Folder
from weft.report.quantity import quantity
from weft.statistics.interval import mean_interval

MOST_RANKS = 200
MOST_BANDS = 4
"""Curves above which their bands hide each other."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw `y` by rank, largest first, a curve per `by` (the cell) with its 95 % t interval."""
    import altair as alt

    assert ask.y is not None
    by = ask.by or "cell"
    cells, selection = drawn_cells(folder, MOST_COLOURS)
    observations = each_value(cells, ask.y)
    frame = labelled(folder, observations, cells, [by])
    largest = observations.frame["value"].max()
    assert isinstance(largest, float)
    shown = quantity(observations.name, largest)
    groups = frame[f"key/{by}"].unique(maintain_order=True).to_list()
    table, is_thinned = by_rank(frame.rename({f"key/{by}": "group"}), shown.factor)
    low, high = f"{shown.column}_low", f"{shown.column}_high"
    table = table.rename({"mean": shown.column, "low": low, "high": high})
    base = alt.Chart(alt.NamedData("table")).encode(
        x=alt.X(
            "rank:Q",
            title=f"Rank of {observations.entity}",
            axis=alt.Axis(format="d", tickMinStep=1),
            scale=alt.Scale(nice=False, zero=False),
        ),
        color=group_colour("group", groups, by),
    )
    ends, cut = limits(table, shown.column, low, high)
    scale = alt.Scale(domain=ends, nice=True)
    band = base.mark_area(opacity=0.18, line=False, clip=True).encode(
        y=alt.Y(field=low, type="quantitative", title=shown.axis, scale=scale), y2=alt.Y2(field=high)
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=18) if table.height <= 40 * len(groups) else False).encode(
        y=alt.Y(field=shown.column, type="quantitative", title=shown.axis, scale=scale),
        tooltip=[
            alt.Tooltip("group:N", title=by),
            alt.Tooltip("rank:Q"),
            alt.Tooltip(field=shown.column, type="quantitative", title=shown.axis, format=".4~g"),
            alt.Tooltip("runs:Q"),
        ],
    )
    repeats = int(frame.group_by("cell").agg(pl.col("repeat").n_unique())["repeat"].max())  # type: ignore[arg-type]
    has_band = repeats > 1 and len(groups) <= MOST_BANDS
    caption = (
        f"{observations.entity.capitalize()}s of each run in order of {shown.title.lower()}, best first; "
        + (f"mean over {repeats} repeats" if repeats > 1 else "one repeat, so no interval.")
        + (" with 95 % t interval." + cut if has_band else "")
        + (". The intervals of so many curves are in the CSV only." if repeats > 1 and not has_band else "")
        + selection
        + (f" Thinned to {MOST_RANKS} ranks." if is_thinned else "")
        + pooled(folder, by)
        + observations.remark
    )
    title = ask.title or f"{shown.title} by rank of {observations.entity}"
    tables = {"table": table}
    return Figure(
        slug("rank", ask.y, ask.by),
        title,
        caption,
        finish(alt.layer(band, line) if has_band else line, tables),
        tables,
    )


def by_rank(frame: pl.DataFrame, factor: float) -> tuple[pl.DataFrame, bool]:
    """Mean and interval per rank: columns group, rank, mean, low, high (null for one run), runs; and whether thinned.

    A rank is averaged over the runs that have it.
    """
    ranked = frame.with_columns(
        (pl.col("value") * factor).alias("value"),
        pl.col("value").rank("ordinal", descending=True).over("cell", "repeat").cast(pl.Int64).alias("rank"),
    )
    highest = int(ranked["rank"].max())  # type: ignore[arg-type]
    is_thinned = highest > MOST_RANKS
    if is_thinned:
        kept = sorted({round(1 + i * (highest - 1) / (MOST_RANKS - 1)) for i in range(MOST_RANKS)})
        ranked = ranked.filter(pl.col("rank").is_in(kept))
    rows = []
    for (group, rank), part in ranked.group_by(["group", "rank"], maintain_order=True):
        interval = mean_interval(part["value"].to_list())
        rows.append((group, rank, interval.mean, interval.low, interval.high, interval.n))
    schema = {"group": pl.String, "rank": pl.Int64, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    table = pl.DataFrame(rows, schema={**schema, "runs": pl.Int64}, orient="row")
    order = pl.col("group").cast(pl.Enum(frame["group"].unique(maintain_order=True).to_list()))
    return table.sort(order, "rank"), is_thinned
