"""M/M/1: waits in a queue with Poisson arrivals and exponential packet sizes.

Source: Erlang 1917. With mean service time S = 1.2 us (1500 B at 10 Gb/s) and rho = 0.8:

    mean wait    = rho S / (1 - rho)        = 4.8 us
    sojourn time : exponential with mean S / (1 - rho) = 6 us
    its p99      = 6 us x ln 100            = 27.63 us

The MTU is 65 000 B, so that sizes are cut with probability exp(-43). Sizes below a bare header are rounded up to 29
B: the mean grows by 29^2 / (2 x 1500) = 0.3 B, 0.02 %. The sojourn time is the one-way delay less 200 ns of
propagation.
"""

import math
from collections.abc import Iterator

from weft.validation.m_d_1 import QUEUE, SEEDS, SERVICE_US, one_queue
from weft.validation.oracle import Oracle, Row, chosen, near_mean, per_run, simulate

RHO = 0.8
PROPAGATION_US = 0.2


def rows(is_full: bool) -> Iterator[Row]:
    """Mean wait and 99th percentile of the sojourn time."""
    packets = 10**6 if is_full else 2 * 10**5
    results = simulate(one_queue(RHO, packets, SEEDS, sizes="exponential", mtu=65000))
    setup = f"rho {RHO}, {SEEDS} seeds of {packets:.0e} packets"
    waits = [wait / 1e3 for wait in per_run(chosen(results.queues, link=QUEUE), "mean_wait_ns")]
    yield near_mean("mean wait", setup, waits, RHO * SERVICE_US / (1 - RHO), relative=0.02, unit="us")
    p99 = [delay / 1e3 - PROPAGATION_US for delay in per_run(results.flows, "latency_p99_ns")]
    expected = SERVICE_US / (1 - RHO) * math.log(100)
    yield near_mean("p99 sojourn", setup, p99, expected, relative=0.05, unit="us")


ORACLE = Oracle(2, "M/M/1 queue", "Erlang", "A", rows)
