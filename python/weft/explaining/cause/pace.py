"""Pace: its own adapter puts packets on the wire no faster, even alone (bus, pause between packets)."""

import numpy as np

from weft.explaining.cause.definition import summed
from weft.explaining.evidence import Reals
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What its share has above the pace of its source."""
    return summed(view, slower(view))


def slower(view: View) -> Reals:
    """The same by slice, bits per second."""
    return np.clip(np.minimum(view.left, view.share - np.maximum(view.pace, view.rate)), 0.0, None)
