"""The build: what must be the same on every node of a cluster for runs to be the same."""

import functools
import hashlib
from pathlib import Path

import weft


@functools.cache
def build() -> str:
    """Version, commit of the core, and a hash of the Python sources beside it.

    >>> build() == build()
    True
    """
    from weft import _core

    digest = hashlib.blake2b(digest_size=4)
    root = Path(weft.__file__).parent
    for file in sorted(root.rglob("*.py")):
        digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return f"{_core.version()} (core {_core.commit()}, sources {digest.hexdigest()})"
