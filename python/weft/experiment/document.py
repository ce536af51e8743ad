"""The document: what a person wrote, and where each key stands, so that every fault can name its line."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from weft.errors import ExperimentError, Fault
from weft.experiment import path as dotted
from weft.experiment.path import NoSuchPlace, Path

SET = "--set"
LARGEST_FILE = 64 * 2**20


@dataclass(frozen=True)
class Document:
    """Nested tables as written, with their lines.

    `place` is the name of the file as the person gave it. `lines` has dotted keys. `settings` are the `--set` of the
    command line in order; the keys they set have no line.
    """

    place: str
    directory: FilePath
    text: str
    value: Mapping[str, Any]
    lines: Mapping[str, int] = field(repr=False)
    settings: tuple[str, ...] = ()
    set_paths: tuple[Path, ...] = ()
    faults: tuple[Fault, ...] = ()
    """Settings that could not be applied; reported together with what else is wrong."""
    checked: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By section what its check gave last, and of what: most sections are the same in all cells (check.py)."""

    def locate(self, path: Path) -> tuple[str, int | None]:
        """File and line of the key at `path`, or of the closest table around it."""
        if any(path[: len(mine)] == mine for mine in self.set_paths):
            return SET, None
        for length in range(len(path), 0, -1):
            line = self.lines.get(dotted.write(path[:length]))
            if line is not None:
                return self.place, line
        return self.place, None

    def fault(self, path: Path, message: str, **parts: Any) -> Fault:
        """A fault at `path`; `parts` are the further fields of Fault."""
        place, line = self.locate(path)
        return Fault(place, line, dotted.write(path), message, **parts)


def read_file(file: FilePath, settings: Iterable[str] = ()) -> Document:
    """The document of a TOML file, with `settings` ("key=value") applied.

    Raises ExperimentError if the file cannot be read or is no TOML.
    """
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise ExperimentError([Fault(str(file), None, "", "is larger than 64 MiB; that is no experiment file")])
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte {error.start}); an experiment file is TOML"
        raise ExperimentError([Fault(str(file), None, "", message)]) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ExperimentError([Fault(str(file), None, "", f"cannot be read: {reason}")]) from None
    return read_text(text, str(file), file.parent, settings)


def read_text(text: str, place: str, directory: FilePath, settings: Iterable[str] = ()) -> Document:
    """As `read_file`, from text."""
    value, lines = parse(text, place)
    return apply(Document(place, directory, text, value, lines), settings)


def read_mapping(value: Mapping[str, Any], place: str, directory: FilePath, settings: Iterable[str] = ()) -> Document:
    """As `read_file`, from nested dicts and lists of plain values.

    Raises ExperimentError also for values that TOML does not have.
    """
    faults: list[Fault] = []
    plain = _plain(value, (), place, faults)
    if faults:
        raise ExperimentError(faults)
    assert isinstance(plain, dict)
    return apply(Document(place, directory, "", plain, {}), settings)


def parse(text: str, place: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Tables and lines of TOML text.

    Raises ExperimentError with line and column if it is no TOML.
    """
    from weft import _core

    try:
        parsed = json.loads(_core.parse_toml(text))
    except _core.TomlError as error:
        detail = json.loads(error.args[0])
        column = f" (column {detail['column']})" if detail.get("column") else ""
        message = (
            f"no valid TOML{column}: {detail['message'].strip().splitlines()[0] if detail['message'].strip() else ''}"
        )
        raise ExperimentError([Fault(place, detail.get("line"), "", message)]) from None
    return parsed["value"], parsed["lines"]


def apply(document: Document, settings: Iterable[str]) -> Document:
    """`document` with `key=value` settings applied in order; missing sections appear.

    A value is TOML; what is no TOML value is taken as text. Settings that cannot be applied end in `faults`.
    """
    value: object = document.value
    applied = tuple(settings)
    paths: list[Path] = []
    faults: list[Fault] = []
    for setting in applied:
        if not _is_text(setting):
            faults.append(Fault(SET, None, "", f"{setting!a} is not UTF-8 text"))
            continue
        key, equals, written = setting.partition("=")
        path = dotted.read(key) if equals else None
        if path is None:
            message = 'is no setting; expected key=value, like topology.k=8 or queue.capacity="50 packets"'
            faults.append(Fault(SET, None, "", f'"{setting}" {message}', value=setting, expected="key=value"))
            continue
        path = dotted.named(value, path)
        try:
            value = dotted.put(value, path, setting_value(written))
        except NoSuchPlace as error:
            faults.append(Fault(SET, None, dotted.write(path), str(error), value=written))
            continue
        paths.append(path)
    assert isinstance(value, dict)
    return replace(
        document,
        value=value,
        settings=(*document.settings, *applied),
        set_paths=(*document.set_paths, *paths),
        faults=(*document.faults, *faults),
    )


def setting_value(written: str) -> object:
    """The TOML value that `written` is, else `written` as text.

    >>> setting_value("8"), setting_value("dctcp"), setting_value('"10 us"')
    (8, 'dctcp', '10 us')
    """
    try:
        value, _ = parse(f"value = {written}", SET)
    except ExperimentError:
        return written.strip()
    return value["value"] if value.keys() == {"value"} else written.strip()


def _plain(value: object, path: Path, place: str, faults: list[Fault]) -> object:
    if isinstance(value, Mapping):
        bad = [key for key in value if not isinstance(key, str) or not _is_text(key)]
        if bad:
            faults.append(Fault(place, None, dotted.write(path), f"the key {bad[0]!a} is not text", value=bad[0]))
            return {}
        return {key: _plain(part, (*path, key), place, faults) for key, part in value.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_plain(part, (*path, index), place, faults) for index, part in enumerate(value)]
    if isinstance(value, str) and not _is_text(value):
        faults.append(Fault(place, None, dotted.write(path), f"{value!a} is not UTF-8 text"))
        return ""
    if isinstance(value, bool | str | int) or (isinstance(value, float) and not math.isnan(value)):
        return value
    if isinstance(value, FilePath):
        return str(value)
    kind = re.sub(r"^builtins\.", "", f"{type(value).__module__}.{type(value).__qualname__}")
    faults.append(
        Fault(
            place, None, dotted.write(path), f"is a {kind}; expected text, a number, true or false, a list or a table"
        )
    )
    return ""


def _is_text(text: str) -> bool:
    """Whether `text` has no half of a surrogate pair, as arguments that are not UTF-8 have."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
