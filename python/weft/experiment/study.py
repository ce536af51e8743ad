"""What FILE means on the command line: an experiment file, or a study: several of them, with settings for all.

    files = ["iperf.toml", "bisection.toml"]
    searches = ["search.toml"]          # searched, as `weft search` does, after the others have run

    [set]
    "sweep.repeats" = 100               # as --set on the command line, which has the last word

A folder stands for its study.toml, else for its quick.toml. Several studies may share files: full.toml beside
quick.toml names the same ones with more repeats and longer runs. Searches run as they are written, without settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weft.errors import ExperimentError, Fault
from weft.experiment.document import Document, read_file
from weft.experiment.experiment import settings_of
from weft.experiment.values import said, suggestion

KEYS = ("files", "searches", "set")


@dataclass(frozen=True)
class Study:
    """The experiment files that are meant, the settings ("key=value") for all of them, and the name of their folder.

    `searches` are files with an [objective] and a [space]; settings are not of them.
    """

    files: tuple[Path, ...]
    settings: tuple[str, ...] = ()
    name: str = ""
    searches: tuple[Path, ...] = ()


def read_study(place: Path) -> Study:
    """What a file or a folder means. Raises ExperimentError."""
    if str(place) == "-":
        message = "is no file: an experiment is not read from standard input; write it into a file, or name a folder"
        raise ExperimentError([Fault("-", None, "", message)])
    if not place.is_dir():
        document = read_file(place) if place.is_file() else None
        if document is None or "files" not in document.value:
            return Study((place,))
        return _study(document, place, f"{place.resolve().parent.name}-{place.stem}")
    if (place / "study.toml").is_file():
        return _study(read_file(place / "study.toml"), place / "study.toml", place.resolve().name)
    quick = place / "quick.toml"
    if not quick.is_file():
        inside = ", ".join(sorted(file.name for file in place.glob("*.toml"))) or "none"
        message = f"is a folder without quick.toml or study.toml; name a file in it (there are: {inside})"
        raise ExperimentError([Fault(str(place), None, "", message)])
    document = read_file(quick)
    name = place.resolve().name
    return _study(document, quick, name) if "files" in document.value else Study((quick,), name=name)


def _study(document: Document, place: Path, name: str) -> Study:
    faults = []
    for key in document.value:
        if key not in KEYS:
            way_out, nearest = suggestion(key, KEYS, "its keys")
            faults.append(document.fault((key,), f"a study has no such key; {way_out}", nearest=nearest))
    files, settings = document.value.get("files"), document.value.get("set", {})
    searches = document.value.get("searches", [])
    if not isinstance(files, list) or not files or any(not isinstance(file, str) for file in files):
        faults.append(document.fault(("files",), 'lists the experiment files: files = ["quick.toml"]'))
    if not isinstance(searches, list) or any(not isinstance(file, str) for file in searches):
        faults.append(document.fault(("searches",), 'lists files with an [objective]: searches = ["search.toml"]'))
    if not isinstance(settings, Mapping):
        message = f"{said(settings)} is no section; write [set] above dotted keys in quotes with their values"
        faults.append(document.fault(("set",), message))
    if faults:
        raise ExperimentError(faults)
    assert isinstance(files, list) and isinstance(settings, Mapping) and isinstance(searches, list)
    inside = [tuple(place.parent / file for file in listed) for listed in (files, searches)]
    return Study(inside[0], tuple(settings_of(settings)), name, inside[1])
