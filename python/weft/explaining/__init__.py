"""Explanations: why a flow got what it got. `weft explain`, as a Python call.

    explanation = weft.explain("out/spray")
    print(explanation)
    explanation.frame
    explanation.write_picture("why.svg")

choose.py finds the run, rerun.py simulates it with samples, evidence.py is what is known then; sharing.py says what a
flow could have got at any moment, cause/ where its time went, bottleneck.py on which link and because of whom;
explanation.py puts it together, words.py says it, picture.py draws it. The package is called so because `weft.explain`
is the function.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.errors import Interrupted, ResultsError
from weft.explaining import rerun
from weft.explaining.choose import choose, label
from weft.explaining.evidence import Flow, read_evidence
from weft.explaining.explanation import Explanation, explained, slowdown_of, spread_of, totals
from weft.explaining.rerun import Watch
from weft.results import Results
from weft.scenario import Scenario

SLOWEST = 3
"""Flows that are explained where none is named."""


def explain(
    results: str | Path | Results,
    flow: int | Sequence[int] = (),
    *,
    run: str | None = None,
    flows: int = SLOWEST,
    again: bool = True,
    watch: Watch = lambda now, end: True,
) -> Explanation:
    """Explain flows of a run: the flow, or flows, named, else the `flows` slowest.

    `run` is a run's name (or its beginning), or what tells it from the others: "ecmp", "ecmp, repeat 3"; left out, the
    run in which the flow, or any, was slowest. The run is simulated once more, with samples, unless the folder has
    them; without `again`, what the folder holds is taken: samples, else that every flow had its mean rate all its life.
    `watch` is told how far that has come (ps of ps) and stops it by saying False. Raises ResultsError, and Interrupted
    if stopped.
    """
    opened = results if isinstance(results, Results) else Results(results)
    wanted = [flow] if isinstance(flow, int) else list(flow)
    if flows < 1:
        raise ResultsError(f"flows = {flows}; the least is 1")
    chosen = choose(opened, run, wanted)
    return _explained(opened, chosen.run, chosen.why, wanted, flows, again, watch)


def _explained(
    opened: Results, name: str, why: str, wanted: Sequence[int], most: int, is_again: bool, watch: Watch
) -> Explanation:
    manifest = opened.manifests[name]
    experiment, spec = rerun.experiment_of(manifest)
    if (kind := spec["backend"]["kind"]) != "packet":
        raise ResultsError(
            f"run {name} is of backend {kind}, which has no packets that could be late; run it with --backend packet"
        )
    tables = opened.tables(name)
    for number in wanted:
        if number not in tables["flows"]["flow"]:
            raise ResultsError(f"flow {number}: run {name} has flows 0 to {tables['flows'].height - 1}")
    scenario = Scenario(spec, experiment.document)
    end_ns = manifest["simulated_ns"]
    evidence = read_evidence(scenario, spec, tables, end_ns)
    if not is_again and not evidence.is_sampled and (found := rerun.at_hand(opened.directory, manifest)) is not None:
        evidence = read_evidence(scenario, spec, found, end_ns)
    strangers = [number for number in wanted if number not in evidence.strands_of]
    if strangers or not evidence.strands_of:
        number = strangers[0] if strangers else 0
        reason = tables["flows"].filter(tables["flows"]["flow"] == number)["reason"].item()
        raise ResultsError(f"flow {number} sent nothing, so there is nothing to explain: {reason or 'no packet left'}")
    order = sorted(
        (each for each in evidence.flows.values() if each.number in evidence.strands_of),
        key=lambda each: (-_rank(each), each.number),
    )
    asked = [evidence.flows[number] for number in wanted] or order[:most]
    source = "the samples of the run"
    if not evidence.is_sampled:
        source = "mean rates: every flow is taken to have had its own all its life"
    if is_again:
        lives = sum(each.life_ns * len(evidence.strands_of[each.number]) for each in order)
        if rerun.is_lossless(spec):
            lives += int(end_ns * len(evidence.links) * len(rerun.OF_BLOCKING))
        every = rerun.every_ps([each.life_ns for each in asked], lives)
        is_known = not rerun.is_lossless(spec) or evidence.blocking is not None
        if not is_known or not evidence.is_sampled or (evidence.every_ns or 0) * 1000 > every:
            found = rerun.sampled(opened.directory, manifest, spec, every, watch)
            if found is None:
                raise Interrupted("given up while the run was simulated again", 130)
            evidence = read_evidence(scenario, spec, found, end_ns)
            asked = [evidence.flows[each.number] for each in asked]
            order = [evidence.flows[each.number] for each in order]
            source = f"the run simulated again with samples (fingerprint {manifest['fingerprint']}, the same)"
    spread = spread_of(evidence, order)
    sums, counted, slow = totals(evidence, order, spread)
    return Explanation(
        directory=opened.directory,
        run=name,
        cell=label(manifest),
        repeat=manifest["repeat"],
        seed=manifest["seed"],
        of_runs=len(opened.manifests),
        why_this_run=why,
        source=source,
        flows=[explained(evidence, each, spread) for each in asked],
        totals=sums,
        counted=counted,
        slow=slow,
        evidence=evidence,
        warnings=_warnings(spec, evidence.never_began),
    )


def _rank(flow: Flow) -> float:
    # One that did not finish is slower than any that did.
    return slowdown_of(flow) * (1e6 if flow.fct_ns is None and flow.size_bytes is not None else 1.0)


def _warnings(spec: Mapping[str, Any], never_began: int) -> list[str]:
    found = []
    if spec.get("failure"):
        found.append("links failed during the run: paths are those of its start, and links count with their whole rate")
    if never_began:
        found.append(f"{never_began} flow{'s' if never_began > 1 else ''} never sent anything and cannot be explained")
    return found


__all__ = ["Explanation", "explain"]
