"""Slow start: rounds until a transfer is done.

Source: RFC 5681, section 3.1, RFC 6928. With an ACK for every segment the window doubles each round: 10, 20, 40, ... so
n rounds carry 10 (2^n - 1) segments of 1448 B:

    10 kB  =   7 segments <=   10: 1 round
    100 kB =  70 segments <=   70: 3 rounds (10 + 20 + 40)
    1 MB   = 691 segments <= 1270: 7 rounds (6 carry 630)

The flow completes half a round trip after its last round began, and the handshake takes one; so rounds =
fct / RTT - 1/2, up to the serialization of a megabyte at 100 Gb/s (0.08 ms of a round trip of 100 ms).
"""

from collections.abc import Iterator

from weft.validation.oracle import Oracle, Row, near, simulate

ROUND_TRIP_NS = 100_000_000


def rows(is_full: bool) -> Iterator[Row]:
    """Three sizes."""
    for size, rounds in (("10 kB", 1), ("100 kB", 3), ("1 MB", 7)):
        results = simulate(
            {
                "topology": {"kind": "star", "hosts": 2, "link": {"rate": "100 Gbps", "delay": "25 ms"}},
                "queue": {"kind": "drop_tail", "capacity": "10000 packets"},
                "transport": {
                    "kind": "tcp",
                    "initial_window": 10,
                    "ack_every": 1,
                    "receive_window": "60 MB",
                    "autotune": False,
                },
                "congestion": {"kind": "reno"},
                "workload": [{"kind": "pairs", "pairs": ["h0>h1"], "size": size}],
            }
        )
        # Within 1 % of a round trip, then counted.
        passed = results.flows["fct_ns"][0] / ROUND_TRIP_NS - 0.5
        value = round(passed) if abs(passed - round(passed)) < 0.01 else passed
        yield near("rounds", f"{size}, IW 10, ACK per segment", value, rounds)


ORACLE = Oracle(17, "slow start", "RFC 5681, RFC 6928", "A", rows)
