"""The study of ECMP fat trees: its page has the numbers that its experiments give, and these are what physics says."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import weft
from weft.experiment.study import read_study
from weft.published.beside import beside
from weft.published.shown import markdown
from weft.report.folder import read_folder
from weft.results import Results
from weft.scenario import Scenario

STUDY = Path(__file__).parent.parent.parent / "experiments" / "studies" / "ecmp_fat_tree"
PAGE = (STUDY / "README.md").read_text(encoding="utf-8")

PAYLOAD = 1470 / 1512
"""Payload of a link: iperf's datagram over what Linux counts of it."""


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Results]:
    """What `weft run` of the folder gives, by the name of the file."""
    out = tmp_path_factory.mktemp("study")
    return {file.stem: weft.run(file, out=out / file.stem) for file in read_study(STUDY).files}


def test_the_page_has_the_numbers_that_the_quick_version_gives(quick: Mapping[str, Results]) -> None:
    for results in quick.values():
        for line in markdown(beside(read_folder(results.directory))).splitlines():
            assert line in PAGE.splitlines() or not line, line


def mean(results: Results, metric: str, **keys: str) -> float:
    table = results.table((metric,))
    for key, value in keys.items():
        table = table.filter(table[key.replace("__", ".")] == value)
    return float(table[metric].mean())  # type: ignore[arg-type]


def test_the_top_of_the_binary_tree_is_all_that_its_pairs_share(quick: Mapping[str, Results]) -> None:
    # 2 Mb/s of wire, less the first tenth of a second, in which nothing has arrived and queues fill.
    found = mean(quick["bisection"], "goodput.sum", topology__kind="binary_tree")
    assert found == pytest.approx(2e6 * PAYLOAD, rel=0.01)


def test_spraying_fills_the_fat_tree_and_hashing_does_not(quick: Mapping[str, Results]) -> None:
    full = {"topology__cores": "full"}
    sprayed = mean(quick["bisection"], "goodput.sum", load_balance__kind="spray", **full)
    hashed = mean(quick["bisection"], "goodput.sum", load_balance__kind="ecmp", **full)
    # Sprayed packets queue for a while behind each other, so that the last of the ten seconds' are still under way.
    assert 0.93 < sprayed / (8e6 * PAYLOAD) < 1.0
    # Eight flows on paths of their own choice: max-min fairness gives 0.57 and 0.61 of it (oracle 42 shows that).
    assert 0.45 < hashed / (8e6 * PAYLOAD) < 0.75


def test_a_query_is_stored_and_forwarded_on_every_link(quick: Mapping[str, Results]) -> None:
    # 100 bytes, TCP with timestamps 32, IP 20, Ethernet 14: 166 bytes each way, and 10 us a link. The first of about
    # 400 queries waits for the handshake, half as long: 0.12 %.
    def expected(rates: list[float]) -> float:
        return 2 * sum(166 * 8 / rate + 10e-6 for rate in rates)

    fat, binary = expected([1e6] * 6), expected([1e6, *[2e6] * 6, 1e6])
    assert (fat, binary) == (pytest.approx(16.056e-3), pytest.approx(13.440e-3))
    plain = {"topology__link__shaper": "none"}
    for cores in ("two", "full"):
        found = mean(quick["memcached"], "latency", topology__cores=cores, **plain) / 1e9
        assert found == pytest.approx(fat, rel=0.002)
    found = mean(quick["memcached"], "latency", topology__kind="binary_tree", **plain) / 1e9
    assert found == pytest.approx(binary, rel=0.002)


def test_what_fits_into_the_burst_of_a_token_bucket_takes_the_delay_alone(quick: Mapping[str, Results]) -> None:
    # Query, answer and acknowledgment are 398 bytes in 10 ms, a third of the rate at most: buckets stay full.
    bucket = {"topology__link__shaper": "token_bucket"}
    fat = mean(quick["memcached"], "latency", topology__cores="full", **bucket)
    binary = mean(quick["memcached"], "latency", topology__kind="binary_tree", **bucket)
    assert (fat, binary) == (pytest.approx(2 * 6 * 10_000, rel=0.002), pytest.approx(2 * 8 * 10_000, rel=0.002))


@pytest.mark.parametrize("transport", ["tcp", "udp"])
@pytest.mark.parametrize("bucket_map", ["even", "random"])
def test_flows_spread_over_the_uplinks_as_the_buckets_do(transport: str, bucket_map: str) -> None:
    """Edge and aggregation switches with two uplinks: 8000 flows in 8 buckets.

    An even map gives each uplink half of the buckets, and so 50 % of the flows within 2.3 points at the edge and within
    3.2 where half of them come: four standard deviations, sqrt(1/4 / n). A random map gives an uplink m of 8 buckets as
    coins fall, C(8, m) / 256, and so m eighths of the flows within 2.3 points.
    """
    pairs = ["h000>h300"] * 8000
    spread = {"kind": "udp", "rate": "1 kbps"} if transport == "udp" else {"kind": "tcp"}
    experiment = {
        "backend": {"until": "1 ms"},
        "topology": {"kind": "fat_tree"},
        "transport": spread,
        "load_balance": {"kind": "ecmp", "buckets": 8, "bucket_map": bucket_map},
        "workload": [{"kind": "pairs", "pairs": pairs}],
    }
    loaded = weft.load(experiment)
    spec = loaded.spec(next(loaded.cells()))
    shares = []
    for seed in range(20):
        scenario = Scenario(spec | {"seed": seed})
        names = scenario.links()["name"]
        # Host, edge, aggregation: the second link of a path is the edge's choice.
        first = [names[path[1]] for path in scenario.flows()["path"]]
        shares.append(first.count("se00>sa00") / len(pairs))
        if bucket_map == "even":
            second = [names[path[2]] for path in scenario.flows()["path"] if names[path[1]] == "se00>sa00"]
            assert abs(second.count("sa00>sc00") / len(second) - 0.5) < 0.032
    if bucket_map == "even":
        assert all(abs(share - 0.5) < 0.023 for share in shares), shares
    else:
        assert all(min(abs(share - m / 8) for m in range(9)) < 0.023 for share in shares), shares
        assert len({round(share * 8) for share in shares}) >= 3


def test_applications_in_pods_of_their_own_share_no_link(quick: Mapping[str, Results]) -> None:
    figure = quick["placement"].figure("applications")
    table = figure.tables["applications"]
    shared = {
        cell: sum(1 for count in part["link"].value_counts()["count"] if count > 1)
        for (cell,), part in table.partition_by("cell", as_dict=True).items()
    }
    for cell, count in shared.items():
        assert (count == 0) == str(cell).startswith("apart")
        assert f"{cell}: {count} of " in figure.caption
    assert "<svg" in figure.svg()


@pytest.mark.parametrize("shaper", ["none", "token_bucket"])
def test_shared_paths_cost_latency_as_in_the_document(quick: Mapping[str, Results], shaper: str) -> None:
    apart, mixed = (
        mean(quick["placement"], "latency", workload__iperf__place__how=how, topology__link__shaper=shaper)
        for how in ("apart", "mixed")
    )
    assert mixed > 2 * apart
