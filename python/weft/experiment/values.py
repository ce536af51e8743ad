"""Values: from what a person writes for a parameter to base units, and back."""

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any

from weft import units
from weft.kinds import Parameter

ValueType = Mapping[str, Any]

LARGEST_INTEGER = 2**63 - 1


class ValueFault(Exception):
    """A value that its parameter does not allow."""

    def __init__(self, message: str, expected: str | None = None, nearest: str | None = None) -> None:
        super().__init__(message)
        self.expected = expected
        self.nearest = nearest


def said(value: object) -> str:
    """A value in an error: as TOML, cut where it is long.

    >>> said("ten"), said(True), said({"a": 1})
    ('"ten"', 'true', 'a table')
    """
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
    return text if len(text) <= 80 else text[:76] + "..." + text[-1]


def expected(value_type: ValueType) -> str:
    """What a person should write.

    >>> expected({"type": "rate"})
    'a rate, like "100 Gbps"'
    """
    match value_type["type"]:
        case "time" | "rate" | "size" as family:
            words = "".join(f'"{word}" or ' for word in value_type.get("words", ()))
            return f'{words}a {family}, like "{units.FAMILIES[family].example}"'
        case "capacity":
            return 'a capacity, like "100 packets" or "150 kB"'
        case "integer":
            return "a whole number"
        case "number":
            return "a number"
        case "flag":
            return "true or false"
        case "file":
            return "the path of a file"
        case "choice":
            return " or ".join(f'"{word}"' for word in value_type["choices"])
        case "list":
            return f"a list, each element {expected(value_type['of'])}"
        case "table":
            return "a table, like { key = value }"
        case "room":
            return 'a table with a kind, like { kind = "..." }'
        case _:
            return "text"


def suggestion(word: str, known: Iterable[str], label: str) -> tuple[str, str | None]:
    """The end of a message about an unknown word, and the nearest known one.

    >>> suggestion("dctpc", ["reno", "dctcp"], "known")
    ('did you mean "dctcp"?', 'dctcp')
    >>> suggestion("x", ["reno", "dctcp"], "known")
    ('known: reno, dctcp', None)
    """
    names = list(known)
    folded = {name.lower().replace("-", "_"): name for name in names}
    close = difflib.get_close_matches(word.lower().replace("-", "_"), folded, 1)
    if close:
        return f'did you mean "{folded[close[0]]}"?', folded[close[0]]
    return f"{label}: {', '.join(names) or 'none'}", None


def parse_scalar(parameter: Parameter, value_type: ValueType, value: object, directory: FilePath) -> Any:
    """Base units of a value that is no table, list or room.

    Raises ValueFault.
    """
    match value_type["type"]:
        case "time" | "rate" | "size" as family:
            if value in value_type.get("words", ()):
                return value
            try:
                parsed: Any = units.PARSERS[family](value)
            except units.UnitError as error:
                raise ValueFault(_unit_message(error, value, value_type), expected(value_type), error.nearest) from None
            _check_range(parameter, parsed, value, units.FAMILIES[family].format)
            return parsed
        case "capacity":
            try:
                capacity = units.parse_capacity(value)
            except units.UnitError as error:
                raise ValueFault(_unit_message(error, value, value_type), expected(value_type), error.nearest) from None
            _check_range(parameter, next(iter(capacity.values())), value, str)
            return capacity
        case "integer":
            if isinstance(value, bool) or not isinstance(value, int):
                raise wrong_type(value, value_type)
            if parameter.min is None and value < 0:
                raise ValueFault(f"{said(value)} is negative; expected a whole number, at least 0", "at least 0")
            if value > LARGEST_INTEGER:
                raise ValueFault(f"{said(value)} is above {LARGEST_INTEGER}, the largest allowed")
            _check_range(parameter, value, value, str)
            return value
        case "number":
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise wrong_type(value, value_type)
            _check_range(parameter, value, value, str)
            return float(value)
        case "flag":
            if not isinstance(value, bool):
                raise wrong_type(value, value_type)
            return value
        case "choice":
            if not isinstance(value, str):
                raise wrong_type(value, value_type)
            if value not in value_type["choices"]:
                way_out, nearest = suggestion(value, value_type["choices"], "known")
                raise ValueFault(f"unknown {said(value)}; {way_out}", expected(value_type), nearest)
            return value
        case "file":
            if not isinstance(value, str) or not value or "\0" in value:
                raise wrong_type(value, value_type)
            file = (directory / value).absolute()
            try:
                is_file = file.is_file()
            except OSError:
                is_file = False
            if not is_file:
                raise ValueFault(f"there is no file {said(value)} (looked for {file})", expected(value_type))
            return str(file)
        case _:
            if not isinstance(value, str):
                raise wrong_type(value, value_type)
            return value


def format_scalar(value_type: ValueType, value: Any) -> Any:
    """As a person writes it: `parse_scalar` gives `value` back."""
    match value_type["type"]:
        case "time" | "rate" | "size" as family if not isinstance(value, str):
            return units.FAMILIES[family].format(value)
        case "capacity":
            return units.format_capacity(value)
        case "number":
            return float(value)
        case _:
            return value


def _unit_message(error: units.UnitError, value: object, value_type: ValueType) -> str:
    message = str(error)
    if isinstance(value, bool | dict | list):
        message = f"{said(value)} is {_type_name(value)}; {message}"
    if words := value_type.get("words"):
        message += " (or " + " or ".join(f'"{word}"' for word in words) + ")"
    return message


def wrong_type(value: object, value_type: ValueType) -> ValueFault:
    """The fault of a value of another type than `value_type`."""
    what = expected(value_type)
    shown = said(value)
    name = _type_name(value)
    return ValueFault(f"{shown} is {name}; expected {what}" if shown != name else f"{shown}; expected {what}", what)


def _type_name(value: object) -> str:
    match value:
        case bool():
            return "a flag"
        case int():
            return "a whole number"
        case float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a table"


def _check_range(parameter: Parameter, parsed: float, value: object, show: Any) -> None:
    low, high = parameter.min, parameter.max
    if (low is None or parsed >= low) and (high is None or parsed <= high):
        return
    low_text = None if low is None else show(_whole(low))
    high_text = None if high is None else show(_whole(high))
    if low_text is not None and high_text is not None:
        raise ValueFault(f"{said(value)} is outside {low_text} to {high_text}", f"{low_text} to {high_text}")
    if low_text is not None:
        raise ValueFault(f"{said(value)} is below {low_text}, the smallest allowed", f"at least {low_text}")
    raise ValueFault(f"{said(value)} is above {high_text}, the largest allowed", f"at most {high_text}")


def _whole(bound: float) -> float | int:
    return int(bound) if float(bound).is_integer() else bound
