"""`python -m weft.reference FOLDER`: writes the pages."""

import sys
from pathlib import Path

from weft.reference import pages


def main() -> None:
    """Write the pages into the folder that is named; delete those of kinds that are gone."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m weft.reference FOLDER")
    folder = Path(sys.argv[1])
    made = pages()
    for old in folder.rglob("*.md"):
        if old.relative_to(folder).as_posix() not in made:
            old.unlink()
    for path, text in made.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    print(f"{len(made)} pages in {folder}")


if __name__ == "__main__":
    main()
