"""Sweeps: cells, paired seeds, and names of runs that stand for what was simulated."""

import weft
from weft.sweep import seed_of

BASE = {"seed": 7, "topology": {"kind": "fat_tree"}, "workload": [{"kind": "permutation", "size": "1 MiB"}]}
SWEEP = {
    "load_balance.kind": ["static", "ecmp", "spray"],
    "transport": [{"kind": "tcp"}, {"kind": "udp", "rate": "1 Gbps"}],
    "repeats": 4,
}


def test_the_plan_is_every_combination_repeated() -> None:
    experiment = weft.load(BASE | {"sweep": SWEEP})
    plan = list(experiment.plan())
    assert len(plan) == 3 * 2 * 4
    assert len({run.name for run in plan}) == len(plan)
    # The last axis varies fastest.
    assert [str(cell) for cell in experiment.cells()][:2] == [
        'load_balance.kind = "static", transport.kind = "tcp"',
        'load_balance.kind = "static", transport.kind = "udp", transport.rate = "1 Gbps"',
    ]
    assert [experiment.sweep.cell(cell.index) for cell in experiment.cells()] == list(experiment.cells())


def test_a_key_inside_a_swept_table_takes_effect_wherever_it_is_listed() -> None:
    rates = {"topology.link.rate": ["1 Gbps", "2 Gbps"]}
    tables = {"topology": [{"kind": "star", "hosts": 2, "link": {"rate": "9 Gbps"}}, {"kind": "fat_tree"}]}
    for axes in (rates | tables, tables | rates):
        experiment = weft.load(BASE | {"sweep": axes})
        cells = list(experiment.cells())
        specs = [experiment.spec(cell)["topology"] for cell in cells]
        found = sorted((spec["kind"], spec["link"]["rate"]) for spec in specs)
        assert found == [("fat_tree", 10**9), ("fat_tree", 2 * 10**9), ("star", 10**9), ("star", 2 * 10**9)]
        assert all(cell.swept["topology.link.rate"] in ("1 Gbps", "2 Gbps") for cell in cells)


def test_a_repeat_has_one_seed_in_every_cell_and_repeat_0_the_experiments_own() -> None:
    experiment = weft.load(BASE | {"sweep": SWEEP})
    seeds = {}
    for run in experiment.plan():
        assert seeds.setdefault(run.repeat, run.seed) == run.seed
    assert seeds[0] == 7
    assert len(set(seeds.values())) == 4


def test_derived_seeds_never_change() -> None:
    # Golden: published results depend on them.
    assert [seed_of(7, repeat) for repeat in range(3)] == [7, 8469449567473837, 490740400699232]


def test_any_run_can_be_done_alone_under_the_same_name() -> None:
    experiment = weft.load(BASE | {"sweep": SWEEP})
    run = list(experiment.plan())[-1]
    (alone,) = weft.load(experiment.resolved_cell(run.cell, run.seed)).plan()
    assert alone.name == run.name


def test_names_and_figures_do_not_change_what_was_simulated() -> None:
    (plain,) = weft.load(BASE).plan()
    (named,) = weft.load(BASE | {"name": "other", "report": [{"figure": "box", "y": "fct"}]}).plan()
    (other,) = weft.load(BASE, {"seed": 8}).plan()
    assert plain.name == named.name
    assert plain.name != other.name


def test_the_content_of_a_file_counts_not_its_place(tmp_path) -> None:  # type: ignore[no-untyped-def]
    names = []
    for place, rows in (("a", "1000 50\n2000 100\n"), ("b", "1000 50\n2000 100\n"), ("c", "1000 40\n2000 100\n")):
        (tmp_path / place).mkdir()
        cdf = tmp_path / place / "cdf.txt"
        cdf.write_text(rows)
        size = {"kind": "empirical", "file": str(cdf)}
        workload = [{"kind": "poisson", "load": 0.5, "flows": 10, "size": size}]
        (run,) = weft.load(BASE | {"workload": workload}).plan()
        names.append(run.name)
    assert names[0] == names[1] != names[2]
