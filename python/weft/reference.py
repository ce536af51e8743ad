"""The reference in docs/: one page per kind, made from what the code says of itself.

`python -m weft.reference docs/reference` writes it (`make docs`); a test fails when the pages are stale.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from weft.experiment.values import expected
from weft.kinds import RECORD, Kind, catalogue
from weft.metric import METRICS
from weft.report.figure import FIGURES
from weft.terminal import default_of, range_of


def page(kind: Kind) -> str:
    """The page of a kind: what it is, where it comes from, how it is written, its parameters.

    >>> from weft.kinds import catalogue
    >>> page(catalogue()["queue"]["drop_tail"]).splitlines()[0]
    '# queue: drop_tail'
    """
    lines = [f"# {kind.room}: {kind.name}", "", kind.doc, "", "## Source", "", kind.source or "weft's own.", ""]
    lines += ["## In an experiment file", "", "```toml", *_example(kind), "```", "", "## Parameters", ""]
    if kind.parameters:
        lines += ["| key | is | default | range | meaning |", "| --- | --- | --- | --- | --- |"]
        for parameter in kind.parameters.values():
            default = "must be given" if parameter.required else "none" if parameter.optional else default_of(parameter)
            cells = (
                parameter.name,
                expected(parameter.value),
                default,
                range_of(parameter),
                parameter.doc.replace("\n", " "),
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    else:
        lines.append("None.")
    if kind.profiles:
        lines += ["", "## Profiles", ""]
        for name, values in kind.profiles.items():
            said = ", ".join(values) or "the defaults above"
            lines.append(f"- `{name}`: {'sets ' if values else ''}{said}")
    return "\n".join(lines) + "\n"


def _example(kind: Kind) -> Iterator[str]:
    if kind.room == RECORD:
        yield f"# a table inside other sections: {kind.name} = {{ key = value }}"
        keys = [p for p in kind.parameters.values() if not p.optional and not p.required]
        yield f"{kind.name} = {{ " + ", ".join(f"{p.name} = {default_of(p)}" for p in keys[:3]) + " }"
        return
    if kind.room == "flow_size":
        yield f'size = {{ kind = "{kind.name}" }} # in a [[workload]] that takes a distribution'
        return
    if kind.room == "section":
        if kind.name != "experiment":
            yield f"[[{kind.name}]]" if kind.name == "report" else f"[{kind.name}]"
    else:
        yield f"[[{kind.room}]]" if kind.room == "workload" else f"[{kind.room}]"
        yield f'kind = "{kind.name}"'
    for parameter in kind.parameters.values():
        if (
            not parameter.required
            and not parameter.optional
            and parameter.value["type"] not in ("table", "list", "room")
        ):
            yield f"{parameter.name} = {default_of(parameter)}"


def pages() -> dict[str, str]:
    """All pages by their path below docs/reference."""
    out, index = {}, ["# Reference", "", "Made from the code's own comments by `make docs`.", ""]
    for room, kinds in catalogue().items():
        index += [f"## {room}", "", "| kind | |", "| --- | --- |"]
        for kind in kinds.values():
            out[f"{room}/{kind.name}.md"] = page(kind)
            index.append(f"| [{kind.name}]({room}/{kind.name}.md) | {kind.summary} |")
        index.append("")
    index += ["## Metrics", "", "| metric | unit | of each | better | source |", "| --- | --- | --- | --- | --- |"]
    index += [f"| {m.name} | {m.unit or '1'} | {m.entity} | {m.better} | {m.source} |" for m in METRICS.values()]
    index += ["", "## Figures", "", "| figure | draws | needs | takes |", "| --- | --- | --- | --- |"]
    index += [f"| {f.name} | {f.doc} | {', '.join(f.needs)} | {', '.join(f.takes)} |" for f in FIGURES.values()]
    out["README.md"] = "\n".join(index) + "\n"
    return out


def main() -> None:
    """Write the pages into the folder that is named; delete those of kinds that are gone."""
    folder = Path(sys.argv[1])
    made = pages()
    for old in folder.rglob("*.md"):
        if old.relative_to(folder).as_posix() not in made:
            old.unlink()
    for path, text in made.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    print(f"{len(made)} pages in {folder}")


if __name__ == "__main__":
    main()
