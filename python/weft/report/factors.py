"""What the factors do: analysis of variance of the numbers of runs, and the answers to `[[analysis]]`.

Where a sweep has two factors or more and repeats, each number of the results table is analysed, unless the experiment
asks for analyses of its own. Repeats that are the same in every cell are blocks: they share a seed, hence the traffic,
so that what a seed does to all cells is not counted as error. An axis of many values is a curve and no factor: its
figures show what it does, and a mean for each of a hundred levels would tell nobody anything.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import polars as pl

from weft.analysis import Answer
from weft.analysis import analyse as answers_of
from weft.errors import ResultsError
from weft.report.choose import axes_of
from weft.report.figure.observation import key_word
from weft.report.folder import Folder
from weft.report.quantity import rounded
from weft.report.table import Numbers, columns_shown, heading
from weft.results import Results
from weft.statistics.anova import MODEL, TOTAL, Anova, analyse
from weft.statistics.assumptions import Assumptions, check_assumptions
from weft.statistics.design import design

ALPHA = 0.05
MOST_LEVELS = 12
"""Values of an axis that is a factor."""
MOST_WORK = 1e10
"""Runs times the square of the degrees of freedom, for each decomposition: some 3 s on two cores (4.3e9 took 1.5 s)."""
MOST_ORDER = 3
"""Factors in one interaction; more of them nobody can read."""


@dataclass(frozen=True)
class Effects:
    """The analyses of a sweep by the column of the results table; `refused` is why there are none.

    `is_blocked`: repeats are blocks. `order` is the largest number of factors in an interaction, of `factors`; `beside`
    is the sentence about the axes that have too many values to be one of them, or empty.
    """

    factors: tuple[str, ...] = ()
    order: int = 0
    is_blocked: bool = False
    tables: Mapping[str, tuple[Anova, Assumptions]] | None = None
    left_out: Mapping[str, str] | None = None
    refused: str = ""
    beside: str = ""


def effects(folder: Folder, numbers: Numbers) -> Effects | None:
    """Analyses of all numbers of the results table; None where the sweep has too few factors or no repeats."""
    levels_of = {axis: len(words) for axis, (words, _) in axes_of(folder).items()}
    if len(levels_of) < 2 or max(len(cell.done) for cell in folder.cells) < 2:
        return None
    factors = tuple(axis for axis, count in levels_of.items() if count <= MOST_LEVELS)
    wide = [f"{axis} ({count:,} values)" for axis, count in levels_of.items() if count > MOST_LEVELS]
    if len(factors) < 2:
        why = f"an axis of more than {MOST_LEVELS} values is no factor, which leaves {len(factors) or 'none'}"
        return Effects(factors, refused=f"{why}: {', '.join(wide)} is better read from the figures")
    beside = ""
    if wide:
        beside = f"More than {MOST_LEVELS} values, so no factor: {', '.join(wide)}; what it does counts as error. "
    words = {cell.label: [key_word(folder, cell, key) for key in factors] for cell in folder.cells if cell.done}
    levels = pl.DataFrame(
        [(label, *row) for label, row in words.items()], schema=["cell", *factors], orient="row"
    ).with_columns(pl.col(factors).cast(pl.String))
    frame = numbers.runs.join(levels, on="cell", how="inner").with_columns(pl.col("repeat").cast(pl.String))
    # Numbers that the same runs have share a design, and with it all of its linear algebra.
    alike: dict[tuple[str, ...], list[str]] = {}
    for key in columns_shown(numbers):
        alike.setdefault(tuple(frame.drop_nulls(key)["run"]), []).append(key)
    order = _order([frame[key].n_unique() for key in factors], frame.height, len(alike))
    if order == 0:
        return Effects(factors, refused=f"{frame.height:,} runs of {len(words):,} cells are too many to analyse here")
    tables: dict[str, tuple[Anova, Assumptions]] = {}
    left_out: dict[str, str] = {}
    is_blocked = False
    for keys in alike.values():
        part = frame.drop_nulls(keys)
        repeats = part.group_by("cell").agg(pl.col("repeat").sort())["repeat"]
        same = part.height == frame.height and repeats.n_unique() == 1
        try:
            how = design(part, factors, 3, order, "repeat" if same else None)
        except ResultsError as error:
            left_out |= dict.fromkeys(keys, str(error))
            continue
        for key in keys:
            folder.tell("analyses", len(tables) + len(left_out), sum(map(len, alike.values())))
            values = part[key].to_numpy()
            try:
                tables[key] = (analyse(how, key, values), check_assumptions(how, [key], values[:, None], ALPHA))
                is_blocked |= same
            except ResultsError as error:
                left_out[key] = str(error)
    if not tables:
        return Effects(factors, order, refused=next(iter(left_out.values()), "no run has a number"))
    tables = {key: tables[key] for key in columns_shown(numbers) if key in tables}
    return Effects(factors, order, is_blocked, tables, left_out, beside=beside)


def asked_analyses(folder: Folder) -> list[Answer]:
    """The answers to the `[[analysis]]` entries of the experiment, from the numbers that are computed already."""
    if not folder.done or not folder.experiment.get("analysis"):
        return []
    results = Results(folder.directory)
    results.know(folder.run_values)
    return answers_of(results)


def effects_table(found: Effects) -> pl.DataFrame:
    """All rows of all analyses, as CSV has them."""
    rows = [
        (
            key, row.source, row.sum_of_squares, row.degrees, row.mean_square, row.f, row.p_value,
            row.partial_eta_squared, row.omega_squared,
        )
        for key, (table, _) in (found.tables or {}).items()
        for row in table.rows
    ]  # fmt: skip
    schema = {"number": pl.String, "source": pl.String, "sum_of_squares": pl.Float64, "df": pl.Int64}
    reals = ("mean_square", "f", "p", "partial_eta_squared", "omega_squared")
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(reals, pl.Float64), orient="row")


def effects_html(found: Effects, download: str) -> str:
    """The folded section; `download` is the link to its CSV."""
    if found.refused:
        why = f"<p>Not analysed: {escape(found.refused)}.</p>"
        return f'<details id="factors"><summary>What the factors do</summary>{why}</details>'
    tables = found.tables or {}
    blocks = "Repeats are blocks: they share a seed over all cells. " if found.is_blocked else ""
    orders = "" if found.order == len(found.factors) else f"Interactions of at most {found.order} factors. "
    note = (
        f"Analysis of variance of the numbers of runs over {', '.join(found.factors)}; sums of squares of type III, "
        f"sum-to-zero coding. {blocks}{orders}{found.beside}Partial η² is the effect's share of itself and "
        "the error, ω² its share of the whole less what chance gives it. The p-values are not adjusted for looking at "
        f"{len(tables)} numbers."
    )
    parts = "".join(_one(key, table, checks) for key, (table, checks) in tables.items())
    lacking = "".join(
        f'<p class="caption">{escape(" ".join(heading(key)).strip())}: not analysed, {escape(why)}.</p>'
        for key, why in (found.left_out or {}).items()
    )
    return (
        f'<details id="factors"><summary>What the factors do ({len(tables)} analyses of variance)</summary>'
        f'<p class="caption">{escape(note)}</p>{parts}{lacking}{download}</details>'
    )


def _one(key: str, table: Anova, checks: Assumptions) -> str:
    effects_only = [row for row in table.rows if row.source not in (MODEL, TOTAL)]
    body = "".join(
        f"<tr><td>{escape(row.source)}</td>"
        + "".join(
            f'<td class="number">{text}</td>'
            for text in (
                f"{row.degrees}", _number(row.f), _p(row.p_value), _share(row.partial_eta_squared),
                _share(row.omega_squared),
            )
        )
        + "</tr>"
        for row in effects_only
    )  # fmt: skip
    verdict = escape(checks.verdict).replace("\n", "<br>")
    return (
        f'<h3 class="analysis">{escape(" ".join(heading(key)).strip())}</h3>'
        '<div class="scroll"><table class="narrow"><thead><tr><th>source</th><th class="number">df</th>'
        '<th class="number">F</th><th class="number">p</th><th class="number">partial η²</th><th class="number">ω²</th>'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="caption">R² {_share(table.r_squared)}, {table.runs:,} runs. Assumptions: {verdict}.</p>'
    )


def _order(levels: list[int], runs: int, designs: int) -> int:
    """The largest interactions that the runs and the time allow; 0 if not even main effects."""
    for order in range(min(len(levels), MOST_ORDER), 0, -1):
        degrees = [
            math.prod(level - 1 for level in chosen)
            for size in range(1, order + 1)
            for chosen in itertools.combinations(levels, size)
        ]
        # Of each design the whole model is decomposed, and for each effect (and the block) all but that effect.
        decompositions = designs * (2 + len(degrees))
        if sum(degrees) < runs and runs * sum(degrees) ** 2 * decompositions <= MOST_WORK:
            return order
    return 0


def _number(value: float | None) -> str:
    return "" if value is None else rounded(value, 3)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    text = "&lt; 0.001" if value < 0.001 else f"{value:.3f}"
    return f"<b>{text}</b>" if value < ALPHA else text
