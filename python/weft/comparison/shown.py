"""A comparison in a terminal: what it is of, what biases it, the table, one line per metric, the flows."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from weft.comparison.comparison import Against, CellCompared, Comparison, Line
from weft.comparison.flows import FEWEST_CLUSTERS, Ratios
from weft.comparison.margin import Measure
from weft.comparison.rows import Row, print_rows
from weft.comparison.verdict import (
    BETTER,
    BETTER_PERHAPS,
    EQUIVALENT,
    IDENTICAL,
    WITHIN,
    WORSE,
    WORSE_PERHAPS,
)
from weft.report.quantity import quantity, rounded
from weft.terminal import said_value

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {BETTER: "green", WORSE: "red", BETTER_PERHAPS: "green", WORSE_PERHAPS: "red"} | dict.fromkeys(
    (EQUIVALENT, IDENTICAL, WITHIN), "cyan"
)
ADJUSTED = {"holm": "Holm", "bh": "Benjamini-Hochberg"}

MOST_CELLS = 20
"""Cells shown one by one; the lines over all cells count every one, and --json has them all."""
MOST_NAMED = 8
WIDE = 110
"""Characters from which on an interval stands beside its difference."""


def print_comparison(console: "Console", comparison: Comparison) -> None:
    """Print all of it, for a person."""
    for text in comparison.biases:
        console.print(Text(text, style="yellow"))
    for place, against in enumerate(comparison.against):
        if place:
            console.print()
        _print_against(console, comparison, against)
    console.print()
    for text in footnotes(comparison):
        console.print(Text(text, style="dim"))


def text(comparison: Comparison, width: int = 80) -> str:
    """The same as plain text."""
    from rich.console import Console

    out = io.StringIO()
    print_comparison(Console(file=out, width=width, no_color=True, highlight=False), comparison)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))


def percent(share: float) -> str:
    """A share as signed per cent, with digits that matter.

    >>> percent(0.11503), percent(-0.0004), percent(0.0), percent(10.85)
    ('+11.5', '-0.04', '0', '+1085')
    """
    value = 100.0 * share
    if value == 0.0:
        return "0"
    size = abs(value)
    return f"{value:+.0f}" if size >= 100 else f"{value:+.1f}" if size >= 0.1 else f"{value:+.1g}"


def said_change(line: Line) -> tuple[str, str]:
    """The difference and its interval: relative if the reference allows it, else in the metric's unit."""
    found = line.numbers.found
    # A reference that may be zero gives a ratio without bounds, while the difference has some; but scaled, no unit.
    if found.ratio is not None and (found.ratio_low is not None or found.low is None or line.is_scaled):
        return f"{percent(found.ratio - 1.0)} %", _bounds(found.ratio_low, found.ratio_high, lambda r: percent(r - 1.0))
    values = [abs(value) for value in (found.difference, found.low, found.high) if value is not None]
    shown = quantity(line.measure.metric.column, max(values))
    unit = f" {shown.unit}" if shown.unit else ""
    bounds = _bounds(found.low, found.high, lambda value: rounded(value * shown.factor, 3))
    return f"{rounded(found.difference * shown.factor, 3)}{unit}", bounds


def _bounds(low: float | None, high: float | None, said: Callable[[float], str]) -> str:
    return "" if low is None or high is None else f"{said(low)} to {said(high)}"


def _print_against(console: "Console", comparison: Comparison, against: Against) -> None:
    heading = Text(against.other, style="bold")
    heading.append(" against ", style="default").append(comparison.reference).append(" (reference)", style="default")
    console.print(heading)
    if against.differing:
        console.print(Text(f"differs in {said_differing(against.differing)}"))
    for name, labels in ((comparison.reference, against.only_reference), (against.other, against.only_other)):
        if labels:
            console.print(Text(f"only in {name}, not compared: {_listed(labels, '; ')}", style="yellow"))
    notes = list(dict.fromkeys(cell.pairing.note for cell in against.cells))
    if len(notes) == 1:
        console.print(Text(notes[0]))
    for cell in against.cells[:MOST_CELLS]:
        if len(notes) > 1:
            console.print(Text(f"{cell.label}: {cell.pairing.note}"))
    measures = list(dict.fromkeys(line.measure for cell in against.cells for line in cell.lines))
    if len(against.cells) == 1:
        console.print()
        cell = against.cells[0]
        rows = []
        for line in cell.lines:
            title = _named(line.measure, [line], console.width)
            rows.append(Row([title], title.plain.replace("\n", ", "), _row(line, [line], console.width)))
        _print_lines(console, ["metric"], cell.lines, rows)
    else:
        for measure in measures:
            console.print()
            _print_measure(console, against, measure)
    if len(against.cells) > MOST_CELLS:
        console.print(Text(f"{len(against.cells) - MOST_CELLS} more cells: --json has them all", style="dim"))
    for cell in against.cells[:MOST_CELLS]:
        of = f" ({cell.label})" if len(against.cells) > 1 else ""
        for line in cell.lines:
            if line.note:
                console.print(Text(f"{line.measure.name}{of}: {line.note}", style="yellow"))
        lost = [measure.name for measure in measures if all(line.measure != measure for line in cell.lines)]
        if lost:
            console.print(Text(f"{cell.label}: not compared: {', '.join(lost)}: a side has no value", style="yellow"))
    reasons: dict[str, list[str]] = {}
    for name, reason in against.skipped.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        console.print(Text(f"not compared: {', '.join(names)}: {reason}", style="yellow"))
    _print_flows(console, against.cells[:MOST_CELLS])


def _print_measure(console: "Console", against: Against, measure: Measure) -> None:
    """A metric in several cells: the statement over all of them, then a row for each."""
    lines = [(cell, line) for cell in against.cells for line in cell.lines if line.measure == measure]
    same = [line for _, line in lines]
    counts = against.counts(measure)
    total = sum(counts.values())
    text = _named(measure, same, WIDE).append(": ")
    text.stylize("bold")
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    text.append(f"of {total} cell{'' if total == 1 else 's'} {said}", style="not bold")
    for line in against.overall:
        if line.measure == measure:
            change, bounds = said_change(line)
            note = f" {line.note}" if line.note else ""
            text.append(f"; all together{note} {change}{f' ({bounds})' if bounds else ''}, ", style="not bold")
            text.append(line.verdict, style=STYLES.get(line.verdict, "not bold"))
    console.print(text)
    axes = [axis for axis in against.cells[0].values if any(cell.values[axis] is not None for cell, _ in lines)]
    rows = []
    for cell, line in lines[:MOST_CELLS]:
        keys = [Text(said_value(cell.values[axis])) for axis in axes]
        rows.append(Row(keys, cell.label, _row(line, same, console.width)))
    _print_lines(console, axes, same, rows)


def _print_lines(console: "Console", keys: Sequence[str], lines: Sequence[Line], rows: Sequence[Row]) -> None:
    kinds = {line.numbers.found.is_paired for line in lines}
    effect = "d_z, g" if len(kinds) > 1 else "d_z" if True in kinds else "g"
    change = "difference" if console.width < WIDE else "difference, interval"
    columns = ["reference", "other", change, "p", effect, "verdict"]
    print_rows(console, keys, columns, rows, words="verdict", spare=effect)


def _named(measure: Measure, lines: Sequence[Line], width: int) -> Text:
    unit, _ = unit_of(measure, lines)
    return Text(f"{measure.name}{', ' if width >= WIDE else chr(10)}{unit}" if unit else measure.name)


def _row(line: Line, same: Sequence[Line], width: int) -> list[Text]:
    """The cells of a row behind its keys; `same` are the lines that share its unit."""
    before, after, change, bounds, *rest, said = words(line, same)
    # On a narrow terminal an interval stands below its difference.
    whole = change if not bounds else f"{change} ({bounds})" if width >= WIDE else f"{change}\n{bounds}"
    said = said if width >= WIDE else said.replace(" (", "\n(").replace(", ", ",\n")
    return [*map(Text, (before, after, whole, *rest)), Text(said, style=STYLES.get(line.verdict, ""))]


def words(line: Line, same: Sequence[Line]) -> tuple[str, ...]:
    """Reference, other, difference, interval, p, effect size and verdict; `same` are the lines that share its unit."""
    _, factor = unit_of(line.measure, same)
    return (
        rounded(line.numbers.found.reference * factor),
        rounded(line.numbers.found.other * factor),
        *said_change(line),
        _p_value(line.p_adjusted),
        "-" if line.numbers.d is None else f"{line.numbers.d:.2f}",
        line.verdict,
    )


def _p_value(p_value: float | None) -> str:
    """Three digits where it matters which side of a level it is on.

    >>> _p_value(0.0504), _p_value(0.4449), _p_value(0.0004), _p_value(None)
    ('0.0504', '0.445', '<0.001', '-')
    """
    if p_value is None:
        return "-"
    return "<0.001" if p_value < 0.001 else f"{p_value:.3g}"


def unit_of(measure: Measure, lines: Sequence[Line]) -> tuple[str, float]:
    """One unit for all these lines, so that numbers can be compared down the column."""
    largest = max(max(abs(line.numbers.found.reference), abs(line.numbers.found.other)) for line in lines)
    shown = quantity(measure.metric.column, largest)
    return "" if shown.unit == "packets" else shown.unit, shown.factor


def _print_flows(console: "Console", cells: Sequence[CellCompared]) -> None:
    axes = [axis for axis in cells[0].values if len(cells) > 1]
    rows = []
    notes: dict[str, list[str]] = {}
    for cell in cells:
        for ratios in cell.flows.ratios if cell.flows else ():
            keys = [Text(said_value(cell.values[axis])) for axis in axes]
            name, *numbers = _flow_row(ratios, console.width)
            label = f"{name}, {cell.label}" if axes else name.plain
            rows.append(Row([*keys, name], label, numbers))
        for text in _flow_notes(cell):
            notes.setdefault(text, []).append(cell.label)
    console.print()
    if rows:
        columns = ["flows", "median ratio", "10 % to 90 %", "share better"]
        print_rows(console, [*axes, "flow by flow" if len(axes) < 2 else "flow"], columns, rows)
    for text, labels in notes.items():
        # What is so in every cell needs no list of them.
        of = "" if len(labels) == len(cells) else f" ({_listed(labels, '; ')})"
        console.print(Text(f"flow by flow: {text}{of}", style="yellow"))


def _flow_row(ratios: Ratios, width: int) -> list[Text]:
    start = " (" if width >= WIDE else "\n"
    end = ")" if width >= WIDE else ""
    median = _bounds(ratios.median_low, ratios.median_high, lambda v: rounded(v, 3))
    share = _bounds(ratios.share_better_low, ratios.share_better_high, lambda v: f"{100 * v:.0f}")
    said = (
        ratios.column.rpartition("_")[0],
        f"{ratios.flows:,}",
        rounded(ratios.median, 3) + (f"{start}{median}{end}" if median else ""),
        f"{rounded(ratios.p10, 3)} to {rounded(ratios.p90, 3)}",
        f"{100 * ratios.share_better:.0f} %" + (f"{start}{share}{end}" if share else ""),
    )
    return [Text(each) for each in said]


def _flow_notes(cell: CellCompared) -> Iterable[str]:
    flows = cell.flows
    if flows is None:
        yield f"not compared: {cell.no_flows}"
        return
    if not flows.matched:
        yield "not compared: no flow is in both runs; the same seed does not mean the same traffic here"
        return
    if flows.only_reference or flows.only_other:
        yield (
            f"{flows.only_reference:,} flows of the reference and {flows.only_other:,} of the other have no "
            f"counterpart; {flows.matched:,} do"
        )
    if flows.other_start:
        yield f"{flows.other_start:,} of {flows.matched:,} flows start at another time in the other run"
    if flows.unfinished_reference or flows.unfinished_other:
        yield (
            f"{flows.unfinished_reference:,} flows finished in the other only, {flows.unfinished_other:,} in the "
            "reference only; they have no ratio"
        )
    for column, reason in flows.absent.items():
        yield f"{column} is left out: {reason}"


def footnotes(comparison: Comparison) -> Iterable[str]:
    """What the numbers are: intervals, margins, the families of tests."""
    margins: dict[str, list[str]] = {}
    for against in comparison.against:
        for line in against.overall:
            names = margins.setdefault(line.numbers.margin.text, [])
            if line.measure.name not in names:
                names.append(line.measure.name)
    common = max(margins, key=lambda text: len(margins[text]))
    own = [f"{', '.join(names)} {text}" for text, names in margins.items() if text != common]
    tested = f"{comparison.family} test{'' if comparison.family == 1 else 's'}"
    yield (
        f"difference of means over repeats with its {100 * comparison.confidence:g} % interval; margin {common}"
        f"{'; ' + '; '.join(own) if own else ''}"
    )
    if comparison.family:
        yield f"p adjusted by {ADJUSTED[comparison.adjust]} over all {tested} above; an interval stands for itself"
    if any(len(against.cells) > 1 for against in comparison.against) and comparison.family_overall:
        yield (
            "all together: repeats are averaged over the cells first, since cells share their seeds; "
            f"p adjusted over {comparison.family_overall} of that kind"
        )
    flows = [cell.flows for against in comparison.against for cell in against.cells if cell.flows]
    if any(each.ratios for each in flows):
        few = f"; intervals from {FEWEST_CLUSTERS} repeats on" if any(e.pairs < FEWEST_CLUSTERS for e in flows) else ""
        yield f"flow by flow: other over reference, where both have a value; no verdict rests on it{few}"


def said_differing(differing: Mapping[str, tuple[Any, Any]]) -> str:
    """Keys with both values: "congestion.kind: reno -> cubic"."""
    return _listed([f"{key}: {_value(before)} -> {_value(after)}" for key, (before, after) in differing.items()], "; ")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return str(value.get("kind", "a table"))
    return "none" if value is None else "a list" if isinstance(value, list) else str(value)


def _listed(texts: Sequence[str], separator: str) -> str:
    more = f"{separator}and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return separator.join(texts[:MOST_NAMED]) + more
