"""Readable: a spec in base units as a person writes it, and as TOML text.

Checking what `readable` gives yields the same spec again.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from weft.experiment.sections import SECTION, SECTIONS
from weft.experiment.values import ValueType, format_scalar
from weft.kinds import RECORD, Parameter, catalogue

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def readable(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with units: "10 us" for 10,000,000 picoseconds."""
    rooms = catalogue()
    top = rooms[SECTION]["experiment"].parameters
    written = {name: format_scalar(top[name].value, spec[name]) for name in top if name in spec}
    for name, section in SECTIONS.items():
        if name not in spec:
            continue
        shared = rooms[RECORD].get(name) if section.room else rooms[SECTION].get(name)
        common = shared.parameters if shared else {}
        if section.is_list:
            written[name] = [_table(section.room, common, element) for element in spec[name]]
        else:
            written[name] = _table(section.room, common, spec[name])
    return written


def _table(room: str | None, common: Mapping[str, Parameter], spec: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {**common, **(catalogue()[room][spec["kind"]].parameters if room else {})}
    written: dict[str, Any] = {"kind": spec["kind"]} if room else {}
    return written | {name: _value(parameters[name].value, value) for name, value in spec.items() if name in parameters}


def _value(value_type: ValueType, value: Any) -> Any:
    match value_type["type"]:
        case "list":
            return [_value(value_type["of"], element) for element in value]
        case "table":
            return _table(None, catalogue()[RECORD][value_type["record"]].parameters, value)
        case "room":
            return _table(value_type["room"], {}, value)
        case _:
            return format_scalar(value_type, value)


def toml(tables: Mapping[str, Any]) -> str:
    """TOML text of nested tables: a section for each table, an inline table below that."""
    lines = [f"{_key(key)} = {inline(value)}" for key, value in tables.items() if not _is_section(value)]
    for key, value in tables.items():
        if not _is_section(value):
            continue
        elements, header = (value, f"[[{_key(key)}]]") if isinstance(value, list) else ([value], f"[{_key(key)}]")
        for element in elements:
            lines += ["", header, *(f"{_key(name)} = {inline(part)}" for name, part in element.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)
    )


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    """A value as TOML in one line.

    >>> inline([{"kind": "mptcp", "subflows": 4}])
    '[{ kind = "mptcp", subflows = 4 }]'
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case dict():
            inside = ", ".join(f"{_key(key)} = {inline(part)}" for key, part in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case list():
            return f"[{', '.join(inline(part) for part in value)}]"
        case float():
            return repr(value)
        case _:
            return str(value)
