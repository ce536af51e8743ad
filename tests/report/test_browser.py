"""The page in a browser: it draws, stays silent, and asks the network for nothing.

Needs Debian's `chromium` and `chromium-driver`; skips where they are missing.
"""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from synthetic import write_folder

from weft.report import write_report

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A headless Chromium with a fresh profile that logs console and network."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("chromium or chromedriver is missing: apt-get install -y chromium chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is missing: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield session
    session.quit()


def show(browser, page: Path, *, scheme: str = "light", width: int = 1200) -> None:
    """Open the page from its file and wait until it is drawn."""
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(page.resolve().as_uri())
    end = time.monotonic() + 60
    while browser.execute_script("return document.documentElement.dataset.drawn") != "yes":
        assert time.monotonic() < end, browser.get_log("browser")
        time.sleep(0.05)


def requests(browser) -> list[str]:
    """Addresses that the page asked for since it was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 400)])
def test_the_page_draws_and_asks_nobody(browser, swept: Path, scheme: str, width: int):
    page = write_report(swept, figures=False)
    show(browser, page, scheme=scheme, width=width)
    marks = browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.drawing')].map(drawing =>"
        " [drawing.dataset.figure, drawing.querySelectorAll('svg .mark-group path, svg [class*=mark-] path').length]))"
    )
    assert len(marks) == 13
    assert all(count >= 3 for count in marks.values()), marks
    assert browser.get_log("browser") == []
    asked = [address for address in requests(browser) if not address.startswith(("data:", "blob:"))]
    assert asked == [page.resolve().as_uri()]
    assert browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)") == []
    # Tables scroll in their own box: the page itself is never wider than the window.
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_scheme_of_the_reader_is_followed(browser, single: Path):
    page = write_report(single, figures=False)
    colours = []
    for scheme in ("light", "dark"):
        show(browser, page, scheme=scheme)
        colours.append(browser.execute_script("return getComputedStyle(document.documentElement).backgroundColor"))
        assert (
            browser.execute_script("return document.querySelector('.drawing svg').style.backgroundColor") == colours[-1]
        )
    assert colours == ["rgb(255, 255, 255)", "rgb(21, 24, 29)"]


def test_the_table_behind_each_figure_can_be_saved(browser, single: Path):
    show(browser, write_report(single, figures=False))
    tables = browser.execute_script(
        "return [...document.querySelectorAll('a.csv')].map(link => [link.download, decodeURIComponent(link.href)])"
    )
    assert [name for name, _ in tables] == [
        "results.csv", "ecdf-fct.csv", "ecdf-slowdown.csv", "rank-goodput.csv", "fabric.csv", "fabric-nodes.csv",
        "runs.csv",
    ]  # fmt: skip
    assert all(address.startswith("data:text/csv") for _, address in tables)
    assert dict(tables)["rank-goodput.csv"].count("\n") == 1 + 16


def test_a_name_that_looks_like_markup_stays_a_name(browser, tmp_path: Path):
    name = "<img src=x onerror=console.error(1)>"
    folder = write_folder(tmp_path / "x", balances=("</script>", "a'b\"c,d"), repeats=2, samples=False, name=name)
    show(browser, write_report(folder, figures=False))
    assert browser.execute_script("return document.querySelector('h1').textContent") == name
    assert browser.get_log("browser") == []
