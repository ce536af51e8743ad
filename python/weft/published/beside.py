"""From published numbers and the runs of a folder to pairs: what the document has, what we have, how far apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.metric.spans import of_span
from weft.metric.workloads import of_workloads
from weft.published.document import Row, Unreadable, read
from weft.report.figure.observation import key_value
from weft.report.folder import Cell, Folder, Run
from weft.report.quantity import swept_numbers
from weft.report.table import full_name, numbers_of
from weft.statistics.design import CROSS
from weft.statistics.interval import Interval, mean_interval

if TYPE_CHECKING:
    from weft.analysis import Answer

Asked = tuple[str, tuple[str, ...], tuple[str, str]]
"""A full name, the workloads that it is of, and the span of time."""


@dataclass(frozen=True)
class Pair:
    """A published number and ours. `cell` is None for a p-value, which is of many cells.

    `ours` is in the unit of the row: with `row.of` a share of that. Without it `why` says why there is none.
    """

    row: Row
    cell: Cell | None
    ours: Interval | None
    why: str = ""
    alpha: float | None = None
    """Level of the analysis that a p-value is of."""

    @property
    def deviation(self) -> float | None:
        """By how much ours is larger: as a share of the published value, for a share or 0 the difference."""
        if self.ours is None or self.alpha is not None:
            return None
        difference = self.ours.mean - self.row.value
        return difference if self.is_difference else difference / abs(self.row.value)

    @property
    def is_difference(self) -> bool:
        """Whether `deviation` is a difference."""
        return self.row.is_share or self.row.value == 0

    @property
    def agrees(self) -> bool | None:
        """For a p-value whether both are on the same side of the level, else None."""
        if self.ours is None or self.alpha is None:
            return None
        return (self.ours.mean < self.alpha) == (self.row.value < self.alpha)

    @property
    def is_inside(self) -> bool | None:
        """Whether our interval and the published value, or its interval, have a point in common; None without ours."""
        if self.ours is None or self.ours.low is None or self.ours.high is None:
            return None
        half = self.row.half_width or 0.0
        return self.ours.low <= self.row.value + half and self.row.value - half <= self.ours.high


@dataclass(frozen=True)
class Beside:
    """The pairs of one `[[published]]` in the order of its file; `alone` are rows of which there is no cell here.

    `trouble` is why the file could not be read, empty if it was; `notes` is what the entry says of the document.
    """

    file: str
    source: str
    pairs: tuple[Pair, ...] = ()
    alone: tuple[Row, ...] = ()
    trouble: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Document:
    """An entry of `[[published]]`: its rows, each with its pairs of cells; none for a p-value."""

    entry: Mapping[str, Any]
    rows: tuple[tuple[Row, list[Pair]], ...]
    trouble: str


def beside(folder: Folder, answers: "Sequence[Answer] | None" = None) -> list[Beside]:
    """What the `[[published]]` entries of a folder's experiment give; `answers` are those to its analyses, if known.

    The tables of the runs are read for the first call on a folder alone.
    """
    documents = _documents(folder)
    if answers is None and any(row.effect for document in documents for row, _ in document.rows):
        from weft.report.factors import asked_analyses

        answers = asked_analyses(folder)
    found = []
    for document in documents:
        pairs: list[Pair] = []
        alone = []
        for row, of_cells in document.rows:
            own = _of_analyses(folder, row, answers or ()) if row.effect else of_cells
            pairs += own
            alone += [] if own else [row]
        file, source = Path(document.entry["file"]).name, str(document.entry.get("source", ""))
        notes = tuple(document.entry.get("notes") or ())
        found.append(Beside(file, source, tuple(pairs), tuple(alone), document.trouble, notes))
    return found


def pairs_of_cells(folder: Folder) -> list[Pair]:
    """The pairs of all numbers that are no p-values."""
    return [pair for document in _documents(folder) for _, pairs in document.rows for pair in pairs]


def _documents(folder: Folder) -> list[_Document]:
    """The documents joined with the runs; kept by the folder."""
    if folder.joined:
        return folder.joined
    documents: list[tuple[Mapping[str, Any], tuple[Row, ...], str]] = []
    for entry in folder.experiment.get("published") or []:
        try:
            documents.append((entry, read(Path(entry["file"])), ""))
        except Unreadable as error:
            documents.append((entry, (), f"{entry['file']}: {error}"))
    cells = {id(row): list(_cells(folder, row)) for _, rows, _ in documents for row in rows if not row.effect}
    wanted: dict[str, dict[Asked, None]] = {}
    for _, rows, _ in documents:
        for row in rows:
            for cell in cells.get(id(row), ()):
                wanted.setdefault(cell.label, {})[_asked(row)] = None
    values = _values(folder, wanted)

    def pairs(row: Row) -> list[Pair]:
        return [_pair(row, cell, values[cell.label, _asked(row)]) for cell in cells.get(id(row), ())]

    folder.joined[:] = [
        _Document(entry, tuple((row, pairs(row)) for row in rows), trouble) for entry, rows, trouble in documents
    ]
    return folder.joined


def has(folder: Folder, cell: Cell, keys: Mapping[str, str]) -> bool:
    """Whether a cell has these values, written in any unit."""
    for key, text in keys.items():
        try:
            value = key_value(folder, cell, key)
        except ResultsError:
            return False  # Another kind, which does not have this key.
        if value is None or not same(str(value), text):
            return False
    return True


def same(value: str, text: str) -> bool:
    """Whether two texts are the same value.

    >>> same("1 Mbps", "1000 kbps"), same("True", "true"), same("ecmp", "spray"), same("0.50", "0.5")
    (True, True, False, True)
    """
    if value.lower() == text.lower():
        return True
    numbers = swept_numbers([value, text])
    return numbers is not None and numbers[0][0] == numbers[0][1]


def _cells(folder: Folder, row: Row) -> Iterator[Cell]:
    for cell in folder.cells:
        if cell.done and has(folder, cell, row.keys):
            yield cell


def _asked(row: Row) -> Asked:
    return full_name(row.metric), row.workloads, row.span


def _values(folder: Folder, wanted: Mapping[str, Mapping[Asked, None]]) -> dict[tuple[str, Asked], list[float | str]]:
    """By cell and what is asked a number per run, or why it has none; each run's tables are read once."""
    found: dict[tuple[str, Asked], list[float | str]] = {}
    total = sum(len(cell.done) for cell in folder.cells if cell.label in wanted)
    seen = 0
    for cell in folder.cells:
        if cell.label not in wanted:
            continue
        for run in cell.done:
            folder.tell("published", seen, total)
            seen += 1
            for asked, value in _of_run(folder, run, list(wanted[cell.label])).items():
                found.setdefault((cell.label, asked), []).append(value)
    return found


def _of_run(folder: Folder, run: Run, asked: Sequence[Asked]) -> dict[Asked, float | str]:
    tables = run.tables
    values: dict[Asked, float | str] = {}
    for workloads, span in dict.fromkeys((workloads, span) for _, workloads, span in asked):
        names = [name for name, *own in asked if own == [workloads, span]]
        is_plain = not workloads and not any(span)
        known = {name: folder.run_values.get(name, {}).get(run.name) for name in names if is_plain}
        lacking = [name for name in names if known.get(name) is None]
        found: Mapping[str, float | str] = {}
        if lacking:
            try:
                part = of_span(tables, *span, lacking[0]) if any(span) else tables
                if workloads:
                    part = of_workloads(part, workloads, lacking[0])
                found = numbers_of(part, lacking)
            except ResultsError as error:
                found = dict.fromkeys(lacking, str(error))
        for name in names:
            value = known.get(name)
            values[name, workloads, span] = found.get(name, f"{name}: is no number") if value is None else value
    return values


def _pair(row: Row, cell: Cell, values: Sequence[float | str]) -> Pair:
    numbers = [value for value in values if isinstance(value, float)]
    if not numbers:
        return Pair(row, cell, None, next((value for value in values if isinstance(value, str)), "no run is done"))
    return Pair(row, cell, mean_interval([value / (row.of or 1.0) for value in numbers]))


def _of_analyses(folder: Folder, row: Row, answers: "Sequence[Answer]") -> list[Pair]:
    """The p-values of an effect on a metric in the analyses that were asked for the row's keys."""
    found = []
    effect = frozenset(part.strip() for part in row.effect.replace(CROSS.strip(), " x ").split(" x "))
    for answer in answers:
        where = {key: str(value) for key, value in answer.question.where.items()}
        # A key that splits no analysis is the same everywhere (name), or has several values, of which any will do.
        fits = (
            same(where[key], text) if key in where else any(has(folder, cell, {key: text}) for cell in folder.cells)
            for key, text in row.keys.items()
        )
        if row.metric not in answer.question.metrics or not all(fits):
            continue
        if answer.refused:
            found.append(Pair(row, None, None, answer.refused, answer.question.alpha))
            continue
        p_value = _p_value(answer, row.metric, effect)
        interval = None if p_value is None else Interval(p_value, None, None, 1)
        why = "" if interval else f"{row.metric} has no p-value of {row.effect}"
        found.append(Pair(row, None, interval, why, answer.question.alpha))
    return found


def _p_value(answer: "Answer", metric: str, effect: frozenset[str]) -> float | None:
    tables = answer.rows.get("between") or [table for table in answer.rows.values() if isinstance(table, dict)]
    for table in tables:
        if isinstance(table, dict) and table.get("response") == metric:
            for row in table["rows"]:
                if frozenset(part.strip() for part in str(row["source"]).split(CROSS.strip())) == effect:
                    p_value: float | None = row["p_value"]
                    return p_value
    return None
