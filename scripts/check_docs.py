# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Checks the documents: each relative link leads to a file, and its anchor to a heading; each `path` in code type that looks like a file
of the project exists, and each `systole_name` is one of the project's; lines are under 120 characters; docs/index.md lists every page.
docs/environment.md has each environment variable that the sources read, and a row for no SYSTOLE_* that none reads.
Each document, test and proof that the header of an RTL file names exists."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MAX_COLUMNS = 119
# A path from the root to a file with an extension, without placeholders.
PATH = re.compile(r"`((?:cmake|docs|host|models|rtl|scripts|sim|tests|verif)/[\w./-]+\.(?:cc|h|md|py|sh|sv|v|yaml|cmake|f))`")
NAME = re.compile(r"\bsystole_[a-z0-9_]*[a-z0-9]\b(?!\.)")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
# Environment variables: what C++ and Python read is a string of its own, the rest has the syntax of shell, make and CMake.
VARIABLE = {
    **dict.fromkeys((".cc", ".h", ".c", ".py"), re.compile(r"""["'](SYSTOLE_[A-Z0-9_]+)["']""")),
    **dict.fromkeys((".sh", ""), re.compile(r"\$[({]?(SYSTOLE_[A-Z0-9_]+)")),
    **dict.fromkeys((".cmake", ".txt"), re.compile(r"ENV\{(SYSTOLE_[A-Z0-9_]+)\}")),
}
# Those of others: of the tool, the library, the scripts and the build, named on the page wherever it is.
OTHER_VARIABLE = re.compile(r"""(?:\bgetenv\(\s*"|\benviron(?:\.get\(|\.setdefault\(|\[)\s*["']|\bENV\{)([A-Z][A-Z0-9_]*)\b""")
NO_VARIABLES = {"SYSTOLE_MODEL_ROOT_HEADER"}  # a macro that scripts/regress/variant.py looks for in commands
VARIABLE_ROW = re.compile(r"^\| `(SYSTOLE_[A-Z0-9_]+)`", re.M)
NAME_SOURCES = {".sv", ".v", ".py", ".cc", ".h", ".toml", ".yaml", ".cmake"}


def anchors_of(path, known={}):  # pylint: disable=dangerous-default-value
    """The anchors of a page's headings, as GitHub makes them."""
    if path not in known:
        found, in_code = set(), False
        for line in path.read_text().splitlines():
            if line.lstrip().startswith("```"):
                in_code = not in_code
            heading = None if in_code else re.match(r"#+\s+(.*?)\s*#*$", line)
            if heading:
                text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
                anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
                found.add(anchor if anchor not in found else next(f"{anchor}-{n}" for n in range(1, 1000) if f"{anchor}-{n}" not in found))
        known[path] = found
    return known[path]


def names_of(root):
    """Every name with the project's prefix that its sources have."""
    found = set()
    for folder in ("cmake", "fpga", "host", "python", "rtl", "scripts", "sim", "tests", "verif"):
        for path in (root / folder).rglob("*"):
            if path.is_file() and (path.suffix in NAME_SOURCES or path.name == "CMakeLists.txt"):
                found.add(path.stem)
                found.update(re.findall(r"systole_\w+", path.read_text(errors="replace")))
    return found


def problems_of(path, root, names):
    in_code = False
    generated = path.parent.name == "reference"
    changes = path.name == "CHANGELOG.md"  # names what was
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.relative_to(root)}:{number}"
        if len(line) > MAX_COLUMNS and not generated:
            yield f"{where}: {len(line)} characters, more than {MAX_COLUMNS}; scripts/wrap_docs.py wraps paragraphs"
        if line.lstrip().startswith("```"):
            in_code = not in_code
        for name in NAME.findall(line):
            if names and name not in names and not changes and not any(known.startswith(f"{name}_") for known in names):
                yield f"{where}: names {name}, which no source has"
        if in_code:
            continue
        for link, anchor in LINK.findall(line):
            target = path.parent / link if link else path
            if re.match(r"\w+:", link):
                continue
            if not target.exists():
                yield f"{where}: link to {link}, which is not there"
            elif anchor and target.suffix == ".md" and anchor not in anchors_of(target.resolve()):
                yield f"{where}: link to {link}#{anchor}: there is no such heading"
        for name in PATH.findall(line):
            if not (root / name).exists() and not changes:
                yield f"{where}: names {name}, which is not there"


def problems_of_index(root):
    """Pages that the list of all pages leaves out."""
    index = root / "docs/index.md"
    listed = {(index.parent / link).resolve() for link, _ in LINK.findall(index.read_text()) if link} if index.exists() else set()
    for page in sorted((root / "docs").rglob("*.md")):
        if page != index and page.resolve() not in listed:
            yield f"{page.relative_to(root)}: docs/index.md does not list this page"


def variables_of(root):
    """The environment variables that the sources read, each with the first file that does; of tests only those named SYSTOLE_*."""
    found = {}
    folders = (root / name for name in ("cmake", "examples", "firmware", "fpga", "host", "python", "scripts", "sim", "tests", "verif"))
    for path in [root / "Makefile", root / "CMakeLists.txt", *(path for folder in folders for path in sorted(folder.rglob("*")))]:
        if path.suffix in VARIABLE and path.is_file() and path != pathlib.Path(__file__).resolve():
            text, place = path.read_text(errors="replace"), path.relative_to(root).as_posix()
            names = VARIABLE[path.suffix].findall(text) + ([] if place.startswith("tests/") else OTHER_VARIABLE.findall(text))
            for name in names:
                if name not in NO_VARIABLES:
                    found.setdefault(name, place)
    return found


def problems_of_environment(root):
    """Variables that the page of all variables leaves out, or that nothing reads."""
    page = root / "docs/environment.md"
    text = page.read_text() if page.exists() else ""
    listed = VARIABLE_ROW.findall(text)
    read = variables_of(root)
    for name in sorted(read):
        if name not in listed and (name.startswith("SYSTOLE_") or f"`{name}`" not in text):
            yield f"docs/environment.md: no row for {name}, which {read[name]} reads"
    for name in sorted(set(listed) - set(read)):
        yield f"docs/environment.md: {name} is read by no source"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"docs/environment.md: {name} has two rows"


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
    names = names_of(args.root)
    problems = [problem for page in pages for problem in problems_of(page, args.root, names)]
    problems += problems_of_index(args.root)
    problems += problems_of_environment(args.root)
    headers = sorted((args.root / "rtl").rglob("*.sv"))
    problems += [problem for header in headers for problem in problems_of_header(header, args.root)]
    for problem in problems:
        print(f"docs: {problem}", file=sys.stderr)
    print(f"docs: {len(pages)} pages, {len(headers)} RTL headers, {len(problems)} problems")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
