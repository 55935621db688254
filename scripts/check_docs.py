# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Checks the documents: each relative link leads to a file, each `path` in code type that looks like a file of the project exists, and
so does each document, test and proof that the header of an RTL file names."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# A path from the root to a file with an extension, without placeholders.
PATH = re.compile(r"`((?:cmake|docs|host|models|rtl|scripts|sim|tests|verif)/[\w./-]+\.(?:cc|h|md|py|sh|sv|v|yaml|cmake|f))`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def problems_of(path, root):
    in_code = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code:
            continue
        where = f"{path.relative_to(root)}:{number}"
        for link in LINK.findall(line):
            if not re.match(r"\w+:", link) and not (path.parent / link).exists():
                yield f"{where}: link to {link}, which is not there"
        for name in PATH.findall(line):
            if not (root / name).exists():
                yield f"{where}: names {name}, which is not there"


def problems_of_header(path, root):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("//"):
            break
        for name in re.findall(r"\b(?:docs|tests|verif)/[\w./-]*\w", line):
            if not (root / name).exists():
                yield f"{path.relative_to(root)}:{number}: names {name}, which is not there"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    args = parser.parse_args()
    pages = sorted([*args.root.glob("*.md"), *(args.root / "docs").rglob("*.md"), *(args.root / "tests").rglob("*.md")])
    problems = [problem for page in pages for problem in problems_of(page, args.root)]
    headers = sorted((args.root / "rtl").rglob("*.sv"))
    problems += [problem for header in headers for problem in problems_of_header(header, args.root)]
    for problem in problems:
        print(f"docs: {problem}", file=sys.stderr)
    print(f"docs: {len(pages)} pages, {len(headers)} RTL headers, {len(problems)} problems")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
