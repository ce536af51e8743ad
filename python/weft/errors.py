"""Errors: what a caller did wrong, where, and the way out.

Every error that weft raises on purpose is a `WeftError`; anything else is a bug of weft.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.results import Results


class WeftError(Exception):
    """Base of everything that weft raises on purpose; the text is a sentence for a person."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an experiment, and where.

    `place` is the file, or `--set`; `line` counts from 1 and is None where there is none. `key` is the dotted path.
    `value`, `expected` and `nearest` repeat parts of the message for programs; they may be None.
    """

    place: str
    line: int | None
    key: str
    message: str
    value: object = None
    expected: str | None = None
    nearest: str | None = None

    def __str__(self) -> str:
        where = f"{self.place}:{self.line}" if self.line is not None else self.place
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


class ExperimentError(WeftError):
    """Every fault of one experiment, in the order of the file.

    >>> print(ExperimentError([Fault("a.toml", 3, "seed", "is required")]))
    a.toml:3: seed: is required
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class OutputError(WeftError):
    """The output folder cannot be used: unwritable, of another experiment, or of another version of weft."""


class ResultsError(WeftError):
    """Results do not hold what was asked of them."""


class RunError(WeftError):
    """A run failed while it was executed. `results` holds the others; None if there are none."""

    def __init__(self, message: str, results: "Results | None" = None) -> None:
        super().__init__(message)
        self.results = results


class Interrupted(WeftError):
    """A person or the system asked to stop; what was finished is kept.

    `status` is the exit status: 130 for Ctrl-C, 143 for SIGTERM.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status
