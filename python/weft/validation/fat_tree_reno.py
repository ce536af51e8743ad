"""Fat tree, one random path each: what a permutation of Reno flows gets of the line rate.

Source: htsim (Raiciu et al., SIGCOMM 2011), measured at commit 841d9e7: k = 8 (128 hosts), 10 Gb/s, 1 us per link, no
overhead, 100-packet drop-tail queues, endless flows, 30 ms: 49.0 % of the line rate with ACKs routed (one seed);
53.5, 49.3 and 48.0 % with ACKs outside the network; p10 about 20, p50 48, p90 90 %. Max-min fairness alone would give
47.65 %.

The first 10 ms are left out. The shortest retransmission timeout is 10 ms and an ACK answers every segment: htsim's
settings as recalled, not part of what was measured. Goodput is of payload; a full packet carries 1448 of 1500 B, so the
share of the wire is 1500 / 1448 as much: what is compared here.
"""

from collections.abc import Iterator
from typing import Any

from weft.statistics import mean_interval, quantile
from weft.validation.oracle import FAIL, PASS, Oracle, Row, shown, simulate

LINE = 10e9
LOW, HIGH, HTSIM = 46.0, 54.0, 49.0


def permutation(seeds: int) -> dict[str, Any]:
    """The experiment."""
    return {
        "backend": {"until": "40 ms"},
        "topology": {"kind": "fat_tree", "k": 8, "link": {"rate": "10 Gbps", "delay": "1 us", "overhead": 0}},
        "load_balance": {"kind": "ecmp"},
        "queue": {"kind": "drop_tail", "capacity": "100 packets"},
        "transport": {"kind": "tcp", "rto_min": "10 ms", "ack_every": 1, "autotune": False},
        "congestion": {"kind": "reno"},
        "workload": [{"kind": "permutation"}],
        "measure": {"warmup": "10 ms"},
        "sweep": {"repeats": seeds},
    }


def rows(is_full: bool) -> Iterator[Row]:
    """Mean, tested; percentiles over flows, shown."""
    seeds = 10 if is_full else 5
    results = simulate(permutation(seeds))
    shares = [
        [100 * 1500 / 1448 * goodput / LINE for goodput in frame["goodput_bps"].to_list()]
        for (_,), frame in results.flows.group_by("run", maintain_order=True)
    ]
    setup = f"k = 8, Reno, one path each, 30 ms after 10 ms, {seeds} seeds"
    interval = mean_interval([sum(run) / len(run) for run in shares])
    verdict = PASS if LOW <= interval.mean <= HIGH else FAIL
    text = f"{LOW:g} to {HIGH:g}"
    yield Row("mean share", setup, interval.mean, HTSIM, text, verdict, interval.low, interval.high, "%")
    flows = [share for run in shares for share in run]
    for name, q, expected in (("p10", 0.1, 20.0), ("p50", 0.5, 48.0), ("p90", 0.9, 90.0)):
        yield shown(f"{name} of flows", setup, quantile(flows, q), expected, unit="%")


ORACLE = Oracle(30, "fat tree, Reno", "htsim at 841d9e7", "H", rows)
