"""A search finds the best point where it can be derived, and says what is known of it."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from searches import PAYLOAD, ROOM, flow, noisy_link, shared_link

import weft
from weft.backend import packet
from weft.progress import Silent
from weft.searching import go
from weft.sweep import Run


class Told(Silent):
    """What an observer was told."""

    def __init__(self) -> None:
        self.there = self.found_later = self.begun = self.planned_at_last = 0

    def plan(self, runs: int, finished: int) -> None:
        self.there, self.planned_at_last = finished, runs

    def planned(self, runs: int) -> None:
        self.planned_at_last = runs

    def found(self, run: Run) -> None:
        self.found_later += 1

    def begin(self, run: Run) -> None:
        self.begun += 1


def rate_of(point: Any) -> float:
    from weft.units import parse_rate

    return float(parse_rate(point.values["workload.bulk.transport.rate"]))


def test_tpe_finds_the_rate_that_the_link_has_left(tmp_path: Path) -> None:
    constraint = {"metric": "loss", "at_most": 0}
    file = shared_link(
        queue={"capacity": "4 packets"},
        objective={"metric": "goodput", "workload": "bulk", "constraints": [constraint]},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    best = found.best
    assert best is not None
    # What is above 600 Mb/s waits: in 11 ms, 4 packets of 1538 bytes are 4.5 Mb/s. More is lost.
    assert 0.95 * ROOM < rate_of(best) <= ROOM + 4 * 1538 * 8 / 0.011
    # Whole packets in a window of 10 ms: nearly 500 of bulk, one more or less.
    assert best.goal(0)[0] == pytest.approx(rate_of(best) * PAYLOAD, rel=1 / 400)
    assert best.constraint(0) == [0.0]
    # The rate as written, 900 Mb/s, is lost in part.
    written = found.written
    assert written is not None and not written.is_feasible(found.objective)
    assert "which is infeasible" in str(found)
    # Below: less goodput. Above: loss.
    below, above = found.neighbours
    assert below.is_below and below.gain is not None and below.gain.difference < 0
    assert not above.is_below and not above.point.is_feasible(found.objective)


def test_the_command_of_the_best_point_gives_its_number(tmp_path: Path) -> None:
    found = weft.search(shared_link(search={"trials": 6}), out=tmp_path / "o", jobs=1)
    best = found.best
    assert best is not None
    again = weft.run(shared_link(), set=best.values, out=tmp_path / "again")
    goodput = again.flows.filter(pl.col("workload") == "bulk")["goodput_bps"].to_list()
    assert goodput == best.goal(0)
    # The run is the same run.
    assert set(again.manifests) == set(best.runs.values())
    assert "--set 'workload.bulk.transport.rate=" in (found.command(best) or "")


def test_a_grid_tries_every_point_once_and_the_point_as_written(tmp_path: Path) -> None:
    rates = ["300 Mbps", "600 Mbps", "900 Mbps"]
    file = shared_link(
        space={"workload.bulk.transport.rate": rates, "queue.capacity": ["20 packets", "30 packets"]},
        search={"sampler": "grid", "trials": 10, "neighbours": 0},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    assert sorted(tuple(point.values.values()) for point in found.trial_points) == sorted(
        (rate, capacity) for rate in rates for capacity in ("20 packets", "30 packets")
    )
    assert found.best is not None and found.best.values["workload.bulk.transport.rate"] == "600 Mbps"
    # A victim alone loses nothing; beside 900 Mb/s it does.
    (fast,) = {point.is_feasible(found.objective) for point in found.trial_points if rate_of(point) == 900e6}
    assert not fast
    assert found.written is not None and found.written.role == "written"


def test_two_goals_give_the_front(tmp_path: Path) -> None:
    # Up to 600 Mb/s nothing is lost, so 300 is beaten by 600; above, more goodput costs loss.
    file = shared_link(
        objective={"metric": "goodput", "workload": "bulk", "also": {"metric": "loss"}},
        space={"workload.bulk.transport.rate": ["300 Mbps", "600 Mbps", "800 Mbps", "1 Gbps"]},
        search={"sampler": "grid"},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1, report=True)
    assert [rate_of(point) for point in found.front] == [1e9, 800e6, 600e6]
    document = json.loads(json.dumps(found.document))
    assert document["best"] is None and len(document["front"]) == 3
    assert "none beats another" in str(found)
    assert "Front of the two goals" in (tmp_path / "o/report.html").read_text()


def test_the_worst_case_is_found_when_asked_for(tmp_path: Path) -> None:
    file = shared_link(
        objective={"metric": "goodput", "workload": "victim", "direction": "worst"},
        space={"workload.bulk.transport.rate": ["300 Mbps", "900 Mbps"]},
        search={"sampler": "grid"},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    assert found.best is not None and rate_of(found.best) == 900e6


@pytest.mark.parametrize("sampler", ["tpe", "random", "cma_es"])
def test_trials_do_not_depend_on_jobs(tmp_path: Path, sampler: str) -> None:
    file = shared_link(
        objective={"metric": "goodput.sum"},
        space={
            "workload.bulk.transport.rate": {"from": "100 Mbps", "to": "1 Gbps"},
            "workload.victim.transport.rate": {"from": "100 Mbps", "to": "1 Gbps", "scale": "log"},
        },
        search={"sampler": sampler, "trials": 14, "neighbours": 0},
    )
    one = weft.search(file, out=tmp_path / "1", jobs=1).trials
    two = weft.search(file, out=tmp_path / "2", jobs=2).trials
    assert one.equals(two)


def test_nsga2_serves_two_goals(tmp_path: Path) -> None:
    file = shared_link(
        objective={
            "metric": "goodput",
            "workload": "bulk",
            "also": {"metric": "goodput", "workload": "victim"},
        },
        search={"sampler": "nsga2", "trials": 20, "batch": 10},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    goals = [(point.goal(0)[0], point.goal(1)[0]) for point in found.front]
    # Best in the first goal first; each next one pays there to win in the second.
    assert goals == sorted(goals, key=lambda goal: -goal[0]) == sorted(goals, key=lambda goal: goal[1])
    assert len(goals) > 1


def test_more_trials_go_on_and_repeat_nothing(tmp_path: Path) -> None:
    few = weft.search(shared_link(search={"trials": 8}), out=tmp_path / "o", jobs=1)
    more = weft.search(shared_link(search={"trials": 16}), out=tmp_path / "o", jobs=1)
    assert len(more.trial_points) == 16
    assert [point.values for point in more.trial_points[:8]] == [point.values for point in few.trial_points]
    # As one search of 16: batches of 4 divide 8.
    whole = weft.search(shared_link(search={"trials": 16}), out=tmp_path / "whole", jobs=1)
    assert [point.values for point in more.trial_points] == [point.values for point in whole.trial_points]
    again = weft.search(shared_link(search={"trials": 16}), out=tmp_path / "o", jobs=1)
    assert again.simulated == 0
    assert again.trials.equals(more.trials)


def test_another_search_in_the_same_folder_is_refused_by_its_keys(tmp_path: Path) -> None:
    weft.search(shared_link(search={"trials": 4}), out=tmp_path / "o", jobs=1)
    space = {"workload.bulk.transport.rate": {"from": "200 Mbps", "to": "1 Gbps"}}
    with pytest.raises(weft.OutputError, match=r"holds another search; they differ in space.workload"):
        weft.search(shared_link(search={"trials": 4}, space=space), out=tmp_path / "o", jobs=1)
    with pytest.raises(weft.OutputError, match=r"search\.batch"):
        weft.search(shared_link(search={"trials": 4, "batch": 2}), out=tmp_path / "o", jobs=1)
    with pytest.raises(weft.OutputError, match=r"another experiment; they differ in sweep"):
        weft.search(shared_link(search={"trials": 4}, sweep={"repeats": 2}), out=tmp_path / "o", jobs=1)
    with pytest.raises(weft.OutputError, match=r"another experiment; they differ in queue\.capacity"):
        weft.search(shared_link(search={"trials": 4}, queue={"capacity": "9 packets"}), out=tmp_path / "o", jobs=1)


def test_a_refused_search_changes_nothing(tmp_path: Path) -> None:
    weft.search(shared_link(search={"trials": 4}), out=tmp_path / "o", jobs=1)
    before = {file.name: file.read_bytes() for file in (tmp_path / "o").iterdir() if file.is_file()}
    with pytest.raises(weft.OutputError, match=r"objective\.metric"):
        weft.search(shared_link(objective={"metric": "throughput"}), out=tmp_path / "o", jobs=1)
    assert {file.name: file.read_bytes() for file in (tmp_path / "o").iterdir() if file.is_file()} == before


def test_alone_among_nobody_is_the_whole(tmp_path: Path) -> None:
    # One workload: its yardstick is the very run of the point as written.
    bound = {"metric": "goodput", "workload": "bulk", "at_least": "50 %", "of": "alone"}
    file = shared_link(
        workload=[flow("bulk", 1, "600 Mbps")],
        objective={"metric": "goodput", "constraints": [bound]},
        space={"workload.bulk.transport.rate": ["200 Mbps", "400 Mbps", "600 Mbps"]},
        search={"sampler": "grid"},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    shares = [point.constraint(0)[0] for point in found.trial_points]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1], rel=0.01)
    assert found.runs == 3


def test_points_that_come_again_cost_nothing(tmp_path: Path) -> None:
    space = {"workload.bulk.transport.rate": ["300 Mbps", "500 Mbps"]}
    source = noisy_link(space=space) | {"search": {"trials": 20, "sampler": "random", "neighbours": 2}}
    found = weft.search(source, out=tmp_path / "o", jobs=1)
    assert len(found.trial_points) == 20
    # Two points with six seeds each, and the best of them and the one as written with six others.
    assert found.runs == found.simulated <= 4 * 6
    assert all(point.state != "failed" for point in found.points)


def test_a_trial_that_fails_is_counted_and_the_search_goes_on(tmp_path: Path) -> None:
    # A lower threshold above the upper one is no experiment.
    file = shared_link(
        queue={"kind": "red", "capacity": "200 packets"},
        objective={"metric": "goodput", "workload": "bulk"},
        space={
            "queue.min_threshold": {"from": 5, "to": 95},
            "queue.max_threshold": {"from": 10, "to": 100},
        },
        search={"trials": 24, "sampler": "random"},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    counts = found.counts
    assert counts["failed"] > 0 and counts["complete"] > 0 and sum(counts.values()) == 24
    assert "1 of the 4 corners of the space are no valid experiments" in found.warnings[0]
    for point in found.trial_points:
        is_bad = point.values["queue.min_threshold"] >= point.values["queue.max_threshold"]
        assert (point.state == "failed") == is_bad
        assert ("is not above min_threshold" in point.error) == is_bad


def test_a_run_that_breaks_fails_its_trial_with_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate = packet.run

    def run(spec: dict[str, Any], directory: Path, watch: Any) -> Any:
        if spec["workload"][1]["transport"]["rate"] == 600_000_000:
            raise ValueError("sent 3, delivered 2")
        return simulate(spec, directory, watch)

    monkeypatch.setattr(packet, "run", run)
    file = shared_link(
        objective={"metric": "goodput", "workload": "bulk"},
        space={"workload.bulk.transport.rate": ["300 Mbps", "600 Mbps", "900 Mbps"]},
        search={"sampler": "grid", "neighbours": 0},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    assert [(point.state, point.error) for point in found.trial_points] == [
        ("complete", ""),
        ("failed", "sent 3, delivered 2"),
        ("complete", ""),
    ]
    assert found.best is not None and rate_of(found.best) == 900e6
    # It stays failed when the search goes on.
    monkeypatch.undo()
    again = weft.search(file, out=tmp_path / "o", jobs=1)
    assert again.simulated == 0 and again.trials.equals(found.trials)


def test_a_search_in_which_all_fails_stops_with_the_first_error(tmp_path: Path) -> None:
    file = shared_link(objective={"metric": "fct"}, search={"trials": 50})
    with pytest.raises(weft.RunError, match=r"all 12 trials failed, so the search stops; the first: fct: none of 2"):
        weft.search(file, out=tmp_path / "o", jobs=1)


def test_without_a_feasible_trial_the_closest_is_told(tmp_path: Path) -> None:
    # The link has 1 Gb/s: no victim gets 2.
    impossible = {"metric": "goodput", "workload": "victim", "at_least": "2 Gbps"}
    file = shared_link(
        objective={"metric": "goodput", "workload": "bulk", "constraints": [impossible]}, search={"trials": 8}
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    assert found.best is None and found.closest is not None
    _, _, missed = found.closest
    # The victim sends 400 Mb/s, of which 382.8 are payload: the closest misses 80.9 % of 2 Gb/s.
    assert missed == pytest.approx(1 - 0.4e9 * PAYLOAD / 2e9, rel=0.01)
    assert "no trial keeps the constraints" in str(found)
    assert "which misses goodput of victim at least 2 Gbps by 80." in str(found).replace("\n", " ")


def test_the_bottleneck_is_a_yardstick(tmp_path: Path) -> None:
    # Of 1 Gb/s, 55 % of payload are 574.6 Mb/s on the wire.
    bound = {"metric": "goodput", "workload": "bulk", "at_most": "55 %", "of": "bottleneck"}
    file = shared_link(
        objective={"metric": "goodput", "workload": "bulk", "constraints": [bound]},
        space={"workload.bulk.transport.rate": ["500 Mbps", "570 Mbps", "580 Mbps"]},
        search={"sampler": "grid"},
    )
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    assert found.best is not None and rate_of(found.best) == 570e6
    assert found.best.constraint(0)[0] == pytest.approx(0.57 * PAYLOAD, rel=0.005)


def test_pruned_trials_save_runs_and_leave_the_best_point(tmp_path: Path) -> None:
    pruned = weft.search(noisy_link(), out=tmp_path / "o", jobs=1)
    assert pruned.counts["pruned"] > 0
    best = pruned.best
    assert best is not None and len(best.goal(0)) == 6
    # Up to the link's rate, more is better: whatever was stopped had a lower rate, or lost more.
    for point in pruned.trial_points:
        if point.state == "pruned":
            n = len(point.goal(0))
            assert 3 <= n < 6
            assert sum(point.goal(0)) / n < sum(best.goal(0)) / 6
    # The best point is looked at again with seeds that had no part in the choice.
    checked = pruned.checked()
    assert checked is not None and not set(checked.runs.values()) & set(best.runs.values())
    against = pruned.against_written
    assert against is not None
    difference, is_fresh = against
    assert is_fresh and difference.is_paired and difference.low is not None and difference.low > 0
    assert "better by more than noise" in str(pruned).replace("\n", " ")


def test_the_folder_can_be_shown_and_the_table_has_every_trial(tmp_path: Path) -> None:
    found = weft.search(noisy_link(trials=5), out=tmp_path / "o", jobs=1)
    table = pl.read_parquet(tmp_path / "o/trials.parquet")
    trials = table.filter(pl.col("role") == "trial")
    assert trials["trial"].to_list() == [0, 1, 2, 3, 4]
    assert {"workload.bulk.transport.rate", "goodput_of_bulk_bps", "goodput_of_bulk_bps_low"} <= set(table.columns)
    names = {entry.name for entry in (tmp_path / "o/runs").iterdir()}
    assert {run for runs in table["runs"] for run in runs} == names
    results = weft.Results(tmp_path / "o")
    assert results.swept == ["workload.bulk.transport.rate"]
    assert set(results.plan["run"]) == names
    assert found.document["trials"] == 5


def test_a_run_does_not_know_of_the_search() -> None:
    with_search = weft.load(shared_link())
    bare = {key: value for key, value in shared_link().items() if key not in ("objective", "space", "search")}
    names = [next(weft.load(source).plan()).name for source in (shared_link(), bare)]
    assert names[0] == names[1]
    # What is printed is an experiment again, with the same search.
    assert weft.load(with_search.resolved).search.written == with_search.search.written


def test_whole_tables_may_be_chosen(tmp_path: Path) -> None:
    tables = [{"kind": "drop_tail", "capacity": "20 packets"}, {"kind": "red", "capacity": "200 packets"}]
    file = shared_link(space={"queue": tables}, search={"sampler": "grid", "neighbours": 0})
    found = weft.search(file, out=tmp_path / "o", jobs=1)
    assert found.trials["queue.kind"].to_list()[:2] == ["drop_tail", "red"]
    # The file has the first of them.
    assert found.written is not None
    assert found.trial_points[0].goal(0) == found.written.goal(0)


def test_a_search_needs_an_objective_and_a_space(tmp_path: Path) -> None:
    bare = {"topology": {"kind": "star", "hosts": 3}, "workload": [flow("x", 0, "1 Mbps") | {"pairs": ["h0>h1"]}]}
    bare["backend"] = {"until": "1 ms"}
    with pytest.raises(weft.ExperimentError) as raised:
        weft.search(bare, out=tmp_path / "o")
    assert [fault.key for fault in raised.value.faults] == ["objective", "space"]
    assert not (tmp_path / "o").exists()


def test_a_key_that_changes_nothing_has_no_importance(tmp_path: Path) -> None:
    # Below 600 Mb/s nothing waits for long, so that the size of the queue is not felt.
    file = shared_link(
        objective={"metric": "goodput", "workload": "bulk"},
        space={
            "workload.bulk.transport.rate": {"from": "100 Mbps", "to": "500 Mbps"},
            "queue.capacity": {"from": "10 packets", "to": "50 packets"},
        },
        search={"sampler": "random", "trials": 20},
    )
    (shares,) = weft.search(file, out=tmp_path / "o", jobs=1).importances
    assert shares["workload.bulk.transport.rate"]["fanova"] > 0.9
    assert sum(share["fanova"] for share in shares.values()) == pytest.approx(1.0)


def test_what_was_finished_before_an_exception_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate, done = packet.run, []

    def run(spec: dict[str, Any], directory: Path, watch: Any) -> Any:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(spec)
        return simulate(spec, directory, watch)

    monkeypatch.setattr(packet, "run", run)
    with pytest.raises(KeyboardInterrupt) as interrupted:
        weft.search(shared_link(search={"trials": 6}), jobs=1)
    (note,) = interrupted.value.__notes__
    kept = Path(note.removeprefix("finished runs are kept in "))
    assert len(list((kept / "runs").iterdir())) == 2
    monkeypatch.undo()
    # The same search goes on there.
    found = weft.search(shared_link(search={"trials": 6}), out=kept, jobs=1)
    assert len(found.points) > 2 and found.counts["failed"] == 0
    shutil.rmtree(kept)


def test_a_search_that_goes_on_counts_what_is_there_once(tmp_path: Path) -> None:
    weft.search(shared_link(search={"trials": 6}), out=tmp_path / "o", jobs=1)
    told = Told()
    go(weft.load(shared_link(search={"trials": 6})), tmp_path / "o", told, lambda: None, jobs=1)
    runs = len(list((tmp_path / "o/runs").iterdir()))
    assert told.begun == 0 and told.there + told.found_later == runs
    assert told.planned_at_last == runs
