"""Analyses: what is asked in the file is answered, and what cannot be answered says why."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weft
from weft.analysis import Question, analyse
from weft.analysis.answer import answer

BASE: dict[str, Any] = {
    "topology": {"kind": "fat_tree", "k": 4, "link": {"rate": "100 Mbps", "delay": "10 us"}},
    "workload": [{"kind": "permutation", "size": "200 kB"}],
    "sweep": {"load_balance.kind": ["ecmp", "spray"], "queue.capacity": ["20 packets", "100 packets"], "repeats": 4},
}
ASKED = {"kind": "manova", "metrics": ["goodput", "fct.p99"], "factors": ["load_balance.kind", "queue.capacity"]}


def frame(**metrics: list[float]) -> pl.DataFrame:
    """Two factors with two levels, two runs in each cell."""
    rows = len(next(iter(metrics.values())))
    return pl.DataFrame(
        {
            "run": [str(n) for n in range(rows)],
            "repeat": [n % 2 for n in range(rows)],
            "a": ["x"] * (rows // 2) + ["y"] * (rows // 2),
            "b": (["u"] * (rows // 4) + ["v"] * (rows // 4)) * 2,
            **metrics,
        }
    )


def test_the_questions_of_a_file_are_answered_in_its_order(tmp_path: Path) -> None:
    asked = [
        ASKED,
        {"kind": "anova", "metrics": ["goodput"], "by": "queue.capacity"},
    ]
    results = weft.run(BASE | {"analysis": asked}, tmp_path)
    answers = analyse(results)
    titles = [found.question.title for found in answers]
    assert titles == [
        "MANOVA of goodput, fct.p99 over load_balance.kind, queue.capacity",
        'ANOVA of goodput over load_balance.kind, queue.capacity = "20 packets"',
        'ANOVA of goodput over load_balance.kind, queue.capacity = "100 packets"',
    ]
    assert not any(found.refused for found in answers)
    # Spraying uses all paths of a fat tree and hashing does not: the effect is far above the noise of four repeats.
    assert any(sentence.startswith("load_balance.kind changes") for sentence in answers[0].sentences)
    assert "Pillai's trace" in answers[0].text and "Box's M" in answers[0].text


def test_an_analysis_changes_no_run() -> None:
    plain, asked = weft.load(BASE), weft.load(BASE | {"analysis": [ASKED]})
    assert [run.name for run in plain.plan()] == [run.name for run in asked.plan()]
    assert weft.load(asked.resolved).resolved == asked.resolved


def test_an_effect_is_told_with_the_best_cell() -> None:
    # a moves the value by 10, b and the interaction by nothing, the error is 1.
    data = frame(goodput=[1e6, 3e6, 1e6, 3e6, 11e6, 13e6, 11e6, 13e6])
    found = answer(Question("anova", ("goodput",), ("a", "b")), data)
    # By hand: SS a = 8 x 5^2 = 200, error 8 x 1 = 8 on 4 degrees: F = 200 / 2.
    assert found.sentences[0] == "a changes goodput: F(1, 4) = 100, p = 0.0006"
    assert found.sentences[1].startswith("no effect of b on goodput is shown: F(1, 4) = 0,")
    assert found.sentences[3] == 'best mean of goodput: 12 Mb/s with a = "y", b = "u"'


def test_repeats_as_blocks_take_what_the_seed_does_out_of_the_error() -> None:
    data = frame(goodput=[1.0, 3.1, 1.1, 3.0, 1.5, 3.4, 1.4, 3.6])
    without = answer(Question("anova", ("goodput",), ("a", "b")), data)
    within = answer(Question("anova", ("goodput",), ("a", "b"), blocks=True), data)
    assert without.sentences[0].startswith("no effect of a") and within.sentences[0].startswith("a changes")


def test_a_metric_that_follows_from_another_is_left_out_and_told() -> None:
    goodput = [1.0, 3.0, 1.0, 2.0, 11.0, 13.5, 11.0, 13.0]
    fct = [5.0, 2.0, 4.0, 4.5, 1.0, 0.5, 2.0, 1.5]
    data = frame(goodput=goodput, throughput=[2 * value for value in goodput], fct=fct)
    found = answer(Question("manova", ("goodput", "throughput", "fct"), ("a", "b"), permutations=0), data)
    assert not found.refused
    assert (
        'throughput is left out: within the cells "throughput" is a linear combination of "goodput"'
        in (found.sentences[0])
    )


def test_what_cannot_be_analysed_says_why() -> None:
    data = frame(goodput=[1.0] * 8, fct=[1.0, 2.0] * 4)
    found = answer(Question("manova", ("goodput", "fct"), ("a", "b")), data)
    assert "goodput" in found.refused and not found.sentences
    empty = data.with_columns(goodput=pl.lit(None, dtype=pl.Float64))
    assert answer(Question("anova", ("goodput",), ("a", "b")), empty).refused == "no run has a value of goodput"
    some = data.with_columns(goodput=pl.Series([None, 1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 1.0]))
    assert answer(Question("anova", ("goodput",), ("a",)), some).sentences[0] == (
        "1 of 8 runs have no goodput and are left out"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": ["godput", "fct"]}, 'analysis[0].metrics: unknown metric "godput"; did you mean "goodput"?'),
        ({"metrics": ["goodput"]}, 'a MANOVA has several metrics; for one, write kind = "anova"'),
        ({"metrics": ["goodput", "goodput"]}, "names a metric twice"),
        ({"factors": ["load_balance.kid"]}, '"load_balance.kid" is not swept; did you mean "load_balance.kind"?'),
        ({"by": "queue.capacity"}, '"queue.capacity" is among the factors too'),
        ({"kind": "ancova"}, 'analysis[0].kind: unknown "ancova"; did you mean "anova"?'),
    ],
)
def test_a_question_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(weft.ExperimentError) as caught:
        weft.load(BASE | {"analysis": [ASKED | change]})
    assert message in str(caught.value)


def test_an_analysis_needs_axes_and_repeats() -> None:
    once = BASE | {"sweep": BASE["sweep"] | {"repeats": 1}, "analysis": [ASKED]}
    with pytest.raises(weft.ExperimentError, match="judges by what repeats differ; write repeats = 10"):
        weft.load(once)


def test_another_question_of_the_same_runs_runs_nothing_again(tmp_path: Path) -> None:
    weft.run(BASE, tmp_path)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.glob("runs/*/manifest.json")}
    results = weft.run(BASE | {"analysis": [ASKED | {"kind": "anova", "metrics": ["fct"]}]}, tmp_path)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.glob("runs/*/manifest.json")} == before
    (found,) = analyse(results)
    assert found.question.metrics == ("fct",) and found.sentences
