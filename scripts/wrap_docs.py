# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Wraps paragraphs and list items of the Markdown pages whose lines are too long; leaves all else as it is.

Listings, headings and tables stay. --tables makes a table with a row that is too long narrower, or a list if that is not enough.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MAX_COLUMNS = 119
ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])(\s+)(?=\S)")
# What does not break: a short code span or link, or a word, each with what clings to it.
UNIT = re.compile(r"(?:`[^`]{1,50}`|\[[^\]]{1,40}\]\([^)\s]*\)|\S)+?(?=\s|$)")
# A word that would mean something at the beginning of a line.
SPECIAL = re.compile(r"[-+*>#|=]|\d+[.)]$|:?-+:?$|```|~~~")


def pages(root):
    """The pages that are written by hand."""
    found = [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "docs/tutorials").glob("*.md"), *(root / "tests").rglob("*.md")]
    return sorted(path for path in found if path.is_file())


def units(text):
    found = [match[0] for match in UNIT.finditer(text)]
    joined = []
    for unit in found:
        if joined and SPECIAL.match(unit):
            joined[-1] += " " + unit
        else:
            joined.append(unit)
    return joined


def fill(text, first, rest):
    """The text in lines; `first` and `rest` begin the first and the other lines."""
    lines, line = [], first
    for unit in units(text):
        if len(line) + len(unit) + 1 > MAX_COLUMNS and line.strip() and line != first:
            lines.append(line.rstrip())
            line = rest
        line += unit if line in (first, rest) else f" {unit}"
    return [*lines, line.rstrip()]


def wrap_block(lines):
    """A paragraph or list item; wrapped only if it has to be."""
    if all(len(line) <= MAX_COLUMNS for line in lines):
        return lines
    item = ITEM.match(lines[0])
    first = item[0] if item else re.match(r"\s*", lines[0])[0]
    text = " ".join([lines[0][len(first):].strip(), *(line.strip() for line in lines[1:])])
    return fill(text, first, " " * len(first))


def cells(row):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def narrow_table(rows):
    """The table with less blank space, or, of up to five columns, as a list of its rows."""
    if all(len(row) <= MAX_COLUMNS for row in rows):
        return rows
    narrow = [row if len(row) <= MAX_COLUMNS else re.sub(r"\s*(?<!\\)\|\s*", "|", row.strip()) for row in rows]
    if all(len(row) <= MAX_COLUMNS for row in narrow) or len(cells(rows[0])) > 5:
        return narrow
    header, out = cells(rows[0]), []
    for row in rows[2:]:
        first, *middle, last = cells(row)
        notes = [f"{name}: {text}" if name else text for name, text in zip(header[1:-1], middle) if text]
        head = first + (f" ({'; '.join(notes)})" if notes else "")
        out += fill(f"{head}: {last}" if head else last, "- ", "  ")
    return out


def wrap(text, tables=False):
    out, block, table, fence, comment = [], [], [], None, False

    def flush():
        out.extend(wrap_block(block) if block else [])
        out.extend((narrow_table(table) if tables else table) if table else [])
        block.clear()
        table.clear()

    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence or comment or (mark and not block):
            flush()
            out.append(line)
            if mark and not comment:
                fence = None if fence and line.strip().startswith(fence) else fence or mark[1]
            comment = comment and "-->" not in line
            continue
        if line.startswith("|"):
            out.extend(wrap_block(block) if block else [])
            block.clear()
            table.append(line)
            continue
        if table:
            flush()
        listing = line.startswith("    ") and not block
        if not line.strip() or line.startswith("#") or line.lstrip().startswith("<") or listing or mark:
            flush()
            out.append(line)
            comment = line.lstrip().startswith("<!--") and "-->" not in line
            if mark:
                fence = mark[1]
        elif ITEM.match(line):
            flush()
            block.append(line)
        else:
            block.append(line)
    flush()
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="pages (default: all that are written by hand)")
    parser.add_argument("--tables", action="store_true", help="tables too")
    args = parser.parse_args()
    for page in args.pages:
        if not page.is_file():
            parser.error(f"{page}: no such page")
    for page in args.pages or pages(ROOT):
        before = page.read_text()
        after = wrap(before, args.tables)
        if after != before:
            page.write_text(after)
            print(f"wrap_docs: wrote {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
