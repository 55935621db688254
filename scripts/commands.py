# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes the options of the command-line program into docs/commands.md: what each `systole COMMAND --help` prints, wrapped.

--check writes nothing and fails when the page says something else than the program. The part about make is scripts/gen/commands.py's.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import textwrap

from gen import commands

ROOT = pathlib.Path(__file__).resolve().parents[1]
INDENT = 30  # of CLI11's descriptions


def of_all_releases(text):
    """A help text as CLI11 2.3 prints it: releases from 2.4 on write a default as ` [x]`, not as `=x`."""
    def left_of(option):
        return re.sub(r"(?<=[A-Z}]) \[([^\]]*)\] ?", r"=\1", option, count=1).rstrip()

    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not re.match(r"  [-\w]", line) or left_of(line) == line.rstrip():
            continue
        if not (i + 1 < len(lines) and lines[i + 1].startswith(" " * INDENT)):  # the description is not below
            lines[i] = left_of(line[:INDENT]).ljust(INDENT) + line[INDENT:]
        elif len(left_of(line)) < INDENT:
            lines[i], lines[i + 1] = left_of(line).ljust(INDENT) + lines[i + 1].strip(), None
        else:
            lines[i] = left_of(line)
    return "\n".join(line.rstrip() for line in lines if line is not None) + "\n"


def help_of(tool, *words):
    return of_all_releases(subprocess.run([tool, *words, "--help"], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout)


def subcommands(text):
    """The names that a help text lists."""
    listed = text.partition("\nSubcommands:\n")[2]
    return re.findall(r"^  (\w+)", listed, re.M)


def wrapped(text):
    """A help text in lines that the page can hold."""
    lines, out = text.rstrip().splitlines(), []
    for line in lines:
        if len(line) <= commands.WIDTH:
            out.append(line)
        elif line.startswith(" "):
            out += commands.fill(line[:INDENT].rstrip(), line[INDENT:], INDENT).splitlines()
        else:
            out += textwrap.wrap(line, commands.WIDTH)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out))


def page_of(tool, words=(), level=3):
    """The sections of all subcommands below `words`, in the program's order."""
    out = ""
    for name in subcommands(help_of(tool, *words)):
        text = help_of(tool, *words, name)
        out += f"{'#' * level} systole {' '.join([*words, name])}\n\n```text\n{wrapped(text)}\n```\n\n"
        out += page_of(tool, (*words, name), level)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--tool", type=pathlib.Path, help="the program (default: BUILD/bin/systole)")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / commands.PAGE, help="the page to compare or to write")
    parser.add_argument("--check", action="store_true", help="fail when the page is not fresh, write nothing")
    args = parser.parse_args()
    tool = (args.tool or args.build / "bin/systole").resolve()
    try:
        before = args.page.read_text()
        after = commands.replace(before, "systole", page_of(tool))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"commands: {error}", file=sys.stderr)
        return 1
    if before == after:
        print("commands: the page is fresh")
        return 0
    if args.check:
        moved = next((i for i, (a, b) in enumerate(zip(before.splitlines(), after.splitlines())) if a != b), 0)
        print(f"commands: {args.page}:{moved + 1}: stale: {tool} says {after.splitlines()[moved]!r}; run scripts/python scripts/commands.py",
              file=sys.stderr)
        return 1
    args.page.write_text(after)
    print(f"commands: wrote {args.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
