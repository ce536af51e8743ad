"""Packet spraying as published: a random permutation over switches with four ports, against ECMP.

Source: Dixit, Prakash, Hu, Kompella, "On the impact of packet spraying in data center networks", INFOCOM 2013: TCP over
random packet spraying has about 1.37 times the throughput of ECMP. Of its text only the abstract was at hand, which
says that the switches were hardware; those of the same authors' testbed were NetFPGA cards, which have four ports of 1
Gb/s: so k = 4 and 16 hosts. The buffer (512 kB a port) is that card's as recalled. Hosts are Linux of that time: CUBIC,
SACK, and a threshold of duplicate ACKs that rises with the reordering that is seen (tcp_reordering); no RACK.

What to expect: one random path each gives 0.5925 of the line rate under max-min (oracle 7) and a few per cent more
under TCP (oracle 30 against 7: 49.0 to 47.65), about 0.61; spraying gives no more than 1. So the ratio lies below 1.64,
and 1.37 means that spraying reaches 0.84.

The first half second is left out: slow start fills buffers of 4 ms and loses so much at once that flows over hashed
paths wait for timeouts of 200 ms, and 0.4 s after 0.1 s gave them 0.47 (0.59 under max-min, the same ten seeds). What
hosts take for a loss decides: with four seeds of 1 s the ratio is 1.48, with RACK-TLP 1.24, and with three duplicate
ACKs whatever was seen 0.95.
"""

from collections.abc import Iterator
from typing import Any

from weft.statistics import mean_interval
from weft.validation.oracle import FAIL, PASS, Oracle, Row, average, between, shown, simulate

PUBLISHED, TOLERANCE = 1.37, 0.15
LINE, PAYLOAD = 1e9, 1448 / 1538
WARMUP = 0.5
THEN: dict[str, Any] = {"kind": "tcp", "rack": False, "tlp": False, "adaptive_duplicate_acks": True}


def rows(is_full: bool) -> Iterator[Row]:
    """The ratio and the ordering, tested; both shares, and in full size other hosts and buffers, shown."""
    seeds, seconds = (10, 2.0) if is_full else (4, 1.0)
    size = f"k = 4, 1 Gb/s, random permutation, {seeds} seeds of {seconds:g} s"
    ecmp, spray = (_shares(kind, THEN, "512 kB", seeds, seconds) for kind in ("ecmp", "spray"))
    for name, shares in (("ECMP", ecmp), ("random spraying", spray)):
        interval = mean_interval(shares)
        yield Row("goodput / ideal", f"{name}, {size}", interval.mean, None, "", "shown", interval.low, interval.high)
    ratio = mean_interval([ours / theirs for ours, theirs in zip(spray, ecmp, strict=True)])
    value = sum(spray) / sum(ecmp)
    verdict = PASS if abs(value / PUBLISHED - 1) <= TOLERANCE else FAIL
    yield Row("spraying / ECMP", size, value, PUBLISHED, f"{100 * TOLERANCE:g} %", verdict, ratio.low, ratio.high)
    worst = min(ours / theirs for ours, theirs in zip(spray, ecmp, strict=True))
    yield between("smallest ratio of a seed", size, worst, 1.0, float("inf"))
    others: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("queues of 100 packets", THEN, "100 packets"),
        ("three duplicate ACKs, always", THEN | {"adaptive_duplicate_acks": False}, "512 kB"),
        ("RACK-TLP", {"kind": "tcp"}, "512 kB"),
    )
    for name, transport, capacity in others if is_full else ():
        ecmp, spray = (_shares(kind, transport, capacity, seeds, seconds) for kind in ("ecmp", "spray"))
        yield shown("spraying / ECMP", f"{name}; {size}", sum(spray) / sum(ecmp), PUBLISHED)


def _shares(kind: str, transport: dict[str, Any], capacity: str, seeds: int, seconds: float) -> list[float]:
    """By seed the mean goodput over what full packets carry at line rate, in `seconds` after the first half second."""
    results = simulate(
        {
            "backend": {"until": f"{round(1000 * (WARMUP + seconds))} ms"},
            "topology": {"kind": "fat_tree", "k": 4, "link": {"rate": "1 Gbps", "delay": "1 us"}},
            "load_balance": {"kind": kind},
            "queue": {"kind": "drop_tail", "capacity": capacity},
            "transport": transport,
            "congestion": {"kind": "cubic"},
            "workload": [{"kind": "permutation"}],
            "measure": {"warmup": f"{round(1000 * WARMUP)} ms"},
            "sweep": {"repeats": seeds},
        }
    )
    runs = results.flows.group_by("run", maintain_order=True)
    return [average(frame["goodput_bps"]) / (LINE * PAYLOAD) for _, frame in runs]


ORACLE = Oracle(37, "packet spraying, published", "Dixit et al., INFOCOM 2013", "V", rows)
