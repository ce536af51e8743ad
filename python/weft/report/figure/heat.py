"""Heat map: a run's number over two swept keys, mean over repeats."""

import polars as pl

from weft.report.figure.drawing import Figure, finish, slug
from weft.report.figure.kind import Ask
from weft.report.figure.mean import means, words
from weft.report.figure.observation import pooled
from weft.report.folder import Folder


def draw(folder: Folder, ask: Ask) -> Figure:
    """Draw `y` as colour over the swept keys `x` and `by`."""
    import altair as alt

    assert ask.x is not None and ask.y is not None and ask.by is not None
    cells = [cell for cell in folder.cells if cell.done]
    table, shown, observations = means(folder, cells, ask.y, ask.x, ask.by)
    table = table.rename({"place": "x", "group": "y"})
    title = words(ask.y, shown) + (f" ({shown.unit})" if shown.unit else "")
    chart = (
        alt.Chart(alt.NamedData("table"))
        .mark_rect()
        .properties(height=alt.Step(34))
        .encode(
            x=alt.X(
                "x:O", title=ask.x, sort=table["x"].unique(maintain_order=True).to_list(), axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y("y:O", title=ask.by, sort=table["y"].unique(maintain_order=True).to_list()),
            color=alt.Color(
                field=shown.column,
                type="quantitative",
                title=title,
                scale=alt.Scale(interpolate="lab", zero=False),
                legend=alt.Legend(gradientLength=240, gradientThickness=10, direction="horizontal"),
            ),
            tooltip=[
                "x:O",
                "y:O",
                alt.Tooltip(field=shown.column, type="quantitative", title=title, format=".4~g"),
                "runs:Q",
            ],
        )
    )
    caption = f"{words(ask.y, shown)} of a run, mean over repeats.{pooled(folder, ask.x, ask.by)}{observations.remark}"
    tables: dict[str, pl.DataFrame] = {"table": table}
    heading = ask.title or f"{words(ask.y, shown)} over {ask.x} and {ask.by}"
    return Figure(slug("heat", ask.y, ask.x, ask.by), heading, caption, finish(chart, tables, margin=150), tables)
