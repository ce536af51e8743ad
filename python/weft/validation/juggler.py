"""Juggler: packets that overtake each other by less than its out-of-order timeout cost TCP nothing.

Source: Geng et al., EuroSys 2016, section 5 (as recalled: no spurious retransmissions while the spread of path delays
is below `ooo_timeout`, about 50 us; they come back above it). Packets of one TCP without RACK alternate between two
paths whose delays differ by the spread; the window is too small for any queue. A packet on the slow path is missing
from when the next one has come over the fast path: for the spread less one packet's time at 10 Gb/s. Nothing is ever
lost, so every segment that arrives twice was sent again in vain. The initial window is 40 segments: with ten, the cut
of the window would hold the retransmissions back until the late packets have come.
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, between, near, simulate, total

TIMEOUT_US = 50.0
PACKET_US = 1.2


def rows(is_full: bool) -> Iterator[Row]:
    """Spurious retransmissions below and above the timeout, and where they begin."""
    megabytes = 20 if is_full else 2
    setup = f"spread {{:g}} us, round-robin spray, {megabytes} MB"
    juggler = {"kind": "juggler", "ooo_timeout": f"{TIMEOUT_US:g} us"}
    for spread in (5.0, 25.0, 45.0):
        again = _spurious(spread, juggler, megabytes)
        yield near("spurious retransmits", "Juggler, " + setup.format(spread), again, 0)
    vanilla = {"kind": "in_order"}
    again = _spurious(25.0, vanilla, megabytes)
    yield between("spurious retransmits", "in_order, " + setup.format(25.0), again, 1, float("inf"))
    low, high = 0.5 * TIMEOUT_US, 2 * TIMEOUT_US
    while high - low > 0.1:
        middle = (low + high) / 2
        if _spurious(middle, juggler, megabytes) > 0:
            high = middle
        else:
            low = middle
    expected = TIMEOUT_US + PACKET_US
    yield near("spread where they begin", f"Juggler, {megabytes} MB", high, expected, relative=0.10, unit="us")


def _spurious(spread_us: float, receive: dict[str, Any], megabytes: int) -> float:
    slow = {"a": "left", "b": "slow", "delay": f"{round(1000 * (1 + spread_us))} ns"}
    cables = [("a", "left"), ("left", "fast"), ("fast", "right"), ("slow", "right"), ("right", "b")]
    experiment = {
        "topology": {
            "kind": "custom",
            "links": [slow] + [{"a": a, "b": b} for a, b in cables],
            "link": {"rate": "10 Gbps", "delay": "1 us", "overhead": 0},
        },
        "load_balance": {"kind": "spray", "order": "round_robin"},
        "transport": {"kind": "tcp", "profile": "rfc", "receive_window": "64 KiB", "initial_window": 40},
        "congestion": {"kind": "reno"},
        "receive": receive,
        "workload": [{"kind": "pairs", "pairs": ["a>b"], "size": f"{megabytes} MB"}],
    }
    flows = simulate(experiment).flows
    assert total(flows["lost_packets"]) == 0, "the window leaves no room for losses"
    return total(flows["spurious_retransmits"])


ORACLE = Oracle(38, "Juggler", "Geng et al., EuroSys 2016", "R", rows)
