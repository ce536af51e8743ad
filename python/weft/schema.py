"""JSON Schema of the experiment file, for editors: completion, descriptions, and marks while typing.

Derived from the same declarations as the checks. A schema cannot say everything that `weft check` knows: rules across
keys, the ranges of values with units, and the dotted keys of a sweep are only checked there.
"""

from collections.abc import Mapping
from typing import Any

from weft import link_speed, units
from weft.experiment.axes import MOST_STEPS, SCALES
from weft.experiment.sections import SECTION, SECTIONS, SHORTHANDS
from weft.experiment.values import format_scalar
from weft.kinds import RECORD, Kind, Parameter, catalogue

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = r"[+]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?"


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an experiment file, as nested dicts."""
    rooms = catalogue()
    properties = {name: _parameter(parameter) for name, parameter in rooms[SECTION]["experiment"].parameters.items()}
    for name, section in SECTIONS.items():
        if section.room and section.room not in rooms:
            continue
        one = _reference(name) if section.room is None else _reference(section.room)
        properties[name] = {"type": "array", "items": one} if section.is_list else one
    definitions = {room: _room(room) for room in rooms if room not in (SECTION, RECORD)}
    definitions |= {name: _table(kind) for name, kind in rooms[SECTION].items() if name != "experiment"}
    definitions |= {f"record_{name}": _table(kind) for name, kind in rooms[RECORD].items()}
    definitions["sweep"] |= {
        "additionalProperties": {"anyOf": [{"type": "array", "minItems": 1}, _range(["from", "to", "steps"])]}
    }
    repeats = definitions["sweep"]["properties"]["repeats"]
    definitions["sweep"]["properties"]["repeats"] = {"anyOf": [repeats, _reference("record_repeats")]}
    definitions["record_exclude"]["additionalProperties"] = True
    definitions["space"] |= {
        "additionalProperties": {"anyOf": [{"type": "array", "minItems": 2}, _range(["from", "to"])]}
    }
    for name in ("objective", "record_objective", "record_constraint"):
        properties_of = definitions[name]["properties"]
        properties_of["workload"] = {"anyOf": [properties_of["workload"], {"type": "string"}]}
        for bound in properties_of.keys() & {"at_least", "at_most"}:
            properties_of[bound] = properties_of[bound] | {"type": ["string", "number"]}
    return {
        "$schema": DIALECT,
        "title": "weft experiment",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": definitions,
    }


def _range(required: list[str]) -> dict[str, Any]:
    """A range in place of a list of values."""
    end = {"type": ["number", "string"]}
    return {
        "type": "object",
        "properties": {
            "from": end,
            "to": end,
            "steps": {"type": "integer", "minimum": 2, "maximum": MOST_STEPS, "description": "Both ends included."},
            **({} if "steps" in required else {"step": end}),
            "scale": {"enum": list(SCALES), "default": "linear"},
        },
        "required": required,
        "additionalProperties": False,
    }


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _room(room: str) -> dict[str, Any]:
    """One alternative per kind; without a kind the section's default is meant."""
    kinds = catalogue()[room]
    section = SECTIONS.get(room)
    default = section.kind if section else None
    branches = []
    for name, kind in kinds.items():
        condition: dict[str, Any] = {"properties": {"kind": {"const": name}}}
        if name != default:
            condition["required"] = ["kind"]
        branches.append({"if": condition, "then": _table(kind, room)})
    description = {name: kind.summary for name, kind in kinds.items()}
    table: dict[str, Any] = {
        "type": "object",
        "properties": {
            "kind": {
                "enum": list(kinds),
                "description": "\n".join(f"{name}: {text}" for name, text in description.items()),
            }
        },
        "allOf": branches,
    }
    if default is None:
        table["required"] = ["kind"]
    if room not in SHORTHANDS:
        return table
    kind_name, key = SHORTHANDS[room]
    return {"anyOf": [table, _parameter(kinds[kind_name].parameters[key])]}


def _table(kind: Kind, room: str | None = None) -> dict[str, Any]:
    shared = catalogue()[RECORD].get(room) if room and SECTIONS.get(room) and SECTIONS[room].is_list else None
    parameters = {**(shared.parameters if shared else {}), **kind.parameters}
    known = {
        name: _parameter(parameter)
        for name, parameter in parameters.items()
        if parameter.value["type"] != "room" or parameter.value["room"] in catalogue()
    }
    table: dict[str, Any] = {
        "type": "object",
        "description": kind.doc,
        "properties": ({"kind": {"const": kind.name}} if room else {}) | known,
        "additionalProperties": False,
    }
    # In a sweep a required key may come from an axis, so that only tables inside kinds can require any.
    if kind.room == RECORD:
        table["required"] = [name for name, parameter in parameters.items() if parameter.required]
    return table


def _parameter(parameter: Parameter) -> dict[str, Any]:
    described = {"description": parameter.doc} if parameter.doc else {}
    if parameter.default is not None and parameter.value["type"] not in ("table", "list", "room"):
        described["default"] = format_scalar(parameter.value, parameter.default)
    return _value(parameter.value, parameter) | described


def _value(value_type: Mapping[str, Any], parameter: Parameter) -> dict[str, Any]:
    match value_type["type"]:
        case "time" | "rate" | "size" as family:
            names = list(units.FAMILIES[family].units)
            quantity = _quantity(names, units.FAMILIES[family].example)
            if family == "rate":
                speeds = {"type": "string", "pattern": link_speed.PATTERN, "examples": ["4x QDR", "40 Gbps 8b/10b"]}
                quantity = {"anyOf": [quantity, speeds]}
            words = value_type.get("words")
            return {"anyOf": [{"enum": list(words)}, quantity]} if words else quantity
        case "capacity":
            return _quantity(["packets", "packet", *units.SIZE.units], "100 packets")
        case "integer":
            bounds = {"minimum": parameter.min if parameter.min is not None else 0, "maximum": parameter.max}
            return {"type": "integer"} | {name: int(bound) for name, bound in bounds.items() if bound is not None}
        case "number":
            bounds = {"minimum": parameter.min, "maximum": parameter.max}
            return {"type": "number"} | {name: bound for name, bound in bounds.items() if bound is not None}
        case "flag":
            return {"type": "boolean"}
        case "choice":
            return {"enum": list(value_type["choices"])}
        case "list":
            return {"type": "array", "items": _value(value_type["of"], parameter)}
        case "table":
            return _reference(f"record_{value_type['record']}")
        case "room":
            return _reference(value_type["room"])
        case _:
            return {"type": "string"}


def _quantity(names: list[str], example: str) -> dict[str, Any]:
    return {"type": "string", "pattern": rf"^\s*{_NUMBER}\s*({'|'.join(names)})\s*$", "examples": [example]}
