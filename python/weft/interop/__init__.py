"""Interop: networks that other tools describe, as tables of an experiment, and what they recorded, as samples.

`READERS` is the list: from what is read to the function that gives the `[topology]` table. Nothing here loads the other
tool before it is asked to. `read_vec` reads results of OMNeT++.
"""

from collections.abc import Callable
from typing import Any

from weft.interop.networkx import from_networkx
from weft.interop.omnetpp import read_vec

READERS: dict[str, Callable[..., dict[str, Any]]] = {"networkx": from_networkx}

__all__ = ["READERS", "from_networkx", "read_vec"]
