"""`[objective]`: what is looked for, and what a person gets wrong about it."""

from typing import Any

import pytest

import weft
from weft.experiment.objective import bound_of
from weft.metric import METRICS

BASE: dict[str, Any] = {
    "topology": {"kind": "star", "hosts": 4},
    "workload": [
        {"name": "victim", "kind": "permutation", "size": "20 kB"},
        {"name": "bulk", "kind": "incast", "degree": 2, "size": "1 MB"},
    ],
}


def load(**objective: Any) -> weft.Experiment:
    return weft.load(BASE | {"objective": objective})


def faults(**objective: Any) -> list[str]:
    with pytest.raises(weft.ExperimentError) as raised:
        load(**objective)
    return [f"{fault.key}: {fault.message}" for fault in raised.value.faults]


def test_the_direction_is_that_of_the_metric() -> None:
    directions = {}
    for metric in ("goodput", "fct", "slowdown.p99", "drops", "fairness"):
        objective = load(metric=metric).search.objective
        assert objective is not None
        directions[metric] = objective.goals[0].direction
    assert directions == {
        "goodput": "maximize",
        "fct": "minimize",
        "slowdown.p99": "minimize",
        "drops": "minimize",
        "fairness": "maximize",
    }


def test_the_worst_case_is_an_objective_and_is_printed_as_one() -> None:
    experiment = load(metric="goodput", direction="worst")
    objective = experiment.search.objective
    assert objective is not None and objective.goals[0].direction == "minimize"
    again = weft.load(experiment.resolved).search.objective
    assert again is not None and again.goals == objective.goals


def test_a_link_may_be_meant_to_be_full_or_spared() -> None:
    for direction in ("maximize", "minimize"):
        objective = load(metric="utilization", direction=direction).search.objective
        assert objective is not None and objective.goals[0].direction == direction


def test_a_constraint_is_read_with_its_unit() -> None:
    objective = load(
        metric="fct",
        workload="bulk",
        constraints=[
            {"metric": "goodput", "workload": "victim", "at_least": "95 %", "of": "alone"},
            {"metric": "fct.p99", "at_most": "10 ms"},
            {"metric": "completion", "at_least": "100 %"},
            {"metric": "fairness", "workload": ["bulk", "victim"], "at_least": 0.9},
            {"metric": "drops", "at_least": 1, "at_most": "3 packets"},
        ],
    ).search.objective
    assert objective is not None
    bounds = [(each.at_least, each.at_most, each.of) for each in objective.constraints]
    assert bounds == [
        (0.95, None, "alone"),
        (None, 10e6, None),
        (1.0, None, None),
        (0.9, None, None),
        (1.0, 3.0, None),
    ]
    assert objective.constraints[0].text == "goodput of victim at least 95 % of alone"
    assert objective.constraints[4].text == "drops at least 1 and at most 3 packets"


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ({"metric": "godput"}, 'objective.metric: unknown metric "godput"; did you mean "goodput"?'),
        ({"metric": "fct.p98"}, 'objective.metric: unknown metric "fct.p98"; did you mean "fct.p99"?'),
        ({"metric": 3}, "objective.metric: 3 is a whole number; expected text"),
        (
            {"metrik": "fct", "metric": "fct"},
            'objective.metrik: [objective] has no key "metrik"; did you mean "metric"?',
        ),
        (
            {"metric": "fct", "workload": "bulc"},
            'objective.workload: no workload is called "bulc"; did you mean "bulk"?',
        ),
        (
            {"metric": "loss", "workload": "bulk"},
            "objective.workload: loss is of the whole run, which all workloads share; leave workload out, or take a "
            "metric of flows",
        ),
        (
            {"metric": "fct", "direction": "maximize"},
            'objective.direction: fct is better when lower, so "maximize" would look for the worst point; leave it '
            'out, or write direction = "worst" if that is meant',
        ),
        (
            {"metric": "fct", "also": {"metric": "fct"}},
            "objective.also: is the first objective again; name another metric",
        ),
    ],
)
def test_what_is_wrong_with_a_goal_is_said(objective: dict[str, Any], said: str) -> None:
    assert faults(**objective) == [said]


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        ({"metric": "goodput"}, ': has no bound; add at_least = "9 Gbps", or at_most'),
        (
            {"metric": "goodput", "at_least": "95 %"},
            '.at_least: "95 %" of what? add of = "alone" or of = "bottleneck", or write a bound like "9 Gbps"',
        ),
        (
            {"metric": "goodput", "workload": "victim", "at_least": "9 Gbps", "of": "alone"},
            '.at_least: "9 Gbps" is no share; with of = "alone" a bound is written like "95 %"',
        ),
        (
            {"metric": "goodput", "at_least": "95 %", "of": "alone"},
            ".of: alone means without the other workloads; say whose flows are meant: workload = ...",
        ),
        (
            {"metric": "fct", "workload": "bulk", "at_most": "95 %", "of": "bottleneck"},
            ".of: bottleneck is a rate, and fct is none; use goodput or throughput, or alone",
        ),
        ({"metric": "fct", "at_most": "10"}, '.at_most: 10 has no unit; a time looks like "10 us"'),
        ({"metric": "fct", "at_most": "1 Gbps"}, '.at_most: "1 Gbps" is a rate; expected a time, like "10 us"'),
        (
            {"metric": "fairness", "at_least": "much"},
            '.at_least: "much" is no bound of fairness; expected one like 0.9',
        ),
        (
            {"metric": "fct", "at_least": "2 ms", "at_most": "1 ms"},
            '.at_least: "2 ms" is above at_most = "1 ms"; nothing keeps both',
        ),
        (
            {"metric": "fct", "at_most": "1 ms", "of": "lone"},
            '.of: unknown "lone"; did you mean "alone"?',
        ),
    ],
)
def test_what_is_wrong_with_a_constraint_is_said(constraint: dict[str, Any], said: str) -> None:
    assert faults(metric="fct", constraints=[constraint]) == [f"objective.constraints[0]{said}"]


def test_a_number_is_a_bound_where_the_metric_has_no_unit() -> None:
    assert bound_of("0.9", METRICS["fairness"], None) == 0.9
    assert bound_of("3 packets", METRICS["drops"], None) == 3.0
    with pytest.raises(ValueError, match="expected a number, at least 0"):
        bound_of("-1", METRICS["fairness"], None)
