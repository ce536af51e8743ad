"""docs/reference is made from the code, and its examples are experiments."""

from pathlib import Path

import pytest

import weft
from weft.kinds import catalogue
from weft.reference import page, pages

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def test_the_pages_are_those_of_the_code() -> None:
    found = {path.relative_to(REFERENCE).as_posix(): path.read_text() for path in REFERENCE.rglob("*.md")}
    assert found == pages(), "run `make docs` and commit docs/reference"


ROOMS = ("topology", "routing", "load_balance", "queue", "transport", "congestion")


@pytest.mark.parametrize(("room", "name"), [(room, name) for room in ROOMS for name in catalogue()[room]])
def test_an_example_is_a_valid_section(room: str, name: str, tmp_path: Path) -> None:
    kind = catalogue()[room][name]
    example = page(kind).split("```toml\n")[1].split("```")[0]
    given = {"custom": 'links = [{ a = "h0", b = "s" }, { a = "h1", b = "s" }]\n', "udp": 'rate = "1 Gbps"\n'}
    file = tmp_path / "example.toml"
    around = "" if room == "topology" else '[topology]\nkind = "star"\n'
    file.write_text(around + example + given.get(name, "") + '[[workload]]\nkind = "permutation"\nsize = "1 MB"\n')
    resolved = weft.load(file).resolved[room]
    assert resolved["kind"] == name
