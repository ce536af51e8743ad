"""Validation: oracles, numbers that a right simulator must give, each a small file with its arithmetic.

`weft validate` runs them in a sampled size, `weft validate --all` in full. A new oracle is one file and one line.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from weft.errors import WeftError
from weft.validation import (
    al_fares,
    conservation,
    credit_shares,
    cubic_loss,
    dcqcn_fixed_point,
    dctcp_published,
    dctcp_sawtooth,
    ecmp_bisection,
    fat_tree_counts,
    fat_tree_large_packets,
    fat_tree_mptcp,
    fat_tree_reno,
    flow_goodput,
    flow_slowdown,
    hashed_load,
    infiniband_control,
    intervals,
    jellyfish_distances,
    jellyfish_jain,
    jellyfish_max_min,
    jellyfish_published,
    juggler,
    line_rate,
    littles_law,
    lossless_incast,
    m_d_1,
    m_m_1,
    max_min_fat_tree,
    max_min_subflows,
    mptcp_coupling,
    mptcp_subflows,
    parking_lot,
    pfc_headroom,
    random_bisection,
    reno_loss,
    slow_start,
    spraying,
    spraying_published,
    store_and_forward,
)
from weft.validation.oracle import FAIL, MARKS, PASS, SHOWN, Oracle, Row, timed

ORACLES: Mapping[str, Oracle] = {
    "m_d_1": m_d_1.ORACLE,
    "m_m_1": m_m_1.ORACLE,
    "littles_law": littles_law.ORACLE,
    "conservation": conservation.ORACLE,
    "fat_tree_counts": fat_tree_counts.ORACLE,
    "hashed_load": hashed_load.ORACLE,
    "max_min_fat_tree": max_min_fat_tree.ORACLE,
    "max_min_subflows": max_min_subflows.ORACLE,
    "parking_lot": parking_lot.ORACLE,
    "spraying": spraying.ORACLE,
    "jellyfish_max_min": jellyfish_max_min.ORACLE,
    "jellyfish_distances": jellyfish_distances.ORACLE,
    "random_bisection": random_bisection.ORACLE,
    "dctcp_sawtooth": dctcp_sawtooth.ORACLE,
    "reno_loss": reno_loss.ORACLE,
    "cubic_loss": cubic_loss.ORACLE,
    "mptcp_coupling": mptcp_coupling.ORACLE,
    "slow_start": slow_start.ORACLE,
    "line_rate": line_rate.ORACLE,
    "store_and_forward": store_and_forward.ORACLE,
    "statistics": intervals.ORACLE,
    "fat_tree_reno": fat_tree_reno.ORACLE,
    "fat_tree_mptcp": fat_tree_mptcp.ORACLE,
    "fat_tree_large_packets": fat_tree_large_packets.ORACLE,
    "jellyfish_published": jellyfish_published.ORACLE,
    "jellyfish_jain": jellyfish_jain.ORACLE,
    "mptcp_subflows": mptcp_subflows.ORACLE,
    "spraying_published": spraying_published.ORACLE,
    "juggler": juggler.ORACLE,
    "dctcp_published": dctcp_published.ORACLE,
    "al_fares": al_fares.ORACLE,
    "ecmp_bisection": ecmp_bisection.ORACLE,
    "lossless_incast": lossless_incast.ORACLE,
    "credit_shares": credit_shares.ORACLE,
    "infiniband_control": infiniband_control.ORACLE,
    "pfc_headroom": pfc_headroom.ORACLE,
    "dcqcn_fixed_point": dcqcn_fixed_point.ORACLE,
    "flow_goodput": flow_goodput.ORACLE,
    "flow_slowdown": flow_slowdown.ORACLE,
}

AGREEMENT = ("flow_goodput", "flow_slowdown")
"""Oracles that hold the flow level against the packet level."""


@dataclass(frozen=True)
class Finding:
    """A row with the oracle that gave it and the seconds that it took."""

    name: str
    oracle: Oracle
    row: Row
    seconds: float


def validate(names: Sequence[str] = (), all: bool = False) -> Iterator[Finding]:
    """Run oracles, all of them if none is named; in full size with `all`. Raises WeftError for an unknown name.

    >>> [finding.row.verdict for finding in validate(["slow_start"])]
    ['pass', 'pass', 'pass']
    """
    from weft.experiment.values import suggestion

    for name in names:
        if name not in ORACLES:
            raise WeftError(f'unknown oracle "{name}"; {suggestion(name, ORACLES, "known")[0]}')
    return _findings(names or tuple(ORACLES), all)


def _findings(names: Sequence[str], all: bool) -> Iterator[Finding]:
    for name in names:
        oracle = ORACLES[name]
        for row, seconds in timed(oracle.rows(all), time.perf_counter):
            yield Finding(name, oracle, row, seconds)


def run(names: Sequence[str], all: bool = False, as_json: bool = False) -> int:
    """What `weft validate` does: prints every row, returns the exit status: 1 if one fails."""
    findings = []
    if as_json:
        findings = list(validate(names, all))
        print(json.dumps({"rows": [document(finding) for finding in findings]}, indent=1))
    else:
        from weft.validation.table import print_findings

        findings = print_findings(validate(names, all))
    return int(any(finding.row.verdict == FAIL for finding in findings))


def document(finding: Finding) -> dict[str, object]:
    """A finding as plain data."""
    oracle, row = finding.oracle, asdict(finding.row)
    head = {"name": finding.name, "number": oracle.number, "title": oracle.title}
    tail = {"source": oracle.source, "mark": oracle.mark, "seconds": round(finding.seconds, 3)}
    return head | row | tail


__all__ = [
    "AGREEMENT",
    "FAIL",
    "MARKS",
    "ORACLES",
    "PASS",
    "SHOWN",
    "Finding",
    "Oracle",
    "Row",
    "document",
    "run",
    "validate",
]
