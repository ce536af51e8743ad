"""Kinds of figures and what is asked of them: what `[[report]]` may say, without what draws it."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

from weft.errors import ResultsError

if TYPE_CHECKING:
    from weft.report.figure.drawing import Figure
    from weft.report.folder import Folder


@dataclass(frozen=True)
class Ask:
    """An entry of `[[report]]`: which figure of what."""

    figure: str
    y: str | None = None
    x: str | None = None
    by: str | None = None
    facet: str | None = None
    title: str | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of figure: the keys of `[[report]]` that it needs and may have, and how it is drawn.

    `of` says what `y` is: one value per flow (link, queue), one number per run, or samples over time.
    """

    name: str
    doc: str
    needs: tuple[str, ...]
    takes: tuple[str, ...]
    of: Literal["values", "runs", "samples", "links", "published"]

    def draw(self, folder: "Folder", ask: Ask) -> "Figure":
        """Draw what is asked, by `draw` in the file of the kind's name. Raises ResultsError."""
        figure: Figure = importlib.import_module(f"weft.report.figure.{self.name}").draw(folder, ask)
        return figure


def ask(entry: Mapping[str, object], kinds: Mapping[str, Kind]) -> Ask:
    """Check an entry of `[[report]]`.

    Raises ResultsError for an unknown figure or key, and for a missing key.
    """
    keys = [field.name for field in fields(Ask)]
    for key, value in entry.items():
        if key not in keys:
            raise ResultsError(f"report.{key}: no such key; there are {', '.join(keys)}")
        if not isinstance(value, str):
            raise ResultsError(f"report.{key}: expected text, got {value!r}")
    asked = Ask(**{"figure": "", **{key: str(value) for key, value in entry.items()}})
    kind = kinds.get(asked.figure)
    if kind is None:
        raise ResultsError(f'report.figure: unknown "{asked.figure}"; there are {", ".join(kinds)}')
    for key in kind.needs:
        if getattr(asked, key) is None:
            raise ResultsError(f'report.{key}: the figure "{kind.name}" needs it')
    for key in ("x", "y", "by", "facet"):
        if getattr(asked, key) is not None and key not in kind.needs + kind.takes:
            raise ResultsError(f'report.{key}: the figure "{kind.name}" does not have it')
    return asked
