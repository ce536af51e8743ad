"""Statistics: from the numbers of single runs to statements about a cell of a sweep."""

from weft.statistics.anova import Anova, AnovaRow, anova
from weft.statistics.assumptions import Assumptions, Check
from weft.statistics.criteria import Criterion
from weft.statistics.effect_size import cliffs_delta, cohens_dz, hedges_g
from weft.statistics.equivalence import Equivalence, equivalence
from weft.statistics.fairness import jain
from weft.statistics.interval import Interval, interval, mean_interval
from weft.statistics.manova import Manova, manova
from weft.statistics.multiple_comparison import benjamini_hochberg, holm
from weft.statistics.paired import Contrast, Difference, contrast, difference
from weft.statistics.permutation import Permuted
from weft.statistics.quantile import quantile
from weft.statistics.steady_state import BatchMeans, WarmUp, batch_means, mser5, steady_interval

__all__ = [
    "Anova",
    "AnovaRow",
    "Assumptions",
    "BatchMeans",
    "Check",
    "Contrast",
    "Criterion",
    "Difference",
    "Equivalence",
    "Interval",
    "Manova",
    "Permuted",
    "WarmUp",
    "anova",
    "batch_means",
    "benjamini_hochberg",
    "cliffs_delta",
    "cohens_dz",
    "contrast",
    "difference",
    "equivalence",
    "hedges_g",
    "holm",
    "interval",
    "jain",
    "manova",
    "mean_interval",
    "mser5",
    "quantile",
    "steady_interval",
]
