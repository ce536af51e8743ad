"""The flow left its share unused, and neither a timer nor what it sent in vain is to blame.

Slow start, recovery from losses, a window that was too small, reordering taken for loss, or nothing to send.
"""

from weft.explaining.cause import control, duplicates, head_of_line, pace, slow_receiver, timeouts
from weft.explaining.cause.definition import summed
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What was left, less what the others account for, and what a flow alone needs: handshake and propagation."""
    held = head_of_line.lost_ns(view) + slow_receiver.lost_ns(view)
    left = summed(view, view.left) - held - pace.lost_ns(view) - control.lost_ns(view)
    return left - timeouts.lost_ns(view) - duplicates.lost_ns(view) - view.begin_ns
