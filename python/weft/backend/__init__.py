"""Backends: the ways to run an experiment. One file per backend; `BACKENDS` is the list."""

from collections.abc import Mapping
from typing import Any, Protocol

from weft.backend import flow, packet


class Backend(Protocol):
    """What a module of this package offers."""

    KIND: dict[str, Any]
    """Its name and the keys of [backend], in the shape of `_core.kinds()`."""

    REAL_TIME: bool
    """Whether its runs take place on a real network, so that they must not disturb each other."""

    check: Any
    """See `weft.backend.packet.check`."""

    run: Any
    """See `weft.backend.simulation.run`."""


BACKENDS: Mapping[str, Backend] = {"packet": packet, "flow": flow}
