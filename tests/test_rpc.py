"""Requests and answers over TCP and MPTCP: latencies by hand, and the transport that has no connection."""

from typing import Any

import pytest

import weft
from weft.errors import ExperimentError


def experiment(transport: dict[str, Any], **keys: Any) -> dict[str, Any]:
    workload = {"kind": "rpc", "value": "1 kB", "gets": 1.0, "requests": 100, "think": "1 ms"} | keys
    link = {"rate": "10 Gbps", "delay": "1 us", "overhead": 0}
    topology = {"kind": "star", "hosts": 3, "link": link}
    return {"topology": topology, "transport": transport, "workload": [workload]}


@pytest.mark.parametrize(("transport", "header"), [({"kind": "tcp"}, 52), ({"kind": "mptcp", "subflows": 4}, 80)])
def test_a_get_is_a_request_and_an_answer(transport: dict[str, Any], header: int) -> None:
    flows = weft.run(experiment(transport)).flows
    # A request of 100 B and a value of 1000 B, each over two links of 0.8 ns a byte and 1 us.
    by_hand = 2 * (0.8 * (100 + header) + 1000) + 2 * (0.8 * (1000 + header) + 1000)
    assert flows["delivered_bytes"].to_list() == [100_000, 100_000]
    assert flows["latency_p50_ns"].to_list() == pytest.approx([by_hand, by_hand], rel=1 / 128)
    assert flows["subflows"].to_list() == [transport.get("subflows", 1)] * 2


def test_gets_and_sets_in_an_open_loop_with_fan_out() -> None:
    table = experiment({"kind": "mptcp"}, servers=2, fan_out=2, gets=0.5, rate=10_000.0, requests=200, think="0 s")
    results = weft.run(table)
    # One client and two servers: 200 queries, each of two values, whichever way they go.
    assert results.flows["delivered_bytes"].sum() == 400 * 1000
    assert not results.warnings


def test_datagrams_carry_no_messages() -> None:
    with pytest.raises(ExperimentError, match=r"only tcp and mptcp can; take one of them for this workload"):
        weft.load(experiment({"kind": "udp", "rate": "1 Gbps"}, gets=0.0)).scenario()
