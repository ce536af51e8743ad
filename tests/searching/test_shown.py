"""What a person sees of a search: the terminal, JSON, and the page."""

import json
from pathlib import Path

import pytest
from searches import noisy_link, shared_link

import weft
from weft.cli import status_of
from weft.experiment.readable import toml
from weft.searching.found import Found


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
    assert f"best: trial {found.best.number}" in text
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
