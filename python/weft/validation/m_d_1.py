"""M/D/1: the mean wait in a queue with Poisson arrivals and packets of one size.

Source: Pollaczek 1930, Khinchine 1932. W = rho S / (2 (1 - rho)) with service time S: 1500 B at 10 Gb/s take 1.2 us, so

    rho 0.5 : 1.2 x 0.5  / 1.0 =  0.6 us
    rho 0.8 : 1.2 x 0.8  / 0.4 =  2.4 us
    rho 0.9 : 1.2 x 0.9  / 0.2 =  5.4 us
    rho 0.95: 1.2 x 0.95 / 0.1 = 11.4 us

The queue is a switch port: a host's own card pushes back on its socket. The host's link is 10 000 times faster, so that
its packets reach the switch as the Poisson process left the source (it delays them by less than 0.1 ns on average).
"""

from collections.abc import Iterator
from typing import Any

from weft.validation.oracle import Oracle, Row, chosen, near_mean, per_run, simulate

SERVICE_US = 1.2
SEEDS = 10
QUEUE = "s>h1"


def one_queue(rho: float, packets: int, seeds: int, sizes: str = "fixed", mtu: int = 1500) -> dict[str, Any]:
    """Poisson arrivals of 1500 B on average at the port s>h1 of 10 Gb/s, about `packets` of them in each run."""
    return {
        "name": f"queue at rho {rho}",
        "backend": {"until": f"{packets * SERVICE_US / rho:.0f} us"},
        "topology": {
            "kind": "star",
            "hosts": 2,
            "link": {"rate": "10 Gbps", "delay": "100 ns", "overhead": 0, "mtu": mtu},
            "overrides": [{"links": "h0>s", "rate": "100 Tbps"}],
        },
        "queue": {"kind": "drop_tail", "capacity": "10 GB"},
        "transport": {
            "kind": "udp",
            "rate": f"{rho * 1e10:.0f} bps",
            "arrivals": "poisson",
            "packet_size": sizes,
            "packet": "1500 B",
        },
        "workload": [{"kind": "pairs", "pairs": ["h0>h1"]}],
        "sweep": {"repeats": seeds},
    }


def rows(is_full: bool) -> Iterator[Row]:
    """Mean wait at four loads."""
    packets = 10**6 if is_full else 10**5
    for rho in (0.5, 0.8, 0.9, 0.95):
        expected = SERVICE_US * rho / (2 * (1 - rho))
        results = simulate(one_queue(rho, packets, SEEDS))
        waits = [wait / 1e3 for wait in per_run(chosen(results.queues, link=QUEUE), "mean_wait_ns")]
        setup = f"rho {rho}, {SEEDS} seeds of {packets:.0e} packets"
        yield near_mean("mean wait", setup, waits, expected, relative=0.02, unit="us")


ORACLE = Oracle(1, "M/D/1 queue", "Pollaczek-Khinchine", "A", rows)
