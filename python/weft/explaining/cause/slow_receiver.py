"""Slow receiver: on a lossless fabric, its host took less than the last link carries (its bus, needless pauses).

The time is that in which links of the tree whose root is the receiver's link had no room behind them (blocking.py).
"""

import numpy as np

from weft.explaining.cause.definition import summed
from weft.explaining.cause.head_of_line import blocked
from weft.explaining.evidence import Reals
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What it did not send, as far as its receiver held it back."""
    return summed(view, stopped(view))


def stopped(view: View) -> Reals:
    """The same by slice, bits per second; what it lost as a victim comes first."""
    could = np.minimum(view.share, view.pace)
    rest = np.minimum(view.left, could - view.rate) - blocked(view)
    return np.clip(np.minimum(rest, view.stopped * could), 0.0, None)
