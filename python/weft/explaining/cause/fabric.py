"""The fabric was full on all equal ways: what even a perfect spread would not have given."""

from weft.explaining.cause.collision import collided
from weft.explaining.cause.definition import summed
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What the links of hosts would have given, less what a perfect spread would."""
    return summed(view, view.host - view.share - collided(view))
