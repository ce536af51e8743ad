"""`python -m weft.cli`."""

from weft.cli import main

main()
