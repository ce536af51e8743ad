"""Fuzzing of experiment files for as long as is asked: `WEFT_SOAK_MINUTES=60 make soak`; ten minutes by default."""

import os
import random
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "experiment"))

from fuzz import attempt, mutated


@pytest.mark.soak
def test_no_changed_example_breaks_the_reader() -> None:
    end = time.monotonic() + 60 * float(os.environ.get("WEFT_SOAK_MINUTES", "10"))
    seed = time.time_ns()
    failures = []
    while time.monotonic() < end:
        seed += 1
        try:
            attempt(mutated(random.Random(seed)))
        except Exception as error:
            failures.append(f"random.Random({seed}): {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
