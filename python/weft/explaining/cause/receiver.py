"""Incast: the last link carried other flows to the same host."""

import numpy as np

from weft.explaining.cause.definition import summed
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What the receiver's link did not give, in the slices in which it gave less than the sender's."""
    return summed(view, np.where(view.host_side == "in", view.alone - view.host, 0.0))
