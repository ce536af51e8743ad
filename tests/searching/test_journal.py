"""The journal: what belongs together is there whole or not at all."""

import json
from pathlib import Path

import pytest

import weft
from weft.searching.journal import Journal


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.append_logs([{"a": 1}])
    with journal.whole():
        journal.append_logs([{"b": [1, 2]}])
        journal.append_logs([{"c": None}])
        assert (tmp_path / "j").read_text().count("\n") == 1
        assert list(journal.read_logs(1)) == [{"b": [1, 2]}, {"c": None}]
    assert list(Journal(tmp_path / "j").read_logs(0)) == [{"a": 1}, {"b": [1, 2]}, {"c": None}]


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    with pytest.raises(ZeroDivisionError), journal.whole():
        journal.append_logs([{"a": 1}])
        raise ZeroDivisionError
    journal.append_logs([{"b": 2}])
    assert list(Journal(tmp_path / "j").read_logs(0)) == [{"b": 2}]


def test_a_torn_last_line_never_happened(tmp_path: Path) -> None:
    file = tmp_path / "j"
    file.write_text('{"a": 1}\n{"b": ')
    journal = Journal(file)
    journal.append_logs([{"c": 3}])
    assert [json.loads(line) for line in file.read_text().splitlines()] == [{"a": 1}, {"c": 3}]


def test_what_is_no_journal_is_said(tmp_path: Path) -> None:
    (tmp_path / "j").write_text("hello\n")
    with pytest.raises(weft.OutputError, match=r"j:1: is no record of a search; delete the file"):
        Journal(tmp_path / "j")
