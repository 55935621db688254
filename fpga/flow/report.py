# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Tables on the terminal, and the reports of build/reports."""

import json
import os


def table(title, rows):
    """rows: a list of objects with the same keys."""
    if not rows:
        return
    columns = list(rows[0])
    cells = [[column.replace("_", " ") for column in columns]] + [["" if row[c] is None else str(row[c]) for c in columns] for row in rows]
    width = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    left = [isinstance(rows[0][c], str) for c in columns]
    print(f"\n{title}")
    for line in cells:
        print("  " + "  ".join(text.ljust(w) if to_left else text.rjust(w) for text, w, to_left in zip(line, width, left)).rstrip())


def write(build, name, report):
    """Replaces the report whole: whoever reads it sees the last one or this one."""
    path = build / "reports" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{name}.{os.getpid()}")
    try:
        new.write_text(json.dumps(report, indent=1) + "\n")
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    return path
