"""The page of a search: OUT/report.html, in the shell of a report (report/page.py), with its own figures."""

from html import escape
from pathlib import Path

from weft.errors import OutputError
from weft.report.figure.drawing import Figure
from weft.report.page import drawn, shell
from weft.searching import shown
from weft.searching.figures import figures_of
from weft.searching.found import Found
from weft.searching.point import Point

MOST_ROWS = 200
PRUNED = "stopped"


def write_page(found: Found, figures: bool = True) -> Path:
    """Write OUT/report.html and, with `figures`, OUT/figures/*.svg and *.png; returns the path of the page.

    Raises OutputError if the folder cannot be written.
    """
    from weft.report.export import put, write_figures

    all_drawn = figures_of(found)
    path = found.directory / "report.html"
    try:
        put(path, page(found, all_drawn).encode())
        if figures:
            write_figures(all_drawn, found.directory / "figures")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def page(found: Found, all_drawn: list[Figure]) -> str:
    """The whole HTML text."""
    body = [
        _alerts(found),
        f'<p class="lede">{escape(_lede(found))}</p>',
        f'<p class="caption">{escape(shown.counted(found))}.</p>',
        _front(found) if found.front else _best(found),
        _neighbours(found),
        _importances(found),
        '<section id="figures"><h2>Figures</h2>',
        *(drawn(place, figure) for place, figure in enumerate(all_drawn, 1)),
        "</section>",
        _trials(found),
        _experiment(found),
    ]
    table = found.trials.with_columns(found.trials["runs"].list.join(" "))
    return shell(found.experiment.name, "weft search", body, all_drawn, {"trials": table.write_csv()})


def _lede(found: Found) -> str:
    sentences = [shown.asked(found).partition(": ")[2] + "."]
    sentences[0] = sentences[0][0].upper() + sentences[0][1:]
    if found.front:
        sentences.append(f"{len(found.front)} trials are on the front: none of them is beaten in both goals.")
    elif said := shown.verdict(found):
        sentences.append(f"Best: trial {found.best.number if found.best else ''}, {said}.")
    return " ".join(sentences)


def _alerts(found: Found) -> str:
    html = ""
    failed = [point for point in found.trial_points if point.state == "failed"]
    reasons: dict[str, list[str]] = {}
    for point in failed:
        reasons.setdefault(point.error, []).append(str(point.number))
    items = [
        f"<strong>trial {', '.join(numbers[:8])}</strong>: {escape(reason)}" for reason, numbers in reasons.items()
    ]
    if not found.best and not found.front:
        items += [escape(line) for line in shown.nothing_feasible(found)]
    if items:
        html += _note("failed", "Failed" if failed else "Nothing feasible", items)
    if found.warnings:
        html += _note("warning", "Look before you trust the numbers", [escape(text) for text in found.warnings])
    return html


def _note(kind: str, title: str, items: list[str]) -> str:
    """A note on top: `failed` in red, `warning` in amber; the items are HTML."""
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f'<aside class="{kind}" role="note"><h2>{title}</h2><ul>{listed}</ul></aside>'


def _best(found: Found) -> str:
    best = found.best
    if best is None:
        return ""
    numbers = shown.Numbers.of(found, 0)
    rows = [(key, shown.said_of(value)) for key, value in best.values.items()]
    rows.append((found.goal.measure.name, numbers.interval(best, 0) + numbers.unit))
    checked = found.checked()
    if checked is not None:
        rows.append(("with other seeds", numbers.interval(checked, 0) + numbers.unit))
    rows += shown.kept(found, best)
    listed = "".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in rows)
    command = found.command(best)
    again = f"<dt>Reproduce</dt><dd><code>{escape(command)}</code></dd>" if command else ""
    return f'<section id="best"><h2>Best point</h2><dl>{listed}{again}</dl></section>'


def _front(found: Found) -> str:
    columns = [shown.Numbers.of(found, place) for place in range(len(found.objective.goals))]
    head = "<th>trial</th>" + "".join(
        f'<th class="number">{escape(numbers.goal.measure.name)}{escape(_bracket(numbers.shown.unit))}</th>'
        for numbers in columns
    )
    head += "".join(f"<th>{escape(key)}</th>" for key in found.front[0].values) + "<th>reproduce</th>"
    body = ""
    for point in found.front:
        cells = "".join(f'<td class="number">{numbers.interval(point, i)}</td>' for i, numbers in enumerate(columns))
        cells += "".join(f"<td>{escape(shown.said_of(value))}</td>" for value in point.values.values())
        body += f"<tr><th>{point.number}</th>{cells}<td><code>{escape(found.command(point) or '')}</code></td></tr>"
    return (
        f'<section id="front"><h2>Front</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def _neighbours(found: Found) -> str:
    if not found.neighbours:
        return ""
    numbers = shown.Numbers.of(found, 0)
    body, before = "", ""
    for each in found.neighbours:
        is_feasible = each.point.is_feasible(found.objective)
        note = "yes" if is_feasible else escape(each.point.error) if each.point.error else "no"
        if missed := shown.missed_by(found, each.point):
            note = f'<span class="red">no: {escape(missed)}</span>'
        key = "" if each.key == before else each.key
        body += (
            f"<tr><th>{escape(key)}</th><td>{escape(shown.said_of(each.value))}</td>"
            f'<td class="number">{escape(shown.change_of(each, numbers))}</td><td>{note}</td></tr>'
        )
        before = each.key
    unit = _bracket(numbers.shown.unit)
    better = found.better_neighbour
    more = (
        f" {better.key} = {shown.said_of(better.value)} is better still: more trials may find more." if better else ""
    )
    return (
        '<section id="neighbours"><h2>Around the best point</h2><div class="scroll"><table><thead><tr>'
        f'<th>changed alone</th><th>to</th><th class="number">difference of {escape(found.goal.measure.name)}'
        f"{escape(unit)}</th><th>feasible</th></tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="caption">One key changed, the others as in the best point, seed by seed.{escape(more)}</p>'
        "</section>"
    )


def _importances(found: Found) -> str:
    html = ""
    for goal, shares in zip(found.objective.goals, found.importances, strict=False):
        rows = "".join(
            f'<tr><th>{escape(key)}</th><td class="number">{share["fanova"]:.0%}</td>'
            f'<td class="number">{share["ped_anova"]:.0%}</td></tr>'
            for key, share in sorted(shares.items(), key=lambda item: -item[1]["fanova"])
        )
        if rows:
            html += (
                f'<div class="scroll"><table><thead><tr><th>importance for {escape(goal.measure.name)}</th>'
                f'<th class="number">in all</th><th class="number">among the best</th></tr></thead>'
                f"<tbody>{rows}</tbody></table></div>"
            )
    if not html:
        return ""
    caption = f'<p class="caption">{escape(shown.caveat(found))}</p>'
    return f'<section id="importance"><h2>What matters</h2>{html}{caption}</section>'


def _trials(found: Found) -> str:
    columns = [shown.Numbers.of(found, place) for place in range(len(found.objective.goals))]
    keys = [dimension.key for dimension in found.experiment.search.space]
    head = "<th>trial</th><th>state</th>" + "".join(f"<th>{escape(key)}</th>" for key in keys)
    head += "".join(
        f'<th class="number">{escape(numbers.goal.measure.name)}{escape(_bracket(numbers.shown.unit))}</th>'
        for numbers in columns
    )
    head += "".join(f'<th class="number">{escape(each.text)}</th>' for each in found.objective.constraints)
    rows = "".join(_trial(found, point, keys, columns) for point in found.points[:MOST_ROWS])
    cut = (
        f'<p class="caption">The first {MOST_ROWS} of {len(found.points)}; all are in the CSV.</p>'
        if len(found.points) > MOST_ROWS
        else ""
    )
    return (
        f'<details id="trials"><summary>Trials ({len(found.trial_points)})</summary><div class="scroll"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{cut}"
        '<p class="downloads"><a class="csv" data-table="trials" download="trials.csv">CSV</a></p></details>'
    )


def _trial(found: Found, point: Point, keys: list[str], columns: list[shown.Numbers]) -> str:
    name = str(point.number) if point.role == "trial" else {"check": "other seeds"}.get(point.role, point.role)
    state = PRUNED if point.state == "pruned" else point.state
    is_feasible = point.is_feasible(found.objective)
    mark = state if is_feasible or point.state != "complete" else "infeasible"
    red = "" if is_feasible else ' class="red"'
    row = f"<th>{escape(name)}</th><td{red}>{escape(mark)}</td>"
    row += "".join(f"<td>{escape(shown.said_of(point.values.get(key)))}</td>" for key in keys)
    row += "".join(f'<td class="number">{numbers.interval(point, i)}</td>' for i, numbers in enumerate(columns))
    for place, constraint in enumerate(found.objective.constraints):
        interval = point.constraint_interval(place)
        said = shown.shown_constraint(constraint, interval) if interval else "–"
        row += f'<td class="number">{escape(said)}</td>'
    return f"<tr>{row}</tr>"


def _experiment(found: Found) -> str:
    text = found.experiment.document.text or found.experiment.toml
    return (
        '<details id="experiment"><summary>Experiment file, as given</summary>'
        f"<pre><code>{escape(text)}</code></pre></details>"
    )


def _bracket(unit: str) -> str:
    return f" ({unit})" if unit else ""
