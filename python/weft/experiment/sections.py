"""The sections of the experiment file: which there are, and the keys that are Python's own.

A section either carries a room's name (`[queue]`), or has fixed keys, which are declared here in the shape of
`_core.kinds()`. A section is one line in `SECTIONS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.analysis import ANALYSES
from weft.kinds import RECORD, parameter
from weft.metric import METRICS, SUMMARIES
from weft.published.document import OWN
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
        Section("sharing", "sharing", "max_min"),
        Section("transport", "transport", "tcp"),
        Section("congestion", "congestion", "cubic"),
        Section("receive", "receive", "in_order"),
        Section("workload", "workload", is_list=True, required=True),
        Section("failure", None, is_list=True),
        Section("measure", None),
        Section("sweep", None),
        Section("objective", None),
        Section("space", None),
        Section("search", None),
        Section("analysis", None, is_list=True),
        Section("published", None, is_list=True),
        Section("report", None, is_list=True),
    )
}

OF_TRANSPORT: Mapping[str, Mapping[str, str]] = {
    "infiniband": {"flow_control": "credit", "congestion": "none"},
    "rocev2": {"flow_control": "pfc", "congestion": "none"},
}
"""Kinds that are taken, when none is named, because of the kind of `[transport]`."""

OF_BACKEND: Mapping[str, tuple[str, ...]] = {"sharing": ("flow",)}
"""Sections that some backends alone have; a cell of another backend does not have them in its spec."""

READ_ELSEWHERE = ("sweep", "objective", "space", "search")
"""Sections of no single run: experiment/axes.py, objective.py and space.py read them."""

SHORTHANDS: Mapping[str, tuple[str, str]] = {"flow_size": ("fixed", "bytes")}
"""A plain value in place of a room's table: `size = "25 MiB"` is `{ kind = "fixed", bytes = "25 MiB" }`."""

SAMPLED = ("goodput", "subflow_goodput", "cwnd", "srtt", "queue", "utilization", "sent", "paused", "buffer")

SAMPLED_UNASKED = tuple(metric for metric in SAMPLED if metric not in ("subflow_goodput", "paused", "buffer"))
"""What is sampled where `measure.metrics` is left out."""

FLOWS_DONE = "flows done"

SAMPLERS = ("tpe", "cma_es", "grid", "random", "nsga2")
"""How a search chooses its next trial."""

YARDSTICKS = ("alone", "bottleneck")
"""What a bound in per cent may be a share of."""


def _measured(what: str) -> list[dict[str, Any]]:
    """The keys that name a number of a run."""
    return [
        parameter("metric", "text", f"{what}: a metric, or a summary of one (fct.p99).", required=True),
        parameter(
            "workload",
            {"type": "list", "of": {"type": "text"}},
            "Names of workloads whose flows alone count; one name needs no list. Left out, all flows.",
        ),
    ]


_DIRECTION = parameter(
    "direction",
    {"type": "choice", "choices": ["maximize", "minimize", "worst"]},
    "Left out, that of the metric: goodput is maximized, fct minimized. `worst` looks for the worst case on purpose.",
)


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
                "What is sampled; left out, all but subflow_goodput, paused and buffer. Needs `every`. paused (share "
                "of time without room behind a link) and buffer (bytes there) need flow_control.",
            ),
            parameter(
                "paths",
                "flag",
                "Record which path each flow took, also where packets are balanced one by one.",
                default=False,
            ),
            parameter(
                "trace",
                "flag",
                "Write what applications did into trace.csv of each run, for `[[workload]]` of kind trace.",
                default=False,
            ),
        ],
    },
    {
        "room": SECTION,
        "name": "sweep",
        "doc": "Axes: dotted keys with their values; every combination is a cell.\n"
        '- a list: `"queue.kind" = ["drop_tail", "red"]`; whole tables take the place of the section\n'
        '- a range: `"workload[0].load" = { from = 0.1, to = 0.9, steps = 5 }`; `scale = "log"` for equal ratios',
        "source": "",
        "parameters": [
            parameter(
                "repeats",
                "integer",
                "Runs of every cell, each with its own seed; or a table, which repeats until an interval is narrow.",
                default=1,
                min=1,
                max=1_000_000,
            ),
            parameter(
                "zip",
                {"type": "list", "of": {"type": "list", "of": {"type": "text"}}},
                "Groups of axes that go together, value by value, in place of every combination.",
            ),
            parameter(
                "exclude",
                {"type": "list", "of": {"type": "table", "record": "exclude"}},
                "Cells that are left out: tables of swept keys with a value, or a list of them, each.",
            ),
        ],
    },
    {
        "room": RECORD,
        "name": "repeats",
        "doc": "Repeats of a cell until an interval is narrow enough.",
        "source": "Law, Simulation Modeling and Analysis, 5th edition, section 9.4.1",
        "parameters": [
            parameter(
                "until", {"type": "choice", "choices": ["ci"]}, "What is waited for: a t interval.", required=True
            ),
            parameter("metric", "text", "A metric, or a summary of one (fct.p99), of each run.", required=True),
            parameter(
                "half_width",
                "text",
                'Half the width of the interval: "2 %" of the mean, or in the unit of the metric.',
                required=True,
            ),
            parameter("confidence", "number", "Of the interval.", default=0.95, min=0.5, max=0.9999),
            parameter("least", "integer", "Repeats before the first look.", default=5, min=3, max=1_000_000),
            parameter("most", "integer", "Repeats after which a cell is left as it is.", default=100, max=1_000_000),
        ],
    },
    {
        "room": RECORD,
        "name": "exclude",
        "doc": "Swept keys and the values at which a cell is left out.",
        "source": "",
        "parameters": [],
    },
    {
        "room": SECTION,
        "name": "objective",
        "doc": "What `weft search` looks for: the point of `[space]` with the best number that keeps the constraints.",
        "source": "",
        "parameters": [
            *_measured("What is to be as good as possible"),
            _DIRECTION,
            parameter(
                "constraints",
                {"type": "list", "of": {"type": "table", "record": "constraint"}},
                "What a point must keep to be feasible.",
            ),
            parameter(
                "also",
                {"type": "table", "record": "objective"},
                "A second objective: the search then gives the points at which neither can be had without the other.",
            ),
        ],
    },
    {
        "room": RECORD,
        "name": "objective",
        "doc": "A second objective beside the first.",
        "source": "",
        "parameters": [*_measured("What is to be as good as possible"), _DIRECTION],
    },
    {
        "room": RECORD,
        "name": "constraint",
        "doc": "A bound on a number of a run, kept by the mean over the repeats.",
        "source": "",
        "parameters": [
            *_measured("What is bounded"),
            parameter(
                "at_least", "text", 'Lower bound in the unit of the metric: "9 Gbps", "10 us", 0.9; or "95 %" `of`.'
            ),
            parameter("at_most", "text", "Upper bound, written like `at_least`."),
            parameter(
                "of",
                {"type": "choice", "choices": list(YARDSTICKS)},
                "What 100 % are. `alone`: the same number in the experiment as written without the other workloads, "
                "repeat by repeat; `bottleneck`: the rate of the slowest link on the way of each flow.",
            ),
        ],
    },
    {
        "room": SECTION,
        "name": "space",
        "doc": "Where `weft search` looks: dotted keys, each with what it may be.\n"
        '- a list: `"queue.kind" = ["drop_tail", "red"]`, of which one is as near to another as any\n'
        '- a range: `"queue.capacity" = { from = "10 packets", to = "500 packets", scale = "log" }`, '
        "with `steps` or `step` only some of its values",
        "source": "",
        "parameters": [],
    },
    {
        "room": SECTION,
        "name": "search",
        "doc": "How `weft search` looks.",
        "source": "Akiba et al., Optuna, KDD 2019",
        "parameters": [
            parameter(
                "sampler",
                {"type": "choice", "choices": list(SAMPLERS)},
                "tpe: Bergstra et al., NIPS 2011; cma_es: Hansen, 2016, for ranges without constraints; "
                "nsga2: Deb et al., 2002, for two objectives; grid: every point once; random.",
                default="tpe",
            ),
            parameter(
                "trials", "integer", "Points that are tried; a later search may ask for more.", default=60, min=1
            ),
            parameter(
                "batch",
                "integer",
                "Trials that are chosen before any of them is done: what can run at once. Results depend on it, and "
                "not on the number of jobs.",
                default=4,
                min=1,
                max=1000,
            ),
            parameter(
                "prune",
                "flag",
                "Stop a trial when its repeats so far say that it cannot reach the best one.",
                default=True,
            ),
            parameter(
                "neighbours",
                "integer",
                "Most points around the best one that are looked at in the end, each with one key changed.",
                default=20,
                max=1000,
            ),
        ],
    },
    {
        "room": SECTION,
        "name": "analysis",
        "doc": "A statistical analysis of the runs of a sweep; printed at the end, and in the report.\n"
        + "\n".join(f"- {name}: {doc}" for name, doc in ANALYSES.items()),
        "source": "",
        "parameters": [
            parameter("kind", {"type": "choice", "choices": list(ANALYSES)}, "What is made.", required=True),
            parameter(
                "metrics",
                {"type": "list", "of": {"type": "text"}},
                f"Numbers of each run: metrics ({', '.join(METRICS)}), or summaries of them (fct.p99).",
                required=True,
            ),
            parameter(
                "factors",
                {"type": "list", "of": {"type": "text"}},
                "Swept keys whose effects, alone and together, are tested; left out, all but `by`.",
            ),
            parameter("by", "text", "Swept key that splits the runs: one analysis for each of its values."),
            parameter("alpha", "number", "Level of the tests.", default=0.05, min=1e-6, max=0.5),
            parameter(
                "type",
                {"type": "choice", "choices": ["II", "III"]},
                "Of the sums of squares; both are the same where every cell has as many runs.",
                default="III",
            ),
            parameter(
                "blocks",
                "flag",
                "Repeats are blocks: they share a seed over all cells, so that what the seed does is no error.",
                default=False,
            ),
            parameter(
                "permutations",
                "integer",
                "Permutations of a MANOVA whose assumptions are doubtful; 0 for none.",
                default=9999,
                max=1_000_000,
            ),
        ],
    },
    {
        "room": SECTION,
        "name": "published",
        "doc": "Numbers that a document printed, shown beside those of the runs, with the deviation.\n"
        "The file is a CSV with a row per number; columns that are none of these are keys of the experiment, and say "
        "which cells a number is compared with.\n" + "\n".join(f"- {name}: {doc}" for name, doc in OWN.items()),
        "source": "",
        "parameters": [
            parameter("file", "file", "The CSV.", required=True),
            parameter("source", "text", "The document, for the caption of the table."),
            parameter(
                "notes",
                {"type": "list", "of": {"type": "text"}},
                "What has to be known of the document's numbers, like errors in it: sentences below the table.",
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
            parameter(
                "facet",
                "text",
                f"Swept key with a small chart for each value, all with the same axes (of {_figures('facet')}).",
            ),
        ],
    },
]
