"""Files that are there whole or not at all."""

from contextlib import suppress
from pathlib import Path


def put(path: Path, content: bytes) -> Path:
    """Writes a file beside its place and renames it, so that nobody ever reads half of it; returns its path.

    Raises OSError, and then leaves nothing beside.
    """
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise
    return path
