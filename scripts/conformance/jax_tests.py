# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""jax's own test files on the plugin, each test by its outcome: pass, fail, skip, late (more than --seconds) or crash (of the process).

The files are in jax's sources, not in its wheel: the folder `tests` of the tag of the installed version (jax-v0.10.2).

SYSTOLE_DEVICES=8 SYSTOLE_PRESET=mini make jax ARGS="scripts/conformance/jax_tests.py --tests FOLDER pmap_test shard_map_test"
"""

import argparse
import collections
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest


class Late(BaseException):
    """Raised by the alarm in a test."""


def every_test(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from every_test(test)
        else:
            yield test


def identity(test):
    return " ".join(test.id().split())[:160]


def outcome(test, seconds):
    """The outcome of a test and what is to be said about it."""
    result = unittest.TestResult()
    signal.alarm(seconds)
    try:
        test.run(result)
    except Late:
        return "late", ""
    finally:
        signal.alarm(0)
    if result.skipped:
        return "skip", result.skipped[0][1]
    for _, text in result.errors + result.failures:
        lines = [line for line in text.strip().splitlines() if line and not line.startswith(" ")]
        return ("late", "") if lines[-1].endswith("Late") else ("fail", lines[-1])
    return "pass", ""


def run_file(args, name, report):
    """A child's part: runs what the report does not have yet."""
    import absl.flags
    import jax

    sys.path.insert(0, str(args.tests))
    absl.flags.FLAGS([name])
    spec = importlib.util.spec_from_file_location(name, args.tests / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    jax.config.parse_flags_with_absl()
    spec.loader.exec_module(module)
    getattr(module, "setUpModule", lambda: None)()

    def alarm(*_):
        raise Late

    signal.signal(signal.SIGALRM, alarm)
    done = set(read(report))
    for number, test in enumerate(every_test(unittest.defaultTestLoader.loadTestsFromModule(module))):
        if number % args.every or identity(test) in done or (args.only and args.only not in test.id()):
            continue
        with report.open("a") as lines:
            print(identity(test), "crash", file=lines, sep="\t")  # until it has ended
        start = time.time()
        result, why = outcome(test, args.seconds)
        with report.open("a") as lines:
            print(identity(test), result, f"{time.time() - start:.1f}", " ".join(why.split())[:300], file=lines, sep="\t")


def read(report):
    """The last line of each test."""
    if not report.exists():
        return {}
    return {line.split("\t")[0]: line.rstrip("\n").split("\t") for line in report.read_text().splitlines() if "\t" in line}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="FILE", help="of the folder, without .py")
    parser.add_argument("--tests", required=True, type=pathlib.Path, metavar="FOLDER", help="the folder tests of jax's sources")
    parser.add_argument("--reports", type=pathlib.Path, default=pathlib.Path("build/reports"), help="where lists go, a line a test; kept")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th test")
    parser.add_argument("--only", help="tests whose names contain this")
    parser.add_argument("--seconds", type=int, default=120, help="for a test")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.reports.mkdir(parents=True, exist_ok=True)
    for name in args.names:
        if not (args.tests / f"{name}.py").exists():
            raise SystemExit(f"{args.tests / name}.py does not exist: --tests names the folder tests of jax's sources")
        report = args.reports / f"jax_{name}.tsv"
        if args.child:
            run_file(args, name, report)
            continue
        before = -1
        while len(read(report)) != before:  # again behind a crash
            before = len(read(report))
            words = [word for word in sys.argv if word not in args.names]
            if subprocess.run([sys.executable, *words, name, "--child"], check=False, env=os.environ).returncode == 0:
                break
        counts = collections.Counter(line[1] for line in read(report).values())
        print(f"{name}: {sum(counts.values())} tests: " + ", ".join(f"{count} {what}" for what, count in counts.most_common()))
        for line in read(report).values():
            if line[1] not in ("pass", "skip"):
                print("  " + " ".join(line))


if __name__ == "__main__":
    main()
