"""The page of the Python calls: what `weft.__all__` names, from signatures and docstrings."""

import inspect
import re
from typing import Any

import weft


def python() -> str:
    """Every function and class with its parameters and what it says of itself; errors last."""
    known = {name: getattr(weft, name) for name in weft.__all__ if name != "__version__"}
    errors = [name for name, thing in known.items() if inspect.isclass(thing) and issubclass(thing, BaseException)]
    functions = [name for name, thing in known.items() if inspect.isfunction(thing)]
    classes = [name for name in known if name not in (*errors, *functions)]
    lines = ["# Python", "", "Everything that the command line does is a call: `import weft`."]
    for name in functions:
        lines += ["", f"## weft.{name}", "", f"    {_call(name, known[name])}", "", _said(known[name])]
    for name in classes:
        lines += ["", f"## weft.{name}", "", _said(known[name])]
        for member, thing in vars(known[name]).items():
            inner = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
            if member.startswith("_") or not inspect.isfunction(inner) or not inspect.getdoc(inner):
                continue
            call = f".{member}" if inner is not thing else f".{_call(member, inner)}"
            lines += ["", f"`{call}`: {_said(inner)}"]
    lines += ["", "## Errors"]
    for name in errors:
        bases = known[name].__bases__[0].__name__
        lines += ["", f"`weft.{name}` ({bases}): {_said(known[name])}"]
    return "\n".join(lines) + "\n"


class _Bare(str):
    """A text without quotes, also where its representation is asked for."""

    __repr__ = str.__str__


def _call(name: str, function: Any) -> str:
    """Name and parameters; types without their modules."""
    signature = inspect.signature(function)
    own = [
        each.replace(annotation=_bare(each.annotation), default=_default(each.default))
        for each in signature.parameters.values()
        if each.name != "self"
    ]
    return f"{name}{signature.replace(parameters=own, return_annotation=_bare(signature.return_annotation))}"


def _default(value: Any) -> Any:
    is_function = callable(value) and value is not inspect.Parameter.empty
    return _Bare("...") if is_function else value


def _bare(annotation: Any) -> Any:
    if annotation is inspect.Signature.empty:
        return annotation
    said = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Bare(re.sub(r"\b(?!pl\.)(?:\w+\.)+(?=[A-Z])", "", said))


def _said(thing: Any) -> str:
    """A docstring without its examples."""
    return (inspect.getdoc(thing) or "").partition("\n>>>")[0].rstrip()
