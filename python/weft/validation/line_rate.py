"""Goodput of one long flow: what headers leave of the line rate.

Source: header sizes. An IP packet of 1500 B takes 1538 B of Ethernet time (preamble 8, header 14, checksum 4, gap 12);
TCP with timestamps carries 1500 - 20 - 32 = 1448 B of payload in it, UDP 1500 - 20 - 8 = 1472:

    TCP 1448 / 1538 = 0.9415; UDP 1472 / 1538 = 0.9571
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, near, simulate

LINE = 10e9


def rows(is_full: bool) -> Iterator[Row]:
    """TCP and UDP."""
    milliseconds = 1000 if is_full else 100
    udp: dict[str, Any] = {"kind": "udp", "rate": f"{LINE:.0f} bps"}
    for name, transport, payload in (("TCP cubic", {"kind": "tcp"}, 1448), ("UDP", udp, 1472)):
        results = simulate(
            {
                "backend": {"until": f"{milliseconds} ms"},
                "topology": {"kind": "star", "hosts": 2},
                "transport": transport,
                "workload": [{"kind": "pairs", "pairs": ["h0>h1"]}],
                "measure": {"warmup": "10 ms"},
            }
        )
        share = float(results.flows["goodput_bps"][0]) / LINE
        setup = f"{name}, MTU 1500, 10 Gb/s, {milliseconds} ms"
        yield near("goodput / line rate", setup, share, payload / 1538, relative=0.003)


ORACLE = Oracle(18, "goodput of the line rate", "IEEE 802.3, RFC 791, 768, 9293, 7323", "A", rows)
