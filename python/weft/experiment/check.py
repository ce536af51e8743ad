"""Checks: from the tables of a file to one spec in base units, with every fault that there is.

The spec is what the simulators get: all sections, all defaults written out, keys without a value left out. A faulty
value leaves its default in the spec, so that what follows is still checked; such a spec is never run.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from weft.errors import Fault
from weft.experiment.document import Document
from weft.experiment.path import Path
from weft.experiment.sections import OF_TRANSPORT, READ_ELSEWHERE, SECTION, SECTIONS, SHORTHANDS, Section
from weft.experiment.values import ValueFault, ValueType, expected, parse_scalar, said, suggestion, wrong_type
from weft.kinds import EMPTY, RECORD, Kind, Parameter, catalogue

Spec = dict[str, Any]

_MISSING = object()


class Checker:
    """Walks one cell's tables; `faults` grows, `spec` is complete if `is_complete`."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: dict[Path, Fault] = {}
        self.is_complete = True

    def fault(self, path: Path, message: str, **parts: Any) -> None:
        """Notes a fault; the first one of a key stands."""
        self.faults.setdefault(path, self.document.fault(path, message, **parts))

    def spec(self, cell: Mapping[str, Any]) -> Spec:
        """The spec of a cell: its tables without what says how often and what for it is run."""
        rooms = catalogue()
        top = rooms[SECTION]["experiment"]
        sections = {
            name: section for name, section in SECTIONS.items() if section.room is None or section.room in rooms
        }
        self._unknown_sections(cell, [*top.parameters, *sections])
        spec = self._keys(top.parameters, {key: value for key, value in cell.items() if key in top.parameters}, ())
        transport = _transport(cell)
        for name, section in sections.items():
            if name in READ_ELSEWHERE:
                continue
            spec[name] = self._section(name, section, cell.get(name, _MISSING), transport)
        return spec

    def _section(self, name: str, section: Section, written: object, transport: str | None) -> Any:
        """One section: where an axis does not change it, what the last cell had.

        It depends on no other, but for the kind that it takes when none is named, which the transport may choose.
        """
        default = OF_TRANSPORT.get(transport or "", {}).get(name, section.kind)
        kept = self.document.checked.get(name)
        if kept is None or kept[0] is not written or kept[1] != default:
            alone = Checker(self.document)
            kept = (written, default, alone._read(name, section, written, default), alone)
            self.document.checked[name] = kept
        _, _, spec, alone = kept
        self.faults |= alone.faults
        self.is_complete &= alone.is_complete
        # A copy: what is done to the spec of a cell is not done to that of others.
        return list(spec) if section.is_list else dict(spec)

    def _read(self, name: str, section: Section, written: object, default: str | None) -> Any:
        if section.is_list:
            return self._list_section(section, written)
        if section.room:
            return self._section_of_room(section, written, default)
        return self._all_keys(catalogue()[SECTION][name], self._table(written, (name,)), (name,))

    def _unknown_sections(self, cell: Mapping[str, Any], known: list[str]) -> None:
        for key in cell:
            if key not in known:
                way_out, nearest = suggestion(key, known, "known")
                self.fault((key,), f"unknown section or key; {way_out}", value=key, nearest=nearest)

    def _table(self, written: object, path: Path) -> Mapping[str, Any]:
        if written is _MISSING:
            return EMPTY
        if not isinstance(written, dict):
            self.fault(path, f"{said(written)} is no section; write [{path[-1]}] above its keys", value=written)
            return EMPTY
        return written

    def _section_of_room(self, section: Section, written: object, default: str | None) -> Spec:
        if written is _MISSING and section.required:
            self.is_complete = False
            kinds = ", ".join(catalogue()[section.name])
            message = f'is missing; write [{section.name}] with kind = "..."; kinds: {kinds}'
            self.fault((section.name,), message, expected=f"one of {kinds}")
            return {}
        assert section.room is not None
        return self._room(section.room, self._table(written, (section.name,)), (section.name,), default)

    def _list_section(self, section: Section, written: object) -> list[Spec]:
        path: Path = (section.name,)
        if written is _MISSING:
            written = []
            if section.required:
                self.is_complete = False
                kinds = ", ".join(catalogue()[section.name])
                message = f'is missing; write [[{section.name}]] with kind = "..."; kinds: {kinds}'
                self.fault(path, message, expected=f"one of {kinds}")
        elif not isinstance(written, list) or any(not isinstance(element, dict) for element in written):
            self.is_complete = False
            self.fault(
                path,
                f"is no list of tables; write [[{section.name}]] above its keys, once for each",
                value=said(written),
            )
            written = []
        elif section.required and not written:
            self.is_complete = False
            self.fault(path, f"is empty; write at least one [[{section.name}]]")
        # What all kinds of a list have beside their own keys is a record of the section's name.
        common = catalogue()[RECORD].get(section.name) if section.room else None
        elements = []
        was_complete = self.is_complete
        for index, element in enumerate(written):
            if section.room:
                elements.append(self._room(section.room, element, (*path, index), None, common))
            else:
                elements.append(self._all_keys(catalogue()[SECTION][section.name], element, (*path, index)))
        if not section.room:
            # What is wrong with a figure hinders nobody from building the rest.
            self.is_complete = was_complete
        return elements

    def _room(
        self,
        room: str,
        table: Mapping[str, Any],
        path: Path,
        default: str | None,
        common: Kind | None = None,
    ) -> Spec:
        kinds = catalogue().get(room, {})
        name = table.get("kind", default)
        kind = kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            where = (*path, "kind")
            if name is None:
                self.fault(where, f"is required; kinds: {', '.join(kinds)}", expected=f"one of {', '.join(kinds)}")
            elif not isinstance(name, str):
                self.fault(where, f"{said(name)} is no kind; known: {', '.join(kinds)}", value=name)
            else:
                way_out, nearest = suggestion(name, kinds, "known")
                self.fault(where, f"unknown {said(name)}; {way_out}", value=name, nearest=nearest)
            # Keys of an unknown kind cannot be checked; those that all kinds of the room share can.
            common_keys = {key: value for key, value in table.items() if common and key in common.parameters}
            if common:
                self._keys(common.parameters, common_keys, path)
            if default is None or default not in kinds:
                self.is_complete = False
                return {}
            return {"kind": default, **self._defaults(kinds[default], path)}
        spec = self._all_keys(kind, {key: value for key, value in table.items() if key != "kind"}, path, common)
        return {"kind": kind.name, **spec}

    def _defaults(self, kind: Kind, path: Path) -> Spec:
        return self._keys(kind.parameters, {}, path)

    def _all_keys(self, kind: Kind, table: Mapping[str, Any], path: Path, common: Kind | None = None) -> Spec:
        rooms = catalogue()
        parameters = {
            name: parameter
            for name, parameter in {**(common.parameters if common else {}), **kind.parameters}.items()
            if parameter.value["type"] != "room" or parameter.value["room"] in rooms
        }
        section = SECTIONS.get(kind.name) if kind.room == SECTION else None
        owner = f"[[{kind.name}]]" if section and section.is_list else f"[{kind.name}]" if section else kind.name
        for key, value in table.items():
            if key not in parameters:
                way_out, nearest = suggestion(key, parameters, "its keys")
                self.fault((*path, key), f'{owner} has no key "{key}"; {way_out}', value=value, nearest=nearest)
        known = {key: value for key, value in table.items() if key in parameters}
        return self._keys(parameters, known, path, self._profile(kind, table))

    @staticmethod
    def _profile(kind: Kind, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """The defaults that the profile of the table sets; none for an unknown one, which is a fault of its own."""
        if not kind.profiles or "profile" not in kind.parameters:
            return EMPTY
        name = table.get("profile", kind.parameters["profile"].default)
        return kind.profiles.get(name, EMPTY) if isinstance(name, str) else EMPTY

    def _keys(
        self,
        parameters: Mapping[str, Parameter],
        table: Mapping[str, Any],
        path: Path,
        profile: Mapping[str, Any] = EMPTY,
    ) -> Spec:
        spec: Spec = {}
        for name, parameter in parameters.items():
            default = profile.get(name, parameter.default)
            if name in table:
                value = self._value(parameter, parameter.value, table[name], (*path, name))
                value = default if value is _MISSING else value
                if value is None and parameter.required:
                    self.is_complete = False
            elif parameter.required:
                self.is_complete = False
                what = expected(parameter.value)
                self.fault((*path, name), f"is required: {what}", expected=what)
                continue
            else:
                value = default
            if value is not None:
                spec[name] = _ordered(parameter.value, _without_nulls(value))
        return spec

    def _value(self, parameter: Parameter, value_type: ValueType, value: object, path: Path) -> Any:
        try:
            match value_type["type"]:
                case "list":
                    if not isinstance(value, list):
                        raise wrong_type(value, value_type)
                    parsed = [
                        self._value(parameter, value_type["of"], element, (*path, index))
                        for index, element in enumerate(value)
                    ]
                    return _MISSING if any(element is _MISSING for element in parsed) else parsed
                case "table":
                    if not isinstance(value, dict):
                        raise wrong_type(value, value_type)
                    record = catalogue()[RECORD][value_type["record"]]
                    return self._whole_or_missing(lambda: self._all_keys(record, value, path))
                case "room":
                    return self._whole_or_missing(lambda: self._room_value(value_type, value, path))
                case _:
                    return parse_scalar(parameter, value_type, value, self.document.directory)
        except ValueFault as fault:
            self.fault(path, str(fault), value=value, expected=fault.expected, nearest=fault.nearest)
            return _MISSING

    def _whole_or_missing(self, inside: Callable[[], Any]) -> Any:
        """What `inside` gives; missing if it lacks what it must have, so that a default stands in for all of it."""
        was_complete, self.is_complete = self.is_complete, True
        value = inside()
        is_whole, self.is_complete = self.is_complete, was_complete
        return value if is_whole else _MISSING

    def _room_value(self, value_type: ValueType, value: object, path: Path) -> Any:
        room = value_type["room"]
        if isinstance(value, dict):
            return self._room(room, value, path, None)
        if room not in SHORTHANDS:
            raise wrong_type(value, value_type)
        kind, key = SHORTHANDS[room]
        parameter = catalogue()[room][kind].parameters[key]
        parsed = self._value(parameter, parameter.value, value, path)
        return _MISSING if parsed is _MISSING else {"kind": kind, key: parsed}


def _transport(cell: Mapping[str, Any]) -> str | None:
    """The kind of `[transport]`, if the cell names one."""
    table = cell.get("transport")
    kind = table.get("kind") if isinstance(table, dict) else None
    return kind if isinstance(kind, str) else None


def check(document: Document, cell: Mapping[str, Any]) -> tuple[Spec, bool, Iterable[Fault]]:
    """The spec of one cell, whether it is complete enough to be built, and the faults of its tables."""
    checker = Checker(document)
    spec = checker.spec(cell)
    return spec, checker.is_complete, checker.faults.values()


def check_value(
    document: Document, parameter: Parameter, value_type: ValueType, value: object, path: Path
) -> tuple[Any, list[Fault]]:
    """One value in base units, None where it is wrong, and its faults."""
    checker = Checker(document)
    parsed = checker._value(parameter, value_type, value, path)
    return None if parsed is _MISSING else parsed, list(checker.faults.values())


def _ordered(value_type: ValueType, value: Any) -> Any:
    """A table with its keys in the order of their declaration."""
    if value_type["type"] != "table":
        return value
    parameters = catalogue()[RECORD][value_type["record"]].parameters
    return {name: _ordered(parameters[name].value, value[name]) for name in parameters if name in value}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part) for part in value]
    return value
