# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs a unit's test bench on mutants of its RTL. A mutant is (file below rtl/, text that occurs once in it, what takes its place); the
bench must fail on each, and pass on the unchanged RTL. A run that ended so is kept (scripts/cache.py) and repeated only when something that
it read has changed: RTL, bench, cases, tools.

--sample takes one mutant, which a test or an assertion must see by name; the unchanged unit, a build of its own, is left to the unit's own tests."""

import argparse
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import cache  # noqa: E402

NO_NAME = "exit code"  # of what neither a test nor an assertion says


@dataclasses.dataclass(frozen=True)
class Bench:
    """What is verilated and run. source: a file of the project, the changed one if it lies in rtl/. tests: GoogleTest filter."""

    top: str
    prefix: str
    source: str
    parameters: tuple = ()
    tests: str = "*"


def run(command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def checked(command, folder):
    result = run(command, cwd=folder, env=os.environ | {"CCACHE_NOHASHDIR": "1", "CCACHE_NODIRECT": "1"})
    if result.returncode != 0:
        raise RuntimeError(result.stdout)


def build(args, bench, cases, work):
    """Verilates work/rtl and links it with the library of test cases; the program. Names are relative, so that the compiler's cache knows a
    mutant again."""
    source = bench.source if bench.source.startswith("rtl/") else ROOT / bench.source
    checked([args.verilator, "--cc", "--assert", "-O3", "--unroll-count", "16", "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal",
             "-Wno-lint", "--top-module", bench.top, "--prefix", bench.prefix, *bench.parameters, "--Mdir", "model",
             "-y", ROOT / "verif" / "views", "-F", "rtl/systole.f", source], work)
    # One file: most of the time would go into the headers of each.
    (work / "whole.cpp").write_text("".join(f'#include "model/{path.name}"\n' for path in sorted((work / "model").glob("*.cpp"))))
    ccache = shutil.which("ccache")
    checked([*([ccache] if ccache else []), args.compiler, "-std=c++17", "-O1", "-w", "-faligned-new", *[f"-I{path}" for path in args.include],
             "-Imodel", "-I.", "-c", "whole.cpp", "-o", "whole.o"], work)
    absl = sorted(args.absl.parent.glob(f"libabsl_*{args.absl.suffix}")) if args.absl else []
    checked([args.compiler, "whole.o", "-Wl,--whole-archive", cases, "-Wl,--no-whole-archive", "-Wl,--start-group", *args.libraries, *absl,
             "-Wl,--end-group", "-lgtest_main", "-lgtest", "-lz", "-lpthread", "-latomic", "-o", "bench"], work)
    return work / "bench"


def failure(args, bench, cases, mutant):
    """The first failing test with this mutant, or None; a mutant that never ends counts as seen."""
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        shutil.copytree(ROOT / "rtl", work / "rtl")
        if mutant:
            file, old, new = mutant
            path = work / "rtl" / file
            text = path.read_text()
            if text.count(old) != 1:
                raise RuntimeError(f"{file}: {old!r} occurs {text.count(old)} times, not once")
            path.write_text(text.replace(old, new))
        program = build(args, bench, cases, work)
        try:
            result = run([program, f"--gtest_filter={bench.tests}", "--gtest_fail_fast", "--gtest_brief=1"], timeout=300,
                         env=os.environ | {"SYSTOLE_LONG": "1"})
        except subprocess.TimeoutExpired:
            return f"{NO_NAME}: no end"
        failed = [line.split("]")[1].split(",")[0].strip() for line in result.stdout.splitlines() if line.startswith("[  FAILED  ]")]
        failed += re.findall(r"Assertion failed in (\S+?):? ", result.stdout)
        return None if result.returncode == 0 else (failed or [f"{NO_NAME} {result.returncode}"])[0]


class Verdicts:
    """What the benches said of mutants, by all that a run reads. As expected is: seen, and None of the unchanged unit."""

    def __init__(self, args):
        self.args = args
        self.tools = [cache.version(args.verilator, "--version"), cache.version(args.compiler, "--version"), pathlib.Path(__file__).read_text(),
                      cache.sources(ROOT / "verif" / "views", "*")]
        self.libraries = [hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in [*args.cases, *args.libraries]]
        self.uses = cache.uses(ROOT / "rtl")

    def entry(self, bench, cases, mutant):
        source = ROOT / bench.source
        names = {source.stem} | set(re.findall(r"\bsystole_\w+", source.read_text()))
        texts = sorted({text for name in names for text in self.uses.get(name, [])})
        library = self.libraries[self.args.cases.index(cases)]
        return cache.Entry("mutant", *self.tools, *self.libraries, library, bench, source.read_text(), *texts, mutant)

    def failure(self, bench, cases, mutant):
        entry = self.entry(bench, cases, mutant)
        with tempfile.TemporaryDirectory() as name:
            kept = pathlib.Path(name)
            if entry.restore(kept):
                return (kept / "seen").read_text() or None
            seen = failure(self.args, bench, cases, mutant)
            if (seen is not None) == (mutant is not None):
                (kept / "seen").write_text(seen or "")
                entry.store(kept, ["seen"])
            return seen


def main(description, mutants, benches, bench_of=lambda mutant: 0):
    """benches: a list; bench_of(mutant): the number of the one that must see it. The exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--verilator", default="verilator")
    parser.add_argument("--compiler", default="clang++")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--cases", action="append", required=True, help="library of test cases; once for each bench")
    parser.add_argument("--absl", type=pathlib.Path, help="one of Abseil's libraries; the others are beside it")
    parser.add_argument("--only", type=int, action="append", help="numbers of mutants")
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant")
    parser.add_argument("--sample", type=int, help="number of the only mutant, without the unchanged unit")
    parser.add_argument("libraries", nargs="*")
    args = parser.parse_args()
    # Also those that this run leaves out: the RTL moves on.
    for file, old, _ in (mutant[:3] for mutant in mutants):
        times = (ROOT / "rtl" / file).read_text().count(old)
        if times != 1:
            print(f"{file}: {old!r} occurs {times} times, not once")
            return 1
    if len(args.cases) != len(benches):
        parser.error(f"--cases is needed {len(benches)} times")
    verdicts = Verdicts(args)
    if args.sample is not None:
        mutant = mutants[args.sample]
        seen = verdicts.failure(benches[bench_of(mutant)], args.cases[bench_of(mutant)], mutant)
        print(f"{mutant[0]}: {mutant[1]!r} -> {mutant[2]!r}: {seen or 'NOT SEEN'}")
        return 0 if seen and not seen.startswith(NO_NAME) else 1
    for bench, cases in zip(benches, args.cases):
        seen = verdicts.failure(bench, cases, None)
        if seen:
            print(f"{bench.top}: the unchanged unit fails: {seen}")
            return 1
    missed = 0
    for number, mutant in enumerate(mutants):
        if number % args.every or (args.only and number not in args.only):
            continue
        bench = bench_of(mutant)
        seen = verdicts.failure(benches[bench], args.cases[bench], mutant)
        missed += seen is None
        print(f"{number:3} {pathlib.Path(mutant[0]).name:26} {mutant[1].strip().splitlines()[0][:70]:70} {seen or 'NOT SEEN'}", flush=True)
    print(f"{missed} mutants not seen" if missed else "every mutant is seen")
    return 1 if missed else 0
