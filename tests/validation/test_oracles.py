"""Every oracle in its sampled size: each of its rows is a sentence about the world that must hold."""

import json

import pytest

from weft.cli import status_of
from weft.errors import WeftError
from weft.validation import FAIL, ORACLES, SHOWN, Oracle, document, validate
from weft.validation.oracle import Row, near, near_mean

SLOW = {
    "fat_tree_large_packets",
    "fat_tree_mptcp",
    "fat_tree_reno",
    "jellyfish_jain",
    "jellyfish_published",
    "mptcp_subflows",
    "spraying_published",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in ORACLES]
)
def test_an_oracle_in_its_sampled_size(name: str) -> None:
    findings = list(validate([name]))
    assert any(finding.row.verdict != SHOWN for finding in findings), "an oracle tests something"
    assert [document(finding) for finding in findings if finding.row.verdict == FAIL] == []


@pytest.mark.soak
@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_in_full_size(name: str) -> None:
    assert [document(finding) for finding in validate([name], all=True) if finding.row.verdict == FAIL] == []


def test_the_command_prints_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["validate", "slow_start", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["value"], row["expected"], row["verdict"]) for row in rows] == [
        (1, 1, "pass"),
        (3, 3, "pass"),
        (7, 7, "pass"),
    ]
    assert rows[0]["number"] == 17 and rows[0]["mark"] == "A" and rows[0]["seconds"] >= 0


def test_a_row_that_fails_makes_the_command_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = Oracle(0, "wrong", "nowhere", "A", lambda is_full: [near("hops", "a tree", 5, 6)])
    monkeypatch.setattr("weft.validation.ORACLES", {"wrong": wrong})
    assert status_of(["validate"]) == 1
    assert "0 passed, 1 failed, 0 shown" in capsys.readouterr().out


def test_an_unknown_oracle_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(WeftError, match='unknown oracle "m_d_2"; .*m_d_1'):
        validate(["m_d_2"])
    assert status_of(["validate", "m_d_2"]) == 2


def test_a_mean_may_be_off_by_its_tolerance_or_its_own_spread() -> None:
    def verdict(values: list[float], expected: float) -> str:
        row: Row = near_mean("wait", "a queue", values, expected, relative=0.02)
        return row.verdict

    # Mean 10, standard deviation 1, standard error 1 / sqrt(3) = 0.577: three of them are 1.73.
    assert verdict([9.0, 10.0, 11.0], 11.7) == "pass"
    assert verdict([9.0, 10.0, 11.0], 11.8) == "fail"
    # No spread: 2 % of 10.2 are 0.204.
    assert verdict([10.0, 10.0, 10.0], 10.2) == "pass"
    assert verdict([10.0, 10.0, 10.0], 10.21) == "fail"
