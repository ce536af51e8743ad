"""Figures of a search: its history, the response over each key, what is around the best point, importance, front."""

import math
from typing import Any

import polars as pl

from weft.experiment import path as dotted
from weft.experiment.axes import quantity_of
from weft.experiment.space import Dimension, Interval
from weft.report.figure.drawing import Figure, finish
from weft.searching import shown
from weft.searching.found import Found
from weft.searching.point import Point

SHAPES = {"feasible": "circle", "infeasible": "cross", "pruned": "triangle-down"}
MOST_PANELS = 12
PLOT = (290, 200)
"""Width and height of a panel as names are placed in it, px; where it is larger, points are farther apart."""


def figures_of(found: Found) -> list[Figure]:
    """All figures for which there is something to draw."""
    drawn = []
    if any(point.state != "failed" for point in found.trial_points):
        drawn += [_front(found)] if len(found.objective.goals) > 1 else [_history(found)]
        drawn += [_response(found, number) for number in range(len(found.objective.goals))]
    if any(found.importances):
        drawn.append(_importance(found))
    return drawn


def _history(found: Found) -> Figure:
    """Every trial by its number, and the best feasible one so far."""
    import altair as alt

    numbers = shown.Numbers.of(found, 0)
    rows = _rows(found)
    best, so_far = None, []
    for row in rows:
        value = row["goal"]
        if row["kind"] == "feasible":
            best = value if best is None or found.goal.sign * (value - best) > 0 else best
        if best is not None:
            so_far.append({"trial": row["trial"], "best": best})
    tables = {
        "trials": pl.DataFrame(rows),
        "best": pl.DataFrame(so_far, schema={"trial": pl.Int64, "best": pl.Float64}),
    }
    x = alt.X("trial:Q", title="trial", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False))
    title = f"{found.goal.measure.name}{_bracket(numbers.shown.unit)}"
    y = alt.Y("goal:Q", title=title, scale=alt.Scale(zero=False))
    points = (
        alt.Chart(alt.NamedData("trials"))
        .mark_point(filled=True, size=45, opacity=0.9)
        .encode(x=x, y=y, color=_colour(rows), shape=_shape(rows), tooltip=[*_tooltip(found), "goal:Q"])
    )
    line = (
        alt.Chart(alt.NamedData("best"))
        .mark_line(interpolate="step-after", strokeWidth=1.5, opacity=0.7)
        .encode(x=x, y=alt.Y("best:Q", title=title))
    )
    caption = "Mean of every trial; the line is the best feasible one so far." + _failed(found)
    return Figure(
        "history",
        "History of the search",
        caption,
        finish(alt.layer(line, points, *_notes(x, y, rows, "trial", "goal")), tables, aspect=0.42),
        tables,
    )


def _response(found: Found, number: int) -> Figure:
    """A goal over the value of each key, whatever the other keys were."""
    import altair as alt

    numbers = shown.Numbers.of(found, number)
    goal, column = found.objective.goals[number], ("goal", "also")[number]
    rows = _rows(found)
    tables = {"trials": pl.DataFrame(rows)}
    title = f"{goal.measure.name}{_bracket(numbers.shown.unit)}"
    panels = []
    for place, dimension in enumerate(found.experiment.search.space[:MOST_PANELS]):
        unit = _unit(dimension)
        name = f"{dimension.key}{_bracket(unit)}"
        if isinstance(dimension, Interval) or dimension.is_ordered:
            is_log = isinstance(dimension, Interval) and dimension.is_log
            scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False)
            x: Any = alt.X(f"x{place}:Q", title=name, scale=scale, axis=alt.Axis(tickCount=5))
        else:
            is_log = False
            order = [shown.said_of(value) for value in dimension.values]
            x = alt.X(f"x{place}:O", title=name, sort=order, axis=alt.Axis(labelAngle=0))
        y = alt.Y(f"{column}:Q", title=title, scale=alt.Scale(zero=False))
        points = (
            alt.Chart(alt.NamedData("trials"))
            .mark_point(filled=True, size=45, opacity=0.85)
            .encode(x=x, y=y, color=_colour(rows), shape=_shape(rows), tooltip=[*_tooltip(found), f"{column}:Q"])
        )
        panels.append(alt.layer(points, *_notes(x, y, rows, f"x{place}", column, is_log)))
    left = len(found.experiment.search.space) - len(panels)
    caption = "Every trial over the value that it had; the other keys varied as well, so that points scatter." + (
        f" {left} more keys are in the table." if left else ""
    )
    chart = alt.concat(*panels)
    return Figure(
        "response" if number == 0 else "response-also",
        f"{goal.measure.name} over each key",
        caption,
        finish(chart, tables, panel=330, margin=90, aspect=0.7),
        tables,
    )


def _importance(found: Found) -> Figure:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"key": key, "goal": goal.measure.name, "of": words, "share": share[name]}
        for goal, shares in zip(found.objective.goals, found.importances, strict=True)
        for key, share in shares.items()
        for name, words in (("fanova", "in all of the space"), ("ped_anova", "among the best tenth"))
    ]
    tables = {"importance": pl.DataFrame(rows)}
    order = [
        row["key"]
        for row in sorted(rows, key=lambda row: -row["share"])
        if row["of"].startswith("in") and row["goal"] == found.goal.measure.name
    ]
    chart = (
        alt.Chart(alt.NamedData("importance"))
        .mark_bar()
        .encode(
            y=alt.Y("key:N", title=None, sort=list(dict.fromkeys(order)), axis=alt.Axis(labelLimit=320)),
            yOffset=alt.YOffset("of:N", sort=["in all of the space", "among the best tenth"]),
            x=alt.X(
                "share:Q", title="share of the variance", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
            ),
            color=alt.Color("of:N", title=None, sort=["in all of the space", "among the best tenth"]),
            tooltip=["key:N", "goal:N", "of:N", alt.Tooltip("share:Q", format=".0%")],
        )
    )
    if len(found.objective.goals) > 1:
        chart = chart.transform_filter(alt.datum.goal == found.goal.measure.name)
    caption = shown.caveat(found)
    return Figure("importance", f"Importance for {found.goal.measure.name}", caption, finish(chart, tables), tables)


def _front(found: Found) -> Figure:
    """Both goals of every trial, and the front."""
    import altair as alt

    numbers = [shown.Numbers.of(found, place) for place in (0, 1)]
    rows = _rows(found)
    front = [
        {"goal": _mean(point, 0) * numbers[0].shown.factor, "also": _mean(point, 1) * numbers[1].shown.factor}
        for point in found.front
    ]
    tables = {
        "trials": pl.DataFrame(rows),
        "front": pl.DataFrame(front, schema={"goal": pl.Float64, "also": pl.Float64}),
    }
    titles = [f"{each.goal.measure.name}{_bracket(each.shown.unit)} · {each.goal.direction}" for each in numbers]
    x = alt.X("goal:Q", title=titles[0], scale=alt.Scale(zero=False))
    y = alt.Y("also:Q", title=titles[1], scale=alt.Scale(zero=False))
    points = (
        alt.Chart(alt.NamedData("trials"))
        .mark_point(filled=True, size=45, opacity=0.85)
        .encode(x=x, y=y, color=_colour(rows), shape=_shape(rows), tooltip=[*_tooltip(found), "goal:Q", "also:Q"])
    )
    line = (
        alt.Chart(alt.NamedData("front"))
        .mark_line(point=True, strokeWidth=1.5)
        .encode(x=x, y=alt.Y("also:Q", title=titles[1]), order="goal:Q")
    )
    caption = "Every trial; no trial is better in both goals than one on the line." + _failed(found)
    return Figure(
        "front",
        "Front of the two goals",
        caption,
        finish(alt.layer(line, points, *_notes(x, y, rows, "goal", "also")), tables, aspect=0.6),
        tables,
    )


def _rows(found: Found) -> list[dict[str, Any]]:
    """A row per trial that has a number: trial, kind, goal (and also), a column per key as written and one to draw."""
    factors = [shown.Numbers.of(found, place).shown.factor for place in range(len(found.objective.goals))]
    rows = []
    for point in found.trial_points:
        if point.state == "failed":
            continue
        kind = (
            "pruned" if point.state == "pruned" else "feasible" if point.is_feasible(found.objective) else "infeasible"
        )
        row: dict[str, Any] = {"trial": point.number, "kind": kind, "goal": _mean(point, 0) * factors[0]}
        row["note"] = "as written" if found.is_written(point) else ""
        if point is found.best and not found.front:
            row["note"] = "best"
        if len(factors) > 1:
            row["also"] = _mean(point, 1) * factors[1]
        for place, dimension in enumerate(found.experiment.search.space):
            value = point.values[dimension.key]
            row[f"value{place}"] = shown.said_of(value)
            row[f"x{place}"] = _number(dimension, value) if _is_numeric(dimension) else shown.said_of(value)
        rows.append(row)
    return rows


def _mean(point: Point, place: int) -> float:
    interval = point.interval(place)
    assert interval is not None
    return interval.mean


def _is_numeric(dimension: Dimension) -> bool:
    return isinstance(dimension, Interval) or dimension.is_ordered


def _scale(dimension: Dimension) -> tuple[float, str]:
    """What a value in base units is divided by to be drawn, and the unit that this gives."""
    values = dimension.corners
    largest, writer = quantity_of(values[-1])
    return writer.scale(largest)


def _unit(dimension: Dimension) -> str:
    return _scale(dimension)[1] if _is_numeric(dimension) else ""


def _number(dimension: Dimension, value: Any) -> float:
    return float(quantity_of(value)[0]) / _scale(dimension)[0]


def _notes(x: Any, y: Any, rows: list[dict[str, Any]], across: str, up: str, is_log: bool = False) -> list[Any]:
    """Names beside the best point and the one as written, each on the side where it covers fewest points.

    `across` and `up` are the columns of `rows` that `x` and `y` show.
    """
    import altair as alt

    xs, ys = _spread([row[across] for row in rows], is_log), _spread([row[up] for row in rows], False)
    places = [(PLOT[0] * left, PLOT[1] * (1 - high)) for left, high in zip(xs, ys, strict=True)]
    layers = []
    for row, at in zip(rows, places, strict=True):
        if not row["note"]:
            continue
        dx, dy = _beside(at, [place for place in places if place != at], row["note"])
        named = alt.Chart(alt.NamedData("trials")).transform_filter(f"datum.trial == {row['trial']}")
        text = named.mark_text(align="left" if dx > 0 else "right", baseline="middle", dx=dx, dy=dy, fontWeight="bold")
        layers.append(text.encode(x=x, y=y, text="note:N"))
    return layers


def _spread(values: list[Any], is_log: bool) -> list[float]:
    """Where values lie between the least (0) and the largest (1); words in the order in which they come."""
    if any(isinstance(value, str) for value in values):
        known = list(dict.fromkeys(values))
        return [(known.index(value) + 0.5) / len(known) for value in values]
    numbers = [math.log(value) if is_log else float(value) for value in values]
    least, largest = min(numbers), max(numbers)
    return [(number - least) / (largest - least) if largest > least else 0.5 for number in numbers]


def _beside(at: tuple[float, float], others: list[tuple[float, float]], text: str) -> tuple[int, int]:
    """Offsets of a text beside a point, px: the first place inside the plot that covers fewest of the others."""
    wide, high, reach = 6.5 * len(text), 14, 4
    places = [(dx, dy) for dy in (0, -12, 12) for dx in (8, -8)]

    def cost(place: tuple[int, int]) -> int:
        left = at[0] + place[0] - (wide if place[0] < 0 else 0)
        top = at[1] + place[1] - high / 2
        covered = sum(
            left - reach < x < left + wide + reach and top - reach < y < top + high + reach for x, y in others
        )
        is_outside = left < 0 or left + wide > PLOT[0] or top < 0 or top + high > PLOT[1]
        return covered + (len(others) + 1) * is_outside

    return min(places, key=cost)


def _colour(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    kinds = _kinds(rows)
    return alt.Color("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds), legend=_legend(kinds))


def _shape(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    kinds = _kinds(rows)
    scale = alt.Scale(domain=kinds, range=[SHAPES[kind] for kind in kinds])
    return alt.Shape("kind:N", title=None, sort=kinds, scale=scale, legend=_legend(kinds))


def _kinds(rows: list[dict[str, Any]]) -> list[str]:
    return [kind for kind in SHAPES if any(row["kind"] == kind for row in rows)]


def _legend(kinds: list[str]) -> Any:
    """A legend where there is more than one kind."""
    import altair as alt

    return alt.Legend() if len(kinds) > 1 else None


def _tooltip(found: Found) -> list[Any]:
    import altair as alt

    keys = [dimension.key for dimension in found.experiment.search.space]
    # A dot in a title is a path to Vega; the name of the last key is enough.
    return [
        "trial:Q",
        "kind:N",
        *(alt.Tooltip(f"value{i}:N", title=str((dotted.read(key) or (key,))[-1])) for i, key in enumerate(keys)),
    ]


def _failed(found: Found) -> str:
    failed = found.counts["failed"]
    return f" {failed} failed trials are not drawn." if failed else ""


def _bracket(unit: str) -> str:
    return f" ({unit})" if unit else ""
