"""Dotted keys: `topology.link.rate`, `workload[0].size`, `sweep."load_balance.kind"`."""

import functools
import re

Path = tuple[str | int, ...]
"""A place in nested tables and lists: keys and indices."""

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_SEGMENT = re.compile(r'\s*(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)")\s*((?:\[\d{1,9}\]\s*)*)(\.|$)', re.ASCII)


def write(path: Path) -> str:
    """As a person writes it.

    >>> write(("workload", 0, "size")), write(("sweep", "queue.kind"))
    ('workload[0].size', 'sweep."queue.kind"')
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            escaped = part.replace("\\", "\\\\").replace('"', '\\"')
            text += ("." if text else "") + (part if _BARE.fullmatch(part) else f'"{escaped}"')
    return text


@functools.lru_cache(maxsize=4096)
def read(text: str) -> Path | None:
    """The path that `write` gives as `text`, or None if `text` is no dotted key.

    >>> read("workload[0].size"), read('sweep."queue.kind"'), read("a..b")
    (('workload', 0, 'size'), ('sweep', 'queue.kind'), None)
    """
    parts: list[str | int] = []
    at = 0
    while True:
        match = _SEGMENT.match(text, at)
        if match is None:
            return None
        bare, quoted, indices, dot = match.groups()
        parts.append(bare if bare is not None else re.sub(r"\\(.)", r"\1", quoted))
        parts.extend(int(index) for index in re.findall(r"\d+", indices))
        at = match.end()
        if not dot:
            return tuple(parts)


def get(tree: object, path: Path) -> object:
    """The value at `path`, or None."""
    for part in path:
        if isinstance(tree, dict) and isinstance(part, str):
            tree = tree.get(part)
        elif isinstance(tree, list) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
        else:
            return None
    return tree


class NoSuchPlace(Exception):
    """A path leads through something that is no table, or beyond the end of a list."""


def put(tree: object, path: Path, value: object) -> object:
    """A copy of `tree` with `value` at `path`; missing tables appear, everything else is shared.

    Raises NoSuchPlace.

    >>> put({"a": {"b": 1}}, ("a", "c"), 2)
    {'a': {'b': 1, 'c': 2}}
    """
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        if not isinstance(tree, list) or part > len(tree):
            length = len(tree) if isinstance(tree, list) else 0
            raise NoSuchPlace(f"there is no element {part}; the list has {length}")
        copy = [*tree]
        if part == len(tree):
            copy.append(put({}, rest, value))
        else:
            copy[part] = put(tree[part], rest, value)
        return copy
    if not isinstance(tree, dict):
        raise NoSuchPlace("leads through something that is no table")
    return {**tree, part: put(tree.get(part, [] if rest and isinstance(rest[0], int) else {}), rest, value)}


def named(tree: object, path: Path) -> Path:
    """`path` with the names of workloads in place of indices resolved: `workload.bulk.size`.

    Only an element that names itself can be meant; otherwise `path` comes back as it is.
    """
    if len(path) >= 2 and path[0] == "workload" and isinstance(path[1], str) and isinstance(tree, dict):
        workloads = tree.get("workload")
        for index, workload in enumerate(workloads if isinstance(workloads, list) else []):
            if isinstance(workload, dict) and workload.get("name", workload.get("kind")) == path[1]:
                return (path[0], index, *path[2:])
    return path
