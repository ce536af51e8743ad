"""A worker of the local pool: `python -m weft.execute.worker OUT` reads jobs, a line each, and does one after another.

It answers with lines: `progress NAME NUMBERS` several times a second, and `ended JSON`. It ends when its input ends,
and dies with the process that started it: a sweep that was killed leaves nobody behind who still writes.
"""

import os
import signal
import sys
from dataclasses import astuple
from pathlib import Path

from weft.backend.simulation import Progress
from weft.execute.folder import Folder
from weft.execute.job import Job
from weft.execute.local import do_into

PR_SET_PDEATHSIG = 1


def main(directory: str) -> None:
    """Does the jobs of standard input until it ends."""
    parent = os.getppid()
    _die_with_parent()
    # Ctrl-C reaches every process of the terminal; the driver decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # What anything else prints does not get into the answers.
    folder = Folder(Path(directory))
    for line in sys.stdin:
        job = Job.read(line)

        def watch(progress: Progress, name: str = job.name) -> bool:
            numbers = " ".join("-" if number is None else str(number) for number in astuple(progress))
            answers.write(f"progress {name} {numbers}\n")
            return os.getppid() == parent

        ended = do_into(job, folder, watch)
        if ended is None:
            return
        answers.write(f"ended {ended.text()}\n")


def _die_with_parent() -> None:
    """Asks Linux for SIGKILL when the parent ends; elsewhere the next progress notices."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except BrokenPipeError:
        os._exit(1)
