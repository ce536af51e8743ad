"""Priority flow control: headroom decides whether a lossless class loses anything.

Source: what still arrives after a port has decided to pause (IEEE 802.1Qbb, annex O). The pause waits for the packet
before it on the way back (1 MTU), travels, is obeyed after the response time, lets the packet that the other side has
begun go out (1 MTU), and what was sent last travels, too:

    headroom = 2 x propagation x C + 2 MTU + response time x C

With so much nothing is lost; with a tenth of it, less than what comes in the round trip, something must be.
"""

from collections.abc import Iterator

from weft.validation.oracle import Oracle, Row, between, near, simulate, total

MTU, PAUSE = 1538, 84
"""Bytes on the wire of a full packet, and of a pause frame."""

SENDERS = 16


def needed(gbps: int, delay_us: int, response_us: int) -> int:
    """Bytes of headroom."""
    return (2 * delay_us + response_us) * gbps * 125 + 2 * MTU + PAUSE


def drops(gbps: int, delay_us: int, response_us: int, headroom: int) -> float:
    """Packets that an incast loses in the lossless class."""
    results = simulate(
        {
            "topology": {
                "kind": "star",
                "hosts": SENDERS + 1,
                "link": {"rate": f"{gbps} Gbps", "delay": f"{delay_us} us"},
            },
            "flow_control": {
                "kind": "pfc",
                "buffer": f"{SENDERS * (headroom + 40_000) + 1_000_000} B",
                "xoff": "20 kB",
                "headroom": f"{headroom} B",
                "response_time": f"{response_us} us",
            },
            "transport": {"kind": "rocev2"},
            "workload": [{"kind": "incast", "degree": SENDERS, "size": "1 MB"}],
        }
    )
    return total(results.queues["dropped_packets"])


def rows(is_full: bool) -> Iterator[Row]:
    """Drops with what the link needs, and with a tenth of it."""
    links = ((100, 1, 0), (100, 1, 2), (25, 5, 0), (400, 1, 1)) if is_full else ((100, 1, 0), (25, 5, 1))
    for gbps, delay_us, response_us in links:
        most = needed(gbps, delay_us, response_us)
        setup = f"{gbps} Gb/s, {delay_us} us, response {response_us} us"
        yield near("drops", f"{setup}, {most} B", drops(gbps, delay_us, response_us, most), 0)
        few = most // 10
        yield between("drops", f"{setup}, {few} B", drops(gbps, delay_us, response_us, few), 1, float("inf"))


ORACLE = Oracle(23, "headroom of lossless Ethernet", "IEEE 802.1Qbb, annex O", "A", rows)
"""PFC."""
