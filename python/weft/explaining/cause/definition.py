"""What a cause is: a name, a sentence, and the time that a flow lost to it."""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.explaining.evidence import Reals
    from weft.explaining.sharing import View


@dataclass(frozen=True)
class Cause:
    """One cause. The file of its name in this package has `lost_ns(view)`."""

    name: str
    about: str

    def lost_ns(self, view: "View") -> float:
        """Time that the flow lost to it; below zero where it gained."""
        lost: float = importlib.import_module(f"weft.explaining.cause.{self.name}").lost_ns(view)
        return lost


def summed(view: "View", missing: "Reals") -> float:
    """What it takes to make up for a rate that was missing (bits per second, by slice) at the rate alone, ns."""
    return float((missing * view.seconds).sum() / view.alone)
