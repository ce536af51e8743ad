"""Duplicates: segments that were sent again in vain took the flow's place on its way, and brought nothing new."""

from weft.explaining.cause import timeouts
from weft.explaining.cause.definition import summed
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """The time of these bytes at the rate alone; not more than what timeouts leave of what nobody else had."""
    return min(view.payload_ns(view.flow.duplicate_bytes), summed(view, view.left) - timeouts.lost_ns(view))
