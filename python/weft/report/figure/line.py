"""Line: a run's number over a swept number, mean over repeats with its 95 % t band."""

import polars as pl

from weft.errors import ResultsError
from weft.report.figure.drawing import MOST_COLOURS, Figure, finish, slug
from weft.report.figure.ecdf import LOG_FROM, group_colour
from weft.report.figure.kind import Ask
from weft.report.figure.mean import limits, means, words
from weft.report.figure.observation import pooled
from weft.report.folder import Folder


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw `y` over the swept key `x`, a line per `by`. Words on `x` are joined in the plan's order."""
    import altair as alt

    assert ask.y is not None and ask.x is not None
    by = ask.by or "y"
    cells = [cell for cell in folder.cells if cell.done]
    table, shown, observations = means(folder, cells, ask.y, ask.x, ask.by or ask.x)
    if ask.by is None:
        table = table.with_columns(pl.lit("all").alias("group"))
    groups = table["group"].unique(maintain_order=True).to_list()
    if len(groups) > MOST_COLOURS:
        raise ResultsError(f"line: {len(groups)} values of {by} are too many lines; use a heat map")
    numbers = [_number(place) for place in table["place"].to_list()]
    title = words(ask.y, shown) + (f" ({shown.unit})" if shown.unit else "")
    if all(number is not None for number in numbers):
        known = [number for number in numbers if number is not None]
        table = table.with_columns(pl.Series("place", known))
        is_log = min(known) > 0 and max(known) / min(known) > LOG_FROM
        x = alt.X("place:Q", title=ask.x, scale=alt.Scale(type="log") if is_log else alt.Scale(zero=False))
    else:
        x = alt.X(
            "place:O",
            title=ask.x,
            sort=table["place"].unique(maintain_order=True).to_list(),
            axis=alt.Axis(labelAngle=0),
        )
    base = alt.Chart(alt.NamedData("table")).encode(x=x, color=group_colour("group", groups, ask.by))
    ends, cut = limits(table, shown.column, "low", "high")
    scale = alt.Scale(domain=ends, nice=True)
    band = base.mark_area(opacity=0.18, clip=True).encode(y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q")
    line = base.mark_line(point=True).encode(
        y=alt.Y(field=shown.column, type="quantitative", title=title, scale=scale),
        tooltip=["place:N", "group:N", alt.Tooltip(field=shown.column, type="quantitative", format=".4~g"), "runs:Q"],
    )
    one = table["runs"].max() == 1
    caption = (
        f"{words(ask.y, shown)} of a run, "
        + ("one repeat, so no interval." if one else "mean over repeats with 95 % t interval.")
        + cut
        + pooled(folder, ask.x, ask.by)
        + observations.remark
    )
    heading = ask.title or f"{words(ask.y, shown)} over {ask.x}"
    tables: dict[str, pl.DataFrame] = {"table": table}
    return Figure(
        slug("line", ask.y, ask.x, ask.by),
        heading,
        caption,
        finish(line if one else alt.layer(band, line), tables),
        tables,
    )


def _number(text: str) -> float | None:
    """The number a swept value begins with ("20 Mbps"), or None for a word."""
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        return None
