"""Lossless incast: N hosts send S bytes each to one, and its link is never idle until the last byte is there.

Source: nothing is lost and nothing is sent twice, so that the last byte arrives when the link has carried them all:

    FCT of the last >= N S / C + time of the first packet to get there

At 16 Gb/s a packet of 2176 B takes 1088 ns. Packets cut through: the head of the first is on the bottleneck link after
32 + 50 + 50 ns in the switch and 2 x 5 ns on the wires, and the last packet is drained 642.6 ns after it is whole.

Over Ethernet with pauses the switch stores the first packet before it goes on: at 100 Gb/s 1538 B take 123.04 ns, once
more than the packets are, and both links 1 us.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from weft.validation.oracle import Oracle, Row, between, near, simulate, total

PACKETS = 500


@dataclass(frozen=True)
class Fabric:
    """One kind of lossless fabric; times of a packet, and of all that comes before and after the bottleneck's work."""

    transport: str
    rate: str
    delay: str
    payload: int
    packet_ns: float
    rest_ns: float


FABRICS = (
    Fabric("infiniband", "16 Gbps", "5 ns", 2176, 1088.0, 32 + 50 + 50 + 10 + 642.6),
    Fabric("rocev2", "100 Gbps", "1 us", 1456, 123.04, 123.04 + 2000),
)
"""Credits, and pauses: the packets of RoCEv2 have 1500 - 44 B of payload."""


def rows(is_full: bool) -> Iterator[Row]:
    """The last completion time over its bound; drops."""
    for fabric, senders in product(FABRICS, (2, 8, 32) if is_full else (2, 8)):
        size = PACKETS * fabric.payload
        results = simulate(
            {
                "topology": {
                    "kind": "star",
                    "hosts": senders + 1,
                    "link": {"rate": fabric.rate, "delay": fabric.delay},
                },
                "transport": {"kind": fabric.transport},
                "workload": [{"kind": "incast", "degree": senders, "size": f"{size} B"}],
            }
        )
        bound = senders * PACKETS * fabric.packet_ns + fabric.rest_ns
        setup = f"{fabric.transport}, {senders} x {size} B, {fabric.rate}"
        last = max(float(fct) for fct in results.flows["fct_ns"].to_list())
        yield between("last FCT over its bound", setup, last / bound, 1 - 1e-6, 1.02)
        yield near("drops", setup, total(results.queues["dropped_packets"]), 0)


ORACLE = Oracle(20, "lossless incast", "work conservation", "A", rows)
"""Credits and pauses."""
