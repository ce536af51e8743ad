"""The study of Jellyfish and fairness: its page has the numbers that its experiments give, and they are as derived."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import weft
from weft.results import Results

STUDY = Path(__file__).parents[2] / "experiments/studies/jellyfish_fairness"
PAGE = (STUDY / "README.md").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("jellyfish_tables", STUDY / "tables.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def quick() -> Results:
    return weft.run(STUDY / "quick.toml")


def lacking(rows: list[str]) -> list[str]:
    assert rows
    return [row for row in rows if row not in PAGE]


@pytest.mark.slow
def test_the_page_has_what_16_hosts_give(tables: ModuleType, quick: Results) -> None:
    assert lacking(list(tables.shares(quick))) == []
    assert lacking(list(tables.reach(quick))) == []


@pytest.mark.slow
def test_applications_got_what_interfaces_carried_less_headers_and_acknowledgments(quick: Results) -> None:
    # MPTCP: 1420 of 1538 bytes, and 102 bytes of acknowledgment for every two packets that a host sends in turn.
    found = quick.numbers(("payload_share",))
    mptcp = found.filter(found["transport.kind"] == "mptcp")["payload_share"]
    assert mptcp.mean() == pytest.approx(1420 / (1538 + 102 / 2), abs=0.005)


@pytest.mark.slow
def test_nobody_gets_more_than_the_wire_has_and_mptcp_evens_out(quick: Results) -> None:
    runs = quick.numbers(("goodput_share.max", "goodput_share", "fairness"))
    assert runs["goodput_share.max"].max() < 1448 / 1538
    for fabric in ("fat_tree", "jellyfish"):
        of = runs.filter(runs["topology.kind"] == fabric).sort("repeat")
        plain, multi = (of.filter(of["transport.kind"] == kind) for kind in ("tcp", "mptcp"))
        assert ((multi["goodput_share"] - plain["goodput_share"]) > 0.05).all()
        assert ((multi["fairness"] - plain["fairness"]) > 0.05).all()


@pytest.mark.soak
@pytest.mark.parametrize("file", ["full", "table_1"])
def test_the_page_has_what_the_papers_sizes_give(tables: ModuleType, file: str) -> None:
    results = weft.run(STUDY / f"{file}.toml")
    assert lacking(list(tables.shares(results))) == []
    assert lacking(list(tables.published(results))) == []
