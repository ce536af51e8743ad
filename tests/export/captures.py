"""A reader of captures in plain Python, from the documents: pcapng, Ethernet, IPv4, TCP, UDP, MPTCP."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))


@dataclass
class Frame:
    interface: str
    time_ns: int
    length: int
    ecn: int
    src: str
    dst: str
    macs: tuple[str, str]
    protocol: int
    src_port: int
    dst_port: int
    payload: int
    seq: int = 0
    ack: int = 0
    flags: int = 0
    window: int = 0
    options: dict[int, list[bytes]] = field(default_factory=dict)
    """By kind, what follows the length."""

    @property
    def ends(self) -> tuple[str, int, str, int]:
        return self.src, self.src_port, self.dst, self.dst_port

    @property
    def mptcp(self) -> dict[int, bytes]:
        """By subtype, the whole of the option behind its length."""
        return {body[0] >> 4: body for body in self.options.get(30, [])}

    @property
    def after(self) -> int:
        """The sequence number that follows."""
        return self.seq + self.payload + bool(self.flags & SYN) + bool(self.flags & FIN) & 0xFFFFFFFF


def read(file: Path) -> list[Frame]:
    """All frames in the order of the file. Fails at anything that is not as it should be."""
    data = file.read_bytes()
    interfaces: list[str] = []
    frames = []
    at = 0
    while at < len(data):
        kind, total = struct.unpack_from("<II", data, at)
        assert total % 4 == 0 and struct.unpack_from("<I", data, at + total - 4)[0] == total
        body = data[at + 8 : at + total - 4]
        at += total
        if kind == 0x0A0D0D0A:
            assert body[:4] == bytes.fromhex("4d3c2b1a")
        elif kind == 1:
            assert struct.unpack_from("<H", body) == (1,)
            options = dict(_block_options(body[8:]))
            assert options[9] == b"\x09", "nanoseconds"
            interfaces.append(options[2].decode())
        elif kind == 6:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            assert captured <= length
            frames.append(_frame(interfaces[interface], high << 32 | low, length, body[20 : 20 + captured]))
        else:
            raise AssertionError(f"block {kind}")
    return frames


def _block_options(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def _sum(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) // 2 * 2])) + (
        data[-1] << 8 if len(data) % 2 else 0
    )
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _frame(interface: str, time_ns: int, length: int, data: bytes) -> Frame:
    macs = data[6:12].hex(":"), data[0:6].hex(":")
    assert data[12:14] == b"\x08\x00"
    ip = data[14:34]
    assert ip[0] == 0x45 and _sum(ip) == 0xFFFF, "header checksum"
    total = int.from_bytes(ip[2:4], "big")
    assert total + 14 == length
    protocol = ip[9]
    src, dst = (".".join(map(str, part)) for part in (ip[12:16], ip[16:20]))
    inside = data[34:]
    # What was not kept of the payload are zeros, which add nothing.
    assert _sum(ip[12:20] + bytes([0, protocol]) + (total - 20).to_bytes(2, "big") + inside) == 0xFFFF
    src_port, dst_port = struct.unpack_from(">HH", inside)
    frame = Frame(interface, time_ns, length, ip[1] & 3, src, dst, macs, protocol, src_port, dst_port, total - 28)
    if protocol == 17:
        assert int.from_bytes(inside[4:6], "big") == total - 20
        return frame
    frame.seq, frame.ack, offset, frame.flags, frame.window = struct.unpack_from(">IIBBH", inside, 4)
    header = (offset >> 4) * 4
    frame.payload = total - 20 - header
    assert frame.payload >= 0
    assert not any(inside[header:])
    options = inside[20:header]
    at = 0
    while at < len(options):
        if options[at] == 0:
            assert not any(options[at:])
            break
        if options[at] == 1:
            at += 1
            continue
        kind, size = options[at], options[at + 1]
        assert size >= 2 and at + size <= len(options)
        frame.options.setdefault(kind, []).append(options[at + 2 : at + size])
        at += size
    return frame
