"""Control: its packets were marked, and congestion control held its source back below its share.

What a queue pair without a window left unused for no other reason, where it was told of congestion: the delays of a
congestion control table, the rate of DCQCN.
"""

import numpy as np

from weft.explaining.cause.definition import summed
from weft.explaining.cause.head_of_line import blocked
from weft.explaining.cause.pace import slower
from weft.explaining.cause.slow_receiver import stopped
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """What was left and neither blocking nor the source's own pace accounts for."""
    if not view.flow.is_controlled:
        return 0.0
    return summed(view, np.clip(view.left - slower(view) - blocked(view) - stopped(view), 0.0, None))
