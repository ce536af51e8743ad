"""The study: which point is tried next, by Optuna, and what is known of the points so far.

Sources: Akiba et al., "Optuna", KDD 2019; tree-structured Parzen estimator: Bergstra et al., NIPS 2011, with a constant
liar for trials under way (Ginsbourger et al., 2010); CMA-ES: Hansen, arXiv 1604.00772; NSGA-II: Deb et al., IEEE Trans.
Evol. Comput. 6, 2002.

Trials are chosen in batches, each before any of its trials is done, and every choice has random numbers of its own,
from the experiment's seed and the number of the trial. So a search gives the same trials with any number of jobs, and
the same after it was killed and resumed.
"""

import hashlib
import itertools
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weft.errors import OutputError
from weft.execute.folder import NEW_FOLDER, differing_keys
from weft.experiment.space import Choice, Dimension, Search

NAME = "weft search"
MULTIVARIATE = True
POPULATION = 16
"""Of NSGA-II: small, because a simulation is not cheap."""

MAY_CHANGE = ("search.trials", "search.neighbours")
"""Keys that a search which goes on may have otherwise than before."""


class Study:
    """Optuna's study of a search, in the journal `file`."""

    def __init__(self, file: Path, search: Search, seed: int) -> None:
        """Opens the study or begins one. Raises OutputError for a study of another search."""
        import optuna

        from weft.searching.journal import Journal

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        assert search.objective is not None
        self._search, self._seed = search, seed
        self._journal = Journal(file)
        directions: list[Any] = [goal.direction for goal in search.objective.goals]
        described = json.loads(json.dumps(dict(search.written)))
        storage = optuna.storages.JournalStorage(self._journal)
        sampler = optuna.samplers.RandomSampler(seed=0)
        with quiet(), self._journal.whole():
            if any(study.study_name == NAME for study in storage.get_all_studies()):
                self._study = optuna.load_study(study_name=NAME, storage=storage, sampler=sampler)
            else:
                self._study = optuna.create_study(
                    study_name=NAME, storage=storage, sampler=sampler, directions=directions
                )
                self._study.set_user_attr("search", described)
        before = self._study.user_attrs["search"]
        keys = [key for key in differing_keys(before, described) if key not in MAY_CHANGE]
        if keys:
            raise OutputError(f"{file.parent}: holds another search; they differ in {', '.join(keys)}; {NEW_FOLDER}")

    @property
    def trials(self) -> list[Any]:
        """Optuna's trials so far, in order."""
        return list(self._study.get_trials(deepcopy=False))

    def next_batch(self, first: Mapping[str, Any] | None) -> list[Any]:
        """The trials to be done next, none if all that are planned are done.

        `first` are the places that the first trial has whatever the sampler thinks.
        """
        trials = self.trials
        begun = [trial for trial in trials if not trial.state.is_finished()]
        planned = min(self._search.trials, self._points)
        end = begun[0].number if begun else len(trials)
        end = min((end // self._search.batch + 1) * self._search.batch, planned)
        while len(trials) < end:
            self._ask(len(trials), first)
            trials = self.trials
        return [trial for trial in trials if not trial.state.is_finished()]

    def tell(self, number: int, values: Sequence[float] | None, kept: Mapping[str, Any], is_pruned: bool) -> None:
        """The result of a trial: its values (None: it failed), and what is `kept` beside them."""
        import optuna

        trial = self.trials[number]
        state = optuna.trial.TrialState.COMPLETE
        if values is None:
            state = optuna.trial.TrialState.FAIL
        elif is_pruned:
            state = optuna.trial.TrialState.PRUNED
        with quiet(), self._journal.whole():
            for key, value in kept.items():
                self._study._storage.set_trial_user_attr(trial._trial_id, key, value)
            if is_pruned and values is not None:
                # Optuna takes the last intermediate value as what is known of a pruned trial.
                self._study._storage.set_trial_intermediate_value(trial._trial_id, len(kept["measured"]), values[0])
            self._study.sampler = self._sampler(number)
            self._study.tell(number, None if state != optuna.trial.TrialState.COMPLETE else values, state=state)

    @property
    def _points(self) -> float:
        """Points of the grid; without a grid, no end."""
        if self._search.sampler != "grid":
            return float("inf")
        sizes = [len(dimension.values) for dimension in self._search.space if isinstance(dimension, Choice)]
        return float(len(list(itertools.product(*map(range, sizes)))))

    def _ask(self, number: int, first: Mapping[str, Any] | None) -> None:
        """Begins the next trial, with a place on every dimension."""
        with quiet(), self._journal.whole():
            self._study.sampler = self._sampler(number)
            if self._search.sampler == "grid":
                sizes = [
                    range(len(dimension.values)) for dimension in self._search.space if isinstance(dimension, Choice)
                ]
                point = next(itertools.islice(itertools.product(*sizes), number, None))
                keys = [dimension.key for dimension in self._search.space]
                self._study.enqueue_trial(dict(zip(keys, point, strict=True)))
            elif number == 0 and first is not None:
                self._study.enqueue_trial(dict(first))
            self._study.ask({dimension.key: distribution(dimension) for dimension in self._search.space})

    def _sampler(self, number: int) -> Any:
        """The sampler of one trial, which knows nothing but the study and its own random numbers."""
        import optuna

        digest = hashlib.blake2b(f"weft search {self._seed}/{number}".encode(), digest_size=4).digest()
        seed = int.from_bytes(digest, "big")
        assert self._search.objective is not None
        constraints = shortfalls if self._search.objective.constraints else None
        with quiet():
            match self._search.sampler:
                case "tpe":
                    return optuna.samplers.TPESampler(
                        seed=seed, multivariate=MULTIVARIATE, constant_liar=True, constraints_func=constraints
                    )
                case "cma_es":
                    return optuna.samplers.CmaEsSampler(
                        seed=seed, warn_independent_sampling=False, n_startup_trials=self._search.batch
                    )
                case "nsga2":
                    return optuna.samplers.NSGAIISampler(
                        seed=seed, population_size=POPULATION, constraints_func=constraints
                    )
                case _:
                    return optuna.samplers.RandomSampler(seed=seed)


def distribution(dimension: Dimension) -> Any:
    """What Optuna is told of a dimension: places, not values (see space.py)."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(dimension, Choice):
        last = len(dimension.values) - 1
        return IntDistribution(0, last) if dimension.is_ordered else CategoricalDistribution(range(last + 1))
    if dimension.is_counted:
        return IntDistribution(int(dimension.low), int(dimension.high), log=dimension.is_log)
    return FloatDistribution(float(dimension.low), float(dimension.high), log=dimension.is_log)


def shortfalls(trial: Any) -> list[float]:
    """By how much a trial misses each constraint; at most 0 where it is kept."""
    return [float(value) for value in trial.user_attrs["shortfalls"]]


@contextmanager
def quiet() -> Iterator[None]:
    """Without Optuna's remarks on what it still calls experimental."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
