# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The targets of the Makefile, as `make help` lists them -> the part of docs/commands.md between its marks `make`.

scripts/commands.py writes the part with the options of the command-line program, which has to be built for that.
"""

import pathlib
import re
import textwrap

PAGE = "docs/commands.md"
WIDTH = 119
INDENT = 20  # of what a target does
TARGET = re.compile(r"^([a-z-]+):.*?## (.*)$", re.M)


def fill(first: str, text: str, indent: int) -> str:
    """A term and what it means, in a column of its own."""
    lines = textwrap.wrap(text, WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    if len(first) + 2 > indent:
        return "\n".join([first, *(" " * indent + line for line in lines)])
    return "\n".join([f"{first:<{indent}}{lines[0] if lines else ''}".rstrip(), *(" " * indent + line for line in lines[1:])])


def replace(page: str, part: str, text: str) -> str:
    """The page with another text between the marks of a part."""
    marks = re.compile(rf"(<!-- generated: {part} -->\n).*?(<!-- end: {part} -->\n)", re.S)
    if len(marks.findall(page)) != 1:
        raise ValueError(f"{PAGE}: one pair of marks '<!-- generated: {part} -->' and '<!-- end: {part} -->' is needed")
    return marks.sub(lambda match: f"{match[1]}{text}{match[2]}", page)


def targets(makefile: str) -> str:
    listed = TARGET.findall(makefile)
    if not listed:
        raise ValueError("Makefile: no target has a '##' with what it does")
    return "```text\n" + "\n".join(fill(f"make {name}", text, INDENT) for name, text in listed) + "\n```\n"


def generate(root: pathlib.Path) -> dict:
    makefile = root / "Makefile"
    if not makefile.exists():  # a copy of parts of the project, for a test
        return {}
    return {PAGE: replace((root / PAGE).read_text(), "make", targets(makefile.read_text()))}
