"""The page: one HTML file that holds everything it needs and asks the network for nothing.

The JavaScript of Vega, Vega-Lite and vega-embed is inlined from vl-convert. A content security policy forbids every
request, so a mistake shows as an error in the test and not as a silent download.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

import polars as pl

from weft.report import describe, theme
from weft.report.figure.drawing import Figure
from weft.report.folder import Folder
from weft.report.table import Numbers, columns_shown, decimals, heading, largest, shown_in, tidy

MOST_ROWS = 200
MOST_NAMED = 5
POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
"""`unsafe-eval`: Vega compiles its expressions."""


def page(folder: Folder, numbers: Numbers, figures: Sequence[Figure], not_drawn: Mapping[str, str]) -> str:
    """The whole HTML text."""
    body = [
        _alerts(folder, numbers),
        f'<p class="lede">{escape(describe.paragraph(folder, numbers))}</p>',
        _what_was_run(folder),
        '<section id="results"><h2>Results</h2>',
        _results(folder, numbers),
        "</section>",
        '<section id="figures"><h2>Figures</h2>',
        *(drawn(place, figure) for place, figure in enumerate(figures, 1)),
        _not_drawn(not_drawn),
        "</section>",
        _runs(folder),
        _experiment(folder),
    ]
    tables = {"results": _with_commands(folder, tidy(folder, numbers)).write_csv()}
    return shell(folder.name, "weft report", body, figures, tables)


def shell(
    name: str, kind: str, body: Sequence[str], figures: Sequence[Figure] = (), tables: Mapping[str, str] | None = None
) -> str:
    """A page around `body` (HTML), with what draws the `figures` and fills the downloads of `tables` (CSV)."""
    own = files("weft.report")
    title = escape(name)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        f"<title>{title} · weft</title>",
        f"<style>{own.joinpath('page.css').read_text(encoding='utf-8')}</style></head><body><main>",
        f'<header><p class="kind">{escape(kind)}</p><h1>{title}</h1></header>',
        *body,
        "</main>",
        data_of(figures, tables or {}),
        f"<script>{inert(javascript())}</script>",
        f"<script>{own.joinpath('page.js').read_text(encoding='utf-8')}</script>",
        "</body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def javascript() -> str:
    """Vega, Vega-Lite and vega-embed as one script that sets `vegaEmbed`."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def inert(script: str) -> str:
    """A script that cannot end its element early."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _with_commands(folder: Folder, cells: pl.DataFrame) -> pl.DataFrame:
    """The command that runs each cell again, as the last column."""
    return cells.with_columns(pl.Series("command", [describe.command(folder, cell) for cell in folder.cells]))


def data_of(figures: Sequence[Figure], tables: Mapping[str, str]) -> str:
    """The element that page.js reads: specifications, tables as CSV, and colours."""
    document = {
        "figures": {
            figure.name: {"spec": figure.spec, "tables": {name: figure.csv(name) for name in figure.tables}}
            for figure in figures
        },
        "tables": tables,
        "config": {scheme: theme.config(scheme) for scheme in ("light", "dark")},
    }
    # "<" cannot occur in a JSON element, so no text of an experiment ends it.
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="data">{text}</script>'


def _alerts(folder: Folder, numbers: Numbers) -> str:
    failures = []
    missing = [(cell, run) for cell in folder.cells for run in cell.runs if not run.is_done]
    if missing:
        named = "; ".join(
            f"{run.name} ({cell.label}, repeat {run.repeat}, seed {run.seed})" for cell, run in missing[:8]
        )
        more = f"; and {len(missing) - 8} more" if len(missing) > 8 else ""
        failures.append(
            f"<strong>{len(missing)} of {len(folder.runs)} planned runs are not here</strong>: {escape(named + more)}. "
            "They failed or were interrupted; the same <code>weft run</code> resumes them."
        )
    for stuck in numbers.unfinished[:12]:
        reasons = "; ".join(f"{reason} ({_named(flows)})" for reason, flows in stuck.reasons.items())
        failures.append(
            f"<strong>{stuck.flows} of {stuck.of} flows did not finish</strong> in run {escape(stuck.run.name)} "
            f"({escape(stuck.cell.label)}, repeat {stuck.run.repeat}): {escape(reasons)}. "
            "Completion times are of the finished flows only."
        )
    if len(numbers.unfinished) > 12:
        failures.append(f"{len(numbers.unfinished) - 12} more runs have unfinished flows.")
    warnings: Counter[str] = Counter()
    for run in folder.done:
        listed = (run.manifest or {}).get("warnings") or []
        warnings.update(dict.fromkeys(map(str, listed), 1))
    texts = [
        escape(text) + (f" <small>({count} runs)</small>" if count > 1 else "")
        for text, count in warnings.most_common()
    ]
    if numbers.below_ideal:
        texts.append(f"{numbers.below_ideal} flows were faster than their ideal: do not trust slowdowns here.")
    html = ""
    if failures:
        html += alert("failed", "Failed or unfinished", failures)
    if texts:
        html += alert("warning", "Look before you trust the numbers", texts)
    return html


def _named(flows: Sequence[str]) -> str:
    more = f" and {len(flows) - MOST_NAMED} more" if len(flows) > MOST_NAMED else ""
    return f"{'flow' if len(flows) == 1 else 'flows'} {', '.join(flows[:MOST_NAMED])}{more}"


def alert(kind: str, title: str, items: Sequence[str]) -> str:
    """A note on top: `failed` in red, `warning` in amber. Title and items are HTML."""
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f'<aside class="{kind}" role="note"><h2>{title}</h2><ul>{listed}</ul></aside>'


def _what_was_run(folder: Folder) -> str:
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in describe.rows(folder))
    return (
        f'<section id="what"><dl>{rows}<dt>Reproduce</dt><dd><code>{escape(describe.command(folder))}</code>'
        "<span> in the folder above this report's.</span></dd></dl></section>"
    )


def _results(folder: Folder, numbers: Numbers) -> str:
    keys = columns_shown(numbers)
    axes = folder.axes or ("",)
    # A key in two lines, its section above its name, keeps the columns narrow.
    sections = "".join(f"<th>{escape(axis.rpartition('.')[0])}</th>" for axis in axes)
    groups = f"{sections}<th></th>"
    head = "".join(f'<th scope="col">{escape(axis.rpartition(".")[2])}</th>' for axis in axes)
    head += '<th scope="col" class="number">runs</th>'
    columns = {}
    for title, members in groupby(keys, key=lambda key: heading(key)[0]):
        group = list(members)
        shown = shown_in(numbers, group[0])
        most = largest(numbers, group[0])
        places = min(1, decimals(most)) if group[0].startswith("drops") else decimals(most * shown.factor)
        span = f' colspan="{len(group)}"' if len(group) > 1 else ""
        unit = f" ({shown.unit})" if shown.unit not in ("", "packets") else ""
        groups += f'<th scope="colgroup" class="number"{span}>{escape(title)}{escape(unit)}</th>'
        for key in group:
            columns[key] = (shown.factor, places)
            head += f'<th scope="col" class="number">{escape(heading(key)[1])}</th>'
    body = []
    for cell in folder.cells[:MOST_ROWS]:
        values = [cell.keys[axis] for axis in folder.axes] or ["all runs"]
        row = "".join(f'<th scope="row">{escape(str(value))}</th>' for value in values)
        complete = len(cell.done) == len(cell.runs)
        count = f"{len(cell.done)}" if complete else f'<span class="red">{len(cell.done)} of {len(cell.runs)}</span>'
        row += f'<td class="number">{count}</td>'
        for key, (factor, places) in columns.items():
            interval = numbers.interval(cell.label, key)
            if interval is None:
                row += '<td class="number">–</td>'
                continue
            half = interval.half_width
            if half == 0 and interval.mean in (0.0, 1.0):
                half = None  # nothing (or all) in every run needs no interval
            about = f"<small>±{half * factor:,.{places}f}</small>" if half is not None else ""
            red = " red" if key == "completion.mean" and interval.mean < 1 else ""
            row += f'<td class="number{red}">{interval.mean * factor:,.{places}f}{about}</td>'
        body.append(f"<tr>{row}</tr>")
    notes = ["Means over repeats"]
    notes[0] += (
        " with 95 % t intervals."
        if any(len(cell.done) > 1 for cell in folder.cells)
        else ": one run per cell, so no intervals."
    )
    if len(folder.cells) > MOST_ROWS:
        notes.append(f"The first {MOST_ROWS} of {len(folder.cells)} cells; all are in the CSV.")
    notes += [f"{' '.join(heading(key)).strip()} is missing: {reason}." for key, reason in numbers.missing.items()]
    return (
        f'<div class="scroll"><table><thead><tr class="groups">{groups}</tr><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
        f'<p class="caption">{escape(" ".join(notes))}</p>'
        '<p class="downloads"><a class="csv" data-table="results" download="results.csv">CSV</a></p>'
    )


def drawn(place: int, figure: Figure) -> str:
    """The element of a figure with its number, caption and downloads."""
    links = "".join(
        f'<a class="csv" data-figure="{escape(figure.name)}" data-table="{escape(table)}" '
        f'download="{escape(figure.name)}{"" if number == 0 else f"-{escape(table)}"}.csv">'
        f"CSV{'' if len(figure.tables) == 1 else f' ({escape(table)})'}</a>"
        for number, table in enumerate(figure.tables)
    )
    images = "".join(
        f'<button type="button" data-figure="{escape(figure.name)}" data-image="{kind}">{kind.upper()}</button>'
        for kind in ("svg", "png")
    )
    title = escape(figure.title)
    return (
        f'<figure id="{escape(figure.name)}"><h3>{title}</h3>'
        f'<div class="drawing" data-figure="{escape(figure.name)}" role="img" aria-label="{title}"></div>'
        f"<figcaption><b>Figure {place}.</b> {escape(figure.caption)}</figcaption>"
        f'<p class="downloads">{links}{images}</p></figure>'
    )


def _not_drawn(not_drawn: Mapping[str, str]) -> str:
    if not not_drawn:
        return ""
    reasons: dict[str, list[str]] = {}
    for name, reason in not_drawn.items():
        # Several figures may lack the same thing: samples differ in the metric's name only.
        _, _, rest = reason.partition(" was not sampled; ")
        reasons.setdefault(f"not sampled; {rest}" if rest else reason, []).append(name)
    items = "".join(
        f"<li><b>{escape(', '.join(names))}</b>: {escape(reason)}.</li>" for reason, names in reasons.items()
    )
    return f'<div class="absent"><h3>Not drawn</h3><ul>{items}</ul></div>'


def _runs(folder: Folder) -> str:
    rows: list[str] = []
    for cell in folder.cells:
        for run in cell.runs:
            if len(rows) == MOST_ROWS:
                break
            manifest = run.manifest
            if manifest is None:
                rest = '<td class="red" colspan="3">not here</td>'
            else:
                wall, hops = manifest.get("wall_s"), manifest.get("packet_hops")
                rest = (f'<td class="number">{wall:,.2f}</td>' if isinstance(wall, int | float) else "<td></td>") + (
                    f'<td class="number">{hops:,}</td>' if isinstance(hops, int) else "<td></td>"
                )
                rest += f"<td><code>{escape(str(manifest.get('fingerprint') or ''))}</code></td>"
            seed = "" if run.seed is None else run.seed
            rows.append(
                f"<tr><td><code>{escape(run.name)}</code></td><td>{escape(cell.label)}</td>"
                f'<td class="number">{run.repeat}</td><td class="number">{seed}</td>{rest}</tr>'
            )
    cut = (
        f"<p class=caption>The first {MOST_ROWS} of {len(folder.runs)} runs.</p>"
        if len(folder.runs) > MOST_ROWS
        else ""
    )
    return (
        f'<details id="runs"><summary>Runs ({len(folder.runs)})</summary><div class="scroll"><table><thead><tr>'
        "<th>run</th><th>cell</th><th class=number>repeat</th><th class=number>seed</th><th class=number>wall s</th>"
        "<th class=number>packet-hops</th><th>fingerprint</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
        f"{cut}</details>"
    )


def _experiment(folder: Folder) -> str:
    resolved = json.dumps(folder.experiment, indent=2, ensure_ascii=False)
    whole = (
        '<details id="resolved"><summary>Resolved experiment of the first run, all defaults written out</summary>'
        f"<pre><code>{escape(resolved)}</code></pre></details>"
    )
    if folder.experiment_text is None:
        return whole
    return (
        '<details id="experiment"><summary>Experiment file, as given</summary>'
        f"<pre><code>{escape(folder.experiment_text)}</code></pre></details>{whole}"
    )
