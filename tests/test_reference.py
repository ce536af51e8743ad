"""docs/reference is made from the code, its examples are experiments, and the tables are those that a run writes."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weft
from weft.kinds import RECORD, Kind, catalogue
from weft.reference import pages
from weft.reference.kind_page import example
from weft.reference.tables import TABLES

DOCS = Path(__file__).parent.parent / "docs"
REFERENCE = DOCS / "reference"

KINDS = [kind for kinds in catalogue().values() for kind in kinds.values()]
HEADINGS = ["Source", "Parameters", "Example", "See also"]


def test_the_pages_are_those_of_the_code() -> None:
    found = {path.relative_to(REFERENCE).as_posix(): path.read_text() for path in REFERENCE.rglob("*.md")}
    assert found == pages(), "run `make docs` and commit docs/reference"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.room}.{kind.name}")
def test_pages_have_the_same_headings(kind: Kind) -> None:
    page = pages()[f"{kind.room}/{kind.name}.md"]
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == HEADINGS


def test_links_lead_to_pages() -> None:
    made = pages()
    for place, page in made.items():
        for target in re.findall(r"\]\(([^)#]+)\)", page):
            file = (REFERENCE / place).parent / target
            assert file.resolve().is_file(), f"{place}: {target}"


def whole(kind: Kind) -> str:
    """The example with what else an experiment needs."""
    text = "\n".join(example(kind)) + "\n"
    star = '[topology]\nkind = "star"\nhosts = 16\n'
    permutation = '[[workload]]\nkind = "permutation"\nsize = "1 MB"\n'
    match kind.room, kind.name:
        case "topology", _:
            return text + permutation
        case "workload", _:
            return star + text
        case "flow_size", _:
            return star + '[[workload]]\nkind = "poisson"\nload = 0.5\nflows = 10\n' + text
        case "placement", _:
            return '[topology]\nkind = "fat_tree"\n[[workload]]\nkind = "bulk"\nsize = "1 MB"\n' + text
        case "record", "workload":
            return star + text
        case "record", "cable":
            return '[topology]\nkind = "custom"\n' + text + permutation
        case "record", _:
            return star + text + permutation
        case "section", "experiment":
            return text + star + permutation
        case "section", "report" | "sweep" | "measure" | "analysis" | "failure" | "published":
            return star + permutation + text
        case _:
            return text + star + permutation


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.room}.{kind.name}")
def test_an_example_is_an_experiment(kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("src,dst,size_bytes,start\nh0,h1,1000,1 us\n")
    (tmp_path / "trace.csv").write_text("kind,src,dst,size_bytes,start\nget,h0,h1,1000,1 us\n")
    (tmp_path / "published.csv").write_text("metric,value\ngoodput,1 Mbps\n")
    (tmp_path / "sizes.csv").write_text("1000 0\n2000 100\n")
    (tmp_path / "table.txt").write_text("")
    (tmp_path / "tables.fdbs").write_text("")
    file = tmp_path / "example.toml"
    file.write_text(whole(kind))
    resolved = weft.load(file).resolved
    if kind.room in ("section", RECORD, "flow_size", "placement"):
        return
    section: Any = resolved[kind.room]
    assert (section[0] if kind.room == "workload" else section)["kind"] == kind.name


TYPES: dict[str, Any] = {"i64": pl.Int64, "f64": pl.Float64, "str": pl.String, "list of str": pl.List(pl.String)}


def test_the_tables_are_those_of_a_run(tmp_path: Path) -> None:
    experiment = weft.load(
        'topology = { kind = "star", hosts = 4 }\nmeasure = { every = "10 us" }\n'
        '[[workload]]\nkind = "permutation"\nsize = "10 kB"\n'
    )
    results = weft.run(experiment, out=tmp_path / "out")
    (run,) = results.manifests
    tables = results.tables(run)
    assert set(tables) == set(TABLES)
    for name, (_, columns) in TABLES.items():
        frame = tables[name]
        assert frame.columns == list(columns), name
        for key, column in columns.items():
            dtype = frame.schema[key]
            if dtype == pl.Categorical or isinstance(dtype, pl.Enum):
                dtype = pl.String()
            if dtype == pl.List(pl.Categorical):
                dtype = pl.List(pl.String)
            assert dtype == TYPES[column.type.removesuffix("?")], f"{name}.{key}"
            assert column.type.endswith("?") or frame[key].null_count() == 0, f"{name}.{key}"
    assert json.loads((tmp_path / "out" / "runs" / run / "manifest.json").read_text())["packet_hops"] > 0


def test_every_python_call_has_its_heading() -> None:
    page = pages()["python.md"]
    for name in weft.__all__:
        assert name == "__version__" or f"## weft.{name}\n" in page or f"`weft.{name}` (" in page
    # The same in every process: no addresses of functions.
    assert " at 0x" not in page


def test_the_library_knows_nothing_of_the_command_line() -> None:
    package = Path(weft.__file__).parent
    for file in package.rglob("*.py"):
        place = file.relative_to(package).as_posix()
        # Who starts it, and who describes it.
        if not place.startswith("cli/") and place not in ("__main__.py", "reference/commands.py"):
            assert not re.search(r"(from|import) weft\.cli", file.read_text()), f"{place} imports weft.cli"
