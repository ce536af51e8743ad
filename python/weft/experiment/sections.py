"""The sections of the experiment file: which there are, and the keys that are Python's own.

A section either carries a room's name (`[queue]`), or has fixed keys, which are declared here in the shape of
`_core.kinds()`. A section is one line in `SECTIONS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.kinds import parameter
from weft.metric import METRICS, SUMMARIES
from weft.report.figure import FIGURES

SECTION = "section"
"""The room of what is declared here."""


@dataclass(frozen=True)
class Section:
    """One section: of a room (with the kind taken when none is named) or of fixed keys (`room` is None)."""

    name: str
    room: str | None
    kind: str | None = None
    is_list: bool = False
    required: bool = False


SECTIONS: Mapping[str, Section] = {
    section.name: section
    for section in (
        Section("backend", "backend", "packet"),
        Section("topology", "topology", required=True),
        Section("routing", "routing", "shortest"),
        Section("load_balance", "load_balance", "ecmp"),
        Section("queue", "queue", "drop_tail"),
        Section("flow_control", "flow_control", "none"),
        Section("transport", "transport", "tcp"),
        Section("congestion", "congestion", "cubic"),
        Section("receive", "receive", "in_order"),
        Section("workload", "workload", is_list=True, required=True),
        Section("failure", None, is_list=True),
        Section("measure", None),
        Section("sweep", None),
        Section("report", None, is_list=True),
    )
}

SHORTHANDS: Mapping[str, tuple[str, str]] = {"flow_size": ("fixed", "bytes")}
"""A plain value in place of a room's table: `size = "25 MiB"` is `{ kind = "fixed", bytes = "25 MiB" }`."""

SAMPLED = ("goodput", "cwnd", "srtt", "queue", "utilization")

FLOWS_DONE = "flows done"


def _figures(key: str) -> str:
    return ", ".join(name for name, kind in FIGURES.items() if key in kind.needs + kind.takes)


KINDS: list[dict[str, Any]] = [
    {
        "room": SECTION,
        "name": "experiment",
        "doc": "The top level of the file, above all sections.",
        "source": "",
        "parameters": [
            parameter("name", "text", "What the experiment is called in reports; left out, the name of the file."),
            parameter("seed", "integer", "All randomness derives from it.", default=1),
        ],
    },
    {
        "room": SECTION,
        "name": "measure",
        "doc": "What is measured, and when.",
        "source": "",
        "parameters": [
            parameter("warmup", "time", "Left out of goodput, utilization and latency, at the start.", default=0),
            parameter(
                "cooldown", "time", "Left out of goodput, utilization and latency, before a timed `until`.", default=0
            ),
            parameter("every", "time", "Time between two samples; left out, nothing is sampled.", min=1000),
            parameter(
                "metrics",
                {"type": "list", "of": {"type": "choice", "choices": list(SAMPLED)}},
                "What is sampled; left out, all of it. Needs `every`.",
            ),
            parameter(
                "paths",
                "flag",
                "Record which path each flow took, also where packets are balanced one by one.",
                default=False,
            ),
        ],
    },
    {
        "room": SECTION,
        "name": "sweep",
        "doc": "Axes: dotted keys with a list of values each; every combination is a cell.\n"
        '`"queue.kind" = ["drop_tail", "red"]`. An axis may list whole tables, which take the place of the section.',
        "source": "",
        "parameters": [
            parameter(
                "repeats", "integer", "Runs of every cell, each with its own seed.", default=1, min=1, max=1_000_000
            ),
        ],
    },
    {
        "room": SECTION,
        "name": "report",
        "doc": "A figure of the report.\n" + "\n".join(f"- {name}: {kind.doc}" for name, kind in FIGURES.items()),
        "source": "",
        "parameters": [
            parameter("figure", {"type": "choice", "choices": list(FIGURES)}, "What is drawn.", required=True),
            parameter("title", "text", "Above the figure."),
            parameter("x", "text", f"Swept key on the horizontal axis (of {_figures('x')})."),
            parameter(
                "y",
                "text",
                f"What is drawn (of {_figures('y')}): a metric ({', '.join(METRICS)}), for one number per run also a "
                f"summary of it (fct.p99; {', '.join(SUMMARIES)}), a column (lost_packets, queues.max_bytes), or for "
                f"series what is sampled ({', '.join(SAMPLED)}).",
            ),
            parameter("by", "text", f"Swept key that splits the figure by colour (of {_figures('by')})."),
        ],
    },
]
