"""Store and forward: time of one packet, and of a pipelined transfer, over h equal links.

Source: every switch receives a packet whole before it sends it on. With packets of L bits on links of rate C:

    one packet: h L / C + propagation
    S bits    : S / C + (h - 1) L / C + propagation (the last packet leaves the source at S / C, then has h - 1 links)

At 10 Gb/s with 1538 B per packet, L / C = 1230.4 ns; a full packet of UDP carries 1472 B. The fabrics have h = 2
(star), 3 (dumbbell), 4 (leaf-spine) and 6 links (fat tree) of 1 us each. Tables carry whole nanoseconds, rounded to
the nearest.

TCP adds a handshake: a SYN and a SYN-ACK of 60 + 38 B, h (78.4 + 1000) ns each way, and the ACK that ends it, 52 + 38 B
or 72 ns on the first link before the data, which then follows without a gap. A flow that fits into the initial window
never waits for an ACK, so its FCT is that of the formula, to the nanosecond.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, near, simulate

PACKET_PS, SYN_PS, ACK_PS, PROPAGATION_PS = 1_230_400, 78_400, 72_000, 1_000_000

FABRICS: dict[int, tuple[dict[str, Any], str]] = {
    2: ({"kind": "star", "hosts": 2}, "h0>h1"),
    3: ({"kind": "dumbbell"}, "l0>r0"),
    4: ({"kind": "leaf_spine"}, "h00>h10"),
    6: ({"kind": "fat_tree", "k": 4}, "h000>h100"),
}


def rows(is_full: bool) -> Iterator[Row]:
    """Every number of links: a packet, and a transfer, by UDP and TCP."""
    for links, (topology, pair) in FABRICS.items():
        for packets in (1, 100):
            fct = _fct(topology, pair, {"kind": "udp", "rate": "10 Gbps"}, packets * 1472)
            expected = (packets + links - 1) * PACKET_PS + links * PROPAGATION_PS
            yield near("FCT", f"UDP, {packets} packets over {links} links", fct, _as_ns(expected), unit="ns")
        handshake = 2 * links * (SYN_PS + PROPAGATION_PS) + ACK_PS
        for packets in (1, 10):
            fct = _fct(topology, pair, {"kind": "tcp"}, packets * 1448)
            expected = handshake + (packets + links - 1) * PACKET_PS + links * PROPAGATION_PS
            yield near("FCT", f"TCP, {packets} packets over {links} links", fct, _as_ns(expected), unit="ns")


def _as_ns(picoseconds: int) -> int:
    return (picoseconds + 500) // 1000


def _fct(topology: dict[str, Any], pair: str, transport: dict[str, Any], size: int) -> int:
    workload = {"kind": "pairs", "pairs": [pair], "size": f"{size} B"}
    results = simulate({"topology": topology, "transport": transport, "workload": [workload]})
    return int(results.flows["fct_ns"][0])


ORACLE = Oracle(19, "store and forward", "Kurose and Ross, section 1.4", "A", rows)
