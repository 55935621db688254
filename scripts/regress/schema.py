# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Many mutants in one source, of which a number chooses one when the program runs: a unit is built once for all of them.

An expression e with the mutant m of number 17 becomes ((number == 17) ? (m) : (e)), a statement that mutant 18 leaves out
`begin if (number != 18) e end`. Both branches have the width and sign of e, so that number 0 is the RTL as it was. What a mutant needs
beside it, a register of its own, is there for all numbers. Lines stay where they are.
"""

import dataclasses
import re
import shutil

import variant
from designs import NUMBER

VARIABLE = "SYSTOLE_MUTANT"  # of the environment: the number; none or 0: the RTL as it is
PACKAGE = "systole_mutant_pkg"
SOURCE = f"""// The number of the mutant that runs (scripts/regress/schema.py).
package {PACKAGE};
  int number = $c32("(std::getenv(\\"{VARIABLE}\\") ? std::atoi(std::getenv(\\"{VARIABLE}\\")) : 0)");
endpackage
"""
FLAGS = "-Wno-lint -Wno-fatal"  # a branch that is never taken may be what lint warns of
ERROR = re.compile(r"%Error[^:]*: (\S+?):(\d+):\d+:")


@dataclasses.dataclass
class _Place:
    """A range of the source, its mutants as (number, text), and the ranges in it."""

    first: int
    last: int
    statement: bool
    mutants: list
    inner: list


def copy_sources(root, work):
    """What is Verilated, below an empty folder. Ibex, which the sources name by its place, is nobody's to change."""
    for folder in ("rtl", "fpga/common"):
        shutil.copytree(root / folder, work / folder)
    if (root / ".ibex").exists():
        (work / ".ibex").symlink_to(root / ".ibex")


def _nest(places):
    """The places that are in no other, with the others in them."""
    outer, open_places = [], []
    for place in sorted(places, key=lambda p: (p.first, -p.last)):
        while open_places and open_places[-1].last <= place.first:
            open_places.pop()
        if open_places and place.last > open_places[-1].last:
            raise ValueError(f"bytes {place.first} to {place.last} are half in what begins at {open_places[-1].first}")
        (open_places[-1].inner if open_places else outer).append(place)
        open_places.append(place)
    return outer


def _one_line(text):
    """Without comments and ends of lines: the lines behind stay where they are."""
    return re.sub(r"\s*\n\s*", " ", re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL))


def guarded(data, numbered):
    """The source with all of its mutants, of which the numbers are given: {number: mutant}."""
    places, beside = {}, []
    for number, mutant in numbered.items():
        if mutant.beside:
            beside.append((mutant.at, _one_line(mutant.beside.replace(NUMBER, str(number)))))
        place = places.setdefault((mutant.first, mutant.last), _Place(mutant.first, mutant.last, mutant.statement, [], []))
        place.mutants.append((number, _one_line(mutant.new.replace(NUMBER, str(number)))))
    beside.sort(key=lambda pair: pair[0])

    def source(first, last):
        """Of the file, with the items that come from `first` to before `last`."""
        parts, begin = [], first
        for at, text in beside:
            if first <= at < last:
                parts += [data[begin:at].decode(), text]
                begin = at
        return "".join(parts) + data[begin:last].decode()

    def render(first, last, inner):
        parts, at = [], first
        for place in inner:
            parts.append(source(at, place.first))
            body = render(place.first, place.last, place.inner)
            for number, text in place.mutants:
                chosen = f"{PACKAGE}::number == {number}"
                if place.statement:
                    body = f"begin if ({chosen}) begin {text} end else begin {body} end end"
                else:
                    body = f"(({chosen}) ? ({text}) : ({body}))"
            parts.append(body)
            at = place.last
        parts.append(source(at, last))
        return "".join(parts)

    return render(0, len(data), _nest(places.values()))


def _named_by(error, numbered, root):
    """Numbers of the mutants on the lines that the tool complains about."""
    lines = {(path, int(line)) for path, line in ERROR.findall(str(error))}
    found = set()
    for number, mutant in numbered.items():
        data = (root / mutant.file).read_bytes()
        begin, end = data[:mutant.first].count(b"\n") + 1, data[:mutant.last].count(b"\n") + 1
        beside = data[:mutant.at].count(b"\n") + 1 if mutant.beside else begin
        if any(path.endswith("/" + mutant.file) and (begin <= line <= end or line == beside) for path, line in lines):
            found.add(number)
    return found


class Schema:
    """A copy of the RTL with mutants, of which programs are built."""

    def __init__(self, folder, root, mutants, work):
        """folder: of the build; root: of the project; mutants: {number: mutant}; work: an empty folder."""
        self.folder, self.root, self.work = folder, root, work
        self.numbered, self.refused, self.done = dict(mutants), {}, set()
        copy_sources(root, work)
        (work / "rtl" / f"{PACKAGE}.sv").write_text(SOURCE)
        files = work / "rtl" / "systole.f"
        files.write_text(f"{PACKAGE}.sv\n" + files.read_text())
        self._write()

    def _write(self):
        for file in {mutant.file for mutant in (self.numbered | self.refused).values()}:
            here = {number: mutant for number, mutant in self.numbered.items() if mutant.file == file}
            (self.work / file).write_text(guarded((self.root / file).read_bytes(), here))

    def build(self, run):
        """The path of the program of a run, {program, models}. Mutants that Verilator does not take are left out, and in `refused`.
        VariantError if it does not build without those either."""
        while True:
            try:
                return variant.build(self.folder, run["program"], self.work, run["models"], FLAGS, self.done, hasty=True)
            except variant.VariantError as error:
                named = _named_by(error, self.numbered, self.root)
                if not named:
                    raise
            self.refused |= {number: self.numbered.pop(number) for number in named}
            self.done.clear()
            self._write()
