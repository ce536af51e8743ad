"""Timeouts: the sender was silent until its retransmission timer went off."""

import numpy as np

from weft.explaining.cause.definition import summed
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """The silence at the share that went unused in it; not more than the flow left unused in all."""
    wait = view.flow.timeout_wait_ns
    if not wait:
        return 0.0
    unused = view.left[view.is_silent] if view.is_silent.any() else view.share
    # Several subflows may wait at the same time.
    return min(wait * float(np.mean(unused)) / view.alone, summed(view, view.left))
