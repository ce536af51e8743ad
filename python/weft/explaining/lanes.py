"""Lanes: which virtual lane, or class, of each link the packets of a workload take.

InfiniBand maps the service level of a packet to a lane at every port (`flow_control.sl_to_vl`, or that of `ports`);
with PFC the class is the packet's priority everywhere.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.explaining.evidence import Link


class Levels:
    """The maps of one run."""

    def __init__(self, spec: Mapping[str, Any], links: "Sequence[Link]") -> None:
        control = spec["flow_control"]
        self.is_mapped = control["kind"] == "credit"
        self.count = int(control.get("lanes" if self.is_mapped else "classes", 1))
        self._tables = [self._table(control, link.name) for link in links] if self.is_mapped else []
        key = "service_level" if self.is_mapped else "priority"
        self._levels = {
            work["name"]: int((work.get("transport") or spec["transport"]).get(key) or 0) for work in spec["workload"]
        }

    def of(self, workload: str) -> int:
        """The service level or priority of a workload's packets."""
        return self._levels[workload]

    def lane(self, link: int, level: int) -> int:
        """The lane that a level takes on a link."""
        if not self.is_mapped:
            return level
        table = self._tables[link]
        return int(table[level]) if level < len(table) else level % self.count

    @staticmethod
    def _table(control: Mapping[str, Any], name: str) -> Sequence[int]:
        table: Sequence[int] = control.get("sl_to_vl") or ()
        for port in control.get("ports") or ():
            if port.get("sl_to_vl") is not None and _hits(port["links"], name):
                table = port["sl_to_vl"]
        return table


def _hits(pattern: str, name: str) -> bool:
    """Whether a pattern means a link, as in the simulator.

    >>> _hits("SW*>H1", "SW3>H1"), _hits("H1", "SW3>H1"), _hits("SW*", "H1>H2")
    (True, True, False)
    """
    src, _, dst = name.partition(">")
    begin, arrow, end = pattern.partition(">")
    if arrow:
        return fnmatchcase(src, begin.strip()) and fnmatchcase(dst, end.strip())
    return fnmatchcase(src, pattern) or fnmatchcase(dst, pattern)
