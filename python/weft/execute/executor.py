"""What executes jobs: this process, processes on this machine, or a cluster."""

from collections.abc import Callable
from typing import Protocol

from weft.backend.simulation import Progress
from weft.execute.job import Ended, Job

Advance = Callable[[str, Progress], None]
"""Hears how far a run (by its name) has come."""

Stop = Callable[[], int | None]
"""Asked several times a second: the exit status with which to stop, or None."""


class Executor(Protocol):
    """Does jobs and says what became of them. The results of a done job are in its folder before that is said."""

    def has_room(self, job: Job) -> bool:
        """Whether `submit` would be welcome now; always true when nothing is under way."""

    def submit(self, job: Job) -> None:
        """Takes a job."""

    def wait(self, seconds: float) -> list[Ended]:
        """Jobs that have ended, after waiting for the first of them at most about `seconds`.

        An executor may take longer if it asks `stop` meanwhile; it then returns what it has.
        """

    def close(self) -> None:
        """Ends what is under way without results."""
