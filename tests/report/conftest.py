"""Result folders to make reports of."""

import sys
from pathlib import Path

import pytest

# Whatever way pytest imports test files: `synthetic` lies beside this one.
sys.path.insert(0, str(Path(__file__).parent))

from synthetic import write_folder


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker of the tests that need Chromium."""
    config.addinivalue_line("markers", "browser: needs chromium and chromedriver")


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cells of five repeats; one run is missing, two flows did not finish, one run warns."""
    return write_folder(
        tmp_path_factory.mktemp("swept") / "results",
        warnings=("flow 3 was stuck in <time-out> back-off",),
        unfinished=2,
        missing_runs=1,
        report=(
            {"figure": "box", "x": "load_balance.kind", "y": "goodput_bps"},
            {"figure": "bar", "x": "load_balance.kind", "y": "fct.p99"},
            {"figure": "line", "x": "load_balance.kind", "y": "fairness"},
            {"figure": "heat", "x": "load_balance.kind", "y": "goodput", "by": "topology.k"},
            {"figure": "ecdf", "y": "fct", "facet": "load_balance.kind"},
            {"figure": "pie", "y": "goodput"},
        ),
    )


@pytest.fixture(scope="session")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run without a plan and without samples."""
    return write_folder(
        tmp_path_factory.mktemp("single") / "results", balances=("ecmp",), repeats=1, plan=False, samples=False
    )
