"""Fuzzing of experiment files for as long as is asked: `make soak`, or

    .venv/bin/python tests/soak/fuzz_experiment.py --minutes 60

Prints the seed of every failure; `--seed N` tries that one alone.
"""

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "experiment"))

from fuzz import attempt, mutated


def main() -> int:
    """Mutates examples until the time is up; exit status 1 if any text broke the reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    if arguments.seed is not None:
        attempt(mutated(random.Random(arguments.seed)))
        return 0
    end = time.monotonic() + 60 * arguments.minutes
    seed = time.time_ns()
    texts, failures = 0, 0
    while time.monotonic() < end:
        try:
            attempt(mutated(random.Random(seed)))
        except Exception as error:
            failures += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
        texts, seed = texts + 1, seed + 1
    print(f"{texts} texts, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
