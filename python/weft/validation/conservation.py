"""Conservation: what was sent has arrived, was dropped or is in flight; busy time is the sum of transmission times.

Source: no packet comes from nowhere. The engine checks the same at the end of every run and refuses to give results;
this oracle checks it once more, from the tables that a person reads, after runs in which nothing is left in flight.

    per switch: sum over its incoming links (sent - lost on the wire) = sum over its queues (enqueued + dropped)
    per flow  : datagrams sent = delivered + lost; TCP delivers each byte once
    per net   : packets that flows lost = dropped by queues + lost on wires
    per link  : busy time = packets x ceil(bits x 10^12 / rate) ps for datagrams of one size
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from weft.validation.oracle import Oracle, Row, near, simulate

if TYPE_CHECKING:
    import polars as pl

    from weft.results import Results

PAYLOAD = 1472
WIRE = 1538
RATE = 9_999_999_937
"""A prime: no serialization time is a whole number of picoseconds, so every one is rounded up."""


def rows(is_full: bool) -> Iterator[Row]:
    """Largest imbalance of each kind: 0."""
    packets = 20_000 if is_full else 2_000
    udp = simulate(_incast("udp", packets * PAYLOAD))
    yield near("switch imbalance", f"UDP incast on lossy wires, {packets} datagrams each", _switches(udp), 0)
    flows = udp.flows
    unaccounted = packets - flows["delivered_bytes"] // PAYLOAD - flows["lost_packets"]
    yield near("flow imbalance", "the same: sent - delivered - lost", _largest(unaccounted), 0)
    yield near("net imbalance", "the same: lost by flows - dropped - lost on wires", _net(udp), 0)
    time = -(-WIRE * 8 * 10**12 // RATE)
    links = udp.links.filter(udp.links["rate_bps"] == RATE)
    # To the nearest nanosecond, as the table has it.
    busy = (links["tx_packets"] * time + 500) // 1000 - links["busy_ns"]
    yield near(
        "busy imbalance",
        f"the same: packets x {time} ps - busy time",
        _largest(busy),
        0,
        unit="ns",
    )

    tcp = simulate(_incast("tcp", packets * 1000))
    yield near("switch imbalance", "TCP incast on lossy wires", _switches(tcp), 0)
    yield near("net imbalance", "the same", _net(tcp), 0)
    missing = tcp.flows["size_bytes"] - tcp.flows["delivered_bytes"]
    yield near("flow imbalance", "the same: size - delivered", _largest(missing), 0, unit="B")


def _incast(transport: str, size: int) -> Mapping[str, Any]:
    return {
        "backend": {"limit": "1000 s"},
        "topology": {
            "kind": "leaf_spine",
            "link": {"rate": f"{RATE} bps"},
            "overrides": [
                {"links": "l*>s*", "loss": {"kind": "random", "p": 0.01}},
                {"links": "s1>l*", "loss": {"kind": "periodic", "p": 0.003}},
            ],
        },
        "queue": {"kind": "drop_tail", "capacity": "30 packets"},
        "transport": {"kind": "udp", "rate": f"{RATE} bps"} if transport == "udp" else {"kind": "tcp"},
        "workload": [{"kind": "incast", "degree": 12, "size": f"{size} B"}],
    }


def _largest(imbalances: "pl.Series") -> int:
    return max(abs(int(imbalance)) for imbalance in imbalances.to_list())


def _switches(results: "Results") -> int:
    """Largest difference between what reached a switch and what its queues saw."""
    balance: dict[str, int] = {}
    for link in results.links.iter_rows(named=True):
        balance[link["dst"]] = balance.get(link["dst"], 0) + link["tx_packets"] - link["lost_packets"]
    for queue, src in zip(results.queues.iter_rows(named=True), results.links["src"].to_list(), strict=True):
        balance[src] = balance.get(src, 0) - queue["enqueued_packets"] - queue["dropped_packets"]
    switches: pl.DataFrame = results.nodes.filter(results.nodes["kind"] == "switch")
    return max(abs(balance[name]) for name in switches["node"].to_list())


def _net(results: "Results") -> int:
    dropped = int(results.queues["dropped_packets"].sum()) + int(results.links["lost_packets"].sum())
    return int(results.flows["lost_packets"].sum()) - dropped


ORACLE = Oracle(4, "conservation", "packets do not come from nowhere", "A", rows)
