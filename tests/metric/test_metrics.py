"""Every metric: its number derived by hand, and what it says when the tables cannot give it."""

import importlib

import polars as pl
import pytest

from weft.errors import ResultsError
from weft.metric import METRICS, SUMMARIES

# Two finished flows, one unfinished, one endless.
FLOWS = pl.DataFrame(
    {
        "flow": [0, 1, 2, 3],
        "src": ["a", "a", "b", "d"],
        "dst": ["d", "d", "d", "a"],
        "size_bytes": [1000, 1000, 1000, None],
        "fct_ns": [1_000, 3_000, None, None],
        "closed_ns": [1_200, 3_800, None, None],
        "ideal_fct_ns": [1_000, 1_000, 1_000, None],
        "delivered_bytes": [1000, 1000, 0, 2000],
        "wire_bytes": [1100, 1500, 60, 2200],
        "goodput_bps": [8.0e9, 8.0e9 / 3, 0.0, 1.0e9],
        "retransmitted_bytes": [0, 300, 0, 100],
    }
)
LINKS = pl.DataFrame(
    {
        "src": ["a", "b", "a", "c", "b", "d", "c", "d"],
        "dst": ["b", "a", "c", "a", "d", "b", "d", "c"],
        "utilization": [0.1, 0.0, 0.3, 0.0, 0.9, 0.0, 0.3, 0.0],
        "rate_bps": [10_000_000_000] * 8,
    }
)
QUEUES = pl.DataFrame({"enqueued_packets": [97, 0], "dropped_packets": [2, 1]})
PATHS = pl.DataFrame(
    {
        "flow": [0, 0, 1, 1, 2],
        "path": [["a>b", "b>d"], ["a>c", "c>d"], ["a>b", "b>d"], ["a>b", "b>d"], ["b>d"]],
        "tx_bytes": [300, 100, 50, 70, 20],
    }
)
# For what has levels, b and c are above the others.
NODES = pl.DataFrame({"node": ["a", "d", "b", "c"], "kind": ["switch"] * 4, "level": [1, 1, 2, 2]})
TABLES = {"flows": FLOWS, "links": LINKS, "queues": QUEUES, "paths": PATHS, "nodes": NODES}


@pytest.mark.parametrize(
    ("metric", "summary", "value"),
    [
        ("goodput", "mean", (8.0e9 + 8.0e9 / 3 + 0.0 + 1.0e9) / 4),
        ("goodput", "min", 0.0),
        # 8 Gbps x 1.1, 8/3 x 1.5, 1 x 1.1; the flow that delivered nothing has none.
        ("throughput", "sum", 8.8e9 + 4.0e9 + 1.1e9),
        ("fct", "mean", 2_000.0),
        ("fct", "p50", 2_000.0),
        ("fct", "p99", 1_000 + 0.99 * 2_000),
        ("closed", "mean", 2_500.0),
        ("slowdown", "max", 3.0),
        ("slowdown", "min", 1.0),
        ("completion", None, 2 / 3),
        # (8 + 8/3 + 1)^2 / (4 (64 + 64/9 + 1))
        ("fairness", None, (8 + 8 / 3 + 1) ** 2 / (4 * (64 + 64 / 9 + 1))),
        ("utilization", None, 0.9),
        ("utilization", "mean", 0.2),
        ("drops", None, 3.0),
        ("loss", None, 0.03),
        ("retransmissions", None, 400 / 4000),
        # Each source has two links of 10 Gbps.
        ("goodput_share", "max", 0.4),
        ("goodput_share", "sum", (8 + 8 / 3 + 0 + 1) / 20),
        # d received 8 + 8/3 of the 9 + 3 Gbps that came over its links; nothing came over those to a, so that it has
        # none, and b received nothing.
        ("payload_share", None, (8 + 8 / 3) / 12),
        # 1 Gbps went into b and 3 into c: 0.5 and 1.5 of their mean.
        ("core_balance", None, 0.5),
        ("core_balance", "max", 1.5),
        # 100 of 1100, 500 of 1500, 60 of 60 (nothing was delivered), 200 of 2200.
        ("excess", None, (1 / 11 + 1 / 3 + 1 + 1 / 11) / 4),
        # Flow 0 used 2 of 2 paths, flow 1 one of 2, flow 2 its only one, flow 3 none of 2.
        ("path_share", None, (1 + 0.5 + 1 + 0) / 4),
        # Flow 0: 2 x 100 / 400; flow 1: an empty path; flow 2: 1; flow 3 sent nothing.
        ("path_evenness", None, (0.5 + 0 + 1) / 3),
    ],
)
def test_value_by_hand(metric: str, summary: str | None, value: float):
    assert METRICS[metric].value(TABLES, summary) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_is_described(metric):
    assert METRICS[metric.name] is metric
    assert metric.summary in SUMMARIES
    assert metric.source
    series = getattr(importlib.import_module(f"weft.metric.{metric.name}"), metric.name)
    assert ">>>" in series.__doc__
    assert "ResultsError" in series.__doc__


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_missing_table_is_named_with_a_way_out(metric):
    with pytest.raises(ResultsError, match="no such table; (run the experiment again|set `paths = true`)"):
        metric.value({})


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_missing_column_is_named_with_a_way_out(metric):
    nothing = pl.DataFrame({"other": [1]})
    with pytest.raises(ResultsError, match=r"(flows|links|queues|paths|nodes)\.\w+: no such column; the manifest"):
        metric.value(dict.fromkeys(TABLES, nothing))


def test_null_is_refused_where_every_flow_has_a_value():
    with pytest.raises(ResultsError, match="flows.goodput_bps: 1 of 2 values are null; the manifest"):
        METRICS["goodput"].value({"flows": pl.DataFrame({"goodput_bps": [1.0, None]})})


def test_no_finished_flow_has_no_completion_time():
    flows = pl.DataFrame({"fct_ns": [None], "ideal_fct_ns": [5]}, schema={"fct_ns": pl.Int64, "ideal_fct_ns": pl.Int64})
    for name in ("fct", "slowdown"):
        with pytest.raises(ResultsError, match="none of 1 flows finished; give .* a `size`, or raise `limit`"):
            METRICS[name].value({"flows": flows})


def test_unknown_ideal_is_refused():
    flows = pl.DataFrame({"fct_ns": [7], "ideal_fct_ns": [None]}, schema={"fct_ns": pl.Int64, "ideal_fct_ns": pl.Int64})
    with pytest.raises(ResultsError, match="unknown for 1 of 1 finished flows"):
        METRICS["slowdown"].value({"flows": flows})


def test_a_fabric_of_one_level_has_no_core():
    nodes = pl.DataFrame({"node": ["a", "b"], "kind": ["host", "switch"], "level": [0, 1]})
    with pytest.raises(ResultsError, match="core_balance: the switches of this fabric are all on one level"):
        METRICS["core_balance"].value({"nodes": nodes, "links": LINKS})


def test_a_core_that_carried_nothing_has_no_balance():
    idle = LINKS.with_columns(utilization=pl.lit(0.0))
    with pytest.raises(ResultsError, match="core_balance: nothing went through the switches of the highest level"):
        METRICS["core_balance"].value(TABLES | {"links": idle})


def test_unknown_summary_is_refused():
    with pytest.raises(ResultsError, match="goodput.average: no such summary; there are mean, sum, min"):
        METRICS["goodput"].value(TABLES, "average")


def test_endless_flows_alone_have_no_completion():
    flows = pl.DataFrame({"size_bytes": [None], "fct_ns": [None]}, schema={"size_bytes": pl.Int64, "fct_ns": pl.Int64})
    with pytest.raises(ResultsError, match="completion: no run has a value"):
        METRICS["completion"].value({"flows": flows})


def test_fat_tree_has_a_quarter_k_squared_paths_between_pods(fat_tree_links):
    from weft.metric.available_paths import shortest_path_counts

    pairs = [("h000", "h100"), ("h000", "h010"), ("h000", "h001")]
    assert shortest_path_counts(fat_tree_links(4), pairs) == [4, 2, 1]
    assert shortest_path_counts(fat_tree_links(8), pairs) == [16, 4, 1]
