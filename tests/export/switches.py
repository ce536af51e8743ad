"""The exported pipeline in Python: what bmv2 does with the program and the entries, read from the files alone."""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path

FULL = (1 << 64) - 1


def crc16(data: bytes) -> int:
    """HashAlgorithm.crc16 of bmv2: polynomial 0x8005, reflected, from 0."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


def mix(value: int) -> int:
    value = value + 0x9E3779B97F4A7C15 & FULL
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & FULL
    value = (value ^ value >> 27) * 0x94D049BB133111EB & FULL
    return value ^ value >> 31


@dataclass(frozen=True)
class Packet:
    src: str
    dst: str
    src_port: int
    dst_port: int
    protocol: int = 6

    @property
    def tuple_bytes(self) -> bytes:
        addresses = ipaddress.IPv4Address(self.src).packed + ipaddress.IPv4Address(self.dst).packed
        ports = self.src_port.to_bytes(2, "big") + self.dst_port.to_bytes(2, "big")
        return addresses + ports + bytes([self.protocol])


@dataclass
class Switch:
    """One switch: its program's text and its entries."""

    program: str
    key: int = 0
    default: list[str] | None = None
    routes: dict[ipaddress.IPv4Network, list[str]] = field(default_factory=dict)
    members: dict[tuple[int, int], int] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    next: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, program: str, file: Path) -> "Switch":
        switch = cls(program)
        for line in file.read_text().splitlines():
            word, table, *rest = line.replace("FabricIngress.", "").split()
            match word, table:
                case "table_set_default", "seed":
                    assert rest[0] == "set_key"
                    switch.key = int(rest[1], 16)
                case "table_set_default", "route":
                    switch.default = rest
                case "table_add", "route":
                    action, prefix, arrow, *arguments = rest
                    assert arrow == "=>"
                    switch.routes[ipaddress.IPv4Network(prefix)] = [action, *arguments]
                case "table_add", "member":
                    action, group, member, _, port, _ = rest
                    assert action == "forward"
                    switch.members[int(group), int(member)] = int(port)
                case "table_add", "turn":
                    _, address, _, number = rest
                    switch.turns[address] = int(number)
                case "register_write", "next":
                    switch.next[int(rest[0])] = int(rest[1])
                case _:
                    raise AssertionError(line)
        return switch

    def port(self, packet: Packet) -> int | None:
        """The port that the packet leaves through; None: it is dropped."""
        matching = [p for p in self.routes if ipaddress.IPv4Address(packet.dst) in p]
        action = self.routes[max(matching, key=lambda p: p.prefixlen)] if matching else self.default
        match action:
            case None | ["drop"]:
                return None
            case ["forward", port, _]:
                return int(port)
            case ["spread", group, size]:
                return self.members[int(group), self.member(packet, int(size))]
        raise AssertionError(action)

    def member(self, packet: Packet, size: int) -> int:
        """What the statements of the program compute."""
        if "turn.apply" in self.program:
            number = self.turns[packet.dst]
            member = self.next[number] if self.next[number] < size else 0
            self.next[number] = member + 1
            return member
        is_crc = "HashAlgorithm.crc16," in self.program
        if is_crc:
            chosen = crc16(packet.tuple_bytes)
        else:
            data = packet.tuple_bytes
            chosen = mix(mix(int.from_bytes(data[:8], "big")) ^ int.from_bytes(data[8:], "big")) >> 32
        if "seed.apply" in self.program:
            chosen = mix(self.key ^ chosen) >> 32
        if buckets := re.search(r"BUCKETS = (\d+);", self.program):
            return chosen & int(buckets[1]) - 1
        if "chosen << 16" in self.program:
            chosen = chosen << 16 & 0xFFFFFFFF
        return chosen * size >> 32
