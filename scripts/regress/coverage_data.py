# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Coverage of a run: bins of docs/spec/coverage.yaml, lines and toggles of Verilator, merged over jobs and runs."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import coverage as verilator  # noqa: E402  (scripts/coverage.py)
from gen import common, coverage as spec_of  # noqa: E402


class Functional:
    """Counts of all bins, by preset."""

    def __init__(self):
        self.spec = common.load(ROOT, spec_of.SOURCE)
        self.names = spec_of.names(self.spec)
        self.version = spec_of.version(self.spec)
        self.counts = {}
        self.other_version = 0  # data that was left out: of other bins

    def add(self, version, preset, hits):
        if not hits:
            return
        if version != self.version or len(hits) != len(self.names):
            self.other_version += 1
            return
        counts = self.counts.setdefault(preset, [0] * len(hits))
        for index, count in enumerate(hits):
            counts[index] += count

    def total(self):
        return [sum(column) for column in zip(*self.counts.values())] if self.counts else [0] * len(self.names)

    def points(self):
        """[{name, doc, covered, bins, holes: [bin], counts: [(bin, count)]}]."""
        total, index, rows = self.total(), 0, []
        for point in spec_of.points(self.spec):
            counts = [(name, total[index + i]) for i, (name, _) in enumerate(point["bins"])]
            index += len(counts)
            rows.append({"name": point["name"], "doc": point["doc"], "bins": len(counts), "covered": sum(c > 0 for _, c in counts),
                         "holes": [name for name, c in counts if c == 0], "counts": counts})
        return rows

    def to_json(self):
        return {"version": self.version, "presets": self.counts}

    def add_json(self, data):
        for preset, hits in data.get("presets", {}).items():
            self.add(data.get("version"), preset, hits)

    def lcov(self):
        """A point is a line of docs/spec/coverage.yaml, a bin a branch of it."""
        path = ROOT / "docs" / "spec" / spec_of.SOURCE
        lines = {}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := re.match(r"\s+(?:- \{)?(?:- )?name: (\w+)", line) or re.match(r"\s+- (?:&\w+)?\{?name: (\w+)", line):
                lines[match[1]] = number  # signals come first, points of the same name after them
        out = ["TN:functional", f"SF:{path}"]
        for point in self.points():
            line = lines[point["name"]]
            for branch, (_, count) in enumerate(point["counts"]):
                out.append(f"BRDA:{line},0,{branch},{count if sum(c for _, c in point['counts']) else '-'}")
            out.append(f"DA:{line},{sum(count for _, count in point['counts'])}")
        points = self.points()
        out += [f"BRF:{sum(p['bins'] for p in points)}", f"BRH:{sum(p['covered'] for p in points)}",
                f"LF:{len(points)}", f"LH:{sum(p['covered'] > 0 for p in points)}", "end_of_record"]
        return "\n".join(out) + "\n"


def code(folder):
    """(points of all .dat files in a folder, {unit: {kind: [covered, all]}})."""
    points = verilator.read_points(sorted(folder.glob("**/*.dat")))
    return points, verilator.summarise(points, lambda source: source.split("/")[1])


def read_info(path):
    """Points of an info file that code_info wrote, to merge runs."""
    points, source = {}, ""
    for line in path.read_text().splitlines() if path.exists() else ():
        key, _, rest = line.partition(":")
        if key == "SF":
            source = pathlib.Path(rest)
            source = source.relative_to(ROOT).as_posix() if source.is_relative_to(ROOT) else ""
        elif key in ("DA", "BRDA") and source:
            number, *_, count = rest.split(",")
            place = rest.rpartition(",")[0]
            points[(source, key, int(number), place)] = 0 if count == "-" else int(count)
    return points


def code_info(points, earlier=None):
    """lcov: lines, and as branches of a line the bits that toggle on it."""
    lines, toggles = {}, {}
    for (source, kind, line, column, name), count in sorted(points.items()):
        if kind == "line":
            key = (source, int(line))
            lines[key] = max(lines.get(key, 0), count)
        else:
            toggles.setdefault((source, int(line)), []).append(count)
    merged = {}
    for (source, line), count in lines.items():
        merged[(source, "DA", line, f"{line}")] = count
    for (source, line), counts in toggles.items():
        for branch, count in enumerate(counts):
            merged[(source, "BRDA", line, f"{line},0,{branch}")] = count
    for key, count in (earlier or {}).items():
        merged[key] = merged.get(key, 0) + count
    out, last = [], None
    for (source, kind, _, place), count in sorted(merged.items()):
        if source != last:
            out += (["end_of_record"] if last else []) + ["TN:code", f"SF:{ROOT / source}"]
            last = source
        out.append(f"{kind}:{place},{count}")
    return "\n".join(out + (["end_of_record"] if last else [])) + "\n"
