"""Unfairness: others on the bounding link had more than their max-min share; below zero if the flow had."""

from weft.explaining.cause.definition import summed
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What the flow did not get of its share, and others did."""
    return summed(view, view.share - view.rate - view.left)
