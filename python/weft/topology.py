"""What a fabric is before anything is sent over it: sizes, distances, paths, bisection, cost, the bound of its flows.

`weft topology FILE` prints it. Paths are those that the experiment's routing offers, in the fabric of its first repeat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from weft.statistics.fairness import jain
from weft.statistics.quantile import quantile

if TYPE_CHECKING:
    from weft.experiment.experiment import Experiment
    from weft.scenario import Scenario

SUBFLOWS = (1, 8)
"""For how many subflows of each flow the bound is computed."""


@dataclass(frozen=True)
class Step:
    """One value of a distribution: how many have it, which share that is, and the share of those up to it."""

    value: int | None
    count: int
    share: float
    up_to: float


@dataclass(frozen=True)
class Cut:
    """Bisection in bits per second one way: between a bound of the spectrum and the best cut found.

    `full` is what half of the hosts can send; `hosts_share` the smaller side of the best cut.
    """

    lower_bps: float
    best_bps: float
    full_bps: float
    hosts_share: float


@dataclass(frozen=True)
class Bound:
    """Rates of the experiment's flows, split into so many subflows, if all send at once and share max-min fairly."""

    subflows: int
    mean_bps: float
    least_bps: float
    p50_bps: float
    jain: float


@dataclass(frozen=True)
class Analysis:
    """A fabric in numbers. Distances are in links, of ordered pairs; None is out of reach."""

    hosts: int
    switches: int
    cables: int
    host_cables: int
    switch_ports: int
    """Ports of all switches that have a cable."""
    switches_by_ports: dict[int, int]
    """How many switches have so many cables."""
    pairs_by_hops: list[Step]
    switches_by_distance: list[Step]
    pairs_by_paths: list[Step]
    """Pairs of hosts by the number of paths that routes offer them."""
    paths_by_hops: list[Step]
    paths_on_links: dict[str, float]
    """Least, median, mean and most paths on a link between switches; each pair of ends has its own."""
    bisection: Cut | None
    bounds: list[Bound]
    warnings: list[str]

    @property
    def mean_hops(self) -> float:
        """Links between two hosts, in the mean over the pairs that reach each other."""
        return _mean(self.pairs_by_hops)

    @property
    def diameter(self) -> int | None:
        """Links between the two switches that are furthest apart."""
        return max((step.value for step in self.switches_by_distance if step.value is not None), default=None)


def analyse(experiment: "Experiment") -> tuple[Analysis, "Scenario"]:
    """Analyse the fabric of the first cell and repeat. Raises ExperimentError if it cannot be built."""
    scenario = experiment.scenario(next(experiment.cells()))
    return of_scenario(scenario), scenario


def of_scenario(scenario: "Scenario") -> Analysis:
    """Analyse the fabric of a scenario."""
    from weft.bisection import of_links

    nodes, links, survey = scenario.nodes(), scenario.links(), scenario.survey()
    is_switch = dict(zip(nodes["name"], (kind == "switch" for kind in nodes["kind"]), strict=True))
    ports: dict[str, int] = {name: 0 for name, is_one in is_switch.items() if is_one}
    between = []
    host_rates: dict[str, float] = {}
    for src, dst, rate, paths in zip(
        links["src"], links["dst"], links["rate_bps"], survey["paths_on_link"], strict=True
    ):
        if is_switch[src]:
            ports[src] += 1
            if is_switch[dst]:
                between.append(paths)
        else:
            host_rates[src] = host_rates.get(src, 0.0) + rate
    summary = scenario.summary()
    cut = of_links(nodes, links)
    full = sum(host_rates.values()) / 2
    switches_by_ports: dict[int, int] = {}
    for count in sorted(ports.values()):
        switches_by_ports[count] = switches_by_ports.get(count, 0) + 1
    return Analysis(
        hosts=summary["hosts"],
        switches=summary["switches"],
        cables=summary["links"] // 2,
        host_cables=summary["links"] // 2 - len(between) // 2,
        switch_ports=sum(ports.values()),
        switches_by_ports=switches_by_ports,
        pairs_by_hops=_steps(survey["pairs_by_hops"]),
        switches_by_distance=_steps(survey["switches_by_distance"]),
        pairs_by_paths=_steps(survey["pairs_by_paths"]),
        paths_by_hops=_steps(survey["paths_by_hops"]),
        paths_on_links=_spread(between),
        bisection=Cut(cut.lower, cut.best, full, cut.share) if cut else None,
        bounds=_bounds(scenario),
        warnings=scenario.warnings(),
    )


def document(analysis: Analysis) -> dict[str, Any]:
    """An analysis as plain data."""
    return asdict(analysis) | {"mean_hops": analysis.mean_hops, "diameter": analysis.diameter}


def _steps(counts: Sequence[tuple[int | None, int]]) -> list[Step]:
    """Values in order, those out of reach last.

    >>> [(step.value, step.up_to) for step in _steps([(None, 1), (2, 3)])]
    [(2, 0.75), (None, 1.0)]
    """
    ordered = sorted(counts, key=lambda pair: (pair[0] is None, pair[0] or 0))
    total = sum(count for _, count in ordered)
    steps, so_far = [], 0
    for value, count in ordered:
        so_far += count
        steps.append(Step(value, count, count / total, so_far / total))
    return steps


def _mean(steps: Sequence[Step]) -> float:
    known = [(step.value, step.count) for step in steps if step.value is not None]
    return sum(value * count for value, count in known) / max(1, sum(count for _, count in known))


def _spread(values: Sequence[int]) -> dict[str, float]:
    if not values:
        return {}
    return {
        "least": float(min(values)),
        "p50": quantile([float(value) for value in values], 0.5),
        "mean": sum(values) / len(values),
        "most": float(max(values)),
    }


def _bounds(scenario: "Scenario") -> list[Bound]:
    """The bounds; none where packets are balanced one by one, or without flows."""
    from weft.errors import ExperimentError

    bounds = []
    for subflows in SUBFLOWS:
        try:
            rates = scenario.max_min(subflows)
        except ExperimentError:
            return []
        if not rates:
            return []
        bounds.append(Bound(subflows, sum(rates) / len(rates), min(rates), quantile(rates, 0.5), jain(rates)))
    return bounds


def print_analysis(analysis: Analysis, topology: Mapping[str, Any], routing: str) -> None:
    """The analysis as text and tables on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from weft.units import RATE

    console = Console(highlight=False)

    def table(title: str, head: tuple[str, str], steps: Sequence[Step]) -> None:
        console.print(title)
        shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for name in (*head, "share", "up to"):
            shown.add_column(name, justify="right")
        for step in steps:
            value = "out of reach" if step.value is None else f"{step.value:,}"
            shown.add_row(value, f"{step.count:,}", f"{100 * step.share:.2f} %", f"{100 * step.up_to:.2f} %")
        console.print(shown)
        console.print()

    def rate(bps: float) -> str:
        return str(RATE.format(_rounded(bps)))

    a = analysis
    sizes = ", ".join(f"{n} with {ports} ports" for ports, n in a.switches_by_ports.items())
    console.print(f"{topology.get('kind')}: {a.hosts:,} hosts, {a.switches:,} switches, {a.cables:,} cables")
    console.print(
        f"cost: {a.switch_ports:,} switch ports in use ({sizes}), "
        f"{a.cables - a.host_cables:,} cables between switches, {a.host_cables:,} to hosts"
    )
    console.print()
    table(f"distance between hosts, mean {a.mean_hops:.3f} links", ("links", "pairs"), a.pairs_by_hops)
    if a.switches_by_distance:
        mean = _mean(a.switches_by_distance)
        title = f"distance between switches, mean {mean:.3f} links, diameter {a.diameter}"
        table(title, ("links", "pairs"), a.switches_by_distance)
    # A long tail of counts is cut where the table would be longer than a screen.
    table(f"paths between two hosts ({routing})", ("paths", "pairs"), _shortened(a.pairs_by_paths))
    table(f"length of these paths ({routing})", ("links", "paths"), _shortened(a.paths_by_hops))
    if a.paths_on_links:
        spread = ", ".join(f"{name} {value:,.6g}" for name, value in a.paths_on_links.items())
        console.print(f"paths on a link between switches (of all pairs of ends): {spread}")
    if a.bisection:
        cut = a.bisection
        console.print(
            f"bisection: at least {rate(cut.lower_bps)} (spectrum), at most {rate(cut.best_bps)} (best cut found, "
            f"{100 * cut.hosts_share:.3g} % of the hosts on one side); half of the hosts send {rate(cut.full_bps)}"
        )
    for bound in a.bounds:
        console.print(
            f"max-min bound of the flows, {bound.subflows} subflow{'s' if bound.subflows > 1 else ''} each: "
            f"mean {rate(bound.mean_bps)}, median {rate(bound.p50_bps)}, least {rate(bound.least_bps)}, "
            f"Jain {bound.jain:.3f}"
        )
    if not a.bounds:
        console.print("no max-min bound: load_balance gives no flow a path of its own")


def _rounded(bps: float) -> int:
    """To three digits, so that the unit stays short.

    >>> _rounded(2_950_432_844_676.0)
    2950000000000
    """
    return round(float(f"{bps:.3g}")) if bps else 0


MOST_ROWS = 16


def _shortened(steps: Sequence[Step]) -> list[Step]:
    """Neighbouring values together, each under its largest, so that a table fits on a screen.

    >>> [(step.value, step.count) for step in _shortened(_steps([(n, 1) for n in range(1, 33)]))][:2]
    [(2, 2), (4, 2)]
    """
    if len(steps) <= MOST_ROWS:
        return list(steps)
    width = -(-len(steps) // MOST_ROWS)
    groups = [steps[at : at + width] for at in range(0, len(steps), width)]
    return [
        Step(group[-1].value, sum(s.count for s in group), sum(s.share for s in group), group[-1].up_to)
        for group in groups
    ]
