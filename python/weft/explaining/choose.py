"""Which run and which flows are explained: the slowest, if nothing is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.errors import ResultsError
from weft.experiment.values import said

if TYPE_CHECKING:
    import polars as pl

    from weft.results import Results

MOST_NAMED = 8


@dataclass(frozen=True)
class Chosen:
    """A run, its manifest, and why it is this one."""

    run: str
    manifest: Mapping[str, Any]
    why: str

    @property
    def cell(self) -> str:
        """The swept keys with their values."""
        return label(self.manifest)


def label(manifest: Mapping[str, Any]) -> str:
    """The swept keys of a run with their values."""
    return ", ".join(f"{name} = {said(value)}" for name, value in manifest["swept"].items())


def choose(results: "Results", run: str | None, flows: Sequence[int]) -> Chosen:
    """The run that `run` names, else the one in which the flow was slowest, or any flow.

    `run` is the name of a run or its beginning, or what tells it from others, like "ecmp" or "ecmp, repeat 3". Raises
    ResultsError.
    """
    manifests = results.manifests
    if run is not None:
        return _named(results, run)
    if len(manifests) == 1:
        ((name, manifest),) = manifests.items()
        return Chosen(name, manifest, "")
    slowest, worst = next(iter(manifests)), -1.0
    for name in manifests:
        found = _slowness(results.tables(name)["flows"], flows)
        if found is not None and found > worst:
            slowest, worst = name, found
    which = f"flow {flows[0]}" if flows else "a flow"
    why = f"the run of {len(manifests)} in which {which} was slowest; --run names another"
    return Chosen(slowest, manifests[slowest], why)


def _slowness(flows: "pl.DataFrame", wanted: Sequence[int]) -> float | None:
    """The largest slowdown; a flow with a size that did not finish is slower than any that did."""
    import polars as pl

    if wanted:
        flows = flows.filter(pl.col("flow").is_in(list(wanted)))
    if flows.is_empty():
        return None
    unfinished = flows.filter(pl.col("fct_ns").is_null() & pl.col("size_bytes").is_not_null())
    if unfinished.height:
        return 1e12 + unfinished.height
    slowdowns = flows.select((pl.col("fct_ns") / pl.col("ideal_fct_ns")).alias("slowdown"))["slowdown"]
    if slowdowns.null_count() < slowdowns.len():
        return float(slowdowns.max())  # type: ignore[arg-type]
    least = flows["goodput_bps"].min()
    return 1.0 / float(least) if least else None  # type: ignore[arg-type]


def _named(results: "Results", wanted: str) -> Chosen:
    manifests = results.manifests
    found = [name for name in manifests if name.startswith(wanted)]
    if not found:
        words = [word.strip() for word in wanted.replace("=", " = ").replace("  ", " ").split(",")]
        found = [name for name, manifest in manifests.items() if all(_has(manifest, word) for word in words)]
        # Repeats of one cell: the first of them.
        if len({label(manifests[name]) for name in found}) == 1:
            found = found[:1]
    if len(found) == 1:
        return Chosen(found[0], manifests[found[0]], "")
    listed = [f"{name} ({_told(manifests[name])})" for name in (found or manifests)]
    more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
    means = "means several runs" if found else "is no run of this folder"
    raise ResultsError(f"--run {wanted}: {means}; there are {', '.join(listed[:MOST_NAMED])}{more}")


def _told(manifest: Mapping[str, Any]) -> str:
    cell = label(manifest)
    return f"{cell}, repeat {manifest['repeat']}" if cell else f"repeat {manifest['repeat']}"


def _has(manifest: Mapping[str, Any], word: str) -> bool:
    """Whether a run is told by "ecmp", "load_balance.kind = ecmp" or "repeat 3"."""
    key, is_pair, value = (part.strip() for part in word.partition("="))
    if key.startswith("repeat "):
        return key.removeprefix("repeat ").strip() == str(manifest["repeat"])
    plain = {name: said(each).strip('"') for name, each in manifest["swept"].items()}
    return plain.get(key) == value.strip('"') if is_pair else key.strip('"') in plain.values()
