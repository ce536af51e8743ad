"""Published numbers: what a document printed, joined with what the runs of a sweep give, and both beside each other.

    [[published]]
    file = "published.csv"
    source = "Alba, Gomez, Quinto, 2018"

docs/published-numbers.md has the format of the file. `document` reads it, `beside` joins it with the results, `shown`
makes tables of that; the figure `published` draws it, and bars and lines mark it.
"""

from weft.published.document import Row, Unreadable, read

__all__ = ["Row", "Unreadable", "read"]
