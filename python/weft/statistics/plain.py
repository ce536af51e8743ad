"""Tables of statistics as plain text, for a terminal, a log, or a report without style."""

from collections.abc import Sequence

SMALLEST_P = 1e-4


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Aligned columns: the first `left` to the left, the others to the right; an empty cell stays empty.

    >>> print(plain_table(("source", "F"), [("rate", "15.79"), ("additive", "6.9")]))
    source        F
    ───────────────
    rate      15.79
    additive    6.9
    """
    widths = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header))]
    lines = []
    for row in (header, *rows):
        sized = enumerate(zip(row, widths, strict=True))
        cells = [cell.ljust(width) if place < left else cell.rjust(width) for place, (cell, width) in sized]
        lines.append("  ".join(cells).rstrip())
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([lines[0], rule, *lines[1:]])


def said(value: float | None, digits: int = 4) -> str:
    """A number to some significant digits, whole numbers as they are; empty for None.

    >>> said(0.523035), said(1209.2), said(1234567.5), said(168), said(None)
    ('0.5230', '1209', '1.235e+06', '168', '')
    """
    if value is None:
        return ""
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def said_p(value: float | None) -> str:
    """A p-value to four decimals; empty for None.

    >>> said_p(0.0030339), said_p(1.9e-7), said_p(None)
    ('0.0030', '< 0.0001', '')
    """
    if value is None:
        return ""
    return f"< {SMALLEST_P:.4f}" if value < SMALLEST_P else f"{value:.4f}"
