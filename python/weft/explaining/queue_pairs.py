"""Queue pairs: what is known beforehand of the flows of InfiniBand and RoCEv2 adapters, which have no window."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CREDIT = 64
"""Bytes of a credit."""

ROCE_HEADERS = 44
"""Bytes of IPv4, UDP, base transport header and invariant CRC in a RoCEv2 packet."""


@dataclass(frozen=True)
class QueuePair:
    """What the flows of one workload have in common.

    `efficiency` is payload over wire bytes of a full packet; `is_controlled` says whether its source reacts to marks;
    `packet` in bytes on the wire, `bus` in seconds for each credit, `gap` in seconds: what its adapter needs besides
    the wire, and without a packet nothing but the wire limits it.
    """

    efficiency: float
    is_controlled: bool = False
    packet: int = 0
    bus: float = 0.0
    gap: float = 0.0

    def pace_bps(self, wire_bps: float) -> float | None:
        """Bits per second that one adapter sends alone over a wire; None where the wire is the only limit."""
        if not self.packet:
            return None
        credits = -(-self.packet // CREDIT)
        period = credits * max(CREDIT * 8 / wire_bps, self.bus) + self.gap
        return credits * CREDIT * 8 / period


def queue_pairs(spec: Mapping[str, Any]) -> dict[str, QueuePair]:
    """By workload, where it runs over queue pairs."""
    link = spec["topology"].get("link", {})
    mtu, overhead = link.get("mtu", 1500), link.get("overhead", 38)
    found = {}
    for workload in spec["workload"]:
        asked = workload.get("transport") or spec.get("transport", {})
        control = workload.get("congestion") or spec.get("congestion", {})
        is_controlled = control.get("kind", "none") != "none"
        if asked.get("kind") == "rocev2":
            found[workload["name"]] = QueuePair((mtu - ROCE_HEADERS) / (mtu + overhead), is_controlled)
        elif asked.get("kind") == "infiniband":
            packet = asked["packet"]
            bits = CREDIT * asked["pcie_bits_per_byte"] * (1 + asked["pcie_overhead"])
            bus = bits / (asked["pcie_rate"] * asked["pcie_lanes"])
            gap = asked["packet_gap"] * 1e-12
            found[workload["name"]] = QueuePair(1 - asked["header"] / packet, is_controlled, packet, bus, gap)
    return found
