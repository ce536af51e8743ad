"""Spraying: a fat tree with every packet on its own path carries any permutation.

Source: a fat tree is rearrangeably non-blocking (Al-Fares et al., SIGCOMM 2008), and spreading each flow evenly over
all paths gives every link at most the load of a host's link; so at 0.9 of the line rate nothing needs to be lost, and
what is left to chance (the phase of the round robin) fits into 100 packets: delivered / offered >= 0.99.

TCP over spraying is shown only: packets overtake each other and it takes some of that for loss.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, average, between, shown, simulate, total

LINE = 10e9


def rows(is_full: bool) -> Iterator[Row]:
    """UDP at 0.9 load, tested; TCP, shown."""
    seeds, megabytes = (10, 10) if is_full else (3, 2)
    udp = {"kind": "udp", "rate": f"{0.9 * LINE:.0f} bps"}
    results = simulate(_permutation(udp, seeds, size=f"{megabytes} MB"))
    delivered = total(results.flows["delivered_bytes"]) / total(results.flows["size_bytes"])
    setup = f"k = 8, UDP at 0.9 load, round-robin spray, {seeds} seeds of {megabytes} MB a host"
    yield between("delivered / offered", setup, delivered, 0.99, 1.0, expected=1.0)
    tcp = {"kind": "tcp", "profile": "datacenter"}
    results = simulate(_permutation(tcp, seeds, until="10 ms"))
    share = average(results.flows["goodput_bps"]) / (LINE * 1448 / 1538)
    yield shown("goodput / ideal", f"k = 8, TCP cubic, round-robin spray, {seeds} seeds, 10 ms", share, 1.0)


def _permutation(transport: dict[str, Any], seeds: int, size: str = "", until: str = "") -> dict[str, Any]:
    return {
        "backend": {"until": until} if until else {},
        "topology": {"kind": "fat_tree", "k": 8},
        "load_balance": {"kind": "spray", "order": "round_robin"},
        "queue": {"kind": "drop_tail", "capacity": "100 packets"},
        "transport": transport,
        "workload": [{"kind": "permutation"} | ({"size": size} if size else {})],
        "sweep": {"repeats": seeds},
    }


ORACLE = Oracle(9, "packet spraying", "Al-Fares et al., SIGCOMM 2008", "A", rows)
