"""What a notebook shows of results: what is wrong first, then a row per cell with intervals.

Plain HTML in the notebook's own colours; nothing is loaded from anywhere.
"""

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.results import Results

SHOWN = ("goodput", "fct", "fct.p99", "slowdown")
MOST_ROWS = 60
MOST_NAMED = 5
RED, AMBER = "#c0392b", "#9a6b00"


def results_html(results: "Results") -> str:
    """Failed runs, runs that are not there, warnings, and the table of cells."""
    return (
        f"<p>{escape(str(results))}</p>{_failures(results)}{_lacking(results)}"
        + "".join(f"<p style='color:{AMBER}'><b>Warning:</b> {escape(text)}</p>" for text in results.warnings)
        + _cells(results)
    )


def _failures(results: "Results") -> str:
    from weft.report.trouble import alike

    failures = results.failures
    if failures.is_empty():
        return ""
    reasons = Counter(alike(message) for message in failures["message"])
    like = {alike(message): message for message in failures["message"].reverse()}
    named = "; ".join(f"{count} × {escape(like[text])}" for text, count in reasons.most_common(MOST_NAMED))
    more = f"; and {len(reasons) - MOST_NAMED} other reasons" if len(reasons) > MOST_NAMED else ""
    runs = "run" if failures.height == 1 else "runs"
    return f"<p style='color:{RED}'><b>{failures.height:,} {runs} failed:</b> {named}{more}</p>"


def _lacking(results: "Results") -> str:
    lacking = results.lacking
    if not lacking:
        return ""
    named = "; ".join(map(escape, lacking[:MOST_NAMED]))
    more = f"; and {len(lacking) - MOST_NAMED:,} more" if len(lacking) > MOST_NAMED else ""
    return f"<p style='color:{RED}'><b>{len(lacking):,} planned runs are not here:</b> {named}{more}</p>"


def _cells(results: "Results") -> str:
    from weft.metric import METRICS
    from weft.report.quantity import quantity
    from weft.report.table import decimals, full_name, heading

    frame = results.table(SHOWN)
    columns = []
    head = "".join(f"<th style='text-align:left'>{escape(key)}</th>" for key in results.swept)
    head += "<th>runs</th>"
    for name in SHOWN:
        known = [abs(value) for value in frame[name].drop_nulls().to_list()]
        if not known:
            continue
        shown = quantity(METRICS[name.partition(".")[0]].column, max(known))
        columns.append((name, shown.factor, decimals(max(known) * shown.factor)))
        title, summary = heading(full_name(name))
        about = ", ".join(part for part in (summary, shown.unit) if part)
        head += f"<th style='text-align:right'>{escape(title)}<br><small>{escape(about)}</small></th>"
    rows = []
    for row in frame.head(MOST_ROWS).iter_rows(named=True):
        cells = "".join(
            f"<td style='text-align:left'>{escape('' if row[key] is None else str(row[key]))}</td>"
            for key in results.swept
        )
        cells += f"<td>{row['runs']}</td>"
        for name, factor, places in columns:
            mean, high = row[name], row[f"{name}_high"]
            half = "" if high is None else f" <small>± {(high - mean) * factor:,.{places}f}</small>"
            value = "–" if mean is None else f"{mean * factor:,.{places}f}{half}"
            cells += f"<td style='text-align:right'>{value}</td>"
        rows.append(f"<tr>{cells}</tr>")
    many = bool((frame["runs"] > 1).any())
    note = "Mean over repeats ± half of its 95 % interval." if many else "One run per cell, so no intervals."
    if frame.height > MOST_ROWS:
        note += f" The first {MOST_ROWS} of {frame.height:,} cells; results.table() has all."
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table><p><small>{note}</small></p>"
