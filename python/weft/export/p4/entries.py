"""The table entries of every switch, as lines of bmv2's simple_switch_CLI."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.export.p4.prefixes import prefixes
from weft.export.p4.program import Program
from weft.export.wiring import Node, Wiring
from weft.scenario import Scenario

CONTROL = "FabricIngress"


@dataclass(frozen=True)
class Port:
    """What an entry of `forward` says: the port, and the hardware address of the node behind it."""

    number: int
    neighbor: str

    def __str__(self) -> str:
        return f"{self.number} {self.neighbor}"


@dataclass(frozen=True)
class Group:
    """A group of equal ports, by number."""

    number: int
    ports: tuple[Port, ...]
    leads_up: bool


@dataclass(frozen=True)
class Entries:
    """What is told to one switch; `routes` and `members` are the entries that the tables must hold."""

    lines: Sequence[str]
    routes: int
    members: int


def entries(scenario: Scenario, wiring: Wiring, program: Program, switch: Node) -> Entries:
    """The entries of one switch at the start of the run."""
    tables = scenario.forwarding(switch.number)
    groups = []
    for number, links in enumerate(tables["groups"]):
        ports = [wiring.port_of[link] for link in links]
        behind = [wiring.nodes[wiring.ports[switch.name][port].dst] for port in ports]
        leads_up = all(node.level > switch.level for node in behind)
        made = tuple(Port(port, node.mac) for port, node in zip(ports, behind, strict=True))
        groups.append(Group(number, made, leads_up))
    targets = {
        host.address: None if number is None else groups[number]
        for host, number in zip(wiring.hosts, tables["group_of"], strict=True)
    }
    lines: list[str] = []
    if program.needs_key:
        lines.append(f"table_set_default {CONTROL}.seed {CONTROL}.set_key {_key(tables['state']):#018x}")
    default = _default(targets)
    if default:
        lines.append(f"table_set_default {CONTROL}.route {_action(default)}")
        targets = {address: None if group is default else group for address, group in targets.items()}
        # A host that cannot be reached must not go the default way.
        lines += [
            f"table_add {CONTROL}.route {CONTROL}.drop {host.address}/32 =>"
            for host, number in zip(wiring.hosts, tables["group_of"], strict=True)
            if number is None
        ]
    routes = [f"table_add {CONTROL}.route {_route(prefix, group)}" for prefix, group in prefixes(targets)]
    members = [
        f"table_add {CONTROL}.member {CONTROL}.forward {group.number} {member} => {port}"
        for group in groups
        if len(group.ports) > 1
        for member, port in enumerate(_members(group, tables["state"], program.buckets))
    ]
    turns = list(_turns(wiring, groups, tables)) if tables["begins_at"] is not None else []
    return Entries([*lines, *routes, *members, *turns], len(wiring.hosts) if turns else len(routes) + 1, len(members))


def _default(targets: Mapping[str, Group | None]) -> Group | None:
    """The one group that leads up, if there is one."""
    up = {group.number: group for group in targets.values() if group and group.leads_up}
    return next(iter(up.values())) if len(up) == 1 else None


def _action(group: Group) -> str:
    if len(group.ports) == 1:
        return f"{CONTROL}.forward {group.ports[0]}"
    return f"{CONTROL}.spread {group.number} {len(group.ports)}"


def _route(prefix: str, group: Group) -> str:
    action, *arguments = _action(group).split()
    return f"{action} {prefix} => {' '.join(arguments)}"


def _members(group: Group, state: Mapping[str, Any], buckets: int) -> Iterator[Port]:
    """The port of every member: of every bucket, where the hash goes through them, else the ports as they are."""
    if not buckets:
        yield from group.ports
        return
    # Where a bucket lies on the circle of 2^32 that the ports of the group share (crates/net/src/load_balance/ecmp.rs).
    for place in state["Buckets"]["places"]:
        yield group.ports[place * len(group.ports) >> 32]


def _key(state: Mapping[str, Any]) -> int:
    """The key that a switch mixes into its hash."""
    (kind, own), *_ = state.items()
    key = own["key"] if kind == "Flowlet" else (own["hash"] if kind == "Buckets" else own)["Seeded"]
    return int(key)


def _turns(wiring: Wiring, groups: Sequence[Group], tables: Mapping[str, Any]) -> Iterator[str]:
    """Which register counts the turns of a destination, and where it begins."""
    for number, (host, group) in enumerate(zip(wiring.hosts, tables["group_of"], strict=True)):
        if group is not None and len(groups[group].ports) > 1:
            yield f"table_add {CONTROL}.turn {CONTROL}.count_for {host.address} => {number}"
            yield f"register_write {CONTROL}.next {number} {tables['begins_at'][number]}"
