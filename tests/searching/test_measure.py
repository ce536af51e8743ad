"""What a run says of an objective: the flows of some workloads alone, and what 100 % are."""

import polars as pl
import pytest

import weft
from weft.experiment.objective import Measure
from weft.metric import METRICS
from weft.searching.measure import bottleneck, value_of

TABLES = {
    "flows": pl.DataFrame(
        {
            "flow": [0, 1, 2],
            "workload": ["victim", "bulk", "bulk"],
            "start_ns": [0, 0, 0],
            "goodput_bps": [4.0, 10.0, 30.0],
        }
    ),
    "links": pl.DataFrame({"link": ["a>b"]}),
}


def test_a_metric_is_of_the_flows_that_are_named() -> None:
    goodput, fairness = METRICS["goodput"], METRICS["fairness"]
    assert value_of(Measure(goodput, "mean"), TABLES) == pytest.approx(44 / 3)
    assert value_of(Measure(goodput, "mean", ("bulk",)), TABLES) == 20.0
    assert value_of(Measure(goodput, "max", ("victim", "bulk")), TABLES) == 30.0
    # Jain's index of 10 and 30: 40^2 / (2 x 1000).
    assert value_of(Measure(fairness, "mean", ("bulk",)), TABLES) == pytest.approx(0.8)
    with pytest.raises(weft.ResultsError, match="there is no flow of nobody"):
        value_of(Measure(goodput, "mean", ("nobody",)), TABLES)


def test_the_bottleneck_is_the_slowest_link_on_the_way() -> None:
    scenario = weft.load(
        {
            "backend": {"until": "1 ms"},
            "topology": {
                "kind": "dumbbell",
                "link": {"rate": "10 Gbps"},
                "bottleneck": {"rate": "1 Gbps"},
            },
            "workload": [
                {"name": "across", "kind": "pairs", "pairs": ["l0>r0"]},
                {"name": "beside", "kind": "pairs", "pairs": ["l0>l1"]},
            ],
        }
    ).scenario()
    goodput = METRICS["goodput"]
    assert bottleneck(Measure(goodput, "mean", ("across",)), scenario) == 1e9
    assert bottleneck(Measure(goodput, "mean", ("beside",)), scenario) == 10e9
    # Summarized as the goodput is.
    assert bottleneck(Measure(goodput, "sum"), scenario) == 11e9


def test_where_packets_take_several_ways_the_first_and_last_link_count() -> None:
    scenario = weft.load(
        {
            "topology": {"kind": "fat_tree", "k": 4, "link": {"rate": "20 Mbps"}},
            "load_balance": {"kind": "spray"},
            "workload": [{"kind": "permutation", "size": "1 MB"}],
        }
    ).scenario()
    assert bottleneck(Measure(METRICS["goodput"], "mean"), scenario) == 20e6
