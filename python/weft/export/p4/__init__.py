"""P4: the program of the experiment's load balancing, the entries of every switch, and how the fabric is wired.

    DIR/ecmp.p4            the program, P4-16 for v1model; `p4c --target bmv2 --arch v1model ecmp.p4` compiles it
    DIR/entries/se00.txt   `simple_switch_CLI --thrift-port 10000 < entries/se00.txt`
    DIR/topology.json      hosts, switches and links in the form that the scripts of p4lang/tutorials read

With the entries of this experiment and seed, bmv2 sends each packet out of the port that the simulator chooses,
wherever the choice is no draw: with `static` and `ecmp` always, with spraying in turn as long as packets arrive in the
same order.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import OutputError, WeftError

TABLES = ("shortest", "static_table")
"""Routings that give next hops, which is what a switch can look up."""


@dataclass(frozen=True)
class Exported:
    """What was written. `notes` say what the files do not hold."""

    program: Path
    entries: tuple[Path, ...]
    topology: Path
    notes: tuple[str, ...] = ()


def export_p4(place: str | Path, out: str | Path, run: str | None = None, set: tuple[str, ...] = ()) -> Exported:
    """Write program, entries and wiring of an experiment (or of a folder that `weft run` wrote) into a new folder.

    Of a sweep, `run` says which run, by its name or the beginning of it. Raises WeftError for what P4 cannot do, and
    OutputError if the folder is there and holds something.
    """
    from weft.export.chosen import choose
    from weft.export.p4.entries import entries
    from weft.export.p4.program import program
    from weft.export.wiring import Wiring

    chosen = choose(Path(place), run, set)
    routing, balance = chosen.spec["routing"]["kind"], chosen.spec["load_balance"]
    if routing not in TABLES:
        raise WeftError(
            f"routing.kind: {routing} gives whole paths, one of which the sending host chooses; a P4 table leads from "
            f"hop to hop: take --set routing.kind={TABLES[0]}"
        )
    if (control := chosen.spec["flow_control"]["kind"]) != "none":
        raise WeftError(
            f"flow_control.kind: {control} cannot be exported to P4: v1model's switches drop what finds no room; take "
            "--set flow_control.kind=none, and a transport of IP"
        )
    made = program(balance)
    scenario = chosen.scenario()
    wiring = Wiring(scenario.nodes(), scenario.links())
    told = {switch.name: entries(scenario, wiring, made, switch) for switch in wiring.switches}
    routes, members = (max(getattr(each, name) for each in told.values()) for name in ("routes", "members"))

    directory = Path(out)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise OutputError(f"{directory}: is there already; give another --out, or delete it")
    (directory / "entries").mkdir(parents=True, exist_ok=True)
    source = directory / f"{balance['kind']}.p4"
    source.write_text(made.text(len(wiring.hosts), routes, members), encoding="utf-8")
    files = []
    for name, each in told.items():
        file = directory / "entries" / f"{name}.txt"
        file.write_text("".join(f"{line}\n" for line in each.lines), encoding="utf-8")
        files.append(file)
    topology = directory / "topology.json"
    topology.write_text(json.dumps(_topology(wiring), indent=1) + "\n", encoding="utf-8")
    return Exported(source, tuple(files), topology, tuple(_notes(chosen.spec, scenario.warnings(), wiring)))


def _topology(wiring: Any) -> dict[str, Any]:
    """Hosts, switches and cables; those scripts do not read `thrift_port`, `address`, `mac` and `interfaces`."""
    hosts = {}
    for host in wiring.hosts:
        behind = wiring.nodes[wiring.ports[host.name][1].dst] if wiring.ports[host.name] else None
        hosts[host.name] = {"ip": f"{host.address}/32", "mac": host.mac, "commands": _commands(behind)}
    switches = {
        switch.name: {
            "cli_input": f"entries/{switch.name}.txt",
            "thrift_port": wiring.control_port(switch),
            "address": switch.address,
            "mac": switch.mac,
            "interfaces": {f"eth{port}": cable.dst for port, cable in wiring.ports[switch.name].items()},
        }
        for switch in wiring.switches
    }
    links = []
    for ports in wiring.ports.values():
        for cable in ports.values():
            # The two directions of a cable are neighbours among the links; the first names it.
            if cable.link % 2 == 0:
                ends = [_end(wiring, cable.src, cable.link), _end(wiring, cable.dst, cable.link + 1)]
                links.append((cable.link, [*ends, f"{cable.delay_ps / 1e9:g}ms", cable.rate_bps / 1e6]))
    return {"hosts": hosts, "switches": switches, "links": [link for _, link in sorted(links)]}


def _commands(behind: Any) -> list[str]:
    """What a host is told: everything goes to the switch behind its interface, whom nobody can ask for its address."""
    if behind is None:
        return []
    return [
        f"ip route add {behind.address} dev eth0",
        f"ip route add default via {behind.address} dev eth0",
        f"ip neigh replace {behind.address} lladdr {behind.mac} dev eth0 nud permanent",
    ]


def _end(wiring: Any, node: str, link: int) -> str:
    return node if wiring.nodes[node].is_host else f"{node}-p{wiring.port_of[link]}"


def _notes(spec: Any, warnings: list[str], wiring: Any) -> list[str]:
    notes = list(warnings)
    if spec.get("failure"):
        notes.append("failure: the entries are those of the start, before anything fails")
    if many := [host.name for host in wiring.hosts if len(wiring.ports[host.name]) > 1]:
        notes.append(
            f"{many[0]}: has several interfaces; which of them a connection uses is the host's choice, no entry"
        )
    return notes
