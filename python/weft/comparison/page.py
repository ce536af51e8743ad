"""A comparison as one HTML file: a forest plot per metric or cell, and the table beneath it.

Drawn once, light and dark, as SVG inside the page, so it holds no script and asks the network for nothing.
"""

import base64
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from weft import whole
from weft.comparison.comparison import Against, Comparison, Line
from weft.comparison.shown import footnotes, percent, said_differing, unit_of, words
from weft.comparison.verdict import BETTER, BETTER_PERHAPS, EQUIVALENT, IDENTICAL, WITHIN, WORSE, WORSE_PERHAPS
from weft.errors import OutputError
from weft.report.theme import CATEGORIES, INK, config

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
.light { display: block; } .dark { display: none; }
@media (prefers-color-scheme: dark) { .light { display: none; } .dark { display: block; } }
figure svg { max-width: 100%; height: auto; }
"""

# Places in the list of colours: green, orange, blue, grey.
COLOURS = {BETTER: 2, BETTER_PERHAPS: 2, WORSE: 1, WORSE_PERHAPS: 1, EQUIVALENT: 0, IDENTICAL: 0, WITHIN: 0}
OTHER_COLOUR = 7
ROW = 26
"""Pixels of a row of a plot."""
MOST_ROWS = 60

TOGETHER = "all together"


def write_page(comparison: Comparison, path: Path) -> None:
    """Write the page. Raises OutputError if it cannot be written."""
    try:
        whole.put(path, page(comparison).encode())
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}; name another file with --report") from None


def page(comparison: Comparison) -> str:
    """The whole HTML text."""
    names = ", ".join(against.other for against in comparison.against)
    title = escape(f"{names} against {comparison.reference}")
    csv = base64.b64encode(comparison.frame.write_csv().encode()).decode()
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{title} · weft</title>",
        f"<style>{files('weft.report').joinpath('page.css').read_text(encoding='utf-8')}{STYLE}</style></head>",
        f'<body><main><header><p class="kind">weft comparison</p><h1>{title}</h1></header>',
        _aside("failed", "What biases the comparison", comparison.biases),
        _aside("warning", "Look before you trust the numbers", comparison.warnings),
        *(_against(comparison, against) for against in comparison.against),
        *(f'<p class="caption">{escape(text)}.</p>' for text in footnotes(comparison)),
        '<p class="downloads"><a download="comparison.csv" '
        f'href="data:text/csv;base64,{csv}">All numbers as CSV, in base units</a></p>',
        "</main></body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _aside(kind: str, title: str, items: Sequence[str]) -> str:
    listed = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f'<aside class="{kind}" role="note"><h2>{title}</h2><ul>{listed}</ul></aside>' if items else ""


def _against(comparison: Comparison, against: Against) -> str:
    parts = [f"<section><h2>{escape(against.other)} against {escape(comparison.reference)}</h2>"]
    if against.differing:
        parts.append(f"<p>They differ in {escape(said_differing(against.differing))}.</p>")
    notes = dict.fromkeys(cell.pairing.note for cell in against.cells)
    parts += [f'<p class="caption">{escape(note)}.</p>' for note in notes]
    for name, labels in ((comparison.reference, against.only_reference), (against.other, against.only_other)):
        if labels:
            parts.append(f'<p class="red">Only in {escape(name)}, not compared: {escape("; ".join(labels))}.</p>')
    if len(against.cells) == 1:
        rows = [(line.measure.name, line) for line in against.cells[0].lines]
        parts.append(_figure("Relative difference of the means", rows))
    else:
        for measure in dict.fromkeys(line.measure for cell in against.cells for line in cell.lines):
            rows = [(cell.label, line) for cell in against.cells for line in cell.lines if line.measure == measure]
            rows += [(TOGETHER, line) for line in against.overall if line.measure == measure]
            parts.append(_figure(measure.name, rows))
    parts += [
        f'<p class="caption">{escape(name)} is not compared: {escape(why)}.</p>'
        for name, why in against.skipped.items()
    ]
    return "\n".join([*parts, "</section>"])


def _figure(title: str, rows: Sequence[tuple[str, Line]]) -> str:
    drawn = [row for row in rows if row[1].numbers.found.ratio is not None][:MOST_ROWS]
    svg = ""
    if drawn:
        for scheme in ("light", "dark"):
            svg += f'<div class="{scheme}" role="img" aria-label="{escape(title)}">{_svg(drawn, scheme)}</div>'
    cut = f" The first {MOST_ROWS} of {len(rows)} rows are drawn." if len(rows) > MOST_ROWS else ""
    absent = len(rows) - len(drawn) if not cut else 0
    zero = f" {absent} without a share of a reference of zero: see the table." if absent else ""
    caption = (
        "Difference relative to the reference's mean, with its interval; grey: what does not matter (the margin). "
        f"An arrow: beyond the axis.{cut}{zero}"
    )
    return f"<figure><h3>{escape(title)}</h3>{svg}<figcaption>{escape(caption)}</figcaption>{_table(rows)}</figure>"


def _table(rows: Sequence[tuple[str, Line]]) -> str:
    titles = ("reference", "other", "difference", "interval", "p", "effect size")
    head = "<th></th>" + "".join(f'<th class="number">{title}</th>' for title in titles) + "<th>verdict</th>"
    body = ""
    for label, line in rows:
        # All together: shares of each cell's reference, which have no unit.
        same = [
            other for name, other in rows if other.measure == line.measure and (name == TOGETHER) == (label == TOGETHER)
        ]
        unit, _ = unit_of(line.measure, same)
        *numbers, verdict = words(line, same)
        if label == TOGETHER:
            numbers[:2] = ["", ""]
        name = f"{label}, {unit}" if unit and label != TOGETHER else label
        cells = "".join(f'<td class="number">{escape(number)}</td>' for number in numbers)
        body += f'<tr><th scope="row">{escape(name)}</th>{cells}<td>{escape(verdict)}</td></tr>'
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _svg(rows: Sequence[tuple[str, Line]], scheme: str) -> str:
    """The forest: a row per line, its interval, and the margin as a band behind it."""
    import altair as alt
    import vl_convert

    limit = _limit([line for _, line in rows])
    values = [_drawn(place, label, line, limit, scheme) for place, (label, line) in enumerate(rows)]
    base = alt.Chart(alt.InlineData(values=values))
    scale = alt.Scale(domain=[-limit, limit], nice=False)
    axis = alt.Axis(title="difference, %", format="+~f")
    y = alt.Y("place:O", title=None, scale=alt.Scale(padding=0), axis=alt.Axis(labelExpr=_labels(rows), labelLimit=260))
    colour = alt.Color("colour:N", scale=None)
    band = base.mark_bar(opacity=0.5, color=INK[scheme]["line"], height={"band": 1}).encode(
        y=y, x=alt.X("margin_low:Q", scale=scale, axis=axis), x2="margin_high:Q"
    )
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0))
    whole = base.transform_filter("datum.low != null")
    rule = whole.mark_rule(strokeWidth=2).encode(y=y, x=alt.X("low:Q", scale=scale), x2="high:Q", color=colour)
    point = base.transform_filter("datum.is_inside")
    dot = point.mark_point(filled=True, size=60, opacity=1).encode(y=y, x=alt.X("mean:Q", scale=scale), color=colour)
    ends = [
        base.transform_filter(f"datum.{side} != null")
        .mark_point(filled=True, shape=shape, size=50, opacity=1)
        .encode(y=y, x=alt.X(f"{side}:Q", scale=scale), color=colour)
        for side, shape in (("below", "triangle-left"), ("above", "triangle-right"))
    ]
    text = base.mark_text(align="left", dx=10, color=INK[scheme]["ink"]).encode(
        y=y, x=alt.value(430), text=alt.Text("said:N")
    )
    chart = alt.layer(band, zero, rule, dot, *ends, text).properties(width=430, height=ROW * len(rows))
    return str(vl_convert.vegalite_to_svg(chart.to_dict(), config=config(scheme)))


def _labels(rows: Sequence[tuple[str, Line]]) -> str:
    # Rows are placed by number, since two cells may read alike.
    return f"{json.dumps([label for label, _ in rows])}[datum.value]"


def _limit(lines: Sequence[Line]) -> float:
    """Half the axis in per cent: most intervals whole, the margin visible; a few may be cut."""
    reaches = sorted(
        max(abs(ratio - 1.0) for ratio in (found.ratio, found.ratio_low, found.ratio_high) if ratio is not None)
        for found in (line.numbers.found for line in lines)
    )
    margin = max((_margin(line) for line in lines), default=0.0)
    most = max(reaches[-1], 2.0 * margin, 0.01)
    usual = max(3.0 * reaches[len(reaches) // 2], 4.0 * margin, 0.01)
    return 100.0 * 1.05 * min(most, usual)


def _margin(line: Line) -> float:
    """The margin as a share of the reference's mean."""
    margin = line.numbers.margin
    return margin.size if margin.is_relative else margin.size / abs(line.numbers.found.reference)


def _drawn(place: int, label: str, line: Line, limit: float, scheme: str) -> dict[str, Any]:
    found = line.numbers.found
    assert found.ratio is not None

    def share(ratio: float | None) -> float | None:
        return None if ratio is None else 100.0 * (ratio - 1.0)

    def inside(value: float | None) -> float | None:
        return None if value is None else min(limit, max(-limit, value))

    mean, low, high = share(found.ratio), share(found.ratio_low), share(found.ratio_high)
    assert mean is not None
    reach = [value for value in (mean, low, high) if value is not None]
    margin = 100.0 * _margin(line)
    bounds = "" if low is None or high is None else f" ({percent(low / 100)} to {percent(high / 100)})"
    return {
        "place": place,
        "label": label,
        "mean": mean,
        "is_inside": abs(mean) <= limit,
        "low": inside(low),
        "high": inside(high),
        "below": -limit if min(reach) < -limit else None,
        "above": limit if max(reach) > limit else None,
        "margin_low": inside(-margin),
        "margin_high": inside(margin),
        "colour": CATEGORIES[scheme][COLOURS.get(line.verdict, OTHER_COLOUR)],
        "said": f"{percent(mean / 100)} %{bounds}  {line.verdict}",
    }
