"""Collision: several flows were put on one link of the fabric while equal ways had room.

Time is lost to it as far as the flow's share falls below the one that it had if all flows were divided equally over all
ways that routes offer them (sharing.py, perfect_spread). Per-flow balancing does that by chance (ECMP: hash collisions)
or by the table (static); per-packet balancing as far as it is uneven.
"""

from weft.explaining.cause.definition import summed
from weft.explaining.evidence import Reals
from weft.explaining.sharing import View


def lost_ns(view: View) -> float:
    """From the share up to that of the perfect spread, where the fabric bounds the flow."""
    return summed(view, collided(view))


def collided(view: View) -> Reals:
    """The same by slice, bits per second."""
    return view.spread - view.share
