"""Kinds: what may be written in an experiment file, as the parts of weft declare it themselves.

A *room* (`[queue]`) offers *kinds* (`drop_tail`); a kind has *parameters*. Those of the simulators are declared in Rust
(crates/net/src/kinds.rs) and read from `_core.kinds()`; Python's own sections are declared in the same shape
(`experiment/sections.py`, `backend/`). Checks, `weft list`, `weft schema` and docs/ all derive from this catalogue.
"""

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

RECORD = "record"
"""The room of tables inside other kinds."""

EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Parameter:
    """One key of a kind; `default`, `min` and `max` are in base units.

    `value` says how it is written: `{"type": "rate"}`, `{"type": "choice", "choices": [...]}`,
    `{"type": "list", "of": {...}}`, `{"type": "table", "record": name}`, `{"type": "room", "room": name}`.
    A time may also allow words: `{"type": "time", "words": [...]}`.
    """

    name: str
    doc: str
    value: Mapping[str, Any]
    optional: bool
    required: bool
    default: Any
    min: float | None
    max: float | None


@dataclass(frozen=True)
class Kind:
    """A kind of a room: a queue discipline, a topology, a backend."""

    room: str
    name: str
    doc: str
    source: str
    parameters: Mapping[str, Parameter]
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: EMPTY)

    @property
    def summary(self) -> str:
        """The first line of its description."""
        return self.doc.partition("\n")[0]


def parameter(
    name: str,
    value: str | Mapping[str, Any],
    doc: str,
    *,
    default: Any = None,
    required: bool = False,
    min: float | None = None,
    max: float | None = None,
) -> dict[str, Any]:
    """A parameter in the shape of `_core.kinds()`: without default and not required, it is optional."""
    return {
        "name": name,
        "doc": doc,
        "value": {"type": value} if isinstance(value, str) else dict(value),
        "optional": default is None and not required,
        "required": required,
        "default": default,
        "min": min,
        "max": max,
    }


def read(described: Iterable[Mapping[str, Any]]) -> list[Kind]:
    """Kinds from their description in the shape of `_core.kinds()`."""
    return [
        Kind(
            room=kind["room"],
            name=kind["name"],
            doc=kind["doc"],
            source=kind["source"],
            parameters=MappingProxyType({p["name"]: Parameter(**p) for p in kind["parameters"]}),
            profiles=MappingProxyType({name: MappingProxyType(values) for name, values in kind.get("profiles", ())}),
        )
        for kind in described
    ]


@functools.cache
def catalogue() -> Mapping[str, Mapping[str, Kind]]:
    """All kinds by room and name, in the order of their lists."""
    from weft import _core
    from weft.backend import BACKENDS
    from weft.experiment.sections import KINDS

    described = [*KINDS, *(backend.KIND for backend in BACKENDS.values()), *json.loads(_core.kinds())]
    rooms: dict[str, dict[str, Kind]] = {}
    for kind in read(described):
        rooms.setdefault(kind.room, {})[kind.name] = kind
    return MappingProxyType({room: MappingProxyType(kinds) for room, kinds in rooms.items()})
