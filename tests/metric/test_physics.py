"""Metrics on runs whose numbers follow from the sizes of headers."""

import pytest

import weft
from weft.metric import METRICS
from weft.report.folder import read_folder


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory):
    """One TCP flow over a star of links of 10 Mb/s, measured while it fills them."""
    out = tmp_path_factory.mktemp("one") / "out"
    weft.run(
        {
            "backend": {"until": "3 s"},
            "topology": {"kind": "star", "hosts": 3, "link": {"rate": "10 Mbps", "delay": "10 us"}},
            "workload": [{"kind": "pairs", "pairs": ["h0>h1"]}],
            "measure": {"warmup": "1 s", "cooldown": "1 s"},
        },
        out=out,
    )
    return read_folder(out).done[0].tables


def test_application_and_interface_differ_by_the_headers(tables):
    # 1448 of 1538 bytes are payload, and nothing but data comes to the receiver. In 1 s there are 813 packets, and one
    # more or less lies between the two ends of the window.
    assert METRICS["payload_share"].series(tables).to_list() == pytest.approx([1448 / 1538], abs=2 / 813)


def test_a_flow_alone_gets_the_payload_of_its_card(tables):
    assert METRICS["goodput_share"].value(tables) == pytest.approx(1448 / 1538, abs=2 / 813)
