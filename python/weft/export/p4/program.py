"""The P4-16 program of a kind of load balancing: `fabric.p4` with the statements that choose among equal ports.

`PROGRAMS` is the list. A kind's function gets its parameters as the experiment resolved them and returns what is put
into `fabric.p4`; it computes what crates/net/src/load_balance computes. bmv2 multiplies 64-bit numbers, so that the
seeded hashes, too, are exported as they are; a hardware switch that only has CRCs takes `hash = "crc16"`, `seeds =
"shared"`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import WeftError

PS_PER_US = 1_000_000


@dataclass(frozen=True)
class Program:
    """What a kind puts into `fabric.p4`. `needs_key`: each switch is given a key of its own, 64 bits.

    `buckets`: members of a group are buckets, so many; 0: they are its ports.
    """

    title: str
    rule: str
    constants: str = ""
    declarations: str = ""
    choice: str = ""
    buckets: int = 0
    needs_key: bool = False

    def text(self, hosts: int, routes: int, members: int) -> str:
        """The program for so many hosts, with tables that hold at least so many entries."""
        text = Path(__file__).with_name("fabric.p4").read_text(encoding="utf-8")
        parts = {
            "TITLE": self.title,
            "RULE": self.rule,
            "CONSTANTS": self.constants,
            "DECLARATIONS": _indented(self.declarations, 4),
            "CHOICE": _indented(self.choice, 20).rstrip("\n"),
            "ROUTES": str(_table_size(routes)),
            "MEMBERS": str(_table_size(members)),
            "HOSTS": str(hosts),
        }
        for name, part in parts.items():
            text = text.replace(f"@{name}@", part)
        return text


def program(balance: Mapping[str, Any]) -> Program:
    """The program of a resolved `[load_balance]`. Raises WeftError for one that v1model cannot do."""
    kind = balance["kind"]
    if kind in REFUSED:
        raise WeftError(f"load_balance.kind: {kind} cannot be exported to P4: {REFUSED[kind]}")
    if kind not in PROGRAMS:
        raise WeftError(f"load_balance.kind: {kind} has no P4 program; those that have one: {', '.join(PROGRAMS)}")
    return PROGRAMS[kind](balance)


def static(balance: Mapping[str, Any]) -> Program:
    """Everything is in the entries: each destination has one port."""
    rule = "never, since every destination has one port"
    return Program("Static forwarding: every destination has a port of its own at every switch.", rule)


def ecmp(balance: Mapping[str, Any]) -> Program:
    """A hash of the five-tuple, through buckets or straight to the ports of the group."""
    if balance["hash"] not in HASHES:
        raise WeftError(
            f"load_balance.hash: {balance['hash']} is for studies alone and no hash that a switch should have; "
            f"exported are: {', '.join(HASHES)}"
        )
    buckets = balance["buckets"]
    declarations, choice, is_seeded = _hash(balance["hash"], is_seeded=_is_seeded(balance))
    if buckets:
        constants = f"const bit<32> BUCKETS = {buckets};\n"
        choice += "meta.member = chosen & (BUCKETS - 1);\n"
        rule = f"by {HASHES[balance['hash']]} in {buckets} buckets, each of which has its port"
    else:
        constants = ""
        scaled = "chosen" if is_seeded or balance["hash"] == "mix" else "chosen << 16"
        choice += f"meta.member = (bit<32>)(((bit<64>)({scaled}) * (bit<64>)meta.size) >> 32);\n"
        rule = f"by {HASHES[balance['hash']]}"
    title = "ECMP: a hash of the five-tuple chooses the port, so that a flow keeps its path (RFC 2992)."
    return Program(title, rule, constants, declarations, choice, buckets, is_seeded)


def spray(balance: Mapping[str, Any]) -> Program:
    """A random port for every packet, or one after another for each destination."""
    title = "Packet spraying: every packet takes any of the equal ports."
    if balance["order"] == "random":
        # bmv2's own random numbers: the same rule as the simulator's, other draws.
        return Program(title, "at random for every packet", choice="random(meta.member, 32w0, meta.size - 1);\n")
    declarations = """
// The next member for each destination, by its number; the entries of `turn` know it.
register<bit<32>>(TURNS) next;
bit<32> destination = 0;

action count_for(bit<32> number) {
    destination = number;
}

table turn {
    key = {
        hdr.ipv4.dst: exact;
    }
    actions = {
        count_for;
        drop;
    }
    size = @ROUTES@;
    default_action = drop();
}
"""
    choice = """turn.apply();
next.read(meta.member, destination);
if (meta.member >= meta.size) {
    meta.member = 0;
}
next.write(destination, meta.member + 1);
"""
    constants = "const bit<32> TURNS = @HOSTS@;\n"
    rule = "in turn for each destination"
    return Program(title, rule, constants, declarations, choice)


def flowlet(balance: Mapping[str, Any]) -> Program:
    """A random port for every burst of a flow, from registers of times and ports."""
    gap, rest = divmod(balance["gap"], PS_PER_US)
    if rest:
        raise WeftError(
            f"load_balance.gap: {balance['gap'] / 1000:g} ns is no whole number of microseconds, in which bmv2's clock "
            f"counts; take --set load_balance.gap='{max(1, round(balance['gap'] / PS_PER_US))} us'"
        )
    declarations, choice, _ = _hash("mix", is_seeded=True)
    constants = f"const bit<48> GAP_US = {gap};\nconst bit<32> ENTRIES = {balance['entries']};\n"
    declarations += """
// By flow: when its last packet came, microseconds and 1 (0: never), and the member that it took.
register<bit<48>>(ENTRIES) last_time;
register<bit<32>>(ENTRIES) last_member;
"""
    choice += """bit<32> place = (bit<32>)(((bit<64>)chosen * (bit<64>)ENTRIES) >> 32);
bit<48> now = standard.ingress_global_timestamp + 1;
bit<48> before;
last_time.read(before, place);
last_member.read(meta.member, place);
// Two flows may share an entry, and groups differ in size.
if (before == 0 || now - before > GAP_US || meta.member >= meta.size) {
    random(meta.member, 32w0, meta.size - 1);
    last_member.write(place, meta.member);
}
last_time.write(place, now);
"""
    title = "Flowlets (LetFlow, NSDI 2017): a flow may take another port after a pause."
    return Program(title, f"at random after a pause of {gap} us", constants, declarations, choice, needs_key=True)


PROGRAMS: dict[str, Callable[[Mapping[str, Any]], Program]] = {
    "static": static,
    "ecmp": ecmp,
    "spray": spray,
    "flowlet": flowlet,
}
"""A kind that can be exported is one line here."""

REFUSED = {
    "drill": "it compares the queues of several egress ports before it chooses, and v1model shows the depth of a queue "
    "(deq_qdepth) only after the packet has left it; take spray, flowlet or ecmp",
    "reps": "its senders give every packet an entropy of its own, and a TCP header has no field for one; take spray",
}
"""Kinds that cannot, and why."""

HASHES = {"crc16": "CRC16 of the five-tuple", "mix": "a 32-bit mix of the five-tuple"}


def _is_seeded(balance: Mapping[str, Any]) -> bool:
    return not (balance["hash"] == "crc16" and balance["seeds"] == "shared")


def _hash(name: str, is_seeded: bool) -> tuple[str, str, bool]:
    """Declarations and statements that put the hash of the packet into `chosen`."""
    declarations, choice = "", "bit<32> chosen;\n"
    if name == "mix" or is_seeded:
        declarations += MIX
    if name == "crc16":
        choice += """hash(chosen, HashAlgorithm.crc16, 32w0,
    { hdr.ipv4.src, hdr.ipv4.dst, meta.src_port, meta.dst_port, hdr.ipv4.protocol }, 32w65536);
"""
    else:
        choice += """bit<64> mixed = hdr.ipv4.src ++ hdr.ipv4.dst;
mix(mixed);
mixed = mixed ^ (8w0 ++ 16w0 ++ meta.src_port ++ meta.dst_port ++ hdr.ipv4.protocol);
mix(mixed);
chosen = mixed[63:32];
"""
    if is_seeded:
        declarations += KEY
        choice += """seed.apply();
bit<64> seeded = own_key ^ (bit<64>)chosen;
mix(seeded);
chosen = seeded[63:32];
"""
    return declarations, choice, is_seeded


MIX = """
// The finalizer of SplitMix64: every bit of the input reaches every bit.
action mix(inout bit<64> value) {
    value = value + 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value = value ^ (value >> 31);
}
"""

KEY = """
// Every switch hashes in its own way.
bit<64> own_key = 0;

action set_key(bit<64> given) {
    own_key = given;
}

table seed {
    actions = {
        set_key;
    }
    size = 1;
    default_action = set_key(0);
}
"""


def _indented(text: str, by: int) -> str:
    return "".join(" " * by + line if line.strip() else line for line in text.splitlines(keepends=True))


def _table_size(entries: int) -> int:
    return max(16, 1 << max(0, entries - 1).bit_length())
