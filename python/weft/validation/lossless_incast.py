"""Lossless incast: N hosts send S bytes each to one, and its link is never idle until the last byte is there.

Source: nothing is lost and nothing is sent twice, so that the last byte arrives when the link has carried them all:

    FCT of the last >= N S / C + time of the first packet to get there

At 16 Gb/s a packet of 2176 B takes 1088 ns. Packets cut through: the head of the first is on the bottleneck link after
32 + 50 + 50 ns in the switch and 2 x 5 ns on the wires, and the last packet is drained 642.6 ns after it is whole.
"""

from collections.abc import Iterator

from weft.validation.oracle import Oracle, Row, between, near, simulate, total

PACKETS, PACKET_NS, FIRST_NS, DRAIN_NS = 500, 1088.0, 32 + 50 + 50 + 10, 642.6


def rows(is_full: bool) -> Iterator[Row]:
    """The last completion time over its bound; drops."""
    for senders in (2, 8, 32) if is_full else (2, 8):
        size = PACKETS * 2176
        results = simulate(
            {
                "topology": {
                    "kind": "star",
                    "hosts": senders + 1,
                    "link": {"rate": "16 Gbps", "delay": "5 ns"},
                },
                "transport": {"kind": "infiniband"},
                "workload": [{"kind": "incast", "degree": senders, "size": f"{size} B"}],
            }
        )
        bound = senders * PACKETS * PACKET_NS + FIRST_NS + DRAIN_NS
        setup = f"{senders} x {size} B, 16 Gb/s"
        last = max(float(fct) for fct in results.flows["fct_ns"].to_list())
        yield between("last FCT over its bound", setup, last / bound, 1 - 1e-6, 1.02)
        yield near("drops", setup, total(results.queues["dropped_packets"]), 0)


ORACLE = Oracle(20, "lossless incast", "work conservation", "A", rows)
"""Credits."""
