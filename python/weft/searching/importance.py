"""Importance: which of the searched keys the goal depends on.

Sources: fANOVA, Hutter et al., "An efficient approach for assessing hyperparameter importance", ICML 2014: the share of
the variance over the whole space that a key explains alone, by a random forest. PED-ANOVA, Watanabe et al., IJCAI 2023:
the same among the best tenth of the trials. Both as Optuna has them.

Trials that were stopped early count with the repeats that they had: without them only the good end would be known.
"""

from collections.abc import Sequence

from weft.experiment.objective import Goal
from weft.experiment.space import Dimension
from weft.searching.point import Point
from weft.searching.study import distribution, quiet

LEAST = 8
"""Trials below which an importance would be an accident."""


def importances(
    points: Sequence[Point], space: Sequence[Dimension], goal: Goal, place: int
) -> dict[str, dict[str, float]]:
    """By key the shares `fanova` and `ped_anova`, each adding up to 1; empty for too few trials or equal ones.

    `place` is the number of the goal. Keys that had one value in all trials have the share 0.
    """
    import optuna

    known = [(point, interval.mean) for point in points if (interval := point.interval(place)) is not None]
    if len(known) < LEAST or len({mean for _, mean in known}) < 2:
        return {}
    distributions = {dimension.key: distribution(dimension) for dimension in space}
    varied = [key for key in distributions if len({point.places[key] for point, _ in known}) > 1]
    evaluators = {
        "fanova": optuna.importance.FanovaImportanceEvaluator(seed=0),
        "ped_anova": optuna.importance.PedAnovaImportanceEvaluator(),
    }
    found = {key: dict.fromkeys(evaluators, 0.0) for key in distributions}
    with quiet():
        study = optuna.create_study(directions=["maximize" if goal.sign > 0 else "minimize"])
        study.add_trials(
            [
                optuna.trial.create_trial(params=dict(point.places), distributions=distributions, value=mean)
                for point, mean in known
            ]
        )
        for name, evaluator in evaluators.items():
            shares = optuna.importance.get_param_importances(study, evaluator=evaluator, params=varied)
            for key, share in shares.items():
                found[key][name] = float(share)
    return found
