"""The Python interface: run, and look at the tables."""

from pathlib import Path

import pytest

import weft

SMALL = {"topology": {"kind": "star", "hosts": 4}, "workload": [{"kind": "permutation", "size": "20 kB"}]}
SWEPT = SMALL | {"sweep": {"congestion.kind": ["reno", "cubic"], "topology.hosts": [3, 4], "repeats": 2}}


def test_results_in_memory_have_tables_and_go_with_the_object() -> None:
    results = weft.run(SMALL)
    assert results.flows.height == 4
    assert results.flows["size_bytes"].to_list() == [20_000] * 4
    assert results.flows["fct_ns"].null_count() == 0
    directory = results.directory
    assert directory.is_dir()
    del results
    assert not directory.exists()


def test_every_table_carries_the_swept_keys(tmp_path: Path) -> None:
    results = weft.run(SWEPT, out=tmp_path / "o")
    assert results.swept == ["congestion.kind", "topology.hosts"]
    assert results.plan.height == len(results.manifests) == 8
    assert results.flows.height == 2 * 2 * (3 + 4)
    assert results.flows.columns[:6] == ["run", "cell", "repeat", "seed", "congestion.kind", "topology.hosts"]
    assert results.links.filter(results.links["topology.hosts"] == 3).height == 2 * 2 * 6
    table = results.table()
    assert table["runs"].to_list() == [2, 2, 2, 2]
    assert (table["goodput_low"] <= table["goodput"]).all()
    assert "Goodput" in results._repr_html_()


def test_repeats_of_one_seed_see_the_same_traffic(tmp_path: Path) -> None:
    flows = weft.run(SWEPT, out=tmp_path / "o").flows
    by_cell = flows.filter(flows["topology.hosts"] == 4).group_by("congestion.kind", "repeat").agg("dst")
    for repeat in (0, 1):
        first, second = by_cell.filter(by_cell["repeat"] == repeat)["dst"].to_list()
        assert first == second


def test_a_folder_can_be_opened_again_also_without_its_plan(tmp_path: Path) -> None:
    results = weft.run(SWEPT, out=tmp_path / "o")
    again = weft.Results(tmp_path / "o")
    assert again.flows.equals(results.flows)
    (tmp_path / "o" / "plan.parquet").unlink()
    assert weft.Results(tmp_path / "o").plan.equals(results.plan)


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    results = weft.run(SMALL)
    with pytest.raises(weft.ResultsError, match=r'no run has the table samples; add every = "10 ms" under \[measure\]'):
        _ = results.samples
    with pytest.raises(weft.ResultsError, match=r"no such metric; there are goodput"):
        results.values("godput")
    with pytest.raises(weft.ResultsError, match=r"no finished run in it"):
        weft.Results(tmp_path)


def test_the_same_seed_gives_the_same_fingerprint() -> None:
    def fingerprint(seed: int) -> str:
        (manifest,) = weft.run(SMALL, set={"seed": seed}).manifests.values()
        return str(manifest["fingerprint"])

    assert fingerprint(1) == fingerprint(1) != fingerprint(2)


def test_an_experiment_runs_as_it_is() -> None:
    experiment = weft.load(SMALL)
    assert weft.run(experiment).flows.height == 4
    with pytest.raises(weft.WeftError, match="settings go to weft.load"):
        weft.run(experiment, set=["seed=2"])
