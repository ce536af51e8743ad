"""The link of the flow's own host carried other flows: no fabric can help."""

import numpy as np

from weft.explaining.cause.definition import summed
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What the host's link did not give, in the slices in which it gave less than the receiver's."""
    return summed(view, np.where(view.host_side == "out", view.alone - view.host, 0.0))
