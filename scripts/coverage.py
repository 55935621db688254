# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Builds the tests that run RTL with line and toggle coverage, runs them, and prints the coverage of each unit.

Points of the same source position are merged over instances, parameters and tests. Written: <build>/reports/coverage.json, and in
<build>/coverage/annotated the sources with counts.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Not run: what only measures speed, breaks the RTL on purpose, or is too large to count in (a counter at every bit makes a core ten
# times slower and more).
SKIP = r"speed|mutant|mutation|tools|edge|v1|v2|training|mlperf|iss_rtl_fault"

PART = 5  # random tests run this part of their cases


def run(command, **kwargs):
    print("coverage:", " ".join(map(str, command)), flush=True)
    return subprocess.run([str(part) for part in command], cwd=ROOT, check=False, **kwargs).returncode


def selected_tests(build, pattern, skip):
    """Names of the tests whose programs contain a model that counts, and the build targets of these programs."""
    counted = {f"verilated/{model}/" for model in re.findall(r"^  COMMAND = .*/verilated/(\w+) --prefix .*--coverage-line", (build / "build.ninja").read_text(), re.M)}
    names, targets = [], set()
    for listing in sorted(build.rglob("CTestTestfile.cmake")):
        for name, path in re.findall(r'add_test\((?:\[=*\[)?([\w.-]+)(?:\]=*\])? "([^"]+)"', listing.read_text()):
            program = pathlib.Path(path)
            if program.parent != build / "bin" or not re.search(pattern, name) or re.search(skip, name):
                continue
            inputs = subprocess.run(["ninja", "-C", str(build), "-t", "inputs", f"bin/{program.name}"], stdout=subprocess.PIPE, text=True, check=True)
            if counted & set(re.findall(r"verilated/\w+/", inputs.stdout)):
                names.append(name)
                targets.add(program.name)
    return names, sorted(targets)


def read_points(files):
    """{(file, kind, position): count} of all coverage data."""
    points = collections.Counter()
    for path in files:
        for line in path.read_text(errors="replace").splitlines():
            match = re.match(r"C '(.*)' (\d+)$", line)
            if not match:
                continue
            keys = dict(field.split("\x02", 1) for field in match[1].split("\x01") if "\x02" in field)
            source = pathlib.Path(os.path.normpath(keys["f"]))  # Ibex is reached from rtl, and is not of the project
            if not source.is_relative_to(ROOT / "rtl"):
                continue
            kind = "toggle" if keys["page"].startswith("v_toggle") else "line"
            position = (source.relative_to(ROOT).as_posix(), kind, keys["l"], keys["n"], keys.get("o", ""))
            points[position] += int(match[2])
    return points


def summarise(points, group):
    """{group: {kind: [covered, all]}}."""
    table = collections.defaultdict(lambda: {"line": [0, 0], "toggle": [0, 0]})
    for (source, kind, *_), count in points.items():
        for name in (group(source), "total"):
            table[name][kind][0] += count > 0
            table[name][kind][1] += 1
    return dict(sorted(table.items(), key=lambda item: (item[0] == "total", item[0])))


def percent(pair):
    return f"{100 * pair[0] / pair[1]:6.1f} % of {pair[1]:>7}" if pair[1] else "       - of       0"


def expression(text):
    """An option's regular expression."""
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from error
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build_coverage"))
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--tests", type=expression, default="", help="regular expression of the tests to run (default: all that run RTL)")
    parser.add_argument("--skip", type=expression, default=SKIP, help="regular expression of the tests to leave out")
    args = parser.parse_args()

    build = args.build.resolve()
    data = build / "coverage"
    shutil.rmtree(data, ignore_errors=True)
    try:
        data.mkdir(parents=True)
    except OSError as error:
        parser.error(f"--build {args.build}: {error.strerror}")
    if run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DSYSTOLE_COVERAGE=ON", "--log-level=NOTICE"]):
        return 1
    names, targets = selected_tests(build, args.tests, args.skip)
    if not names:
        print(f"coverage: no test matches {args.tests}", file=sys.stderr)
        return 1
    if run(["ninja", "-C", build, "-j", args.jobs, *targets]):
        return 1
    pattern = "^(" + "|".join(names) + ")$"
    status = run(["env", f"SYSTOLE_COVERAGE_DIR={data}", f"SYSTOLE_CASES_PART={PART}", "ctest", "--test-dir", build, "-j", args.jobs, "--output-on-failure", "-R", pattern,
                  "--timeout", "3600"])

    files = sorted(data.glob("*.dat"))
    points = read_points(files)
    if not points:
        print("coverage: the tests wrote no coverage data", file=sys.stderr)
        return 1
    run(["verilator_coverage", "--annotate", data / "annotated", "--annotate-min", "1", *files], stdout=subprocess.DEVNULL)
    units = summarise(points, lambda source: source.split("/")[1])
    print(f"\n{'unit':18}{'lines':>20}{'toggles':>26}")
    for name, row in units.items():
        print(f"{name:18}{percent(row['line']):>20}{percent(row['toggle']):>26}")
    (build / "reports").mkdir(exist_ok=True)
    report = build / "reports" / "coverage.json"
    report.write_text(json.dumps({"tests": names, "units": units, "files": summarise(points, lambda source: source)}, indent=1) + "\n")
    print(f"\ncoverage: {len(names)} tests, {report}, annotated sources in {data / 'annotated'}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
