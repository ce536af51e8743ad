"""Mutations of experiment files, for the fuzz tests here and in tests/soak."""

import random
from pathlib import Path

import weft

SEEDS = [file.read_text() for file in sorted(Path("experiments/examples").glob("*.toml"))]
FRAGMENTS = [
    "[sweep]\n", "[[workload]]\n", "[[report]]\n", "[queue]\n", 'kind = "red"\n', "repeats = 3\n",
    "k = 99999999999999999999\n",
    "= ", "[", "]", "{", "}", '"', "'", '"""', "\\u0000", "nan", "inf", "-0", "1e999", "1979-05-27T07:32:00Z", "0x",
    "true", '"10 us"', '"1e40 s"', '"-1 Gbps"', '"" = 1\n', "a.b.c = {}\n", "[topology.link]\n",
    "size = { kind = 3 }\n", "é", "\x00",
    "[[topology]]\n", "workload = 3\n", '"workload[9].size" = [1]\n', '"topology" = [{}, 3, []]\n',
    "sweep = 1\n", "link = []\n",
]  # fmt: skip


def mutated(source: random.Random) -> str:
    """An example with a few random changes of text."""
    text = source.choice(SEEDS)
    for _ in range(source.randint(1, 6)):
        at = source.randint(0, len(text))
        match source.randint(0, 3):
            case 0:
                text = text[:at] + source.choice(FRAGMENTS) + text[at:]
            case 1:
                text = text[:at] + text[at + source.randint(1, 30) :]
            case 2:
                text = text[:at] + chr(source.randint(0, 0x2FF)) + text[at + 1 :]
            case _:
                lines = text.splitlines(keepends=True)
                source.shuffle(lines)
                text = "".join(lines)
    return text


def attempt(text: str) -> None:
    """Loads `text`; passes if it is valid or says what is wrong with it."""
    try:
        experiment = weft.load(text + "\n")
    except weft.ExperimentError as error:
        assert error.faults
        assert all(str(fault) for fault in error.faults)
        return
    assert weft.load(experiment.toml).sweep == experiment.sweep
