# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The chain of `make regress` on faults seeded in copies of the RTL: found by random cases, put down to one cause, made smaller, recorded,
stored with a command that repeats them, which passes on the RTL as it is. Run by `make seeded`, in some minutes."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "scripts" / "regress"
sys.path.insert(0, str(RUNNER))
import variant  # noqa: E402

PROGRAM = "compiler_random_rtl_test"
# File, text that occurs once, what takes its place; suite that must see it, part of the cause.
FAULTS = {
    "results have no upper bound": ("vector/systole_vector_clamp.sv", "v      = v > high ? high : v;", "", "operations_nano",
                                    "written by requant"),
}


def call(words, **options):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def check(condition, what, detail=""):
    print(f"  {'ok' if condition else 'FAILED'}: {what}", flush=True)
    if not condition:
        print(detail)
        sys.exit(1)


def seed(build, work, file, old, new):
    """The program with the fault."""
    shutil.rmtree(work / "rtl", ignore_errors=True)
    shutil.copytree(ROOT / "rtl", work / "rtl")
    text = (work / "rtl" / file).read_text()
    check(text.count(old) == 1, f"the text to change occurs once in {file}")
    (work / "rtl" / file).write_text(text.replace(old, new))
    program = variant.build(build, PROGRAM, work)
    # Assertions name their files: those of the copy, none of the original.
    check(str(work / "rtl").encode() in program.read_bytes() and f"{ROOT}/rtl/".encode() not in program.read_bytes(),
          "the program is made of the copy")
    return program


def chain(build, name, keep):
    file, old, new, suite, words = FAULTS[name]
    print(f"{name}: {file}", flush=True)
    with tempfile.TemporaryDirectory(prefix="systole_seeded_") as temporary:
        work = pathlib.Path(keep or temporary)
        built = work / "build" / "bin" / PROGRAM
        if not (keep and built.exists()):
            program = seed(build, work, file, old, new)
            built.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(program, built)
        result = call([sys.executable, RUNNER / "regress.py", "--build", work / "build", "--filter", f"^{suite}$", "--seeds", 200,
                       "--first-seed", 1, "--minimise-runs", 100])
        check(result.returncode == 1, "the run fails", result.stdout)
        report = json.loads(sorted((work / "build" / "regress").glob("*/report.json"))[-1].read_text())
        causes = report["failures"]
        top = causes[0]
        print(f"  {report['failed']} of {report['jobs']} jobs failed, {len(causes)} causes; the first: {top['title'][:140]}")
        print(f"  {top['size_before']:.0f} -> {top['size_after']:.0f} in {top['runs']} runs: {top['text'][:140]}")
        print(f"  {top['command']}\n  waves: {top['waves'] or top['waves_why']}")
        check(top["count"] >= 2, "several seeds have one cause")
        check(words in top["title"], f"the cause says {words!r}")
        check(top["reproduced"] and top["size_after"] < top["size_before"], "the case is smaller and fails alone")
        again = call(["sh", "-c", top["command"]], cwd=ROOT)
        check(again.returncode != 0, "its command repeats the failure", again.stdout[-2000:])
        healthy = call(["sh", "-c", top["command"].replace(str(work / "build" / "bin"), str(build.resolve() / "bin"))], cwd=ROOT)
        check(healthy.returncode == 0, "the same command passes on the RTL as it is", healthy.stdout[-2000:])
        check(bool(top["waves"]), "there is a waveform", top["waves_why"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", choices=list(FAULTS), action="append")
    parser.add_argument("--keep", help="a folder that keeps everything; a program that is there is not built again")
    args = parser.parse_args()
    for name in args.only or FAULTS:
        chain(args.build, name, args.keep)


if __name__ == "__main__":
    sys.exit(main())
