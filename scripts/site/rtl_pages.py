# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""A reference page for each RTL module and package: its header comment, parameters, ports, what it instantiates and who uses it.

The sources are uniform (one parameter or port a line, lint sees to the rest), so that the header can be read line by line. A line
that is not understood is an error: no port is left out silently.
"""

import dataclasses
import pathlib
import re

PARAMETER = re.compile(r"parameter\s+(?P<type>.*?)\s*\b(?P<name>\w+)\s*=\s*(?P<default>.*?)\s*,?$")
PORT = re.compile(r"(?P<direction>input|output|inout)\s+(?P<type>.*?)\s*\b(?P<name>\w+)\s*(?P<unpacked>(\[[^\]]*\]\s*)*),?$")
INSTANCE = re.compile(r"^\s*(systole_\w+)\s+(?:#\s*\(|u_\w+|\w+\s*\()", re.M)


class HeaderError(ValueError):
    """A header that the reader does not understand."""


@dataclasses.dataclass
class Row:
    """A parameter (direction is empty, default is set) or a port."""

    name: str
    type: str
    direction: str = ""
    default: str = ""
    doc: str = ""


@dataclasses.dataclass
class Unit:
    """A module or package."""

    path: pathlib.Path
    kind: str
    header: str
    parameters: list
    ports: list
    instances: list

    @property
    def name(self):
        return self.path.stem


def header_comment(lines):
    """The comment that a file begins with, without the licence's lines; indented parts stay as they are."""
    comment = []
    for line in lines:
        if not line.startswith("//"):
            break
        text = line[2:].removeprefix(" ")
        if not text.startswith("SPDX-"):
            comment.append(text)
    return "\n".join(comment).strip("\n")


def split_comment(line):
    code, _, comment = line.partition("//")
    return code.strip(), comment.strip()


def read(path):
    lines = path.read_text().splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*(module|package)\s", line)), None)
    if start is None:
        raise HeaderError(f"{path}: neither module nor package")
    kind = lines[start].split()[0]
    unit = Unit(path, kind, header_comment(lines), [], [], [])
    if kind == "package":
        return unit
    pending = []  # whole-line comments: of a group of ports, told at its first
    for number, line in enumerate(lines[start:], start + 1):
        code, comment = split_comment(line)
        if not code:
            pending = [*pending, comment] if comment and not comment.startswith("verilator") else ([] if not comment else pending)
            continue
        doc = comment if comment else " ".join(pending)
        pending = []
        if match := PARAMETER.match(code):
            unit.parameters.append(Row(match["name"], match["type"], default=match["default"], doc=doc))
        elif match := PORT.match(code):
            unpacked = f" {match['unpacked'].strip()}" if match["unpacked"] else ""
            unit.ports.append(Row(match["name"], match["type"] + unpacked, match["direction"], doc=doc))
        elif code in (")", ") (", ") ();", "(", "#(", ");") or re.match(r"(module|import|localparam)\s|#\(", code):
            pass
        elif not code.startswith("`"):
            raise HeaderError(f"{path}:{number}: not understood in a list of ports: {code}")
        if code.endswith(");"):
            break
    unit.instances = sorted(set(INSTANCE.findall("\n".join(lines[start + 1:]))))
    return unit


def cell(text):
    """Text for a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def code_cell(text):
    return f"`{cell(re.sub(' +', ' ', text))}`" if text else ""


def page(unit, units, used_by, source):
    """The page in Markdown; source is the path of the listing."""
    def links(names):
        return ", ".join(f"[{name}]({name}.md)" if name in units else f"`{name}`" for name in names)

    out = [f"# {unit.name}\n", f"{unit.kind.capitalize()} in [`{source}`](../source/{source}.md).\n"]
    if unit.header:
        out.append(f"```text\n{unit.header}\n```\n")
    if unit.parameters:
        out.append("## Parameters\n\n| name | type | default | |\n|---|---|---|---|")
        out += [f"| `{row.name}` | {code_cell(row.type)} | {code_cell(row.default)} | {cell(row.doc)} |" for row in unit.parameters]
        out.append("")
    if unit.ports:
        out.append("## Ports\n\n| name | direction | type | |\n|---|---|---|---|")
        out += [f"| `{row.name}` | {row.direction} | {code_cell(row.type)} | {cell(row.doc)} |" for row in unit.ports]
        out.append("")
    if unit.instances:
        out.append(f"Instantiates: {links(unit.instances)}.\n")
    if used_by:
        out.append(f"Instantiated by: {links(used_by)}.\n")
    return "\n".join(out)


def pages(root):
    """{name of the module: text of its page}, and the text of the index."""
    found = {path.stem: read(path) for path in sorted((root / "rtl").rglob("*.sv"))}
    texts = {name: page(unit, found, sorted(n for n, u in found.items() if name in u.instances), unit.path.relative_to(root).as_posix())
             for name, unit in found.items()}
    index = ["# RTL modules\n", "Each module and package of the design, from the comments and ports of its source.\n"]
    for folder in sorted({unit.path.parent for unit in found.values()}):
        index.append(f"## {folder.relative_to(root).as_posix()}\n\n| | purpose |\n|---|---|")
        for name, unit in found.items():
            if unit.path.parent == folder:
                purpose = re.split(r"(?<=[.:])\s", " ".join(unit.header.split()), maxsplit=1)[0].rstrip(":")
                index.append(f"| [{name}]({name}.md) | {cell(purpose)} |")
        index.append("")
    index.append("```{toctree}\n:hidden:\n\n" + "\n".join(sorted(found)) + "\n```\n")
    return texts, "\n".join(index)
