"""How the nodes of a fabric are wired: interfaces, hardware addresses, control ports.

The convention of P4 labs on Mininet: a switch's interfaces are eth1 to ethk and port N of bmv2 is ethN, those that lead
down first (of a fat tree the first k/2), then those that lead up; control ports count from 10000, edge switches first,
then aggregation, then core.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

FIRST_CONTROL_PORT = 10000


@dataclass(frozen=True)
class Node:
    """A host or a switch; `number` is its row among the nodes."""

    number: int
    name: str
    is_host: bool
    level: int
    address: str

    @property
    def mac(self) -> str:
        """Hardware address: locally administered, the IPv4 address behind 02:00."""
        return mac(self.address)


@dataclass(frozen=True)
class Cable:
    """A directed link that leaves a node through one of its interfaces."""

    link: int
    src: str
    dst: str
    rate_bps: int
    delay_ps: int


@dataclass(frozen=True)
class Wiring:
    """Nodes and links as columns, as `weft.Scenario` gives them."""

    columns: Mapping[str, list[Any]]
    link_columns: Mapping[str, list[Any]]

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """All nodes by name, hosts first."""
        rows = zip(*(self.columns[name] for name in ("name", "kind", "level", "address")), strict=True)
        return {
            name: Node(number, name, kind == "host", level, address)
            for number, (name, kind, level, address) in enumerate(rows)
        }

    @cached_property
    def hosts(self) -> list[Node]:
        """All hosts."""
        return [node for node in self.nodes.values() if node.is_host]

    @cached_property
    def switches(self) -> list[Node]:
        """All switches, those nearest to the hosts first: the order of their control ports."""
        switches = [node for node in self.nodes.values() if not node.is_host]
        return sorted(switches, key=lambda node: (node.level, node.number))

    def control_port(self, switch: Node) -> int:
        """The port on which a switch hears commands (bmv2's thrift port)."""
        return FIRST_CONTROL_PORT + self.switches.index(switch)

    @cached_property
    def ports(self) -> dict[str, dict[int, Cable]]:
        """By node, its interfaces from 1 on: down first, then up, each in the order of the links."""
        leaving: dict[str, list[Cable]] = {name: [] for name in self.nodes}
        columns = (self.link_columns[name] for name in ("src", "dst", "rate_bps", "delay_ps"))
        for link, (src, dst, rate_bps, delay_ps) in enumerate(zip(*columns, strict=True)):
            leaving[src].append(Cable(link, src, dst, rate_bps, delay_ps))

        def is_up(cable: Cable) -> bool:
            return self.nodes[cable.dst].level > self.nodes[cable.src].level

        return {name: dict(enumerate(sorted(cables, key=is_up), 1)) for name, cables in leaving.items()}

    @cached_property
    def port_of(self) -> dict[int, int]:
        """By link, the interface at its source."""
        return {cable.link: port for ports in self.ports.values() for port, cable in ports.items()}


def mac(address: str) -> str:
    """Hardware address of the node with an IPv4 address.

    >>> mac("10.0.1.2")
    '02:00:0a:00:01:02'
    """
    return ":".join(["02", "00", *(f"{int(part):02x}" for part in address.split("."))])
