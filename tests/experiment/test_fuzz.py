"""No text, however broken, gives anything but an experiment or its faults."""

import random
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import weft

sys.path.insert(0, str(Path(__file__).parent))

from fuzz import attempt, mutated

VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.sampled_from(["10 us", "1 Gbps", "fat_tree", "tcp", "1 kB"]),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "link", "k", "size", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
SECTIONS = ["name", "seed", "backend", "topology", "queue", "transport", "workload", "measure", "sweep", "report", "x"]


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_random_text(text: str) -> None:
    attempt(text)


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False))
def test_changed_examples(source: random.Random) -> None:
    attempt(mutated(source))


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(SECTIONS), VALUES, max_size=5))
def test_random_tables(tables: dict[str, object]) -> None:
    valid = {"topology": {"kind": "fat_tree"}, "workload": [{"kind": "permutation", "size": "1 kB"}]}
    for candidate in (tables, valid | tables):
        try:
            weft.load(candidate)
        except weft.ExperimentError as error:
            assert error.faults


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(), max_size=3),
    st.sampled_from(["topology.k", "sweep.repeats", "workload[0]", "queue", "seed"]),
    st.text(),
)
def test_random_settings(texts: list[str], key: str, value: str) -> None:
    valid = {"topology": {"kind": "fat_tree"}, "workload": [{"kind": "permutation", "size": "1 kB"}]}
    try:
        weft.load(valid, [*texts, f"{key}={value}"])
    except weft.ExperimentError as error:
        assert error.faults
