"""Tables of published numbers beside ours: for a terminal, a page, Markdown, and as a frame for programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import polars as pl

from weft.metric import METRICS
from weft.published.beside import Beside, Pair
from weft.published.document import Row
from weft.report.folder import silent_axes
from weft.report.quantity import Quantity, quantity
from weft.report.table import decimals
from weft.statistics.plain import said_p

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LAST = ("published", "ours", "deviation")
MOST_PERCENT = 2.0
"""Deviation, as a share, from which it is told as a factor."""
SHARE = Quantity("share", "", "%", 100.0)
MEGABYTES = Quantity("rate", "", "MB/s", 1 / 8e6)
"""How rates are shown that the document has in bytes per second."""


@dataclass(frozen=True)
class Shown:
    """A table of texts: keys, what is compared, published, ours (mean ± half of its interval), deviation, source."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    @property
    def left(self) -> int:
        """Columns of words, before those of numbers."""
        return self.head.index(LAST[0])


def tables(found: Sequence[Beside]) -> list[Shown]:
    """A table for each `[[published]]`."""
    return [_table(one) for one in found]


def markdown(found: Sequence[Beside]) -> str:
    """The tables as Markdown, each with its notes below it.

    A page that holds such a table can be checked line by line against what the runs give.
    """
    parts = []
    for shown in tables(found):
        rules = ["---"] * shown.left + ["---:"] * 3 + ["---"] * (len(shown.head) - shown.left - 3)
        lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in (shown.head, rules, *shown.rows)]
        parts += ["\n".join(f"| {line} |".replace("|  |", "| |") for line in lines)] * bool(shown.rows)
        parts += ["\n".join(f"- {note}" for note in shown.notes)] * bool(shown.notes)
    return "\n\n".join(parts) + "\n"


def print_published(console: "Console", found: Sequence[Beside]) -> None:
    """The tables in a terminal: all words of a row in one column where several do not fit."""
    from rich.text import Text

    for shown in tables(found):
        console.print()
        console.print(Text(shown.title, style="bold"))
        if shown.rows:
            table = _terminal_table(shown)
            if table.__rich_measure__(console, console.options).maximum > console.width:
                table = _terminal_table(_narrow(shown))
            console.print(table)
        for note in shown.notes:
            console.print(note, style="dim", highlight=False, markup=False)


def _terminal_table(shown: Shown) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, name in enumerate(shown.head):
        is_number = 0 <= place - shown.left < len(LAST)
        heading = Text(name.replace(".", ".\n"))
        table.add_column(heading, justify="right" if is_number else "left", no_wrap=is_number, vertical="bottom")
    for row in shown.rows:
        table.add_row(*map(Text, row))
    return table


def _narrow(shown: Shown) -> Shown:
    """The words of a row in one column, and no source."""
    last = shown.left + len(LAST)
    rows = tuple((" · ".join(filter(None, row[: shown.left])), *row[shown.left : last]) for row in shown.rows)
    return Shown(shown.title, ("", *LAST), rows, shown.notes)


def html(found: Sequence[Beside], download: str) -> str:
    """The section of the page; `download` is the link to the CSV."""
    parts = []
    for shown in tables(found):
        classes = [' class="number"' if 0 <= place - shown.left < len(LAST) else "" for place in range(len(shown.head))]
        head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(classes, shown.head, strict=True))
        body = "".join(
            f"<tr>{''.join(f'<td{kind}>{escape(cell)}</td>' for kind, cell in zip(classes, row, strict=True))}</tr>"
            for row in shown.rows
        )
        table = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        parts += [f"<h3>{escape(shown.title)}</h3>", table * bool(shown.rows)]
        parts += [f'<p class="caption">{escape(" ".join(f"{note}." for note in shown.notes))}</p>'] * bool(shown.notes)
    return f'<section id="published"><h2>Published numbers</h2>{"".join(parts)}{download}</section>'


def frame(found: Sequence[Beside]) -> pl.DataFrame:
    """A row per pair and per published number without a cell, in base units (bit/s, ns, a share)."""
    rows = []
    for one in found:
        for pair in one.pairs:
            ours = pair.ours
            rows.append(
                _of_row(one, pair.row)
                | {
                    "cell": pair.cell.label if pair.cell else None,
                    "cell_number": int(pair.cell.number) if pair.cell else None,
                }
                | {"ours": ours.mean if ours else None, "ours_low": ours.low if ours else None}
                | {"ours_high": ours.high if ours else None, "runs": ours.n if ours and pair.alpha is None else None}
                | {"deviation": pair.deviation, "is_inside": pair.is_inside, "agrees": pair.agrees, "why": pair.why}
            )
        rows += [_of_row(one, row) | {"why": "no cell of this sweep"} for row in one.alone]
    schema = {
        "file": pl.String, "line": pl.Int64, "metric": pl.String, "workload": pl.String, "effect": pl.String,
        "keys": pl.String, "cell": pl.String, "cell_number": pl.Int64, "unit": pl.String, "published": pl.Float64,
        "published_half_width": pl.Float64, "of": pl.Float64, "ours": pl.Float64, "ours_low": pl.Float64,
        "ours_high": pl.Float64, "runs": pl.Int64, "deviation": pl.Float64, "is_inside": pl.Boolean,
        "agrees": pl.Boolean, "source": pl.String, "why": pl.String,
    }  # fmt: skip
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def what(row: Row) -> str:
    """What is compared, in words: "goodput of iperf", "p(fct)"."""
    name, dot, summary = row.metric.partition(".")
    if name in METRICS and summary == METRICS[name].summary:
        dot = ""
    text = f"{name}.{summary}" if dot else name
    if row.effect:
        return f"p({text})"
    text += f" of {', '.join(row.workloads)}" if row.workloads else ""
    return text + "".join(f" {word} {place}" for word, place in zip(("from", "until"), row.span, strict=True) if place)


def shown_in(rows: Sequence[Row], largest: float) -> Quantity:
    """The unit of rows of one metric, whose largest magnitude, published or ours, is given."""
    if rows[0].effect:
        return Quantity("p", "", "", 1.0)
    if all(row.in_bytes for row in rows):
        return MEGABYTES
    return SHARE if rows[0].is_share else quantity(f"x_{rows[0].unit}" if rows[0].unit else "x", largest)


def _table(one: Beside) -> Shown:
    title = f"Published numbers: {one.source or one.file}"
    if one.trouble:
        return Shown(title, ("", *LAST), (), (one.trouble, *one.notes))
    axes = _axes(one)
    effects = any(pair.row.effect for pair in one.pairs)
    has_source = any(pair.row.source for pair in one.pairs)
    units = _units(one.pairs)
    places: dict[int, int] = {}
    for pair in one.pairs:
        needed = _places(pair, units[_alike(pair.row)].factor)
        places[pair.row.line] = max(needed, places.get(pair.row.line, 0))
    rows = []
    for pair in one.pairs:
        unit = units[_alike(pair.row)]
        keys = [_at(pair, axis) for axis in axes] + [pair.row.effect] * effects
        name = what(pair.row) + (f" ({unit.unit})" if unit.unit else "")
        rows.append(
            (*keys, name, *_numbers(pair, unit, places[pair.row.line]), *([pair.row.source] if has_source else []))
        )
    head = (*axes, *(["effect"] if effects else []), "", *LAST, *(["source"] if has_source else []))
    return Shown(title, head, tuple(rows), tuple(_notes(one)))


def _axes(one: Beside) -> list[str]:
    """Keys that tell the pairs apart: those of the file, and swept ones that differ between cells of a row."""
    named = list(dict.fromkeys(key for pair in one.pairs for key in pair.row.keys))
    cells = [pair.cell for pair in one.pairs if pair.cell]
    swept = dict.fromkeys(axis for cell in cells for axis in cell.keys)
    more = [
        axis
        for axis in swept
        if axis not in silent_axes(list(swept), [cell.keys for cell in cells])
        and not any(axis == key or axis.startswith(f"{key}.") for key in named)
    ]
    return [key for key in named if len({pair.row.keys.get(key) for pair in one.pairs}) > 1] + more


def _at(pair: Pair, axis: str) -> str:
    if axis in pair.row.keys:
        return pair.row.keys[axis]
    value = pair.cell.keys.get(axis) if pair.cell else None
    return "" if value is None else str(value)


def _alike(row: Row) -> tuple[str, bool, bool]:
    return row.metric.partition(".")[0], row.is_share, bool(row.effect)


def _units(pairs: Sequence[Pair]) -> dict[tuple[str, bool, bool], Quantity]:
    """The unit of what is alike, so that numbers can be compared down the table."""
    found = {}
    for key in dict.fromkeys(_alike(pair.row) for pair in pairs):
        mine = [pair for pair in pairs if _alike(pair.row) == key]
        values = [abs(pair.row.value) for pair in mine] + [abs(pair.ours.mean) for pair in mine if pair.ours]
        found[key] = shown_in([pair.row for pair in mine], max(values))
    return found


def _places(pair: Pair, factor: float) -> int:
    """Decimals that give the larger number of a pair four digits, and the smaller one three; a zero needs none."""
    values = [abs(pair.row.value) * factor, abs(pair.ours.mean if pair.ours else pair.row.value) * factor]
    return max(decimals(max(values)), decimals(min(values), 3))


def _numbers(pair: Pair, unit: Quantity, most: int) -> tuple[str, str, str]:
    """Published, ours, the deviation. Published has the decimals that some pair of its row needs: alike in all."""
    if pair.alpha is not None:
        said = "" if pair.agrees is None else "agree" if pair.agrees else "differ"
        return said_p(pair.row.value), said_p(pair.ours.mean) if pair.ours else "–", said
    places = _places(pair, unit.factor)
    published = f"{pair.row.value * unit.factor:,.{most}f}"
    if pair.row.half_width is not None:
        published += f" ± {pair.row.half_width * unit.factor:,.{most}f}"
    if pair.ours is None:
        return published, "–", ""
    half = pair.ours.half_width
    ours = f"{pair.ours.mean * unit.factor:,.{places}f}"
    ours += f" ± {half * unit.factor:,.{places}f}" if half is not None else ""
    deviation = pair.deviation or 0.0
    if pair.row.is_share:
        return published, ours, f"{deviation * 100:+.1f} pp"
    if pair.is_difference:
        return published, ours, f"{deviation * unit.factor:+.{places}f}"
    # Several times as much is read as a factor.
    return published, ours, f"x {1 + deviation:.3g}" if deviation >= MOST_PERCENT else f"{deviation:+.1%}"


def _notes(one: Beside) -> list[str]:
    notes = []
    judged = [pair.is_inside for pair in one.pairs if pair.is_inside is not None]
    if judged:
        notes.append(f"{sum(judged)} of {len(judged)} published numbers lie inside our 95 % intervals over repeats")
    elif any(pair.ours and pair.alpha is None for pair in one.pairs):
        notes.append("one run per cell, so no intervals")
    told = [pair.agrees for pair in one.pairs if pair.agrees is not None]
    if told:
        level = next(pair.alpha for pair in one.pairs if pair.alpha is not None)
        notes.append(f"{sum(told)} of {len(told)} p-values lie on the same side of {level:g}")
    for why in dict.fromkeys(pair.why for pair in one.pairs if pair.why):
        notes.append(why)
    if one.alone:
        lines = ", ".join(str(row.line) for row in one.alone[:12]) + (", ..." if len(one.alone) > 12 else "")
        are = "number has" if len(one.alone) == 1 else "numbers have"
        notes.append(f"{len(one.alone)} published {are} no cell in this sweep ({one.file}, line {lines})")
    return notes + [note.rstrip(".") for note in one.notes]


def _of_row(one: Beside, row: Row) -> dict[str, object]:
    return {
        "file": one.file,
        "line": row.line,
        "metric": row.metric,
        "workload": "; ".join(row.workloads) or None,
        "effect": row.effect or None,
        "keys": " · ".join(row.keys.values()) or None,
        "unit": "p" if row.effect else row.unit,
        "published": row.value,
        "published_half_width": row.half_width,
        "of": row.of,
        "source": row.source or None,
    }
