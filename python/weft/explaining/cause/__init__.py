"""Causes: why a flow took longer than alone. `CAUSES` has a line for each; the file of its name computes and says it.

A cause gives the time that a flow lost to it, in ns: what is missing, at the rate that it would have had alone. With

    alone >= host >= share, and share = rate + left + what others took

(sharing.py, View), sender and receiver have the first gap, collision and fabric the second; unfairness is what others
took; the causes after it divide what was left. So the times of all causes add up to the completion time less the ideal
one, and a new cause takes its part from the one that has it so far.
"""

from weft.explaining.cause.definition import Cause
from weft.report import theme

CAUSES: dict[str, Cause] = {
    cause.name: cause
    for cause in (
        Cause("sender", "its own host sent other flows over the same link"),
        Cause("receiver", "incast: other flows went to the same receiver"),
        Cause("collision", "flows met on one link while equal ways had room"),
        Cause("fabric", "all equal ways were as full: the fabric has no more"),
        Cause("unfairness", "others got more than their fair share"),
        Cause("head_of_line", "it stood behind packets for a full port that is not on its way"),
        Cause("slow_receiver", "its receiver took less than the last link carries"),
        Cause("pace", "its own adapter sends no faster, even alone"),
        Cause("control", "its packets were marked, and congestion control held it back"),
        Cause("timeouts", "silence until the retransmission timer went off"),
        Cause("duplicates", "segments that were sent again although they had arrived"),
        Cause("window", "it left its share unused: slow start, recovery from losses, window, nothing to send"),
    )
}


def colours(scheme: str = "light") -> dict[str, str]:
    """The colour of each cause on a `light` or a `dark` page: the same in every picture."""
    return {name: theme.CAUSES[name][scheme] for name in CAUSES}
