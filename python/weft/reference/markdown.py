"""Markdown: a table of cells."""

from collections.abc import Iterable, Iterator, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    r"""The lines of a table; a cell's line breaks become spaces.

    >>> list(table(("a", "b"), [("1|2", "3")]))
    ['| a | b |', '| --- | --- |', '| 1\\|2 | 3 |']
    """
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        cells = (" ".join(cell.replace("|", "\\|").split()) for cell in row)
        yield "| " + " | ".join(cells) + " |"
