"""The journal: where Optuna's study lives, as lines that are only ever added.

OUT/study.journal has the format of Optuna's own journal files, so that its tools read it. What belongs together (a
trial with all its values; a result with its numbers) is written in one piece: a search that is killed leaves whole
trials, and goes on exactly as it would have. The output folder is locked by its driver, so that there is no other
writer.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optuna.storages.journal import BaseJournalBackend

from weft.errors import OutputError


class Journal(BaseJournalBackend):
    """Log records of a file, held in memory; what is added inside `whole` reaches the file at its end, at once."""

    def __init__(self, file: Path) -> None:
        """Reads the file. Raises OutputError for one that is no journal."""
        self._file = file
        self._logs: list[dict[str, Any]] = []
        self._written = 0
        self._depth = 0
        text = file.read_bytes() if file.is_file() else b""
        # What a full disk or a power failure cut off never happened.
        self._size = text.rfind(b"\n") + 1
        for number, line in enumerate(text[: self._size].splitlines(), 1):
            try:
                self._logs.append(json.loads(line))
            except ValueError:
                message = f"{file}:{number}: is no record of a search; delete the file: finished runs are kept"
                raise OutputError(message) from None
        self._written = len(self._logs)

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """See BaseJournalBackend."""
        yield from self._logs[log_number_from:]

    def append_logs(self, logs: Iterable[dict[str, Any]]) -> None:
        """See BaseJournalBackend."""
        # As they would come back from the file.
        self._logs += [json.loads(json.dumps(log)) for log in logs]
        if not self._depth:
            self._write()

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What is added inside is written together, or, if the block raises, not at all."""
        self._depth += 1
        before = len(self._logs)
        try:
            yield
        except BaseException:
            del self._logs[before:]
            raise
        finally:
            self._depth -= 1
        if not self._depth:
            self._write()

    def _write(self) -> None:
        lines = [json.dumps(log, separators=(",", ":")) for log in self._logs[self._written :]]
        text = "".join(f"{line}\n" for line in lines).encode()
        if not text:
            return
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.seek(self._size)
            file.truncate()
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(text)
        self._written = len(self._logs)
