"""From what a person names to experiments, and to the folders of their results."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.experiment.experiment import Experiment


def experiments_of(file: Path, settings: list[str]) -> "list[tuple[Path, Experiment]]":
    """The experiments that FILE means, each with its file; the settings of its study come first."""
    from weft.experiment.experiment import load
    from weft.experiment.study import read_study
    from weft.progress import telling

    study = read_study(file)
    with telling("checking") as tell:
        return [(each, load(each, [*study.settings, *settings], partial(tell, "cells"))) for each in study.files]


def searches_of(file: Path, settings: list[str]) -> "list[tuple[Path, Experiment]]":
    """The searches that FILE means, each with its file: those that a study lists, as they are written."""
    from weft.experiment.experiment import load
    from weft.experiment.study import read_study

    return [(each, load(each, settings)) for each in read_study(file).searches]


def output_folder(out: Path | None, given: Path, file: Path, files: int) -> Path:
    """Where the results of `file` go, which is one of the `files` that `given` means; `out` is what --out says."""
    from weft.experiment.study import read_study

    name = read_study(given).name or file.stem
    if out is None:
        return Path("out") / (f"{name}/{file.stem}" if files > 1 else name)
    return out / file.stem if files > 1 else out
