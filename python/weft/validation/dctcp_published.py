"""DCTCP as published: two long flows through one switch port.

Source: Alizadeh et al., SIGCOMM 2010, as recalled, not re-read: at 1 Gb/s with K = 20 and at 10 Gb/s with K = 65 the
queue stays around K + N packets, and the throughput is that of TCP. Expected here: the queue's maximum K + N within
30 % of K, the throughput (wire bytes) at least 0.94 of the line rate. The queue of TCP, which fills the buffer, is
shown beside.
"""

from collections.abc import Iterator

from weft.validation.dctcp_sawtooth import BOTTLENECK, N, queue_packets, two_flows
from weft.validation.oracle import Oracle, Row, between, chosen, near, shown, simulate

OVERHEAD = 38
PACKET_SHARE = 1500 / (1500 + OVERHEAD)


def rows(is_full: bool) -> Iterator[Row]:
    """Queue and throughput at two rates."""
    milliseconds = 1000 if is_full else 100
    for rate, threshold in ((1e9, 20), (10e9, 65)):
        setup = f"{rate / 1e9:g} Gb/s, K = {threshold}, N = 2, {milliseconds} ms"
        results = simulate(two_flows(rate, threshold, milliseconds, OVERHEAD))
        queue = queue_packets(results) * PACKET_SHARE
        largest = float(queue.max())
        yield near("queue maximum", setup, largest, threshold + N, absolute=0.3 * threshold, unit="packets")
        yield shown("queue mean", setup, float(queue.mean()), unit="packets")
        used = float(chosen(results.links, link=BOTTLENECK)["utilization"][0])
        yield between("throughput / line rate", setup, used, 0.94, 1.0)
        reno = simulate(two_flows(rate, threshold, milliseconds, OVERHEAD, congestion={"kind": "reno"}))
        yield shown("TCP queue maximum", setup, float(queue_packets(reno).max()) * PACKET_SHARE, unit="packets")
        used = float(chosen(reno.links, link=BOTTLENECK)["utilization"][0])
        yield shown("TCP throughput / line rate", setup, used)


ORACLE = Oracle(36, "DCTCP, published", "Alizadeh et al., SIGCOMM 2010", "R", rows)
