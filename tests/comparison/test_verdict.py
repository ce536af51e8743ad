"""Verdicts: every word has numbers that lead to it, and is wrong no more often than it says."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.comparison import verdict as words
from weft.comparison.margin import read_margin
from weft.comparison.verdict import compared, verdict
from weft.metric import METRICS

MARGIN = read_margin("5 %", None)
NOISE = [-1.0, 0.5, 1.0, -0.5, 0.0]
REFERENCE = [100.0 + noise for noise in NOISE]
CLAIMS = (words.BETTER, words.WORSE, words.BETTER_PERHAPS, words.WORSE_PERHAPS, words.WITHIN)


def said(reference: list[float], other: list[float], better: str = "lower", is_paired: bool = True) -> str:
    one = compared(reference, other, MARGIN, 0.95, is_paired)
    return verdict(one, one.found.p_value, better, 0.05)  # type: ignore[arg-type]


def shifted(by: float, spread: float) -> list[float]:
    # Standard error spread sqrt(0.5 / 5) = 0.316 spread; t(4) is 2.78 two-sided at 5 %, 2.13 one-sided.
    turned = [0.7, -0.4, 0.3, 0.5, -1.1]
    return [value + by + spread * noise for value, noise in zip(REFERENCE, turned, strict=True)]


@pytest.mark.parametrize(
    ("by", "spread", "lower_is_better", "higher_is_better"),
    [
        (10.0, 1.0, words.WORSE, words.BETTER),
        (-10.0, 1.0, words.BETTER, words.WORSE),
        (5.5, 2.0, words.WORSE_PERHAPS, words.BETTER_PERHAPS),
        (-5.5, 2.0, words.BETTER_PERHAPS, words.WORSE_PERHAPS),
        (2.0, 1.0, words.WITHIN, words.WITHIN),
        (0.1, 1.0, words.EQUIVALENT, words.EQUIVALENT),
        (0.0, 0.0, words.EQUIVALENT, words.EQUIVALENT),
        (3.0, 20.0, words.UNDECIDED, words.UNDECIDED),
    ],
)
def test_every_verdict_has_its_numbers(by: float, spread: float, lower_is_better: str, higher_is_better: str):
    assert said(REFERENCE, shifted(by, spread)) == lower_is_better
    assert said(REFERENCE, shifted(by, spread), "higher") == higher_is_better


def test_one_repeat_gives_no_verdict_unless_the_runs_are_the_same():
    assert said([100.0], [200.0]) == words.ONE_REPEAT
    assert said([100.0], [100.0]) == words.ONE_REPEAT
    one = compared([100.0], [100.0], MARGIN, 0.95, is_paired=True, is_identical=True)
    assert verdict(one, None, "lower", 0.05) == words.IDENTICAL


def test_the_family_turns_a_finding_into_none():
    one = compared(REFERENCE, shifted(10.0, 1.0), MARGIN, 0.95, is_paired=True)
    assert verdict(one, 0.2, "lower", 0.05) == words.UNDECIDED


@given(st.lists(st.floats(1.0, 1e6), min_size=2, max_size=10), st.booleans())
def test_a_sample_is_never_different_from_itself(values: list[float], is_paired: bool):
    word = said(values, values, is_paired=is_paired)
    assert word in (words.EQUIVALENT, words.UNDECIDED)
    assert word == words.EQUIVALENT or not is_paired


@given(st.lists(st.tuples(st.floats(50.0, 150.0), st.floats(50.0, 150.0)), min_size=2, max_size=8))
def test_swapping_sides_swaps_better_and_worse(pairs: list[tuple[float, float]]):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    margin = read_margin("1 ns", METRICS["fct"])
    swapped = {words.BETTER: words.WORSE, words.BETTER_PERHAPS: words.WORSE_PERHAPS}
    swapped |= {worse: better for better, worse in swapped.items()}
    there, back = (compared(a, b, margin, 0.95, is_paired=True) for a, b in ((first, second), (second, first)))
    word = verdict(there, there.found.p_value, "lower", 0.05)
    assert verdict(back, back.found.p_value, "lower", 0.05) == swapped.get(word, word)
    assert there.delta == -back.delta


@pytest.mark.parametrize("is_paired", [True, False])
@pytest.mark.parametrize(("truth", "wrong"), [(1.0, CLAIMS), (1.05, (words.EQUIVALENT, words.WITHIN, words.WORSE))])
def test_a_wrong_verdict_is_as_rare_as_stated(truth: float, wrong: tuple[str, ...], is_paired: bool):
    # No difference: any claim of one is an error. At the margin: "within" and "beyond" are errors, 5 % each. Of 2000,
    # with 3 standard deviations of a share (0.49 %; 0.67 % for two kinds of error).
    generator = random.Random(f"{truth} {is_paired}")
    errors = 0
    for _ in range(2000):
        reference = [generator.gauss(100.0, 8.0) for _ in range(10)]
        source = reference if is_paired else [generator.gauss(100.0, 8.0) for _ in range(10)]
        other = [truth * value + generator.gauss(0.0, 3.0) for value in source]
        errors += said(reference, other, is_paired=is_paired) in wrong
    allowed = 0.05 + 3 * 0.0049 if truth == 1.0 else 0.10 + 3 * 0.0067
    assert errors / 2000 <= allowed
