"""Statistics: from the numbers of single runs to statements about a cell of a sweep."""

from weft.statistics.fairness import jain
from weft.statistics.interval import Interval, mean_interval
from weft.statistics.quantile import quantile

__all__ = ["Interval", "jain", "mean_interval", "quantile"]
