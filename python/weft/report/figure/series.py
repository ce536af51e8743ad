"""Time series: what was sampled, over simulated time, in the first repeat of each cell.

Few flows or queues can be told apart in one panel, so a handful is drawn and named; `goodput` is drawn as the mean
over all flows. Long series are averaged over `MOST_POINTS` equal steps of time (queues: the largest of a step).
"""

from dataclasses import dataclass
from typing import Any

import polars as pl

from weft.errors import ResultsError
from weft.metric.definition import columns
from weft.report.figure.drawing import MOST_COLOURS, MOST_PANELS, Figure, drawn_cells, finish, slug, titled
from weft.report.figure.ecdf import group_colour
from weft.report.figure.kind import Ask
from weft.report.folder import Cell, Folder, Run
from weft.report.quantity import quantity

MOST_POINTS = 300
HANDFUL = 5
QUARTERS = ("fastest", "first quartile", "median", "third quartile", "slowest")
"""Words for a handful of flows, in order of completion."""


@dataclass(frozen=True)
class Sampled:
    """How a sampled metric is shown: the column name it would have, and whether per flow or link."""

    name: str
    entity: str


SAMPLED = {
    "goodput": Sampled("goodput_bps", "flow"),
    "throughput": Sampled("throughput_bps", "flow"),
    "subflow_goodput": Sampled("subflow_goodput_bps", "subflow"),
    "cwnd": Sampled("cwnd_bytes", "flow"),
    "srtt": Sampled("srtt_ns", "flow"),
    "sent": Sampled("sent_bps", "flow"),
    "queue": Sampled("queue_bytes", "queue"),
    "utilization": Sampled("utilization_share", "link"),
    "paused": Sampled("paused_share", "link"),
    "buffer": Sampled("buffer_bytes", "link"),
}
"""The samples of `[measure] metrics`."""


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw the samples of the metric `y` over time."""
    assert ask.y is not None
    y = ask.y
    if ask.by is not None:
        from weft.report.figure import ends

        return ends.draw(folder, ask)
    if y == "goodput":
        return _mean_over_flows(folder, ask, y)
    return _handful(folder, ask, y)


def _mean_over_flows(folder: Folder, ask: Ask, y: str) -> Figure:
    import altair as alt

    cells, selection = drawn_cells(folder, MOST_COLOURS)
    cells, unsampled = sampled_cells(cells, y)
    parts, is_thinned = [], False
    for cell in cells:
        samples = samples_of(cell.done[0], y)
        # A flow that is not running gets nothing: the mean is over the flows of the run.
        flows = columns(cell.done[0].tables, "flows", "flow").height or 1
        totals = samples.group_by("time_ns").agg(pl.col("value").sum() / flows).sort("time_ns")
        thin, thinned = binned(totals, pl.col("value").mean())
        is_thinned |= thinned
        parts.append(thin.with_columns(pl.lit(cell.label).alias("cell")))
    frame = pl.concat(parts)
    table, time, shown = scaled(frame, SAMPLED[y].name)
    groups = [cell.label for cell in cells]
    chart = (
        alt.Chart(alt.NamedData("table"))
        .mark_line()
        .encode(
            x=alt.X(field=time.column, type="quantitative", title=time.axis, scale=alt.Scale(nice=False)),
            y=alt.Y(field=shown.column, type="quantitative", title=f"{shown.axis}, mean over flows"),
            color=group_colour("cell", groups, "cell"),
            tooltip=[
                "cell:N",
                alt.Tooltip(field=time.column, type="quantitative", title=time.axis, format=".4~g"),
                alt.Tooltip(field=shown.column, type="quantitative", title=shown.axis, format=".4~g"),
            ],
        )
    )
    caption = (
        f"Mean over all flows of the first repeat of each cell; a finished flow counts as 0.{selection}{unsampled}"
        + _thinning(is_thinned, "mean")
    )
    drawn = {"table": table}
    return Figure(slug("series", y), ask.title or f"{shown.title} over time", caption, finish(chart, drawn), drawn)


def _handful(folder: Folder, ask: Ask, y: str) -> Figure:
    import altair as alt

    cells, selection = drawn_cells(folder, MOST_PANELS)
    sampled = SAMPLED.get(y, Sampled(y, "entity"))
    parts, is_thinned, most = [], False, 0
    cells, unsampled = sampled_cells(cells, y)
    for cell in cells:
        samples = samples_of(cell.done[0], y)
        chosen = _slow_and_fast(cell.done[0], samples) if sampled.entity == "flow" else _busiest(samples)
        most = max(most, samples["entity"].n_unique())
        for place, entity in enumerate(chosen):
            of_one = samples.filter(pl.col("entity") == entity).select("time_ns", "value").sort("time_ns")
            how = pl.col("value").max() if sampled.entity == "queue" else pl.col("value").mean()
            thin, thinned = binned(of_one, how)
            is_thinned |= thinned
            word = QUARTERS[place] if len(chosen) == HANDFUL else f"flow {entity}"
            parts.append(
                thin.with_columns(
                    pl.lit(cell.label).alias("cell"),
                    pl.lit(entity).alias(sampled.entity),
                    pl.lit(word if sampled.entity == "flow" else entity).alias("name"),
                )
            )
    table, time, shown = scaled(pl.concat(parts), sampled.name)
    if sampled.entity == "flow":
        names = table["name"].unique(maintain_order=True).to_list()
        colour = alt.Color(
            "name:N",
            scale=alt.Scale(domain=names),
            legend=alt.Legend(title=None, symbolType="stroke", columns=alt.ExprRef("max(1, floor(panel / 105))")),
        )
    else:
        colour = alt.Color(
            "name:N",
            sort=None,
            legend=alt.Legend(title=None, symbolType="stroke", columns=alt.ExprRef("max(1, floor(panel / 130))")),
        )
    panels: list[Any] = []
    for cell in cells:
        base = alt.Chart(alt.NamedData("table")).transform_filter(alt.datum.cell == cell.label)
        lines = base.mark_line(strokeWidth=1.5, interpolate="step-after" if y == "cwnd" else "linear").encode(
            x=alt.X(field=time.column, type="quantitative", title=time.axis, scale=alt.Scale(nice=False)),
            y=alt.Y(field=shown.column, type="quantitative", title=shown.axis),
            color=colour,
            tooltip=[
                "name:N",
                alt.Tooltip(field=sampled.entity, type="nominal"),
                alt.Tooltip(field=time.column, type="quantitative", title=time.axis, format=".4~g"),
                alt.Tooltip(field=shown.column, type="quantitative", title=shown.axis, format=".4~g"),
            ],
        )
        panels.append(titled(lines.properties(height=180), cell, cells))
    chart = (
        alt.concat(*panels, columns=1)
        .resolve_scale(color="shared" if sampled.entity == "flow" else "independent", x="shared", y="shared")
        .add_params(alt.param("panel", value=400))
    )
    if sampled.entity == "flow":
        which = f"{min(HANDFUL, most)} of {most} flows, in equal steps of their order of completion"
    else:
        which = f"the {min(HANDFUL, most)} of {most} {sampled.entity} entities with the largest mean"
        which = which.replace("queue entities", "queues").replace("link entities", "links")
    caption = f"First repeat of each cell; {which}.{selection}{unsampled}" + _thinning(
        is_thinned, "largest" if sampled.entity == "queue" else "mean"
    )
    drawn = {"table": table}
    spec = finish(chart, drawn, panel=400, margin=70)
    return Figure(slug("series", y), ask.title or f"{shown.title} over time", caption, spec, drawn)


def sampled_cells(cells: list[Cell], y: str) -> tuple[list[Cell], str]:
    """The cells whose first repeat has samples of `y`, and a sentence on the others; none at all is a ResultsError."""
    sampled, reason = [], None
    for cell in cells:
        try:
            samples_of(cell.done[0], y)
            sampled.append(cell)
        except ResultsError as error:
            reason = error
    if not sampled and reason is not None:
        raise reason
    absent = [cell.label for cell in cells if cell not in sampled]
    return sampled, f" No samples of it in {', '.join(absent)}." if absent else ""


def samples_of(run: Run, metric: str) -> pl.DataFrame:
    """Samples of a metric: columns time_ns, entity, value.

    Raises ResultsError if the run has none.
    """
    names = [metric, SAMPLED[metric].name] if metric in SAMPLED else [metric]
    path = run.directory / "samples.parquet"
    present = pl.DataFrame()
    if path.is_file():
        # Lazily: the samples of a large fabric are many, and one metric is wanted.
        present = (
            pl.scan_parquet(path)
            .with_columns(pl.col("metric", "entity").cast(pl.String))
            .filter(pl.col("metric").is_in(names) & pl.col("value").is_not_null())
            .select("time_ns", "entity", "value")
            .collect()
        )
    if present.is_empty():
        raise ResultsError(f"{metric} was not sampled; set `every` (and `metrics`) under [measure]")
    return present


def binned(ordered: pl.DataFrame, how: pl.Expr, most: int = MOST_POINTS) -> tuple[pl.DataFrame, bool]:
    """At most `most` rows of (time_ns, value): equal steps of time, `value` by `how`; and whether needed."""
    if ordered.height <= most:
        return ordered.select("time_ns", "value"), False
    first, last = int(ordered["time_ns"].min()), int(ordered["time_ns"].max())  # type: ignore[arg-type]
    step = max(1, -(-(last - first + 1) // most))
    thin = (
        ordered.with_columns(((pl.col("time_ns") - first) // step).alias("step"))
        .group_by("step", maintain_order=True)
        .agg(pl.col("time_ns").first(), how.alias("value"))
        .select("time_ns", "value")
        .sort("time_ns")
    )
    return thin, True


def _slow_and_fast(run: Run, samples: pl.DataFrame) -> list[str]:
    """A handful of flows spread evenly over the order of completion; unfinished flows are the slowest."""
    order = columns(run.tables, "flows", "flow", "fct_ns").sort("fct_ns", nulls_last=True)["flow"].cast(pl.String)
    entities = samples["entity"].unique(maintain_order=True).to_list()
    # Samples of subflows are written FLOW/SUBFLOW.
    rank = {flow: place for place, flow in enumerate(order.to_list())}
    known = sorted(entities, key=lambda entity: rank.get(entity.partition("/")[0], len(rank)))
    if len(known) <= HANDFUL:
        return known
    return [known[round(place * (len(known) - 1) / (HANDFUL - 1))] for place in range(HANDFUL)]


def _busiest(samples: pl.DataFrame) -> list[str]:
    means = samples.group_by("entity", maintain_order=True).agg(pl.col("value").mean())
    return means.sort("value", "entity", descending=[True, False])["entity"].head(HANDFUL).to_list()


def scaled(frame: pl.DataFrame, name: str) -> tuple[pl.DataFrame, Any, Any]:
    """Samples with readable units: the table, and the quantities of its time and of its values (a column `name`)."""
    last, largest = frame["time_ns"].max(), frame["value"].max()
    assert isinstance(last, int) and isinstance(largest, float)
    time, shown = quantity("time_ns", last), quantity(name, largest)
    rest = [column for column in frame.columns if column not in ("time_ns", "value")]
    table = frame.select(
        *rest,
        (pl.col("time_ns") * time.factor).alias(time.column),
        (pl.col("value") * shown.factor).alias(shown.column),
    )
    return table, time, shown


def _thinning(is_thinned: bool, how: str) -> str:
    return f" Thinned to {MOST_POINTS} equal steps of time, the {how} of each." if is_thinned else ""
