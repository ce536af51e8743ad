"""Pruning: hopeless trials are stopped, and one that would have been best is stopped no more often than the level."""

import numpy as np
import pytest

from weft.searching.pruning import FIRST_LOOK, LEVEL, cannot_keep, cannot_reach, confidence_of_look


def looks(best: np.ndarray, trial: np.ndarray, sign: float = 1.0) -> bool:
    """Whether a trial with these numbers would have been stopped at any look."""
    repeats = len(trial)
    return any(cannot_reach(best, trial[:n], sign, repeats) for n in range(1, repeats))


@pytest.mark.parametrize("repeats", [4, 6, 12])
@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_a_trial_that_would_be_better_is_stopped_at_most_as_often_as_the_level(repeats: int, shared: float) -> None:
    # Both points are the same in truth, the hardest case of a trial that may win; seeds move both alike (`shared`).
    # The best one was chosen among 20 for its luck on these very seeds, as in a search.
    draw = np.random.default_rng(1)
    stopped, cases = 0, 1500
    for _ in range(cases):
        common = draw.normal(size=repeats) * np.sqrt(shared)
        others = common + draw.normal(size=(20, repeats)) * np.sqrt(1 - shared)
        best = others[np.argmax(others.mean(axis=1))]
        trial = common + draw.normal(size=repeats) * np.sqrt(1 - shared)
        stopped += looks(best, trial) and trial.mean() > best.mean()
    # Of those that would have won at most the level; of all, which are more, far less.
    assert stopped / cases < LEVEL
    equal = 0
    for _ in range(cases):
        common = draw.normal(size=repeats) * np.sqrt(shared)
        one, other = common + draw.normal(size=(2, repeats)) * np.sqrt(1 - shared)
        equal += looks(one, other)
    # Without luck in the choice: the level, and two standard deviations of counting.
    assert equal / cases < LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / cases)


def test_a_hopeless_trial_is_stopped() -> None:
    draw = np.random.default_rng(2)
    best = 10 + draw.normal(size=10)
    assert looks(best, 2 + draw.normal(size=10))
    # Smaller is better: the same numbers the other way round.
    assert looks(-best, -2 + draw.normal(size=10), -1.0)
    assert not looks(best, 30 + draw.normal(size=10))


def test_two_repeats_decide_nothing_and_the_last_is_never_too_early() -> None:
    assert not cannot_reach([10.0] * 5, [0.0] * 2, 1.0, 5)
    assert cannot_reach([10.0] * 5, [0.0] * FIRST_LOOK, 1.0, 5)
    # All repeats are done: nothing is saved.
    assert not cannot_reach([10.0] * 5, [0.0] * 5, 1.0, 5)


def test_the_level_is_shared_between_the_looks() -> None:
    # 10 repeats are looked at after 3 to 9: 7 looks, each one-sided.
    assert (1 - confidence_of_look(10)) / 2 * 7 == pytest.approx(LEVEL)


def test_a_constraint_that_is_clearly_missed_stops_a_trial() -> None:
    assert cannot_keep([0.2, 0.21, 0.19], 6)
    assert not cannot_keep([0.2, -0.21, 0.3], 6)
    assert not cannot_keep([-0.2, -0.21, -0.19], 6)
