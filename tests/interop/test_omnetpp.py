"""Vectors of OMNeT++: both formats of the file, and what is wrong with one."""

from pathlib import Path

import pytest

from weft.errors import ResultsError
from weft.interop import read_vec

NEW = """\
version 2
run CC-0-20150501-12:00:00-1234
attr network Square
vector 0  Square.H4.sink  "rate (MB/s)"  ETV
attr unit MB/s
vector 7  Square.H3.sink  rate  TV
0\t812\t0.001\t1620.5
7\t0.0015\t499
0\t1633\t0.002\t1635
"""
OLD = 'vector 3  "Square.H4"  "rate"  1\n3\t0.001\t2000\n'


def test_vectors_are_samples_in_the_order_of_time(tmp_path: Path) -> None:
    file = tmp_path / "run.vec"
    file.write_text(NEW)
    assert read_vec(file).rows() == [
        (1_000_000, "rate (MB/s)", "Square.H4.sink", 1620.5),
        (1_500_000, "rate", "Square.H3.sink", 499.0),
        (2_000_000, "rate (MB/s)", "Square.H4.sink", 1635.0),
    ]
    file.write_text(OLD)
    assert read_vec(file).rows() == [(1_000_000, "rate", "Square.H4", 2000.0)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vector 0 a b ETV\n0\t1\t0.001\n", "run.vec:2: '0\\\\t1\\\\t0.001' is no line"),
        ("vector 0 a b TV\n1\t0.001\t3\n", "run.vec:2: .*vector 1 is not declared"),
        ("vector 0 a b TX\n", "run.vec:1: .*its columns are TX"),
        ("vector 0 a b TV\n0\tsoon\t3\n", "run.vec:2: "),
        ("time,value\n", "run.vec: declares no vector"),
    ],
)
def test_a_file_of_another_kind_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "run.vec"
    file.write_text(text)
    with pytest.raises(ResultsError, match=said):
        read_vec(file)
    with pytest.raises(ResultsError, match="cannot be read: No such file"):
        read_vec(tmp_path / "absent.vec")
