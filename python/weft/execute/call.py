"""What `weft.run` and `weft.search` share: the experiment that is meant, and the folder of its results."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.experiment.experiment import Experiment, load


def experiment_of(
    source: str | Path | Mapping[str, Any] | Experiment, set: Iterable[str] | Mapping[str, Any]
) -> Experiment:
    """The experiment itself, or the one of a file or of tables with settings. Raises WeftError and ExperimentError."""
    if not isinstance(source, Experiment):
        return load(source, set)
    if set:
        raise WeftError("settings go to weft.load; an Experiment does not change")
    return source


@contextmanager
def results_folder(out: str | Path | None) -> Iterator[Path]:
    """The folder `out`, or a temporary one, which goes with the object that is made of it.

    Where an exception ends the block, finished runs are kept, and a note of the exception says where; a temporary
    folder without any is removed.
    """
    directory = Path(out if out is not None else tempfile.mkdtemp(prefix="weft-"))
    try:
        yield directory
    except BaseException as error:
        if any(directory.glob("runs/[!.]*")):
            error.add_note(f"finished runs are kept in {directory}")
        elif out is None:
            shutil.rmtree(directory, ignore_errors=True)
        raise
