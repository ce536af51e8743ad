"""Words for numbers of things."""


def plural(noun: str, number: int) -> str:
    """The noun for so many.

    >>> plural("run", 1), plural("run", 2), plural("switch", 3)
    ('run', 'runs', 'switches')
    """
    return noun if number == 1 else f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def count(number: int, noun: str) -> str:
    """So many of them.

    >>> count(1, "run"), count(0, "switch")
    ('1 run', '0 switches')
    """
    return f"{number} {plural(noun, number)}"
