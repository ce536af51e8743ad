"""Longest prefixes: the fewest entries at byte boundaries that give every host what it has.

    edge of a fat tree: /32 for its hosts; aggregation: /24 for each edge of its pod; core: /16 for each pod

Nothing is known of addresses that no host has: a prefix may cover them. The default entry, which covers all of them, is
only given where it leads up, so that a packet to nobody cannot circle.
"""

from collections.abc import Mapping
from typing import TypeVar

LENGTHS = (16, 24, 32)
"""Prefixes that are tried, the shortest first: all addresses of a fabric are in 10.0.0.0/8."""

Target = TypeVar("Target")


def prefixes(targets: Mapping[str, Target | None]) -> list[tuple[str, Target]]:
    """Entries (`10.1.0.0/16`, target), by address, from the target of every address; None: no entry may cover it."""
    found: list[tuple[str, Target]] = []
    _split({_number(address): target for address, target in targets.items()}, 0, found)
    return found


def _split(targets: Mapping[int, Target | None], at: int, found: list[tuple[str, Target]]) -> None:
    length = LENGTHS[at]
    blocks: dict[int, dict[int, Target | None]] = {}
    for number, target in sorted(targets.items()):
        blocks.setdefault(number >> (32 - length), {})[number] = target
    for block, inside in blocks.items():
        first = next(iter(inside.values()))
        if any(target != first for target in inside.values()):
            _split(inside, at + 1, found)
        elif first is not None:
            found.append((f"{_text(block << (32 - length))}/{length}", first))


def _number(address: str) -> int:
    a, b, c, d = (int(part) for part in address.split("."))
    return a << 24 | b << 16 | c << 8 | d


def _text(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
