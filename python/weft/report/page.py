"""The page: one HTML file that holds everything it needs and asks the network for nothing.

The JavaScript of Vega, Vega-Lite and vega-embed is inlined from vl-convert. A content security policy forbids every
request, so a mistake shows as an error in the test and not as a silent download.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

import polars as pl

from weft.analysis import Answer
from weft.published import shown as published_tables
from weft.published.beside import Beside
from weft.report import describe, theme
from weft.report.factors import Effects, effects_html, effects_table
from weft.report.figure.drawing import Figure
from weft.report.folder import Folder
from weft.report.table import Numbers, columns_shown, decimals, heading, largest, shown_in, tidy
from weft.report.trouble import alerts, failures_table

MOST_ROWS = 200
MOST_IN_SIGHT = 24
"""Rows of the results above which they scroll in a box, so that figures are not far below."""
MOST_CARRIED = 6_000_000
"""Bytes of a table that the page itself carries; a larger one lies in the folder only."""
POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
"""`unsafe-eval`: Vega compiles its expressions."""


def page(
    folder: Folder,
    numbers: Numbers,
    figures: Sequence[Figure],
    not_drawn: Mapping[str, str],
    tables: Mapping[str, pl.DataFrame],
    found: Effects | None = None,
    answers: Sequence[Answer] = (),
    published: Sequence[Beside] = (),
    why: str = "",
) -> str:
    """The whole HTML text. Of `tables` (see `whole_tables`) it carries what is not too large.

    `found` is what the factors do, `answers` are those to `[[analysis]]`, `published` what `[[published]]` gives,
    `why` the section of what held flows up.
    """
    texts = {name: table.write_csv() for name, table in tables.items()}
    carried = {name: text for name, text in texts.items() if len(text) <= MOST_CARRIED}
    body = [
        alerts(folder, numbers),
        f'<p class="lede">{escape(describe.paragraph(folder, numbers))}</p>',
        _what_was_run(folder),
        *_numbers_and_figures(folder, numbers, figures, not_drawn, set(carried), published),
        why,
        *([_answers(answers)] if answers else []),
        *([effects_html(found, _download("factors", set(carried)))] if found else []),
        _commands(folder),
        _runs(folder, tables["runs"], set(carried)),
        _experiment(folder),
    ]
    return shell(folder.name, "weft report", body, figures, carried)


def _numbers_and_figures(
    folder: Folder,
    numbers: Numbers,
    figures: Sequence[Figure],
    not_drawn: Mapping[str, str],
    carried: set[str],
    published: Sequence[Beside],
) -> list[str]:
    if not folder.done:
        return []
    return [
        '<section id="results"><h2>Results</h2>',
        _results(folder, numbers, carried),
        "</section>",
        *([published_tables.html(published, _download("published", carried))] if published else []),
        '<section id="figures"><h2>Figures</h2>',
        *(drawn(place, figure) for place, figure in enumerate(figures, 1)),
        _not_drawn(not_drawn),
        "</section>",
    ]


def whole_tables(
    folder: Folder, numbers: Numbers, found: Effects | None = None, published: Sequence[Beside] = ()
) -> dict[str, pl.DataFrame]:
    """The tables of the page with all their rows: results (one per cell), runs, and failures if there are any."""
    tables = {"results": _with_commands(folder, tidy(folder, numbers))} if folder.done else {}
    tables["runs"] = _runs_table(folder)
    if folder.failed:
        tables["failures"] = failures_table(folder)
    if found and found.tables:
        tables["factors"] = effects_table(found)
    if published:
        tables["published"] = published_tables.frame(published)
    return tables


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


@functools.cache
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


def _what_was_run(folder: Folder) -> str:
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in describe.rows(folder))
    return (
        f'<section id="what"><dl>{rows}<dt>Reproduce</dt><dd><code>{escape(describe.command(folder))}</code>'
        "<span> in the folder above this report's.</span></dd></dl></section>"
    )


def _results(folder: Folder, numbers: Numbers, carried: set[str]) -> str:
    # What did not finish comes first: it says how far the other means can be believed.
    keys = sorted(columns_shown(numbers), key=lambda key: key != "completion.mean")
    axes = folder.telling or ("",)
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
        values = [cell.keys[axis] for axis in folder.telling] or ["all runs"]
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
        notes.append(f"The first {MOST_ROWS} of {len(folder.cells):,} cells; all are in the CSV.")
    notes += [f"{' '.join(heading(key)).strip()} is missing: {reason}." for key, reason in numbers.missing.items()]
    return (
        f'<div class="scroll{" tall" if len(folder.cells) > MOST_IN_SIGHT else ""}">'
        f'<table><thead><tr class="groups">{groups}</tr><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
        f'<p class="caption">{escape(" ".join(notes))}</p>'
        f"{_download('results', carried)}"
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


def _download(table: str, carried: set[str]) -> str:
    """A link to a table: in the page, or in the folder where it is too large for the page."""
    if table in carried:
        return f'<p class="downloads"><a class="csv" data-table="{table}" download="{table}.csv">CSV</a></p>'
    return f'<p class="downloads">CSV: <code>tables/{table}.csv</code> beside this page</p>'


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


def _answers(answers: Sequence[Answer]) -> str:
    """What `[[analysis]]` asks for: sentences, and folded every table."""
    parts = []
    for answer in answers:
        said = [f"not made: {answer.refused}"] if answer.refused else answer.sentences
        listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in said)
        whole = f"<details><summary>All tables</summary><pre>{escape(answer.text)}</pre></details>" * bool(answer.text)
        parts.append(f"<h3>{escape(answer.question.title)}</h3><ul>{listed}</ul>{whole}")
    return f'<section id="analyses"><h2>Analyses</h2>{"".join(parts)}</section>'


def _commands(folder: Folder) -> str:
    """The command of every cell, folded; a sweep of one cell has it at the top already."""
    if len(folder.cells) < 2:
        return ""
    rows = "".join(
        f'<tr><td class="number">{cell.number}</td><td>{escape(cell.label)}</td>'
        f"<td><code>{escape(describe.command(folder, cell))}</code></td></tr>"
        for cell in folder.cells[:MOST_ROWS]
    )
    cut = f'<p class="caption">The first {MOST_ROWS} of {len(folder.cells):,}; all are in the CSV of the results.</p>'
    return (
        f'<details id="commands"><summary>Commands: each cell again ({len(folder.cells):,})</summary>'
        "<p class=\"caption\">In the folder above this report's. The column <i>cells</i> of a figure's CSV has the "
        "numbers of the cells that a point stands for.</p>"
        '<div class="scroll"><table><thead><tr><th class="number">number</th><th>cell</th><th>command</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{cut if len(folder.cells) > MOST_ROWS else ''}</details>"
    )


def _runs_table(folder: Folder) -> pl.DataFrame:
    """A row per planned run: its place, cost and fingerprint, its state, and the command that repeats it."""
    rows = []
    for cell in folder.cells:
        for run in cell.runs:
            noted = run.manifest or {}
            state = "done" if run.is_done else "failed" if run.failure is not None else "not here"
            wall, hops, mark = (noted.get(key) for key in ("wall_s", "packet_hops", "fingerprint"))
            rows.append(
                (
                    run.name,
                    int(cell.number),
                    cell.label,
                    run.repeat,
                    run.seed,
                    state,
                    float(wall) if isinstance(wall, int | float) else None,
                    hops if isinstance(hops, int) else None,
                    None if mark is None else str(mark),
                    describe.command(folder, cell, run),
                )
            )
    schema = {
        "run": pl.String, "cell_number": pl.Int64, "cell": pl.String, "repeat": pl.Int64, "seed": pl.Int64,
        "state": pl.String, "wall_s": pl.Float64, "packet_hops": pl.Int64, "fingerprint": pl.String,
        "command": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _runs(folder: Folder, runs: pl.DataFrame, carried: set[str]) -> str:
    rows = []
    for row in runs.head(MOST_ROWS).iter_rows(named=True):
        if row["state"] == "done":
            wall, hops = row["wall_s"], row["packet_hops"]
            rest = (
                f'<td class="number">{"" if wall is None else f"{wall:,.2f}"}</td>'
                f'<td class="number">{"" if hops is None else f"{hops:,}"}</td>'
                f"<td><code>{escape(row['fingerprint'] or '')}</code></td>"
            )
        else:
            rest = f'<td class="red" colspan="3">{row["state"]}</td>'
        seed = "" if row["seed"] is None else row["seed"]
        rows.append(
            f"<tr><td><code>{escape(row['run'])}</code></td><td>{escape(row['cell'])}</td>"
            f'<td class="number">{row["repeat"]}</td><td class="number">{seed}</td>{rest}'
            f"<td><code>{escape(row['command'])}</code></td></tr>"
        )
    count = len(folder.runs)
    cut = f'<p class="caption">The first {MOST_ROWS} of {count:,} runs; all are in the CSV.</p>' * (count > MOST_ROWS)
    return (
        f'<details id="runs"><summary>Runs ({count:,})</summary><div class="scroll"><table><thead><tr>'
        '<th>run</th><th>cell</th><th class="number">repeat</th><th class="number">seed</th><th class="number">wall s'
        '</th><th class="number">packet-hops</th><th>fingerprint</th><th>again</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{cut}{_download('runs', carried)}</details>"
    )


def _experiment(folder: Folder) -> str:
    of_run = " of the first run" if folder.done else ""
    resolved = json.dumps(folder.experiment, indent=2, ensure_ascii=False)
    whole = (
        f'<details id="resolved"><summary>Resolved experiment{of_run}, all defaults written out</summary>'
        f"<pre><code>{escape(resolved)}</code></pre></details>"
    )
    if folder.experiment_text is None:
        return whole
    return (
        '<details id="experiment"><summary>Experiment file, as given</summary>'
        f"<pre><code>{escape(folder.experiment_text)}</code></pre></details>{whole}"
    )
