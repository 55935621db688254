# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs ctest, the one list of tests, and prints for each failure the complete command that reproduces it.

A test that fails after a program on the RTL leaves its waveform in <build>/waves/tests and says so (tests/testing/waves.cc).

Tests labelled `long` are left out; --long runs them alone. With a unit, a folder of tests/ or tests/rtl/: builds and runs only the tests in
there, without those of mutants and of larger presets (--all: with all, long ones too).
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET


ROOT = pathlib.Path(__file__).resolve().parents[1]


def folder_of(unit):
    """The folder of a unit's tests: of two with that name the RTL's (vpu; UNIT=tests/vpu is the other)."""
    tests = ROOT / "tests"
    folders = [file.parent for pattern in ("*", "rtl/*") for file in sorted(tests.glob(f"{pattern}/CMakeLists.txt"))]
    units = {str(path.relative_to(root)): path for path in folders for root in (ROOT, tests)}
    units |= {path.name: path for path in folders}
    if unit not in units:
        raise ValueError(f"no unit '{unit}'; there are {', '.join(sorted(name for name in units if '/' not in name))}")
    return units[unit]


def failures(report):
    """(name, output) of each failed test in a JUnit report of ctest."""
    for case in ET.parse(report).getroot().iter("testcase"):
        if case.get("status") == "fail":
            yield case.get("name"), case.findtext("system-out") or ""


def commands(folder, choice=()):
    """{name: (working folder, words)} of the tests below a folder of the build."""
    text = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1", *choice], stdout=subprocess.PIPE, text=True, check=True).stdout
    tests = {}
    for test in json.loads(text)["tests"]:
        folder = next((item["value"] for item in test.get("properties", []) if item["name"] == "WORKING_DIRECTORY"), ".")
        tests[test["name"]] = (folder, test.get("command", []))
    return tests


def programs(build, tests):
    """What ninja builds of the tests that are programs: of one that is not there ctest does not say the command."""
    return [f"bin/{name}" for name, (_, words) in tests.items() if not words or pathlib.Path(words[0]).parent == build / "bin"]


def costs(report, least=2):
    """The lines of tests/costs.txt that a JUnit report gives: a test that took longer than `least` seconds, and the seconds."""
    for case in ET.parse(report).getroot().iter("testcase"):
        if case.get("status") == "run" and float(case.get("time")) >= least:
            yield f"{case.get('name')} {round(float(case.get('time')))}"


def reproduction(folder, words, output):
    """The commands of a failed test: one for each case of GoogleTest that failed, with the waveforms that they left."""
    line = f"cd {shlex.quote(folder)} && {shlex.join(words)}"
    cases = dict.fromkeys(re.findall(r"\[  FAILED  \] ([\w/]+\.[\w/]+)", output))
    yield from (f"{line} {shlex.quote(f'--gtest_filter={case}')}" for case in cases) if cases else (line,)
    yield from (f"  {found}" for found in re.findall(r"^((?:waveform|open it|again): .*)$", output, re.MULTILINE))


@contextlib.contextmanager
def scratch(place):
    """A folder in memory for the tests' temporary files, where there is room: they copy the project some dozen times. Otherwise None."""
    if "TMPDIR" in os.environ or place is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="systole_tests_", dir=place, ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # tests that run programs as another user look in there
        yield folder


def memory_folder(place="/dev/shm", least=4 << 30):
    """The folder if it lies in memory, programs may run there, and it has so many bytes; half of what is free, not all."""
    try:
        state = os.statvfs(place)
        free = re.search(r"^MemAvailable: +(\d+) kB$", pathlib.Path("/proc/meminfo").read_text(), re.M)
    except OSError:
        return None
    room = min(state.f_bavail * state.f_frsize, int(free[1]) * 1024 // 2 if free else 0)
    return place if room >= least and not state.f_flag & os.ST_NOEXEC and os.access(place, os.W_OK) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--jobs", type=int, default=2, help="cores")
    parser.add_argument("--unit", help="a folder of tests/ or tests/rtl/, mxu for one")
    parser.add_argument("--all", action="store_true", help="of a unit: also what takes long")
    parser.add_argument("--long", action="store_true", help="the tests labelled `long`, alone")
    parser.add_argument("--costs", action="store_true", help="print the seconds of tests, for tests/costs.txt")
    args, rest = parser.parse_known_args()

    build = pathlib.Path(args.build).resolve()
    folder = args.build
    if args.unit:
        try:
            unit = folder_of(args.unit)
        except ValueError as error:
            print(f"make test: {error}", file=sys.stderr)
            return 2
        folder = build / unit.relative_to(ROOT)
        whole = [f"{unit.relative_to(ROOT)}/all"]
        if args.all:
            targets = whole + programs(build, commands(folder, ["--label-regex", "^long$"]))
        else:
            choice = ["--label-exclude", "^(long|mutants|wide)$"]
            tests = commands(folder, choice)
            targets = programs(build, tests)
            if len(targets) != len(tests):  # a script may need anything
                targets = whole
            rest += choice
            print(f"{args.unit}: without the tests labelled `long`, `mutants` and `wide`; ARGS=--all runs them too", flush=True)
        ninja = [str(ROOT / "scripts/locked.sh"), args.build, "ninja", "-C", args.build, "-j", str(args.jobs), *targets]
        if subprocess.run(ninja, check=False).returncode != 0:
            return 1
    elif args.long:
        rest += ["--label-regex", "^long$"]
    else:
        rest += ["--label-exclude", "^long$"]
        print("without the tests labelled `long`: make test-long")

    # Where everything is tested, nothing may be missing; elsewhere it is said.
    left_out = build / "left_out.txt"
    missing = [] if args.unit or not left_out.exists() else [name for name in left_out.read_text().split("\n") if name]
    if missing:
        print(f"left out, for what they need is not there: {', '.join(missing)}", flush=True)

    report = build / "reports" / "tests.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    # One more than there are cores: some tests wait for most of their time.
    command = ["ctest", "--test-dir", str(folder), "-j", str(args.jobs + 1), "--output-on-failure", "--no-tests=error",
               "--output-junit", str(report), *rest]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it; tests send it
    # Memory stays with a process until its end: to get it back from the kernel page by page takes up to a tenth of a test's time.
    malloc = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=10737418240"
    environment = {"SYSTOLE_WAVES": str(build / "waves" / "tests"), "GLIBC_TUNABLES": malloc, **os.environ}
    with scratch(memory_folder()) as memory:
        result = subprocess.run(command, check=False, env={**environment, **({"TMPDIR": memory} if memory else {})})
    if args.costs and report.exists():
        print("", *sorted(costs(report)), sep="\n")
    if result.returncode != 0 and report.exists():
        print("\nTo reproduce:")
        known = commands(args.build)
        for name, output in failures(report):
            print(f"  {name}")
            for line in reproduction(*known.get(name, (".", [name])), output):
                print(f"    {line}")
    if missing and os.environ.get("CI"):
        print("\nFailed, for CI is set and not everything was there to be tested: scripts/setup.sh --check says what is missing")
        return result.returncode or 1
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
