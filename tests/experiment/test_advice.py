"""Advice: what can have no effect is said, and nothing else."""

from pathlib import Path

import pytest

import weft

BASE = """\
[topology]
kind = "star"
hosts = 4

[[workload]]
kind = "permutation"
size = "20 kB"
"""

UDP = 'transport={ kind = "udp", rate = "1 Gbps" }'
NEVER_MARKS = "queue.kind drop_tail never marks"
NO_CAPABLE_SENDER = 'no sender is ECN-capable (congestion.kind = "dctcp" and transport.ecn = true are)'

ROCE = ["flow_control.kind=pfc", "transport.kind=rocev2"]
NO_DCQCN = 'dcqcn has no effect, since it sees no marks: {} (queue.kind = "ecn_ramp" marks)'
BY_STEP = ["congestion.kind=dcqcn", "queue.kind=ecn_step", "queue.threshold=250 packets"]
GOES_BACK = (
    "load_balance.kind {} reorders packets, and rocev2 sends again from the first gap on (go_back_n), so that most of "
    'what is sent may be repeats; transport.retransmission = "selective" repairs gaps alone, and transport.reordering '
    "is by how many packets a later one may be ahead"
)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([], []),
        ([UDP], []),
        ([UDP, "congestion.kind=cubic"], ["congestion control has no effect: every flow is UDP"]),
        ([UDP, "workload[0].congestion.kind=reno"], ["congestion control has no effect: every flow is UDP"]),
        ([UDP, "workload[0].transport.kind=tcp", "congestion.kind=reno"], []),
        (["congestion.kind=dctcp"], ["dctcp sees no marks: queue.kind drop_tail never marks"]),
        (
            ["congestion.kind=dctcp", "queue.kind=red", "queue.ecn=false"],
            ["dctcp sees no marks: queue.ecn = false, so red only drops"],
        ),
        (["congestion.kind=dctcp", "queue.kind=ecn_step"], []),
        (
            ["queue.capacity=1 kB"],
            ["queue.capacity 1000 B holds no full packet (1538 B on the wire): all of them are dropped"],
        ),
        (["queue.capacity=1538 B"], []),
        (
            ["congestion.kind=lia"],
            ['lia has nothing to couple over plain TCP, where it is Reno; transport.kind = "mptcp" has subflows'],
        ),
        (["congestion.kind=olia", "transport.kind=mptcp"], []),
        ([UDP, "receive.kind=juggler"], ["receive.kind juggler has no effect: every flow is UDP"]),
        (["receive.kind=juggler"], []),
        (["transport.ecn=true"], ["transport.ecn has no effect: queue.kind drop_tail never marks"]),
        (["transport.ecn=true", "queue.kind=red"], []),
        (["queue.kind=ecn_step"], [f"queue.kind ecn_step never marks: {NO_CAPABLE_SENDER}"]),
        (["queue.kind=red"], [f"queue.kind red drops where it would mark: {NO_CAPABLE_SENDER}"]),
        (["queue.kind=red", "queue.ecn=false"], []),
        (
            ["queue.kind=ecn_step", "congestion.kind=dctcp", "queue.threshold=250 packets"],
            ["dctcp sees no marks: queue.threshold 250 packets is not below queue.capacity 250 packets"],
        ),
        (["queue.kind=ecn_step", "congestion.kind=dctcp", "queue.threshold=249 packets"], []),
        (["load_balance.kind=reps", "queue.kind=ecn_step", "congestion.kind=dctcp"], []),
        (
            ["load_balance.kind=reps"],
            [f"reps sees no marks, so that it leaves a path only when packets are lost: {NEVER_MARKS}"],
        ),
        (
            [UDP, "load_balance.kind=reps"],
            ["load_balance.kind reps only sprays: every flow is UDP, which has no acknowledgments"],
        ),
        ([*ROCE, "congestion.kind=dcqcn"], [NO_DCQCN.format(NEVER_MARKS)]),
        ([*ROCE, "workload[0].congestion.kind=dcqcn"], [NO_DCQCN.format(NEVER_MARKS)]),
        ([*ROCE, "congestion.kind=dcqcn", "queue.kind=ecn_ramp"], []),
        ([*ROCE, "congestion.kind=swift"], []),
        # A lossless class marks beyond the capacity; one that drops does not.
        ([*ROCE, *BY_STEP], []),
        (
            [*ROCE, *BY_STEP, "flow_control.lossless=[]"],
            [NO_DCQCN.format("queue.threshold 250 packets is not below queue.capacity 250 packets")],
        ),
        ([*ROCE, "load_balance.kind=spray"], [GOES_BACK.format("spray")]),
        ([*ROCE, "load_balance.kind=drill"], [GOES_BACK.format("drill")]),
        ([*ROCE, "load_balance.kind=spray", "transport.retransmission=selective"], []),
        ([*ROCE, "load_balance.kind=flowlet"], []),
        (
            [*ROCE, "load_balance.kind=reps"],
            ["load_balance.kind reps only hashes, as ecmp does: queue pairs keep one entropy each"],
        ),
        (
            ['workload=[{ kind = "poisson", size = "1 kB", load = 1.5, flows = 10 }]'],
            [
                "poisson: load 1.5 is more than the hosts' links carry, so that completion times grow with the length "
                "of the run"
            ],
        ),
    ],
)
def test_what_can_have_no_effect_is_said(settings: list[str], said: list[str]) -> None:
    experiment = weft.load(BASE, settings)
    assert experiment.advice(next(iter(experiment.cells()))) == said


def test_a_sweep_that_compares_who_asks_for_marks_is_no_mistake() -> None:
    experiment = weft.load(BASE, ["queue.kind=ecn_step", 'sweep."congestion.kind"=["cubic", "dctcp"]'])
    assert [experiment.advice(cell) for cell in experiment.cells()] == [[], []]


def test_a_sweep_that_compares_how_losses_are_repaired_is_no_mistake() -> None:
    swept = 'sweep."transport.retransmission"=["go_back_n", "selective"]'
    experiment = weft.load(BASE, [*ROCE, "load_balance.kind=spray", swept])
    assert [experiment.advice(cell) for cell in experiment.cells()] == [[], []]


@pytest.mark.parametrize("file", sorted(Path("experiments/examples").glob("*.toml")), ids=lambda file: file.stem)
def test_the_examples_need_no_advice(file: Path) -> None:
    experiment = weft.load(file)
    # Flows of a web search are short and long, and which of them the flow level can tell is said in any case.
    of_fluids = "come out too fast at the flow level"
    given = [text for cell in experiment.cells() for text in experiment.advice(cell) if of_fluids not in text]
    assert given == []


def test_advice_is_a_warning_of_the_run() -> None:
    results = weft.run(BASE, set=["congestion.kind=dctcp"])
    assert results.warnings == ["dctcp sees no marks: queue.kind drop_tail never marks"]
