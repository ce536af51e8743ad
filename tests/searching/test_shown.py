"""What a person sees of a search: the terminal, JSON, and the page."""

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from searches import noisy_link, shared_link

import weft
from weft.cli import status_of
from weft.experiment.objective import Constraint, Measure
from weft.experiment.readable import toml
from weft.metric import METRICS
from weft.searching.figures import _beside
from weft.searching.found import Found
from weft.searching.shown import is_kept_by_chance, kept, missed_by, shown_constraint
from weft.statistics.interval import Interval


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """A search with pruned trials, a constraint and two keys, and its page."""
    out = tmp_path_factory.mktemp("found") / "o"
    space = {
        "workload.bulk.transport.rate": {"from": "100 Mbps", "to": "1 Gbps"},
        "queue.capacity": {"from": "5 packets", "to": "50 packets", "scale": "log"},
    }
    constraint = {"metric": "loss", "at_most": "2 %"}
    objective = {"metric": "goodput", "workload": "bulk", "constraints": [constraint]}
    source = noisy_link(space=space) | {"objective": objective}
    return weft.search(source, out=out, jobs=1, report=True)


def test_the_terminal_needs_80_columns(found: Found) -> None:
    lines = str(found).splitlines()
    # A command is one line, to be copied.
    assert all(len(line) <= 80 for line in lines if not line.startswith("again: "))
    text = " ".join(str(found).split())
    assert "shared link: maximize goodput of bulk, with loss at most 2 %" in text
    assert found.best is not None and f"best: trial {found.best.number}" in text
    assert "around the best point" in text and "among the best" in text
    assert "few trials mislead" in text


def test_the_page_holds_everything_and_asks_for_nothing(found: Found) -> None:
    page = (found.directory / "report.html").read_text()
    for part in ('id="best"', 'id="neighbours"', 'id="importance"', 'id="history"', 'id="response"', 'id="trials"'):
        assert part in page
    assert "default-src 'none'" in page
    data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    assert set(data["figures"]) == {"history", "response", "importance"}
    # A line per point below the head.
    assert data["tables"]["trials"].count("\n") == 1 + len(found.points)
    for name in ("history", "response", "importance"):
        assert (found.directory / f"figures/{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_line_prints_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "search.toml"
    file.write_text(toml(shared_link()))
    arguments = ["search", str(file), "--trials", "5", "--out", str(tmp_path / "o"), "--no-report", "--jobs", "1"]
    assert status_of([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["trials"] == 5 and document["best"]["feasible"]
    assert document["best"]["command"].startswith(f"weft run {file} --set ")
    # Again without --json: nothing is simulated.
    assert status_of(arguments) == 0
    assert "(0 of them new)" in capsys.readouterr().out


def test_the_status_says_that_nothing_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "search.toml"
    impossible = {"metric": "goodput", "workload": "victim", "at_least": "2 Gbps"}
    objective = {"metric": "goodput", "workload": "bulk", "constraints": [impossible]}
    file.write_text(toml(shared_link(objective=objective, search={"trials": 4})))
    arguments = ["search", str(file), "--out", str(tmp_path / "o"), "--no-report", "--jobs", "1"]
    assert status_of(arguments) == 1
    assert "no trial keeps the constraints" in capsys.readouterr().out


def test_a_file_without_a_search_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plain.toml"
    file.write_text('[topology]\nkind = "star"\nhosts = 3\n[[workload]]\nkind = "permutation"\nsize = "2 kB"\n')
    assert status_of(["search", str(file), "--out", str(tmp_path / "o")]) == 2
    said = capsys.readouterr().err
    assert "plain.toml: objective: is missing: what is to be as good as possible; write [objective]" in said
    assert "plain.toml: space: is missing: which keys may vary" in said


def noisy_bound(at_most: str, **sections: Any) -> dict[str, Any]:
    """Bulk is as fast as it may; its rate is bounded itself, and seeds differ."""
    bound = {"metric": "goodput", "workload": "bulk", "at_most": at_most}
    source = noisy_link(space={"workload.bulk.transport.rate": ["200 Mbps", "300 Mbps", "400 Mbps"]})
    objective = {"metric": "goodput", "workload": "bulk", "constraints": [bound]}
    return source | {"objective": objective, "search": {"sampler": "grid", "neighbours": 2}} | sections


def test_a_neighbour_says_which_constraint_it_misses() -> None:
    # Of 300 Mb/s bulk receives 287, of 400 Mb/s 383: the better neighbour is beyond 330.
    found = weft.search(noisy_bound("330 Mbps"), jobs=1)
    assert found.best is not None and found.best.values["workload.bulk.transport.rate"] == "300 Mbps"
    text = " ".join(str(found).split())
    (_, above) = found.neighbours
    assert above.gain is not None and above.gain.difference > 0
    assert missed_by(found, above.point).startswith("misses goodput of bulk at most 330 Mbps: 38")
    assert text.count("misses") == 1
    assert "kept by less than noise" not in text
    # The bound's number has its interval, as the goal has.
    (row,) = [line for line in str(found).splitlines() if line.startswith("goodput of bulk at most")]
    assert "±" in row and "Mb/s" in row


def test_a_constraint_whose_interval_crosses_the_bound_is_kept_by_less_than_noise() -> None:
    constraint = Constraint(Measure(METRICS["goodput"], "mean"), 895e6, None, None, "goodput at least 895 Mbps")
    crossing, clear = Interval(895.4e6, 893.1e6, 897.7e6, 5), Interval(899e6, 896e6, 902e6, 5)
    assert is_kept_by_chance(constraint, crossing)
    assert shown_constraint(constraint, crossing) == "895.4 ± 2.3 Mb/s"
    assert not is_kept_by_chance(constraint, clear)
    # In a search: at 560 Mb/s the victim is alone on average only.
    bound = {"metric": "goodput", "workload": "victim", "at_least": "99.9 %", "of": "alone"}
    objective = {"metric": "goodput", "workload": "bulk", "constraints": [bound]}
    space = {"workload.bulk.transport.rate": ["400 Mbps", "560 Mbps"]}
    found = weft.search(noisy_bound("1 Gbps", objective=objective, space=space), jobs=1)
    assert found.best is not None and found.best.values["workload.bulk.transport.rate"] == "560 Mbps"
    ((_, row),) = kept(found, found.best)
    assert "%, kept by less than noise (with other seeds " in row
    assert "kept by less than" in str(found)
    # Missed, or without an interval: another thing is said of it.
    assert not is_kept_by_chance(constraint, Interval(894e6, 890e6, 898e6, 5))
    assert not is_kept_by_chance(constraint, Interval(895.4e6, None, None, 1))


def test_a_temporary_folder_goes_with_the_object_and_is_not_advertised() -> None:
    found = weft.search(noisy_bound("330 Mbps"), jobs=1)
    directory = found.directory
    assert (directory / "trials.parquet").is_file()
    assert found.best is not None and found.command(found.best) is None
    assert str(directory) not in str(found) and "goes on from here" not in str(found)
    assert len(repr(found)) < 400 and "300 Mbps" in repr(found)
    assert repr(found.best).startswith("<Point trial ") and len(repr(found.best)) < 200
    del found
    gc.collect()
    assert not directory.exists()


def test_a_file_searched_in_a_temporary_folder_is_run_again_without_it(tmp_path: Path) -> None:
    file = tmp_path / "search.toml"
    file.write_text(toml(noisy_bound("330 Mbps")))
    found = weft.search(file, jobs=1)
    assert found.best is not None
    command = found.command(found.best)
    assert command is not None and command.startswith(f"weft run {file} --set ") and "--out" not in command


def test_a_name_stands_where_it_covers_no_point() -> None:
    # To the right of the first point stands another, so the name goes to the left.
    assert _beside((170, 120), [], "best") == (8, 0)
    assert _beside((170, 120), [(190, 120)], "best") == (-8, 0)
    # At the left edge, with a point to the right, it goes up.
    assert _beside((2, 120), [(30, 120)], "best") == (8, -12)
    # Outside of the plot nobody reads it.
    assert _beside((285, 120), [], "as written") == (-8, 0)
