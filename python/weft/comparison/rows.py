"""Rows of numbers in a terminal: beside their keys where the line has room for both, else each below its own name.

Nothing is cut: a key breaks at its dots and a verdict between words. Where even the numbers alone do not fit, the
column that is missed least goes, and a line says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_WIDE = 13
"""Characters that a value of a key has at least where it needs them; a longer one goes on in the next line."""
WORDS = 15
"""Characters that a column of words has at least where it needs them: "no verdict: one"."""
INDENT = 2


@dataclass(frozen=True)
class Row:
    """What stands at the keys, the same as one name (`label`), and the numbers."""

    keys: Sequence[Text]
    label: str
    numbers: Sequence[Text]


def print_rows(
    console: "Console",
    keys: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[Row],
    words: str = "",
    spare: str = "",
) -> None:
    """Print rows under `keys` and `columns`; `words` is the column that may wrap, `spare` the one that may go."""
    table = _numbers(columns, rows, words, keys)
    for row in rows:
        table.add_row(*row.keys, *row.numbers)
    if _least(console, table) <= console.width:
        console.print(table)
        return
    room = console.width - INDENT
    if spare in columns and _least(console, _numbers(columns, rows, words)) > room:
        place = list(columns).index(spare)
        rows = [Row(row.keys, row.label, [*row.numbers[:place], *row.numbers[place + 1 :]]) for row in rows]
        columns = [name for name in columns if name != spare]
        console.print(Text(f"{spare}: no room in {console.width} columns; --json has it", style="dim"))
    _print_below(console, columns, rows, words, room)


def _print_below(console: "Console", columns: Sequence[str], rows: Sequence[Row], words: str, room: int) -> None:
    """The heading once, then every name on lines of its own above its numbers."""
    from rich.padding import Padding

    heading = _numbers(columns, rows, words)
    console.print(Padding(heading, (0, 0, 0, INDENT), expand=False))
    for row in rows:
        console.print(Text(row.label))
        table = _numbers(columns, rows, words)
        table.show_header = False
        table.add_row(*row.numbers)
        console.print(Padding(table, (0, 0, 0, INDENT), expand=False))


def _numbers(columns: Sequence[str], rows: Sequence[Row], words: str, keys: Sequence[str] = ()) -> "Table":
    """A table without rows whose columns are as wide as all of `rows` need, so that several stand below each other."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, key in enumerate(keys):
        # A part of the key on each line, which keeps the column narrow.
        parts = key.replace(".", ".\n").split("\n")
        value = max((_longest(row.keys[place].plain) for row in rows), default=0)
        least = max(*map(len, parts), min(value, MOST_WIDE))
        table.add_column(Text("\n".join(parts)), overflow="fold", min_width=least, vertical="bottom")
        table.columns[-1].vertical = "top"
    for place, name in enumerate(columns):
        width = max(len(name), *(_longest(row.numbers[place].plain) for row in rows))
        if name == words:
            table.add_column(name, overflow="fold", min_width=min(width, WORDS))
        else:
            table.add_column(name, justify="right", overflow="fold", min_width=width)
    return table


def _longest(text: str) -> int:
    return max(map(len, text.split("\n")))


def _least(console: "Console", table: "Table") -> int:
    return table.__rich_measure__(console, console.options.update(width=10_000)).minimum
