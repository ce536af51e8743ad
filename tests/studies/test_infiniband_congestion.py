"""The study of InfiniBand congestion control: its page has what its experiments give, and that is as it must be."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import weft
from weft.experiment.study import read_study
from weft.published.beside import beside
from weft.published.shown import markdown
from weft.report.folder import read_folder
from weft.results import Results

STUDY = Path(__file__).parent.parent.parent / "experiments" / "studies" / "infiniband_congestion"
PAGE = (STUDY / "README.md").read_text(encoding="utf-8").splitlines()

WIRE, SINK = 2000.0, 34 * 64 / (34 * 16.8 * 1.125) * 1000
"""MB/s: 20 Gb/s with 8b/10b; a bus of 16.8 ns a credit that stops 12.5 ns after every 100."""

LONE = {20: 34 * 64 / (34 * 32.0 + 243) * 1000, 40: 34 * 64 / (34 * 16.8 + 243) * 1000}
"""MB/s of one source: a packet of 34 credits takes the wire or the bus, and then 243 ns."""

THESIS = {(2, 20): 2000, (2, 80): 1475, (2, 120): 1100, (4, 20): 2000, (8, 20): 1925, (8, 40): 1600, (8, 80): 1100}
THESIS |= {(10, 20): 1900}
WEIGHTS, TIMERS = (2, 4, 8, 10), (20, 40, 80, 120)


def _tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("infiniband_tables", STUDY / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = _tables()


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what `weft run` of the study gives, without its search."""
    out = tmp_path_factory.mktemp("study")
    for file in read_study(STUDY).files:
        weft.run(file, out=out / file.stem)
    return out


@pytest.fixture(scope="module")
def grid(quick: Path) -> Mapping[tuple[int, int], Any]:
    cells = TABLES.runs(quick, "grid", "congestion.threshold", "congestion.ccti_timer")
    return {(int(weight), int(timer.split()[0])): tables for (weight, timer), tables in cells.items()}


def test_the_page_has_the_tables_that_the_quick_version_gives(quick: Path) -> None:
    for lines in TABLES.all_tables(quick).values():
        for line in lines:
            assert line in PAGE, line


def test_without_control_each_rate_follows_from_the_wire_and_the_bus(quick: Path) -> None:
    cells = TABLES.runs(quick, "speeds", "topology.link.rate", "congestion.kind")
    for rate, gbps, whole in (("16 Gbps", 20, WIRE), ("32 Gbps", 40, SINK)):
        tables = cells[rate, "none"]
        assert TABLES.rates(tables, "", "H2")["H1"] == pytest.approx(LONE[gbps], rel=0.02)
        two = TABLES.rates(tables, "H2", "H3")
        assert (two["H1"], two["H2"]) == (pytest.approx(whole / 2, rel=0.02), pytest.approx(whole / 2, rel=0.02))
        # H4's inputs take turns, so that H2 has half; H1 and H3 share the other; H5 waits behind H1, in step with it.
        last = TABLES.rates(tables, "H5")
        parts = {"H1": 4, "H2": 2, "H3": 4, "H5": 4, "H4": 1}
        assert last == {node: pytest.approx(whole / part, rel=0.02) for node, part in parts.items()}


def test_h4_falls_with_the_timer_and_with_the_weight_as_in_the_thesis(grid: Mapping[tuple[int, int], Any]) -> None:
    h4 = {cell: TABLES.rates(tables, "H3")["H4"] for cell, tables in grid.items()}
    assert set(h4) == {(weight, timer) for weight in WEIGHTS for timer in TIMERS}
    for weight, timer in h4:
        assert all(h4[weight, later] <= 1.03 * h4[weight, timer] for later in TIMERS if later > timer)
        assert all(h4[more, timer] <= 1.03 * h4[weight, timer] for more in WEIGHTS if more > weight)
    off = [abs(h4[cell] / value - 1) for cell, value in THESIS.items()]
    assert max(off) < 0.2 and sum(off) / len(off) < 0.08


def test_the_victim_is_freed_in_every_cell(grid: Mapping[tuple[int, int], Any]) -> None:
    freed = {cell: TABLES.rates(tables, "H5")["H5"] / LONE[20] for cell, tables in grid.items()}
    assert len(freed) == 16 and all(0.95 <= share <= 1.01 for share in freed.values()), freed


def test_packet_size_says_nothing_until_it_is_beyond_every_packet(quick: Path) -> None:
    cells = TABLES.runs(quick, "packet_size", "congestion.threshold", "congestion.packet_size")
    off = TABLES.runs(quick, "speeds", "topology.link.rate", "congestion.kind")["16 Gbps", "none"]
    for weight in ("2", "10"):
        for begin in ("", "H2", "H3", "H5"):
            one, eight, trap = (TABLES.rates(cells[weight, size], begin) for size in ("1", "8", "2200"))
            assert one == eight
            assert trap == TABLES.rates(off, begin)
    manifests = Results(quick / "packet_size").manifests.values()
    for manifest in manifests:
        is_trap = manifest["swept"]["congestion.packet_size"] == 2200
        assert is_trap == any(said.startswith("congestion control has no effect") for said in manifest["warnings"])


def test_nothing_is_lost_and_no_buffer_overflows(quick: Path) -> None:
    # A run in which packets or credits do not add up, or a buffer holds more than its credits, is recorded as failed.
    for file in ("speeds", "grid", "packet_size"):
        results = Results(quick / file)
        assert results.failures.is_empty() and results.queues["dropped_packets"].sum() == 0
        assert results.flows["lost_packets"].sum() == 0


def test_a_counter_that_marks_every_second_packet_locks_to_the_round_robin() -> None:
    # Three smooth senders: H4's inputs take turns, and whoever comes second in each turn is marked again and again.
    asked = [
        "sweep={}",
        "backend.until=40 ms",
        "measure.warmup=20 ms",
        "congestion.burst_packets=1",
        "congestion.reset_zone=false",
    ]
    asked += ["workload.H2.start=100 us", "workload.H3.start=200 us", "workload.H5.start=40 ms"]
    apart = {}
    for marking in ("random", "counter"):
        results = weft.run(weft.load(STUDY / "packet_size.toml", [*asked, f"congestion.marking={marking}"]))
        of_three = results.flows.filter(results.flows["dst"] == "H4")["goodput_bps"].to_list()
        apart[marking] = max(of_three) / min(of_three)
    assert apart["random"] < 2 and apart["counter"] > 3, apart


def test_errors_of_the_thesis_stand_next_to_the_table_that_they_are_in(quick: Path) -> None:
    named = {
        "speeds": ["is 158 to 170 per cent", "SW3-SW4", "sends H5 through SW2", "ends at 0.5 s"],
        "grid": ["prints 1300 for 120 us", "1450 here, 1500 in table 5.6", "1900 here, 1950", "lists six thresholds"],
        "packet_size": ["none is, since 2176 bytes are fewer than 2200", "34 (packet_size_unit)"],
    }
    for file, sentences in named.items():
        text = markdown(beside(read_folder(quick / file)))
        for sentence in sentences:
            assert sentence in text
            assert any(sentence in line for line in PAGE), sentence


def test_a_short_search_frees_the_victim_and_shares_better_than_the_point_as_written(tmp_path: Path) -> None:
    asked = [
        "backend.until=30 ms",
        "measure.warmup=15 ms",
        "sweep.repeats=1",
        "search.trials=16",
        "search.neighbours=2",
    ]
    found = weft.search(weft.load(STUDY / "search.toml", asked), tmp_path / "search")
    assert found.document["feasible"] > 0
    best, written = (found.document[which]["goals"][0]["value"] for which in ("best", "written"))
    assert best > 1.2 * written
