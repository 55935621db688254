# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Doxygen's view of a header: the project's plain `//` comments become documentation. Usage: doxygen_filter.py HEADER

The comment that begins a file documents the file; one on lines of its own what follows it; one behind code what stands before it.
Lines indented by two blanks or more are listings.
"""

import re
import sys

COMMENT = re.compile(r"^(\s*)//(?!/)\s?(.*)$")
TRAILING = re.compile(r"^(.*\S)\s+//(?!/)\s?(.*)$")


def escape(text):
    return re.sub(r"([\\@<>#%&\"])", r"\\\1", text)


def blocks(lines):
    """Comment lines as Doxygen's, listings marked."""
    out, listing = [], False
    for line in lines:
        indented = line.startswith("  ")
        if indented != listing and line.strip():
            out.append("@verbatim" if indented else "@endverbatim")
            listing = indented
        out.append(line if listing else escape(line))
    return out + (["@endverbatim"] if listing else [])


def translate(text):
    lines = text.splitlines()
    out, comment, indent = [], [], ""
    first = True

    def flush():
        nonlocal comment, first
        if comment:
            prefix = ["@file"] if first else []
            out.extend(f"{indent}/// {line}".rstrip() for line in [*prefix, *blocks(comment)])
            first = False
        comment = []

    trailing_column = None  # a comment behind code goes on below, in the same column
    for line in lines:
        match = COMMENT.match(line)
        if match and match[2].startswith("SPDX-"):
            out.append("")
            continue
        if match and trailing_column is not None and len(match[1]) >= trailing_column > 4:
            out.append(f"{match[1]}///< {escape(match[2])}")
            continue
        trailing_column = None
        if match and not match[2].startswith(("NOLINT", "clang-format")):
            indent = match[1]
            comment.append(match[2])
            continue
        flush()
        behind = TRAILING.match(line)
        if behind and '"' not in line and not line.lstrip().startswith("#"):
            trailing_column = line.rindex("//")
            out.append(f"{behind[1]}  ///< {escape(behind[2])}")
        else:
            out.append(line)
    flush()
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        sys.stdout.write(translate(source.read()))
