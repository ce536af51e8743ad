"""What stands on top of the page: runs that failed, runs that are not here, flows that did not finish, warnings.

Alike failures are one line however many runs they hit, so that five hundred can be read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

import polars as pl

from weft.report import describe
from weft.report.folder import Cell, Folder, Run
from weft.report.table import Numbers, Unfinished

MOST_NAMED = 5
"""Flows, cells or runs that are named one by one."""
MOST_KINDS = 8
"""Kinds of failures that are told apart."""
MOST_ROWS = 100
"""Failed runs that are listed in the page."""


def alerts(folder: Folder, numbers: Numbers) -> str:
    """The boxes on top of the page, as HTML; empty if all is well."""
    failures = [*_failed(folder), *_lacking(folder), *_unfinished(numbers)]
    html = _alert("failed", "Failed or unfinished", failures, _table(folder)) if failures else ""
    texts = _warnings(folder, numbers)
    return html + (_alert("warning", "Look before you trust the numbers", texts) if texts else "")


def failures_table(folder: Folder) -> pl.DataFrame:
    """A row per failed run: run, cell, repeat, seed, kind, message, attempts, and the command that runs it again."""
    rows = [
        (run.name, cell.label, run.repeat, run.seed, run.failure.kind, str(run.failure), run.failure.attempts, command)
        for cell in folder.cells
        for run in cell.runs
        if run.failure is not None and (command := describe.command(folder, cell, run))
    ]
    schema = ["run", "cell", "repeat", "seed", "kind", "message", "attempts", "command"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def lacking_runs(folder: Folder) -> list[str]:
    """Planned runs that are not there and did not fail, interrupted or not begun, as "ecmp, repeat 3"."""
    return [
        f"{cell.label}, repeat {run.repeat}"
        for cell in folder.cells
        for run in cell.runs
        if not run.is_done and run.failure is None
    ]


def alike(message: str) -> str:
    """A message without its numbers and names of flows: what is the same in all runs that failed for one reason.

    >>> alike("flow 3 lost 14 packets at 1.5 us") == alike("flow 12 lost 2 packets at 20 us")
    True
    """
    return re.sub(r"\d+(\.\d+)?", "#", message)


def _failed(folder: Folder) -> list[str]:
    if not folder.failed:
        return []
    kinds: dict[tuple[str, str], list[Run]] = {}
    labels = {id(run): cell for cell in folder.cells for run in cell.runs}
    for run in folder.failed:
        assert run.failure is not None
        kinds.setdefault((run.failure.kind, alike(str(run.failure))), []).append(run)
    ordered = sorted(kinds.items(), key=lambda item: -len(item[1]))
    count = len(folder.failed)
    whole = f"All {len(folder.runs):,}" if count == len(folder.runs) else f"{count:,} of {len(folder.runs):,}"
    items = []
    for (kind, _), runs in ordered[:MOST_KINDS]:
        failure = runs[0].failure
        assert failure is not None
        attempts = max(run.failure.attempts for run in runs if run.failure is not None)
        tried = f", after {attempts} attempts" if attempts > 1 else ""
        like = ", for example" if len({str(run.failure) for run in runs}) > 1 else ""
        items.append(
            f"<li>{len(runs):,} {_runs(len(runs))} ({escape(kind)}{tried}){like}: <b>{escape(str(failure))}</b><br>"
            f"<small>{escape(_cells([labels[id(run)] for run in runs]))}</small></li>"
        )
    if len(ordered) > MOST_KINDS:
        rest = sum(len(runs) for _, runs in ordered[MOST_KINDS:])
        items.append(f"<li>{rest:,} more {_runs(rest)} for {len(ordered) - MOST_KINDS} other reasons.</li>")
    none = " There is nothing to draw." if not folder.done else " The results are of the other runs."
    return [
        f"<strong>{whole} {_runs(len(folder.runs))} failed</strong>.{none} The same <code>weft run</code> tries them "
        f"again.<ul>{''.join(items)}</ul>"
    ]


def _table(folder: Folder) -> str:
    """The failed runs one by one, folded."""
    if not folder.failed:
        return ""
    table = failures_table(folder)
    body = "".join(
        f"<tr><td><code>{escape(row['run'])}</code></td><td>{escape(row['cell'])}</td>"
        f'<td class="number">{row["repeat"]}</td><td class="number">{row["seed"]}</td>'
        f'<td class="number">{row["attempts"]}</td><td class="wrap">{escape(row["message"])}</td>'
        f"<td><code>{escape(row['command'])}</code></td></tr>"
        for row in table.head(MOST_ROWS).iter_rows(named=True)
    )
    cut = f'<p class="caption">The first {MOST_ROWS} of {table.height:,}; all are in the CSV.</p>'
    return (
        f'<details id="failures"><summary>Failed runs ({table.height:,})</summary><div class="scroll"><table><thead>'
        '<tr><th>run</th><th>cell</th><th class="number">repeat</th><th class="number">seed</th>'
        '<th class="number">attempts</th><th>why</th><th>again</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>{cut if table.height > MOST_ROWS else ''}"
        '<p class="downloads"><a class="csv" data-table="failures" download="failures.csv">CSV</a></p></details>'
    )


def _lacking(folder: Folder) -> list[str]:
    if not folder.lacking:
        return []
    count = len(folder.lacking)
    cells = {id(run): cell for cell in folder.cells for run in cell.runs}
    if count <= MOST_NAMED:
        named = "; ".join(
            f"{run.name} ({cells[id(run)].label}, repeat {run.repeat}, seed {run.seed})".lstrip()
            for run in folder.lacking
        )
    else:
        named = _cells([cells[id(run)] for run in folder.lacking])
    return [
        f"<strong>{count:,} of {len(folder.runs):,} planned {_runs(len(folder.runs))} are not here</strong>: "
        f"{escape(named)}. They were interrupted, or have not begun; the same <code>weft run</code> resumes them."
    ]


def _unfinished(numbers: Numbers) -> list[str]:
    found = numbers.unfinished
    if len(found) <= MOST_NAMED:
        return [_unfinished_run(stuck) for stuck in found]
    flows, of = sum(stuck.flows for stuck in found), sum(stuck.of for stuck in found)
    reasons: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    for stuck in found:
        for reason, named in stuck.reasons.items():
            reasons[reason] += len(named)
            runs[reason] += 1
    items = "".join(
        f"<li>{count:,} flows in {runs[reason]:,} {_runs(runs[reason])}: <b>{escape(reason)}</b></li>"
        for reason, count in reasons.most_common(MOST_KINDS)
    )
    return [
        f"<strong>{flows:,} of {of:,} flows did not finish</strong> in {len(found):,} runs "
        f"({escape(_cells([stuck.cell for stuck in found]))}). Completion times are of the finished flows only."
        f"<ul>{items}</ul>"
    ]


def _unfinished_run(stuck: Unfinished) -> str:
    reasons = "; ".join(f"{reason} ({_flows(flows)})" for reason, flows in stuck.reasons.items())
    return (
        f"<strong>{stuck.flows} of {stuck.of} flows did not finish</strong> in run {escape(stuck.run.name)} "
        f"({escape(stuck.cell.label)}, repeat {stuck.run.repeat}): {escape(reasons)}. "
        "Completion times are of the finished flows only."
    )


def _warnings(folder: Folder, numbers: Numbers) -> list[str]:
    warnings: Counter[str] = Counter()
    for run in folder.done:
        listed = (run.manifest or {}).get("warnings") or []
        warnings.update(dict.fromkeys(map(str, listed), 1))
    kinds: dict[str, list[tuple[str, int]]] = {}
    for text, count in warnings.most_common():
        kinds.setdefault(alike(text), []).append((text, count))
    texts = []
    for alike_texts in kinds.values():
        text, count = alike_texts[0]
        total = sum(each for _, each in alike_texts)
        others = f", and {len(alike_texts) - 1} alike" if len(alike_texts) > 1 else ""
        texts.append(escape(text) + (f" <small>({total:,} runs{others})</small>" if total > 1 else ""))
    if numbers.below_ideal:
        texts.append(f"{numbers.below_ideal:,} flows were faster than their ideal: do not trust slowdowns here.")
    return texts


def _cells(cells: Sequence[Cell]) -> str:
    """Cells with how many of their runs are meant, the most affected first."""
    counts = Counter(cell.label for cell in cells)
    runs = {cell.label: len(cell.runs) for cell in cells}
    named = [
        label if runs[label] == 1 else f"{label} ({count} of {runs[label]})"
        for label, count in counts.most_common(MOST_NAMED)
    ]
    more = f"; and {len(counts) - MOST_NAMED:,} more cells" if len(counts) > MOST_NAMED else ""
    return f"{'; '.join(named)}{more}"


def _flows(flows: Sequence[str]) -> str:
    more = f" and {len(flows) - MOST_NAMED} more" if len(flows) > MOST_NAMED else ""
    return f"{'flow' if len(flows) == 1 else 'flows'} {', '.join(flows[:MOST_NAMED])}{more}"


def _runs(count: int) -> str:
    return "run" if count == 1 else "runs"


def _alert(kind: str, title: str, items: Iterable[str], below: str = "") -> str:
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f'<aside class="{kind}" role="note"><h2>{title}</h2><ul>{listed}</ul>{below}</aside>'
