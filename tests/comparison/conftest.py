"""Result folders with chosen numbers, so that what a comparison must say is known."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

Flow = Mapping[str, Any]


def write_folder(
    directory: Path,
    cells: Mapping[str, list[float | None]] | list[float | None],
    *,
    seeds: list[int] | None = None,
    flows: int = 4,
    keys: Callable[[str], Mapping[str, Any]] = lambda cell: {"queue.kind": cell},
    experiment: Mapping[str, Any] | None = None,
    missing: tuple[tuple[str, int], ...] = (),
    unfinished: int = 0,
    without: tuple[str, ...] = (),
    fingerprint: Callable[[str, int], str | None] = lambda cell, seed: None,
    warnings: tuple[str, ...] = (),
    starts: int = 0,
    version: str = "0.1.0",
) -> Path:
    """A folder of cells with the mean FCT (ms) of each repeat; every flow of a run has that FCT.

    `missing` runs are planned and not there; in each run `unfinished` flows do not end; `without` columns are null.
    """
    named = cells if isinstance(cells, Mapping) else {"": cells}
    rows = []
    for place, (cell, values) in enumerate(named.items()):
        swept = dict(keys(cell)) if isinstance(cells, Mapping) else {}
        for repeat, value in enumerate(values):
            seed = (seeds or list(range(7, 7 + len(values))))[repeat]
            run = f"{place:02x}{repeat:02x}"
            rows.append({"run": run, "cell": place, "repeat": repeat, "seed": seed, **swept})
            if (cell, repeat) in missing:
                continue
            folder = directory / "runs" / run
            folder.mkdir(parents=True)
            fct = None if value is None else round(value * 1e6)
            frame = pl.DataFrame(
                [
                    {
                        "flow": flow,
                        "workload": "bulk",
                        "src": f"h{flow}",
                        "dst": f"h{(flow + 1) % flows}",
                        "size_bytes": 1_000_000,
                        "start_ns": starts,
                        "fct_ns": None if flow < unfinished else fct,
                        "goodput_bps": None if fct is None else 8e15 / fct,
                    }
                    for flow in range(flows)
                ],
                schema_overrides={"fct_ns": pl.Int64, "goodput_bps": pl.Float64},
            )
            frame.with_columns(pl.lit(None).alias(name) for name in without).write_parquet(folder / "flows.parquet")
            resolved: dict[str, Any] = {"seed": seed, "name": directory.name, **(experiment or {})}
            for key, swept_value in swept.items():
                section, _, name = key.partition(".")
                resolved[section] = {**resolved.get(section, {}), name: swept_value}
            manifest = {
                "run": run, "cell": place, "repeat": repeat, "seed": seed, "swept": swept, "experiment": resolved,
                "finished": not unfinished, "unfinished": unfinished, "warnings": list(warnings),
                "fingerprint": fingerprint(cell, seed), "version": version, "backend": "packet",
            }  # fmt: skip
            (folder / "manifest.json").write_text(json.dumps(manifest))
    pl.DataFrame(rows).write_parquet(directory / "plan.parquet")
    return directory


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """`folder("name", cells, ...)` writes one below a temporary folder."""
    return lambda name, *arguments, **options: write_folder(tmp_path / name, *arguments, **options)
