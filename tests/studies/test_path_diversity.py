"""The page of the path diversity study has the numbers that its experiments give."""

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import weft

STUDY = Path(__file__).parents[2] / "experiments/studies/path_diversity"
PAGE = (STUDY / "README.md").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("path_diversity_tables", STUDY / "tables.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of(network: str, *settings: str) -> weft.Results:
    return weft.run(STUDY / f"{network}.toml", set=settings)


def lacking(rows: list[str]) -> list[str]:
    assert rows
    return [row for row in rows if row not in PAGE]


CLUSTERS = [
    pytest.param("silent", "128 KiB", "query"),
    pytest.param("noisy", "10 KiB", "query"),
    pytest.param("silent", "500 KiB", "short", marks=pytest.mark.slow),
    pytest.param("noisy", "500 KiB", "short", marks=pytest.mark.slow),
    pytest.param("silent", "25 MiB", "long", marks=pytest.mark.soak),
    pytest.param("noisy", "25 MiB", "long", marks=pytest.mark.soak),
]


@pytest.mark.parametrize(("network", "size", "cluster"), CLUSTERS)
def test_the_page_has_what_a_cluster_gives(tables: ModuleType, network: str, size: str, cluster: str) -> None:
    tables.CLUSTERS[network] = {size: cluster}
    only = f'sweep."{tables.SIZE[network]}"=["{size}"]'
    results = of(network, only, "analysis[0].permutations=0")
    published = results.published
    assert lacking(list(tables.p_values(network, published))) == []
    assert lacking(list(tables.best(network, results, published))) == []
    assert lacking(list(tables.excess(network, published, "MPTCP"))) == []
    assert lacking(list(tables.means(network, results))) == []


@pytest.mark.parametrize(("network", "size", "cluster"), CLUSTERS)
def test_the_page_has_what_the_controls_give(tables: ModuleType, network: str, size: str, cluster: str) -> None:
    tables.CLUSTERS[network] = {size: cluster}
    results = of(f"{network}_tcp", f'sweep."{tables.SIZE[network]}"=["{size}"]')
    assert lacking(list(tables.excess(network, results.published, "TCP"))) == []
    assert lacking(list(tables.means(network, results))) == []


@pytest.mark.parametrize(("network", "size", "cluster"), CLUSTERS)
def test_the_page_has_what_the_hashes_give(tables: ModuleType, network: str, size: str, cluster: str) -> None:
    tables.CLUSTERS[network] = {size: cluster}
    results = of(f"{network}_hash", f'sweep."{tables.SIZE[network]}"=["{size}"]')
    assert lacking(list(tables.hashes(network, results))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["managers", "timeouts", "k6"])
@pytest.mark.parametrize("network", ["silent", "noisy"])
def test_the_page_has_what_the_full_study_adds(tables: ModuleType, network: str, name: str) -> None:
    results = of(f"{network}_{name}", f'sweep."{tables.SIZE[network]}"=["500 KiB"]')
    assert lacking(list(tables.variants(network, results))) == []


@pytest.mark.parametrize("name", ["two_paths", "two_paths_page"])
def test_the_page_has_the_preliminary_test(tables: ModuleType, name: str) -> None:
    assert lacking(list(tables.preliminary(of(name)))) == []


def test_every_experiment_of_the_study_is_whole() -> None:
    lists = [tomllib.loads((STUDY / file).read_text())["files"] for file in ("study.toml", "full.toml")]
    listed = {name for files in lists for name in files}
    assert listed == {file.name for file in STUDY.glob("*.toml")} - {"study.toml", "full.toml"}
    for name in sorted(listed):
        weft.load(STUDY / name)
