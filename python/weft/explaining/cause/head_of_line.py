"""Head-of-line blocking: on a lossless fabric, it stood behind packets for a congested port that is not on its way.

The time is that in which links of a congestion tree that it crosses had no room behind them, and it does not cross the
root (blocking.py); not more than what the flow left unused of what it could have sent.
"""

import numpy as np

from weft.explaining.cause.definition import summed
from weft.explaining.evidence import Reals
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What it did not send, as far as it was held back."""
    return summed(view, blocked(view))


def blocked(view: View) -> Reals:
    """The same by slice, bits per second."""
    could = np.minimum(view.share, view.pace)
    return np.clip(np.minimum(np.minimum(view.left, could - view.rate), view.victim * could), 0.0, None)
