"""Comparisons of folders: what belongs together, what is left out and named, and what is said over all cells."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weft
from weft.comparison.shown import said_change
from weft.errors import ResultsError

Folder = Callable[..., Path]
TEN = [100.0, 104.0, 98.0, 101.0, 97.0, 103.0, 99.0, 102.0, 96.0, 100.0]
SMALL: dict[str, Any] = {
    "topology": {"kind": "star", "hosts": 4, "link": {"rate": "10 Mbps", "delay": "1 ms"}},
    "workload": [{"kind": "incast", "degree": 3, "size": "100 kB"}],
    "sweep": {"congestion.kind": ["reno", "cubic"], "repeats": 3},
}


def slower(values: list[float], by: float) -> list[float | None]:
    return [value * by + 0.1 * (-1) ** place for place, value in enumerate(values)]


def verdicts(comparison: weft.Comparison, metric: str = "fct") -> list[str]:
    cells = comparison.against[0].cells
    return [line.verdict for cell in cells for line in cell.lines if line.measure.name == metric]


def test_a_folder_with_itself_is_identical(tmp_path: Path) -> None:
    results = weft.run(SMALL, out=tmp_path / "a")
    comparison = weft.compare(tmp_path / "a", results)
    (against,) = comparison.against
    assert len(against.cells) == 2
    for cell in against.cells:
        assert cell.pairing.is_paired and len(cell.pairing.pairs) == 3
        assert {line.verdict for line in cell.lines} == {"identical"}
        assert {line.numbers.found.difference for line in cell.lines} == {0.0}
        assert cell.flows is not None and [r.median for r in cell.flows.ratios] == [1.0, 1.0]
    assert {line.verdict for line in against.overall} == {"identical"}
    assert not against.differing
    json.dumps(comparison.document, allow_nan=False)


def test_real_runs_are_compared_and_what_they_are_of_is_said(tmp_path: Path) -> None:
    first = weft.run(SMALL, out=tmp_path / "a")
    second = weft.run(SMALL, out=tmp_path / "b", set={"queue.capacity": "10 packets"})
    comparison = weft.compare(first, second)
    assert comparison.against[0].differing == {"queue.capacity": ("100 packets", "10 packets")}
    by_hand = second.values("fct")["fct"].mean() / first.values("fct")["fct"].mean() - 1.0  # type: ignore[operator]
    frame = comparison.frame.filter(comparison.frame["metric"] == "fct")
    a, b = frame["reference"].mean(), frame["mean"].mean()
    assert isinstance(a, float) and isinstance(b, float)
    assert b / a - 1.0 == pytest.approx(by_hand)


def test_levels_of_a_key_are_compared_in_one_folder(tmp_path: Path) -> None:
    document = SMALL | {"sweep": SMALL["sweep"] | {"queue.capacity": ["10 packets", "100 packets"]}}
    results = weft.run(document, out=tmp_path / "a")
    comparison = weft.compare(results, over="queue.capacity", reference="100 packets", metrics=["fct"])
    assert comparison.reference == "100 packets"
    (against,) = comparison.against
    assert against.other == "10 packets"
    assert [dict(cell.values) for cell in against.cells] == [{"congestion.kind": "reno"}, {"congestion.kind": "cubic"}]
    values = results.values("fct")
    for cell in against.cells:
        kind = cell.values["congestion.kind"]
        small, large = (
            values.filter((values["congestion.kind"] == kind) & (values["queue.capacity"] == size))["fct"].mean()
            for size in ("10 packets", "100 packets")
        )
        assert isinstance(small, float) and isinstance(large, float)
        assert cell.lines[0].numbers.found.difference == pytest.approx(small - large)


def test_a_known_difference_is_found_with_its_size(folder: Folder) -> None:
    comparison = weft.compare(folder("a", {"x": TEN}), folder("b", {"x": slower(TEN, 1.2)}), metrics=["fct", "goodput"])
    assert verdicts(comparison) == ["worse"] and verdicts(comparison, "goodput") == ["worse"]
    found = comparison.against[0].cells[0].lines[0].numbers.found
    assert found.ratio == pytest.approx(1.2, abs=1e-6)
    assert comparison.family == 2


def test_swapping_the_folders_swaps_the_verdict(folder: Folder) -> None:
    a, b = folder("a", {"x": TEN}), folder("b", {"x": slower(TEN, 1.2)})
    there, back = (weft.compare(*both, metrics=["fct"]).against[0].overall[0] for both in ((a, b), (b, a)))
    assert (there.verdict, back.verdict) == ("worse", "better")
    assert there.numbers.found.difference == -back.numbers.found.difference


def test_without_fingerprints_equal_numbers_are_equivalent(folder: Folder) -> None:
    assert verdicts(weft.compare(folder("a", {"x": TEN}), folder("b", {"x": TEN}))) == ["equivalent"]


def test_one_repeat_has_no_verdict_but_identical_runs_are(folder: Folder) -> None:
    same = {"fingerprint": lambda cell, seed: f"{seed:x}"}
    a, b = folder("a", {"x": [100.0]}, **same), folder("b", {"x": [100.0]}, **same)
    assert verdicts(weft.compare(a, b)) == ["identical"]
    c = folder("c", {"x": [120.0]}, fingerprint=lambda cell, seed: "other")
    comparison = weft.compare(a, c)
    assert verdicts(comparison) == ["no verdict: one repeat"]
    assert comparison.family == 0


def test_cells_match_by_their_keys_and_others_are_named(folder: Folder) -> None:
    a = folder("a", {"red": TEN, "drop_tail": TEN})
    b = folder("b", {"codel": TEN, "red": slower(TEN, 1.2)})
    (against,) = weft.compare(a, b).against
    assert [cell.label for cell in against.cells] == ["queue.kind = red"]
    assert against.only_reference == ("queue.kind = drop_tail",)
    assert against.only_other == ("queue.kind = codel",)


def test_an_extra_axis_matches_what_the_other_folder_has_without_sweeping_it(folder: Folder) -> None:
    a = folder("a", {"red": TEN, "drop_tail": TEN})
    b = folder("b", slower(TEN, 1.2), experiment={"queue": {"kind": "red"}})
    (against,) = weft.compare(a, b).against
    assert [cell.label for cell in against.cells] == ["queue.kind = red"]
    assert against.only_reference == ("queue.kind = drop_tail",)
    assert not against.differing


def test_nothing_in_common_names_the_axes_of_both(folder: Folder) -> None:
    with pytest.raises(ResultsError) as caught:
        weft.compare(folder("a", {"red": TEN}), folder("b", {"codel": TEN, "pie": TEN}))
    message = str(caught.value)
    assert "a has queue.kind = red" in message and "b has queue.kind = codel, pie" in message
    assert "weft compare DIR --over KEY" in message


def test_one_spelling_of_a_value_is_another(folder: Folder) -> None:
    a = folder("a", {"8": TEN}, keys=lambda cell: {"topology.k": 8})
    b = folder("b", {"8": TEN}, keys=lambda cell: {"topology.k": 8.0})
    assert len(weft.compare(a, b).against[0].cells) == 1


def test_other_seeds_are_unpaired(folder: Folder) -> None:
    a, b = folder("a", {"x": TEN}), folder("b", {"x": TEN}, seeds=list(range(50, 60)))
    (cell,) = weft.compare(a, b).against[0].cells
    assert not cell.pairing.is_paired and "unpaired (Welch), since the seeds differ" in cell.pairing.note
    assert cell.flows is None and "same seed" in cell.no_flows
    assert cell.lines[0].numbers.found.degrees == pytest.approx(18.0)


def test_other_numbers_of_repeats_are_unpaired(folder: Folder) -> None:
    a, b = folder("a", {"x": TEN}), folder("b", {"x": TEN[:6]})
    (cell,) = weft.compare(a, b).against[0].cells
    assert not cell.pairing.is_paired
    assert "since the repeats differ (10 and 6 repeats, 6 seeds in both); --common" in cell.pairing.note
    assert cell.lines[0].numbers.counts == (10, 6)
    (cell,) = weft.compare(a, b, common=True).against[0].cells
    assert cell.pairing.is_paired and "6 repeats that both have" in cell.pairing.note
    assert cell.lines[0].numbers.counts == (6, 6)
    assert cell.lines[0].verdict == "equivalent"


def test_a_missing_run_takes_its_partner_with_it_and_is_counted(folder: Folder) -> None:
    a, b = folder("a", {"x": TEN}), folder("b", {"x": TEN}, missing=(("x", 3), ("x", 5)))
    (b / "failures").mkdir()
    (b / "failures" / "0003.json").write_text(json.dumps({"run": "0003", "message": "out of memory"}))
    comparison = weft.compare(a, b)
    (cell,) = comparison.against[0].cells
    assert cell.pairing.note == "paired by seed: 8 repeats; 2 left out, of which a run is missing"
    assert cell.lines[0].numbers.counts == (8, 8)
    (bias,) = comparison.biases
    assert "b: 2 of 10 planned runs are not there" in bias and "1 failed" in bias and "out of memory" in bias


def test_flows_that_did_not_finish_are_counted(folder: Folder) -> None:
    comparison = weft.compare(folder("a", {"x": TEN}), folder("b", {"x": TEN}, unfinished=1))
    assert "b: 10 flows did not finish, in 10 of 10 runs" in comparison.biases[0]
    flows = comparison.against[0].cells[0].flows
    assert flows is not None and (flows.unfinished_reference, flows.unfinished_other) == (0, 10)


def test_a_column_that_one_backend_does_not_know_is_named(folder: Folder) -> None:
    comparison = weft.compare(folder("a", {"x": TEN}), folder("b", {"x": TEN}, without=("goodput_bps",)))
    (against,) = comparison.against
    assert verdicts(comparison) == ["equivalent"]
    assert "flows.goodput_bps" in against.skipped["goodput"]
    assert "loss" in against.skipped  # neither folder has queues
    flows = against.cells[0].flows
    assert flows is not None
    assert [ratios.column for ratios in flows.ratios] == ["fct_ns"]
    assert flows.absent == {"goodput_bps": "the other side does not know it of any flow"}


def test_no_metric_in_common_is_an_error_with_reasons(folder: Folder) -> None:
    with pytest.raises(ResultsError, match="have no metric in common: loss: "):
        weft.compare(folder("a", {"x": TEN}), folder("b", {"x": TEN}), metrics=["loss"])


def test_another_version_of_weft_is_a_difference(folder: Folder) -> None:
    comparison = weft.compare(folder("a", {"x": TEN}), folder("b", {"x": TEN}, version="0.2.0"))
    assert comparison.against[0].differing == {"weft": ("0.1.0 (unknown)", "0.2.0 (unknown)")}


def test_flows_match_whatever_types_a_backend_writes(folder: Folder) -> None:
    a, b = folder("a", {"x": TEN}), folder("b", {"x": TEN})
    for file in b.glob("runs/*/flows.parquet"):
        frame = pl.read_parquet(file)
        frame.with_columns(
            pl.col("flow").cast(pl.Int32), pl.col("src").cast(pl.Categorical), pl.col("fct_ns").cast(pl.Float64)
        ).drop("start_ns").write_parquet(file)
    flows = weft.compare(a, b).against[0].cells[0].flows
    assert flows is not None and (flows.matched, flows.other_start) == (40, 0)


def test_flows_that_cannot_be_told_apart_are_not_compared(folder: Folder) -> None:
    a, b = folder("a", {"x": TEN}), folder("b", {"x": TEN})
    for file in b.glob("runs/*/flows.parquet"):
        pl.read_parquet(file).with_columns(flow=pl.lit(0), src=pl.lit("h"), dst=pl.lit("h")).write_parquet(file)
    (cell,) = weft.compare(a, b).against[0].cells
    assert cell.flows is None and "cannot be told apart" in cell.no_flows


def test_warnings_of_both_are_kept(folder: Folder) -> None:
    comparison = weft.compare(folder("a", {"x": TEN}, warnings=("look here",)), folder("b", {"x": TEN}))
    assert [text.endswith("a: look here") for text in comparison.warnings] == [True]


def test_over_all_cells_a_repeat_is_one_observation(folder: Folder) -> None:
    # Three cells that repeat the same numbers are no more evidence than one: the same interval.
    one = weft.compare(folder("a", {"x": TEN}), folder("b", {"x": slower(TEN, 1.02)}), metrics=["fct"])
    cells = {"x": TEN, "y": [10.0 * value for value in TEN], "z": TEN}
    other = {"x": slower(TEN, 1.02), "y": [10.0 * value for value in slower(TEN, 1.02)], "z": slower(TEN, 1.02)}  # type: ignore[operator]
    three = weft.compare(folder("c", cells), folder("d", other), metrics=["fct"])
    first, whole = one.against[0].overall[0].numbers.found, three.against[0].overall[0].numbers.found
    assert whole.ratio == pytest.approx(first.ratio, rel=1e-6)
    assert whole.ratio_low == pytest.approx(first.ratio_low, rel=1e-6)
    assert whole.degrees == 9
    assert three.family == 3 and three.family_overall == 1


def test_cells_that_contradict_each_other_are_counted_apart(folder: Folder) -> None:
    a = folder("a", {"x": TEN, "y": TEN})
    b = folder("b", {"x": slower(TEN, 1.2), "y": slower(TEN, 0.8)})
    (against,) = weft.compare(a, b, metrics=["fct"]).against
    (whole,) = against.overall
    assert dict(against.counts(whole.measure)) == {"better": 1, "worse": 1}
    assert whole.numbers.found.ratio == pytest.approx(1.0, abs=1e-3)
    assert whole.verdict == "equivalent"


def test_nothing_lost_in_any_run_is_equivalent_though_no_share_of_it_exists(folder: Folder) -> None:
    a, b = folder("a", {"x": TEN}), folder("b", {"x": TEN})
    for directory in (a, b):
        for run in (directory / "runs").iterdir():
            pl.DataFrame({"dropped_packets": [0], "enqueued_packets": [9]}).write_parquet(run / "queues.parquet")
    comparison = weft.compare(a, b, metrics=["drops"])
    assert verdicts(comparison, "drops") == ["equivalent"]
    assert comparison.against[0].overall[0].numbers.found.ratio is None


def test_three_folders_are_each_compared_with_the_first(folder: Folder) -> None:
    comparison = weft.compare(
        folder("a", {"x": TEN}), folder("b", {"x": slower(TEN, 1.2)}), folder("c", {"x": slower(TEN, 0.8)}),
        metrics=["fct"],
    )  # fmt: skip
    assert [against.overall[0].verdict for against in comparison.against] == ["worse", "better"]
    assert comparison.family == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--over load_balance.kind"),
        ({"over": "queue.knd"}, 'does not sweep it; did you mean "queue.kind"'),
        ({"over": "queue.kind", "reference": "rad"}, 'no value of queue.kind; did you mean "red"'),
        ({"reference": "red"}, "name the key with over"),
        ({"over": "queue.kind", "confidence": 95}, "confidence 95: expected above 0.5 and below 1"),
        ({"over": "queue.kind", "adjust": "bonferroni"}, 'adjust "bonferroni": unknown; known: holm, bh'),
        ({"over": "queue.kind", "metrics": ["godput"]}, 'did you mean "goodput"'),
        ({"over": "queue.kind", "margin": "5"}, 'expected a share like "5 %"'),
    ],
)
def test_what_cannot_be_compared_is_refused(folder: Folder, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ResultsError) as caught:
        weft.compare(folder("a", {"red": TEN, "drop_tail": TEN}), **options)
    assert message in str(caught.value)


def test_a_key_with_one_value_or_two_folders_cannot_be_compared_over(folder: Folder) -> None:
    a = folder("a", {"red": TEN})
    with pytest.raises(ResultsError, match="it has one value only, red"):
        weft.compare(a, over="queue.kind")
    with pytest.raises(ResultsError, match="inside one folder; got 2 folders"):
        weft.compare(a, a, over="queue.kind")


def test_keys_that_change_together_are_compared_together(folder: Folder) -> None:
    cells = {"red": TEN, "codel": slower(TEN, 1.2)}
    a = folder("a", cells, keys=lambda cell: {"queue.kind": cell, "queue.target": 5 if cell == "codel" else None})
    with pytest.raises(ResultsError, match="keys that change together are compared together: --over queue"):
        weft.compare(a, over="queue.kind")
    comparison = weft.compare(a, over="queue", metrics=["fct"])
    assert comparison.against[0].other == "codel 5" and verdicts(comparison) == ["worse"]


def test_over_cells_with_an_uncertain_reference_there_are_shares_without_bounds(folder: Folder) -> None:
    # One repeat in ten is a thousand times slower: the reference's mean is not clearly apart from zero.
    wild = [1.0] * 9 + [1000.0]
    a, b = folder("a", {"x": wild, "y": wild}), folder("b", {"x": TEN, "y": TEN})
    (whole,) = weft.compare(a, b, metrics=["fct"]).against[0].overall
    assert whole.is_scaled and whole.numbers.found.ratio_low is None
    assert said_change(whole)[0].endswith(" %") and said_change(whole)[1] == ""


def test_no_such_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="there is no such folder"):
        weft.compare(tmp_path / "a", tmp_path / "b")


def test_the_medians_interval_resamples_runs_not_flows(folder: Folder) -> None:
    # 10 runs of 1000 flows with the same ratio inside a run: the flows add nothing, so the interval spans the runs.
    ratios = [0.9, 1.1, 0.95, 1.05, 1.0, 1.02, 0.98, 1.08, 0.92, 1.03]
    other = [value * ratio for value, ratio in zip(TEN, ratios, strict=True)]
    comparison = weft.compare(folder("a", {"x": TEN}, flows=1000), folder("b", {"x": other}, flows=1000))
    flows = comparison.against[0].cells[0].flows
    assert flows is not None
    found = flows.ratios[0]
    assert found.flows == 10_000
    assert found.median == pytest.approx(1.01, abs=1e-6)  # between the runs of 1.00 and 1.02
    assert found.median_low is not None and found.median_high is not None
    assert found.median_low < 0.97 and found.median_high > 1.04
    assert math.isclose(found.share_better, 0.4)


def test_few_runs_give_no_interval_of_the_median(folder: Folder) -> None:
    comparison = weft.compare(folder("a", {"x": TEN[:4]}), folder("b", {"x": slower(TEN[:4], 1.2)}))
    flows = comparison.against[0].cells[0].flows
    assert flows is not None and flows.ratios[0].median_low is None


def test_flows_without_a_counterpart_and_other_starts_are_counted(folder: Folder) -> None:
    comparison = weft.compare(folder("a", {"x": TEN}), folder("b", {"x": TEN}, flows=6, starts=5))
    flows = comparison.against[0].cells[0].flows
    assert flows is not None
    # h3 sends to h0 in a ring of 4, and to h4 in a ring of 6.
    assert (flows.matched, flows.only_reference, flows.only_other, flows.other_start) == (30, 10, 30, 30)
