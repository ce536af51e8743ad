"""`[space]` and `[search]`: where and how a search looks, checked as the axes of a sweep are."""

from typing import Any

import pytest

import weft
from weft.experiment.space import Choice, Interval

BASE: dict[str, Any] = {
    "topology": {"kind": "star", "hosts": 4},
    "queue": {"kind": "red", "min_threshold": 30, "max_threshold": 90},
    "workload": [{"kind": "permutation", "size": "20 kB"}],
    "objective": {"metric": "fct"},
}


def load(space: dict[str, Any], **more: Any) -> weft.Experiment:
    return weft.load(BASE | {"space": space} | more)


def faults(space: dict[str, Any], **more: Any) -> list[str]:
    with pytest.raises(weft.ExperimentError) as raised:
        load(space, **more)
    return [f"{fault.key}: {fault.message}" for fault in raised.value.faults]


def only(space: dict[str, Any]) -> Choice | Interval:
    (dimension,) = load(space).search.space
    return dimension


def test_a_range_has_the_unit_of_its_key() -> None:
    rate = only({"topology.link.rate": {"from": "1 Gbps", "to": "100 Gbps", "scale": "log"}})
    assert isinstance(rate, Interval) and not rate.is_counted
    assert [rate.value(place) for place in (1e9, 10e9, 12.3456e9, 100e9)] == [
        "1 Gbps",
        "10 Gbps",
        "12.35 Gbps",
        "100 Gbps",
    ]
    # A tenth of two decades is a factor of 10 to the 0.2, 1.585.
    assert [rate.value(place) for place in rate.neighbours(10e9)] == ["6.31 Gbps", "15.85 Gbps"]
    # At the end of the range there is one neighbour.
    assert [rate.value(place) for place in rate.neighbours(100e9)] == ["63.1 Gbps"]


def test_packets_are_counted() -> None:
    capacity = only({"queue.capacity": {"from": "1 packets", "to": "9 packets"}})
    assert isinstance(capacity, Interval) and capacity.is_counted
    assert capacity.value(4.0) == "4 packets"
    assert [capacity.value(place) for place in capacity.neighbours(4.0)] == ["3 packets", "5 packets"]


def test_whole_ends_of_a_real_key_have_reals_between_them() -> None:
    threshold = only({"queue.max_probability": {"from": 0, "to": 1}})
    assert isinstance(threshold, Interval) and not threshold.is_counted
    assert threshold.value(0.25) == 0.25
    hosts = only({"topology.hosts": {"from": 3, "to": 5}})
    assert isinstance(hosts, Interval) and hosts.is_counted


def test_steps_are_values_in_order() -> None:
    by_step = only({"queue.capacity": {"from": "10 packets", "to": "50 packets", "step": "20 packets"}})
    assert by_step == Choice("queue.capacity", ("10 packets", "30 packets", "50 packets"), is_ordered=True)
    by_steps = only({"topology.link.rate": {"from": "1 Gbps", "to": "100 Gbps", "steps": 3, "scale": "log"}})
    assert by_steps == Choice("topology.link.rate", ("1 Gbps", "10 Gbps", "100 Gbps"), is_ordered=True)
    assert by_steps.neighbours(1) == [0, 2] and by_steps.neighbours(0) == [1]
    reals = only({"queue.max_probability": {"from": 0.1, "to": 0.5, "step": 0.1}})
    assert isinstance(reals, Choice) and reals.values == (0.1, 0.2, 0.3, 0.4, 0.5)


def test_a_list_has_no_order() -> None:
    kinds = only({"congestion.kind": ["reno", "cubic", "dctcp"]})
    assert isinstance(kinds, Choice) and kinds.neighbours(1) == [0, 2]


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (
            {"que.capacity": [1, 2]},
            'space."que.capacity": names no key; a key is dotted and quoted, like "queue.capacity"',
        ),
        ({"trials": 30}, "space.trials: names no key; trials belongs under [search]"),
        (
            {"seed": [1, 2]},
            "space.seed: is nothing to search for: a good seed is luck; for several seeds use repeats under [sweep]",
        ),
        (
            {"queue.capacty": ["1 packets", "2 packets"]},
            'queue.capacty: red has no key "capacty"; did you mean "capacity"?',
        ),
        ({"congestion.kind": ["reno", "cubik"]}, 'congestion.kind: unknown "cubik"; did you mean "cubic"?'),
        (
            {"congestion.kind": ["reno"]},
            'space."congestion.kind": has one value, "reno"; there is nothing to choose: give two values, or set the '
            "key in its own section",
        ),
        ({"congestion.kind": ["reno", "reno"]}, 'space."congestion.kind": "reno" is listed twice'),
        (
            {"queue.capacity": {"from": "9 packets", "to": "1 packets"}},
            'space."queue.capacity": is empty: from "9 packets" is not below to "1 packets"',
        ),
        (
            {"queue.capacity": {"from": "0 packets", "to": "1 packets", "scale": "log"}},
            'space."queue.capacity": is logarithmic, so that both ends lie above 0',
        ),
        (
            {"queue.capacity": {"from": "10 packets", "to": "1 ms"}},
            'space."queue.capacity": goes from packets to a time; both ends are of one kind',
        ),
        (
            {"queue.capacity": {"from": "1 packets", "to": "9 packets", "stepp": 2}},
            'space."queue.capacity".stepp: a range has no such key; did you mean "step"?',
        ),
        (
            {"queue.capacity": {"from": "10 packets", "to": "100 packets", "step": "20 packets"}},
            'space."queue.capacity": does not arrive at to = "100 packets": its last value would be "90 packets"; '
            "change step",
        ),
        (
            {"topology.link.rate": {"from": "1 us", "to": "2 us", "steps": 2}},
            'topology.link.rate: "1 us" is a time; expected a rate, like "100 Gbps"',
        ),
    ],
)
def test_what_is_wrong_with_a_key_is_said(space: dict[str, Any], said: str) -> None:
    assert said in faults(space)


def test_all_faults_come_together_with_their_lines() -> None:
    text = """
[topology]
kind = "star"
hosts = 4
[[workload]]
kind = "permutation"
size = "20 kB"
[objective]
metric = "fcd"
[space]
"queue.capacity" = { from = "9 packets", to = "1 packets" }
"congestion.kind" = ["reno", "cubik"]
[search]
trails = 10
"""
    with pytest.raises(weft.ExperimentError) as raised:
        weft.load(text)
    assert [(fault.line, fault.key) for fault in raised.value.faults] == [
        (9, "objective.metric"),
        (11, 'space."queue.capacity"'),
        (12, "congestion.kind"),
        (14, "search.trails"),
    ]


def test_values_that_are_wrong_beside_some_others_only_are_a_warning() -> None:
    thresholds = {"queue.min_threshold": {"from": 5, "to": 95}, "queue.max_threshold": {"from": 10, "to": 100}}
    (warning,) = load(thresholds).search.warnings
    assert warning.startswith("1 of the 4 corners of the space are no valid experiments, like queue.min_threshold = 95")
    # A value that never works is a fault.
    never = {"queue.min_threshold": {"from": 5, "to": 20}, "queue.max_threshold": {"from": 3, "to": 4}}
    assert any("is not above min_threshold" in said for said in faults(never))


def test_samplers_say_what_they_cannot_do() -> None:
    space = {"queue.capacity": ["10 packets", "20 packets", "30 packets"]}
    assert faults(space, search={"sampler": "grid", "trials": 2}) == [
        "search.trials: 2 are fewer than the 3 points of the grid; raise it, or give fewer"
    ]
    assert faults(space, search={"sampler": "cma_es"}) == [
        "search.sampler: cma_es adapts the shape of a cloud over two ranges or more; use tpe"
    ]
    assert faults(space, search={"sampler": "nsga2"}) == [
        "search.sampler: nsga2 is for two objectives; add also = { metric = ... } under [objective], or use tpe"
    ]
    endless = {"queue.capacity": {"from": "1 packets", "to": "9 packets"}}
    assert faults(endless, search={"sampler": "grid"}) == [
        'space."queue.capacity": has no steps, so that a grid has no end; add steps = 5'
    ]


def test_a_file_is_swept_or_searched() -> None:
    space = {"queue.capacity": ["10 packets", "20 packets"]}
    (said,) = faults(space, sweep={"congestion.kind": ["reno", "cubic"]})
    assert said.startswith("space: stands beside axes in [sweep] (congestion.kind)")
