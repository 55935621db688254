# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Runs ctest, the one list of tests, and prints for each failure the command that reproduces it."""

import argparse
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET


def failures(report):
    """(name, output) of each failed test in a JUnit report of ctest."""
    for case in ET.parse(report).getroot().iter("testcase"):
        if case.get("status") == "fail":
            yield case.get("name"), case.findtext("system-out") or ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--jobs", default="2")
    args, rest = parser.parse_known_args()

    report = pathlib.Path(args.build).resolve() / "reports" / "tests.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", args.build, "-j", args.jobs, "--output-on-failure", "--no-tests=error",
               "--output-junit", str(report), *rest]
    result = subprocess.run(command, check=False)
    if result.returncode != 0 and report.exists():
        print("\nTo reproduce:")
        for name, output in failures(report):
            print(f"  ctest --test-dir {args.build} --output-on-failure -R '^{re.escape(name)}$'")
            for case in dict.fromkeys(re.findall(r"\[  FAILED  \] ([\w/]+\.[\w/]+)", output)):
                print(f"    {args.build}/bin/{name} --gtest_filter='{case}'")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
